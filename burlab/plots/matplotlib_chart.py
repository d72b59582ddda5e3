"""Charts as figures of Matplotlib: PDF, SVG and PGF for papers."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np

from burlab.charts.chart import Axis, Band, Chart, Curve, Dots, DotShape, Map, Mark, Plot
from burlab.charts.frame import right_scale, scales
from burlab.charts.limits import POINTS_OF_STILL, bounded
from burlab.charts.palette import DASHES
from burlab.charts.png import shaded
from burlab.charts.strokes import MARK_STYLES, ink
from burlab.errors import ArgumentError
from burlab.runtime.extras import late

plt: Any = late("matplotlib.pyplot", "figures")

_WIDTH, _HEIGHT = 6.4, 2.4  # inches of a part
_PIXELS = 600  # along each side of the image of a map
_MARKERS: dict[DotShape, str] = {"dot": "o", "ring": "o", "cross": "x", "star": "*", "triangle": "^"}
_HOLLOW = "ring"


def to_matplotlib(chart: Chart, axes: Any = None) -> list[Any]:
    """Draw a chart: see `Chart.to_matplotlib`.

    >>> from burlab.charts import Axis, Chart, Curve, Plot
    >>> squares = Curve(np.arange(3.0), np.arange(3.0) ** 2, "squares")
    >>> ax, = to_matplotlib(Chart((Plot("a", "A parabola", Axis("x"), Axis("y"), (squares,)),)))
    >>> ax.get_xlabel(), len(ax.lines)
    ('x', 1)
    >>> plt.close(ax.figure)
    """
    parts = bounded(chart, POINTS_OF_STILL).parts
    places = _new_axes(chart.title, parts) if axes is None else list(np.asarray(axes, object).ravel())
    if len(places) != len(parts):
        raise ArgumentError(
            f"the chart has {len(parts)} parts, and axes holds {len(places)} Axes. Pass one for each part, or leave "
            "axes out."
        )
    for part, ax in zip(parts, places, strict=True):
        _draw(part, ax)
    return places


def _new_axes(title: str, parts: tuple[Plot | Map, ...]) -> list[Any]:
    """Return an Axes for each part, one below the other in a new figure."""
    tall = [part.tall if isinstance(part, Plot) else _WIDTH / _HEIGHT / 1.3 for part in parts]
    size = (_WIDTH, max(_HEIGHT * sum(tall), _HEIGHT))
    figure = plt.figure(figsize=size, layout="constrained")
    if title:
        figure.suptitle(title, x=0.01, ha="left")
    return list(figure.subplots(max(len(parts), 1), 1, squeeze=False, height_ratios=tall or [1]).ravel())[: len(parts)]


def _draw(part: Plot | Map, ax: Any) -> None:
    x, y = scales(part, 0.0, 1.0, 1.0, 0.0)
    ax.set_title(part.title, loc="left", fontweight="bold", fontsize="medium")
    ax.set_title(part.note, loc="right", fontstyle="italic", fontsize="small")
    if isinstance(part, Map):
        _background(part, ax, (x.low, x.high, y.low, y.high))
    else:
        for band in part.bands:
            _band(band, ax)
    twin = None
    if isinstance(part, Plot) and part.right is not None and (scale := right_scale(part, y)) is not None:
        twin = ax.twinx()
        _axis(part.right, twin, "y", scale.low, scale.high)
    for curve in sorted(part.curves, key=lambda one: not one.faint):
        _curve(curve, part.y, twin if curve.right and twin is not None else ax)
    for dots in part.dots:
        _dots(dots, ax)
    for mark in part.marks if isinstance(part, Plot) else ():
        _mark(mark, ax)
    _axis(part.x, ax, "x", x.low, x.high)
    _axis(part.y, ax, "y", y.low, y.high)
    if len(named := list(_named(ax, twin))) > 1:
        ax.legend(*zip(*named, strict=True), fontsize="small", frameon=False)


def _named(*places: Any) -> Iterator[tuple[Any, str]]:
    """Yield what has an entry in the legend, and the entry."""
    for ax in places:
        if ax is not None:
            yield from zip(*ax.get_legend_handles_labels(), strict=True)


def _axis(axis: Axis, ax: Any, side: str, low: float, high: float) -> None:
    unit = f"{axis.label}, {axis.unit}" if axis.label and axis.unit else axis.label or axis.unit
    fields: dict[str, Any] = {f"{side}label": unit, f"{side}scale": "log" if axis.log else "linear"}
    ax.set(**fields | {f"{side}lim": (low, high)})


def _curve(of: Curve, upwards: Axis, ax: Any) -> None:
    y = np.asarray(of.y, np.float64)
    y = np.where(y == 0, upwards.floor, y) if upwards.log and upwards.floor else y
    pattern = tuple(float(length) for length in DASHES[of.dashed].split())
    style: dict[str, Any] = {"linewidth": 0.8, "alpha": 0.3} if of.faint else {"linewidth": 1.5}
    ax.plot(of.x, y, color=ink(of.colour), linestyle=(0, pattern) if pattern else "-", label=of.label, **style)


def _band(of: Band, ax: Any) -> None:
    alpha = 0.75 if of.solid else 0.2
    ax.fill_between(of.x, of.low, of.high, color=ink(of.colour), alpha=alpha, linewidth=0, label=of.label)


def _dots(of: Dots, ax: Any) -> None:
    colour = ink(of.colour)
    if of.shape == "word":
        for at, up, word in zip(of.x, of.y, of.hints, strict=True):
            ax.annotate(word, (at, up), color=colour, ha="center", va="center")
    elif of.shape != "none":
        face = {"facecolors": "none", "edgecolors": colour} if of.shape == _HOLLOW else {"color": colour}
        ax.scatter(of.x, of.y, s=22, marker=_MARKERS[of.shape], label=of.label, zorder=3, **face)


def _mark(of: Mark, ax: Any) -> None:
    style = MARK_STYLES[of.kind]
    line = ax.axvline if of.axis == "x" else ax.axhline
    line(of.at, color=style["stroke"], linewidth=1, linestyle=":" if "stroke_dasharray" in style else "-")
    if of.label:
        place = (of.at, 0.98) if of.axis == "x" else (0.98, of.at)
        turn = {"rotation": 90, "va": "top", "ha": "right"} if of.axis == "x" else {"va": "bottom", "ha": "right"}
        frame = ax.get_xaxis_transform() if of.axis == "x" else ax.get_yaxis_transform()
        ax.text(*place, of.label, transform=frame, fontsize="small", **turn)


def _background(part: Map, ax: Any, extent: tuple[float, float, float, float]) -> None:
    shade = part.heights if part.shade is None else part.shade
    if shade is not None:
        image = plt.imread(BytesIO(shaded(shade, _PIXELS, _PIXELS, part.middle)))
        ax.imshow(image, extent=extent, aspect="equal" if part.equal else "auto", zorder=0)
