"""Still pictures of plotly's figures of lines, dots and contours, for pages that run no scripts."""

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

import numpy as np

from burlab.charts import Axis, Band, Chart, Curve, Dots, DotShape, Map, Mark, Plot
from burlab.charts.palette import PALETTE, faded
from burlab.charts.relief import relief
from burlab.charts.svg import svg
from burlab.typing import Numbers

from .surface_map import OPENS

Content = Mapping[str, Any]  # a figure as JSON
_SHAPES: dict[str, DotShape] = {
    "star": "star",
    "x": "cross",
    "x-thin": "cross",
    "cross": "cross",
    "triangle-up": "triangle",
}
_TALL = 1.8  # height of a plot, times that of one of many
_SQUARE = 560  # pixels: width of a map in equal scales


def still(figure: Content) -> str | None:
    """SVG of a figure of lines, dots and contours over one pair of axes, or of a surface. None for what else there is.

    Args:
        figure: Plotly's JSON, as `figure.to_plotly_json()` gives it or a notebook holds it.

    >>> still({"data": [{"type": "scatter", "x": [0, 1], "y": [1, 2]}], "layout": {}}).startswith("<svg")
    True
    >>> still({"data": [{"type": "pie"}], "layout": {}}) is None
    True
    """
    traces, layout = figure.get("data", ()), figure.get("layout", {})
    kinds: set[str] = {trace.get("type", "scatter") for trace in traces}
    if kinds and kinds <= {"surface", "scatter3d"}:
        return _surface(traces, layout)
    words = any(("text" in _mode(trace) and _mode(trace) != "text") or _is_worded(trace) for trace in traces)
    if not kinds or not kinds <= {"scatter", "scattergl", "contour"} or words or "xaxis2" in layout:
        return None
    lines = [(k, trace) for k, trace in enumerate(traces) if trace.get("type") != "contour"]
    curves = tuple(curve for k, trace in lines for curve in _curves(trace, k))
    dots = tuple(one for k, trace in lines for one in _dots(trace, k))
    bands = tuple(_band(low, high) for low, high in pairwise(traces) if high.get("fill") == "tonexty")
    title, x, y = _title(layout), _axis(layout.get("xaxis", {})), _axis(layout.get("yaxis", {}))
    if x.low is None and any(one.shape == "word" for one in dots):
        x = _roomy(x, np.concatenate([one.x for one in dots]))
    if not (planes := [trace for trace in traces if trace.get("type") == "contour"]):
        marks = tuple(_marks(layout))
        return svg(Chart((Plot("figure", title, x, y, curves, bands, dots, marks, tall=_TALL),)))
    heights, equal = numbers(planes[0]["z"]), "scaleanchor" in layout.get("yaxis", {})
    return svg(Chart((Map("figure", title, x, y, heights, 1, curves, dots, equal=equal),)), _SQUARE if equal else 860)


def _surface(traces: Sequence[Content], layout: Content) -> str | None:
    """The one surface of a figure with the lines on it, seen from where the figure opens."""
    grounds = [trace for trace in traces if trace.get("type") == "surface"]
    if len(grounds) != 1:
        return None
    scene, (ground,) = layout.get("scene", {}), grounds
    lines = [(k, trace) for k, trace in enumerate(traces) if trace is not ground]
    curves = tuple(curve for k, trace in lines for curve in _curves(trace, k))
    dots = tuple(one for k, trace in lines for one in _dots(trace, k))
    x, y = (
        replace(_axis(scene.get(f"{name}axis", {})), low=float(at.min()), high=float(at.max()))
        for name, at in ((name, numbers(ground[name])) for name in "xy")
    )
    return relief(Map("figure", _title(layout), x, y, numbers(ground["z"]), 1, curves, dots), OPENS)


def numbers(written: Any) -> Numbers:
    """An array as plotly writes it: a list, or its type, bytes and shape.

    >>> numbers({"dtype": "i1", "bdata": "AQI=", "shape": "2"})
    array([1, 2], dtype=int8)
    """
    if not isinstance(written, Mapping):
        return np.asarray([np.nan if one is None else one for one in written])
    typed = cast("Content", written)
    flat = np.frombuffer(b64decode(typed["bdata"]), typed["dtype"])
    return flat.reshape([int(side) for side in str(typed.get("shape", len(flat))).split(",")])


def _curves(trace: Content, k: int) -> Iterator[Curve]:
    line = trace.get("line", {})
    if "lines" in _mode(trace) and line.get("width") != 0:
        dashed = line.get("dash", "solid") != "solid"
        yield Curve(*_points(trace), _name(trace), _colour(line, k), dashed=int(dashed))


def _band(low: Content, high: Content) -> Band:
    """The region between two traces. Its colour is that of the palette of which its fill is a faded form."""
    x, least = _points(low)
    names = [faded(colour) for colour in PALETTE]
    filled = high.get("fillcolor")
    return Band(x, least, _points(high)[1], _name(high), names.index(filled) if filled in names else -1)


def _dots(trace: Content, k: int) -> Iterator[Dots]:
    mode = _mode(trace)
    if "markers" in mode:
        marker = trace.get("marker", {})
        symbol = str(marker.get("symbol", "circle"))
        shape: DotShape = "ring" if symbol == "circle-open" else _SHAPES.get(symbol.removesuffix("-open"), "dot")
        yield Dots(*_points(trace), "" if "lines" in mode else _name(trace), _colour(marker, k), shape)
    if mode == "text":
        words = tuple(map(str, trace.get("text", ())))
        yield Dots(*_points(trace), _name(trace), _colour(trace.get("textfont", {}), k), "word", words)


def _is_worded(trace: Content) -> bool:
    """Return True for a trace with words or dates in the place of numbers."""
    return any(numbers(trace.get(name, ())).dtype.kind in "OU" for name in "xy")


def _mode(trace: Content) -> str:
    return trace.get("mode", "lines")


def _name(trace: Content) -> str:
    return trace.get("name", "") if trace.get("showlegend", True) else ""


def _points(trace: Content) -> tuple[Numbers, Numbers]:
    y = numbers(trace.get("y", ())).astype(np.float64)
    return (numbers(trace["x"]).astype(np.float64) if "x" in trace else np.arange(len(y), dtype=np.float64)), y


def _colour(style: Content, k: int) -> int:
    """The position of a colour in the palette; -1 for ink and what is not burlab's."""
    written = style.get("color", PALETTE[k % len(PALETTE)])
    return PALETTE.index(written) if written in PALETTE else -1


def _title(place: Content) -> str:
    title = place.get("title", "")
    text = title if isinstance(title, str) else title.get("text", "")
    return str(text).replace("<br>", " ")


def _axis(place: Content) -> Axis:
    log = place.get("type") == "log"
    low, high = place.get("range") or (None, None)
    if log and low is not None and high is not None:
        low, high = 10.0**low, 10.0**high
    return Axis(_title(place), log=log, low=low, high=high)


def _roomy(axis: Axis, values: Numbers) -> Axis:
    """An axis on which words at its ends are whole."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = 0.03 * (high - low)
    return replace(axis, low=low - room, high=high + room)


def _marks(layout: Content) -> Iterator[Mark]:
    """Lines across the plot, with what is written beside them."""
    said = {note.get("x"): _title({"title": note.get("text", "")}) for note in layout.get("annotations", ())}
    for shape in layout.get("shapes", ()):
        if shape.get("type") == "line" and shape.get("x0") == shape.get("x1"):
            yield Mark(float(shape["x0"]), said.get(shape["x0"], ""))
