"""Charts as figures of plotly, to zoom, change and join with others."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from burlab.charts.chart import Axis, Band, Chart, Curve, Dots, Map, Mark, Plot
from burlab.charts.frame import right_scale, scales
from burlab.charts.limits import bounded
from burlab.charts.palette import PALETTE, SHADES, faded
from burlab.charts.strokes import MARK_STYLES, ink
from burlab.runtime.extras import late

from .style import HEIGHT, LEVEL_LINES, layout

go: Any = late("plotly.graph_objects", "plots")
subplots: Any = late("plotly.subplots", "plots")

_DASHES = ("solid", "dash", "dot", "dashdot")  # as `palette.DASHES`
_SYMBOLS = {"dot": "circle", "ring": "circle-open", "cross": "x-thin-open", "star": "star", "triangle": "triangle-up"}
_PART = 200  # pixels of an ordinary plot
_MAP_TALL = 2.2  # height of a map, times that of a plot


def to_plotly(chart: Chart) -> Any:
    """Return a chart as a figure: see `Chart.to_plotly`.

    >>> from burlab.charts import Axis, Chart, Curve, Plot
    >>> squares = Curve(np.arange(3.0), np.arange(3.0) ** 2, "squares")
    >>> figure = to_plotly(Chart((Plot("a", "A parabola", Axis("x"), Axis("y"), (squares,)),)))
    >>> figure.data[0].y
    array([0., 1., 4.])
    """
    parts = bounded(chart).parts
    if not parts:
        return go.Figure(layout=layout(title=chart.title))
    tall = [part.tall if isinstance(part, Plot) else _MAP_TALL for part in parts]
    figure: Any = subplots.make_subplots(
        rows=len(parts),
        cols=1,
        subplot_titles=[f"{part.title} <i>{part.note}</i>" if part.note else part.title for part in parts],
        row_heights=[height / sum(tall) for height in tall],
        specs=[[{"secondary_y": isinstance(part, Plot) and part.right is not None}] for part in parts],
        vertical_spacing=min(0.35 / len(parts), 0.12),
    )
    figure.update_layout(**layout(title=chart.title, height=max(HEIGHT, int(_PART * sum(tall)))))
    for row, part in enumerate(parts, 1):
        _draw(part, figure, row)
    return figure


def _draw(part: Plot | Map, figure: Any, row: int) -> None:
    x, y = scales(part, 0.0, 1.0, 1.0, 0.0)
    place = {"row": row, "col": 1}
    if isinstance(part, Map):
        figure.add_traces(list(_background(part)), rows=row, cols=1)
    for band in part.bands if isinstance(part, Plot) else ():
        figure.add_traces(list(_band(band)), rows=row, cols=1)
    for curve in sorted(part.curves, key=lambda one: not one.faint):
        figure.add_trace(_curve(curve, part.y), **place, **({"secondary_y": True} if curve.right else {}))
    for dots in part.dots:
        if dots.shape != "none":
            figure.add_trace(_dots(dots), **place)
    for mark in part.marks if isinstance(part, Plot) else ():
        _mark(mark, figure, place)
    figure.update_xaxes(**_axis(part.x, x.low, x.high), **place)
    figure.update_yaxes(**_axis(part.y, y.low, y.high), **place, secondary_y=False)
    if isinstance(part, Plot) and part.right is not None and (scale := right_scale(part, y)) is not None:
        figure.update_yaxes(**_axis(part.right, scale.low, scale.high), **place, secondary_y=True)
    if isinstance(part, Map) and part.equal:
        anchor = "x" if row == 1 else f"x{row}"
        figure.update_yaxes(scaleanchor=anchor, scaleratio=1, constrain="domain", **place)
        figure.update_xaxes(constrain="domain", **place)


def _axis(axis: Axis, low: float, high: float) -> dict[str, Any]:
    ends = [float(np.log10(low)), float(np.log10(high))] if axis.log else [low, high]
    fields = {"type": "log" if axis.log else "linear", "range": ends, "title": axis.label}
    return fields | ({"ticksuffix": f" {axis.unit}", "exponentformat": "SI"} if axis.unit else {})


def _names(label: str) -> dict[str, Any]:
    return {"name": label, "showlegend": bool(label)}


def _curve(of: Curve, upwards: Axis) -> Any:
    y = np.asarray(of.y, np.float64)
    y = np.where(y == 0, upwards.floor, y) if upwards.log and upwards.floor else y
    line = {"color": ink(of.colour), "width": 1 if of.faint else 2, "dash": _DASHES[of.dashed]}
    return go.Scatter(x=of.x, y=y, mode="lines", line=line, opacity=0.3 if of.faint else 1.0, **_names(of.label))


def _band(of: Band) -> Iterator[Any]:
    """The lower edge, and the region from it up to the upper one."""
    clear: dict[str, Any] = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    fill = faded(ink(of.colour), 0.75 if of.solid else 0.2)
    yield go.Scatter(x=of.x, y=of.low, showlegend=False, **clear)
    yield go.Scatter(x=of.x, y=of.high, fill="tonexty", fillcolor=fill, **clear, **_names(of.label))


def _dots(of: Dots) -> Any:
    hints: dict[str, Any] = {"text": of.hints, "hoverinfo": "text"} if of.hints else {}
    if of.shape == "word":
        return go.Scatter(x=of.x, y=of.y, mode="text", textfont={"color": ink(of.colour)}, **hints, **_names(of.label))
    line = {"width": 2 if _SYMBOLS[of.shape].endswith("open") else 0, "color": ink(of.colour)}
    marker = {"symbol": _SYMBOLS[of.shape], "color": ink(of.colour), "size": 8, "line": line}
    return go.Scatter(x=of.x, y=of.y, mode="markers", marker=marker, **hints, **_names(of.label))


def _mark(of: Mark, figure: Any, place: dict[str, Any]) -> None:
    style = MARK_STYLES[of.kind]
    line = {"color": style["stroke"], "width": 1, "dash": "dot" if "stroke_dasharray" in style else "solid"}
    words = {"annotation_text": of.label} if of.label else {}
    if of.axis == "x":
        figure.add_vline(of.at, line=line, **words, **place)
    else:
        figure.add_hline(of.at, line=line, **words, **place)


def _background(part: Map) -> Iterator[Any]:
    """The level lines of a map, over shades."""
    shade = part.heights if part.shade is None else part.shade
    if shade is None or part.heights is None:
        return
    rows, columns = shade.shape
    x, y = (np.linspace(axis.low or 0.0, axis.high or 0.0, n) for axis, n in ((part.x, columns), (part.y, rows)))
    colours: dict[str, Any] = {"colorscale": SHADES}
    if part.middle is not None:
        far = float(np.nanmax(np.abs(shade - part.middle), initial=0.0))
        sides = (PALETTE[0], "rgba(255, 255, 255, 0)", PALETTE[1])
        colours = {"colorscale": list(zip((0.0, 0.5, 1.0), sides, strict=True)), "zmid": part.middle}
        colours |= {"zmin": part.middle - far, "zmax": part.middle + far, "opacity": 0.45}
    hint = "%{x:.4g}, %{y:.4g}<br>%{customdata:.6g}<extra></extra>"
    lines = {"color": LEVEL_LINES, "width": 0.6}
    known = {"z": shade, "x": x, "y": y, "customdata": part.heights, "hovertemplate": hint}
    yield go.Contour(**known, contours={"coloring": "heatmap"}, line=lines, showscale=False, **colours)
