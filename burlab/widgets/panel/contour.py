"""The contour of a panel: the landscape of two parameters, the path over it, and where the run is now."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from burlab.plots import path_traces
from burlab.plots.style import HEIGHTS, LEVEL_LINES
from burlab.runtime.extras import late

from .landscape import marks
from .model import Model
from .pyramid import NOTHING, Series
from .theme import GREY, ORANGE

go: Any = late("plotly.graph_objects", "lab")

_HOVER = "x₀ %{x:.4g}<br>x₁ %{y:.4g}<br>f %{customdata:.6g}<extra></extra>"
_LEVELS = 18
_EMPTY: Series = np.empty((0, 2))


def traces(x: str, y: str) -> Iterator[tuple[str, Any]]:
    """The traces, from back to front, with nothing in them yet."""
    axes = {"xaxis": x, "yaxis": y, "showlegend": False}
    yield "landscape", go.Contour(
        xaxis=x, yaxis=y, ncontours=_LEVELS, colorscale=HEIGHTS, showscale=False, hovertemplate=_HOVER,
        line={"color": LEVEL_LINES, "width": 0.6},
    )  # fmt: skip
    looks = {
        "saddle": {"mode": "markers", "marker": {"symbol": "x-thin-open", "size": 11, "color": "#222"}},
        "minimum": {"mode": "markers", "marker": {"symbol": "star", "size": 13, "color": "#222"}},
        "old path": {"mode": "lines", "line": {"color": GREY, "width": 1.5}, "opacity": 0.8},
        "path ahead": {"mode": "lines", "line": {"color": ORANGE, "width": 1.5}, "opacity": 0.35},
        "path": {"mode": "lines", "line": {"color": ORANGE, "width": 2}, "marker": {"size": 4}},
        "point": {
            "mode": "markers",
            "marker": {"size": 11, "color": ORANGE, "line": {"color": "white", "width": 1.5}},
        },
    }
    for name, look in looks.items():
        words = {"name": name, "hovertemplate": f"{name}<br>x₀ %{{x:.6g}}<br>x₁ %{{y:.6g}}<extra></extra>"}
        yield name, go.Scatter(x=[], y=[], **axes, **words, **look)


def changes(model: Model) -> Iterator[tuple[str, Any]]:
    """Name, version and content of each trace."""
    landscape, t = model.landscape, int(model.run.t)
    if landscape is None:
        return
    yield "landscape", ((id(landscape.heights),), lambda: _heights(landscape.heights))
    for name, points in {"minimum": _EMPTY, "saddle": _EMPTY, **marks(model.run.problem)}.items():
        yield name, (len(points), _scatter(points))
    steps, points = model.lines.path.steps, model.lines.path.points
    here = id(points), t if t < model.run.length else None
    yield "path", (here, _path(points[steps <= t] if t < model.run.length else points))
    yield "path ahead", (here, _path(points[steps >= t] if t < model.run.length else _EMPTY))
    old = [_EMPTY, *(part for line in model.old for part in (line.path.points, np.full((1, 2), np.nan)))]
    yield "old path", (tuple(id(line) for line in model.old), _scatter(np.concatenate(old)))
    yield "point", ((here, tuple(model.point)), _scatter(model.point[None]))


def frame(model: Model, x: str, y: str) -> Iterator[tuple[str, Any, Any]]:
    """Name, version and value of the axes' ranges."""
    if model.landscape is not None:
        (left, right), (bottom, top) = model.landscape.box.tolist()
        ranges = {f"xaxis{x[1:]}.range": [left, right], f"yaxis{y[1:]}.range": [bottom, top]}
        yield "box", (left, right, bottom, top), ranges


def _heights(heights: Any) -> dict[str, Any]:
    return {"x": heights.x, "y": heights.y, "z": heights.shade, "customdata": heights.value} if heights else {}


def _path(points: Series) -> Callable[[], dict[str, Any]]:
    """A path without the points that nobody could tell apart."""

    def make() -> dict[str, Any]:
        if not len(points):
            return {"x": NOTHING, "y": NOTHING}
        line = path_traces("", points, ORANGE)[0]
        return {"x": line.x, "y": line.y}

    return make


def _scatter(points: Series) -> Callable[[], dict[str, Any]]:
    return lambda: {"x": points[:, 0], "y": points[:, 1]}
