"""The landscape of a function of two variables, with the paths of optimizers over it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go  # pyright: ignore[reportMissingTypeStubs] - plotly ships none

from burlab.errors import ArgumentError, ShapeError
from burlab.problems import FiniteSum, TestFunction
from burlab.transforms import vmap

from .style import HEIGHTS, LEVEL_LINES, colour, layout

Array = np.ndarray[Any, np.dtype[np.float64]]
Problem = FiniteSum | Callable[[Any], Any]
_RESOLUTION = 141  # points along each axis: a pixel in four
_LEVELS = 18
_FEW = 80  # points of a path that are drawn as dots, too
_MANY, _MOST = 800, 4000  # points across a picture, and at most


@dataclass(frozen=True, slots=True)
class Landscape:
    """A function of two variables on a grid. x: shape (nx,), y: shape (ny,), value: shape (ny, nx), all float64.

    minimum: from where heights are measured; -inf for a function without a minimum.
    """

    x: Array
    y: Array
    value: Array
    minimum: float

    @property
    def shade(self) -> Array:
        """What the colours show, shape (ny, nx): the logarithm of the height, so that valleys show what is in them.

        For a function without a minimum the value itself; NaN where the value is not finite.
        """
        value = np.where(np.isfinite(self.value), self.value, np.nan)
        if not np.isfinite(self.minimum) or np.isnan(value).all():
            return value
        height = np.maximum(value - self.minimum, 0.0)
        floor = max(float(np.nanquantile(height, 0.01)), 1e-6 * float(np.nanmax(height)), 1e-300)
        return np.log10(height + floor)


def landscape(problem: Problem, domain: Any = None, *, resolution: int = _RESOLUTION) -> Landscape:
    """The values of a function of two variables on a grid.

    problem: a `TestFunction`, a `FiniteSum` or another function of x, shape (2,). domain: lower and upper bound of both
    coordinates, shape (2, 2); needed where the problem states none. resolution: points along each axis.

    >>> import burlab as bl
    >>> bl.plots.landscape(bl.problems.booth(), resolution=3).value[1, 1]
    np.float64(74.0)
    """
    left, right, bottom, top = (float(bound) for bound in _bounds(problem, domain).ravel())
    x: Array = np.linspace(left, right, resolution)
    y: Array = np.linspace(bottom, top, resolution)
    points = np.stack(np.meshgrid(x, y), -1).reshape(-1, 2)
    with np.errstate(all="ignore"):  # a plot of 1/x shows its pole, and need not speak of it
        value = [problem.value(p) for p in points] if isinstance(problem, FiniteSum) else vmap(problem)(points)
    value = np.asarray(value, np.float64)
    if value.shape != (len(points),):
        raise ShapeError(f"the problem gave shape {value.shape[1:]} at a point, expected one number. Return a scalar.")
    finite = value[np.isfinite(value)]
    lowest = float(finite.min()) if finite.size else 0.0
    minimum = problem.minimum if isinstance(problem, TestFunction) else lowest
    return Landscape(x, y, value.reshape(resolution, resolution), minimum)


def contour(
    problem: Problem,
    *,
    paths: Mapping[str, Any] | None = None,
    domain: Any = None,
    title: str = "",
    resolution: int = _RESOLUTION,
) -> Any:
    """A figure of a function of two variables: level lines, its known minima and saddles, and paths over it.

    problem, domain, resolution: as for `landscape`. paths: by name, points in order, shape (n, 2), or runs, whose
    whole record is drawn.

    >>> import burlab as bl
    >>> f = bl.problems.himmelblau()
    >>> [trace.name for trace in bl.plots.contour(f, paths={"step": [[0, 0], [1, 1]]}).data]
    ['himmelblau', 'saddle', 'minimum', 'step', 'step']
    """
    figure: Any = go.Figure(layout=layout(title=title, width=820, height=600))
    figure.add_traces(landscape_traces(problem, landscape(problem, domain, resolution=resolution)))
    for k, (name, path) in enumerate((paths or {}).items()):
        figure.add_traces(path_traces(name, path, colour(k)))
    (left, right), (bottom, top) = _bounds(problem, domain)
    figure.update_xaxes(title="x₀", range=[left, right], zeroline=False, constrain="domain")
    figure.update_yaxes(title="x₁", range=[bottom, top], zeroline=False)
    return figure


def landscape_traces(problem: Problem, heights: Landscape) -> list[Any]:
    """The traces of a landscape: its level lines, and the known saddles and minima of the problem."""
    name = getattr(problem, "__name__", "f")
    traces: list[Any] = [
        go.Contour(
            x=heights.x,
            y=heights.y,
            z=heights.shade,
            customdata=heights.value,
            name=name,
            ncontours=_LEVELS,
            colorscale=HEIGHTS,
            showscale=False,
            line={"color": LEVEL_LINES, "width": 0.6},
            hovertemplate="x₀ %{x:.4g}<br>x₁ %{y:.4g}<br>f %{customdata:.6g}<extra></extra>",
        )
    ]
    if isinstance(problem, TestFunction):
        marks = (("saddle", problem.saddles, "x-thin-open"), ("minimum", problem.minima, "star"))
        traces += [_marks(*mark) for mark in marks if len(mark[1])]
    return traces


def path_traces(name: str, path: Any, line_colour: str) -> list[Any]:
    """Two traces of a path: its line, and dots where it starts and ends. path: points in order, (n, 2), or a run.

    Points that lie too near to each other to be seen apart are left out.
    """
    points = np.asarray(_recorded(path) if hasattr(path, "path") else path, np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ShapeError(f"the path {name!r} has shape {points.shape}, expected (n, 2): a row per point.")
    seen = points[apart(points)]
    few = len(seen) <= _FEW
    line: Any = go.Scatter(
        x=seen[:, 0],
        y=seen[:, 1],
        name=name,
        legendgroup=name,
        mode="lines+markers" if few else "lines",
        line={"color": line_colour, "width": 2},
        marker={"size": 4, "color": line_colour},
    )
    ends = points[[0, -1]] if len(points) else points
    marker = {"size": [6, 11], "color": line_colour, "line": {"color": "white", "width": 1}}
    more = {"mode": "markers", "marker": marker, "showlegend": False, "hoverinfo": "skip"}
    return [line, go.Scatter(x=ends[:, 0], y=ends[:, 1], name=name, legendgroup=name, **more)]


def _recorded(run: Any) -> Any:
    """The points of the whole record of a run."""
    found = run.path
    if found is None:
        raise ShapeError("a run has a path where x has one or two entries. Pass points, shape (n, 2), for others.")
    return found[1]


def apart(points: Array) -> Any:
    """Positions of points, the first and the last among them, such that a line through them looks like all of it.

    >>> import numpy as np
    >>> apart(np.ones((1000, 2)))
    array([  0, 999])
    """
    if len(points) <= _FEW:
        return np.arange(len(points))
    moved = np.linalg.norm(np.diff(points, axis=0), axis=1)
    way = np.concatenate([[0.0], np.cumsum(np.where(np.isfinite(moved), moved, 0.0))])
    extent = float(np.nanmax(np.ptp(points, axis=0), initial=0.0))
    cell = np.floor(way / max(extent / _MANY, way[-1] / _MOST, 1e-300))
    return np.flatnonzero(np.concatenate([[True], (np.diff(cell) > 0)[:-1], [True]]))


def _marks(name: str, points: Array, symbol: str) -> Any:
    marker = {"symbol": symbol, "size": 13, "color": "#222222", "line": {"width": 2 if name == "saddle" else 0}}
    return go.Scatter(x=points[:, 0], y=points[:, 1], name=name, mode="markers", marker=marker)


def _bounds(problem: Problem, domain: Any) -> Array:
    if domain is None:
        if not isinstance(problem, TestFunction):
            raise ArgumentError(
                "the problem states no domain. Pass domain=[(left, right), (bottom, top)], or a TestFunction."
            )
        domain = problem.domain
    bounds = np.asarray(domain, np.float64)
    if bounds.shape != (2, 2):
        raise ShapeError(
            f"the domain has shape {bounds.shape}, expected (2, 2): a contour needs a function of two variables."
        )
    if not (np.isfinite(bounds).all() and (bounds[:, 0] < bounds[:, 1]).all()):
        raise ArgumentError(f"domain={bounds.tolist()} must hold two finite bounds per coordinate, the lower first.")
    return bounds
