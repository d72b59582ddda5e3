"""The landscape of a function of two variables: its values on a grid, its level lines, its known points."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.charts.grid import grid, shade
from burlab.charts.palette import INK, SHADES
from burlab.errors import ArgumentError, ShapeError
from burlab.problems import FiniteSum, TestFunction
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.extras import late
from burlab.runtime.plain import as_floats
from burlab.transforms import vmap

from .style import LEVEL_LINES

go: Any = late("plotly.graph_objects", "plots")

Array = np.ndarray[Any, np.dtype[np.float64]]
Problem = FiniteSum | Callable[[Any], Any]
RESOLUTION = 141  # points along each axis: a pixel in four
_LEVELS = 18


@dataclass(frozen=True, slots=True)
class HeightMap:
    """A function of two variables on a grid. x: shape (nx,), y: shape (ny,), value: shape (ny, nx), all float64.

    minimum: heights are measured from it; -inf for a function without a minimum.
    """

    x: Array
    y: Array
    value: Array
    minimum: float

    @property
    def shade(self) -> Array:
        """The numbers behind the colours, shape (ny, nx): the logarithm of the height, so that valleys show detail.

        For a function without a minimum the value itself; NaN where the value is not finite.
        """
        return shade(self.value, self.minimum)


_FINEST = 10_000  # points along an axis: more than any screen has


def landscape(problem: Problem, domain: Any = None, *, resolution: int = RESOLUTION) -> HeightMap:
    """The values of a function of two variables on a grid.

    Args:
        problem: A `TestFunction`, a `FiniteSum` or another function of x, shape (2,).
        domain: Lower and upper bound of both coordinates, shape (2, 2); needed where the problem states none.
        resolution: Points along each axis.

    >>> import burlab as bl
    >>> bl.plots.landscape(bl.problems.booth(), resolution=3).value[1, 1]
    np.float64(74.0)
    """
    resolution = whole(resolution, "resolution", 2, _FINEST)
    x, y, points = grid(bounds_of(problem, domain), resolution)
    with np.errstate(all="ignore"):  # a plot of 1/x shows its pole, and need not speak of it
        value = [problem.value(p) for p in points] if isinstance(problem, FiniteSum) else vmap(problem)(points)
    value = np.asarray(value, np.float64)
    if value.shape != (len(points),):
        raise ShapeError(f"the problem gave shape {value.shape[1:]} at a point, expected one number. Return a scalar.")
    finite = value[np.isfinite(value)]
    lowest = float(finite.min()) if finite.size else 0.0
    minimum = problem.minimum if isinstance(problem, TestFunction) else lowest
    return HeightMap(x, y, value.reshape(resolution, resolution), minimum)


def landscape_traces(problem: Problem, heights: HeightMap) -> list[Any]:
    """The traces of a landscape: its level lines, and the known saddles and minima of the problem."""
    if not isinstance(heights, HeightMap):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"heights must be a result of bl.plots.landscape; got {shown(heights)}.")
    name = getattr(problem, "__name__", "f")
    traces: list[Any] = [
        go.Contour(
            x=heights.x,
            y=heights.y,
            z=heights.shade,
            customdata=heights.value,
            name=name,
            ncontours=_LEVELS,
            contours={"coloring": "heatmap"},  # filled levels lie on one another: clear ones would add up
            colorscale=SHADES,
            showscale=False,
            line={"color": LEVEL_LINES, "width": 0.6},
            hovertemplate="x₀ %{x:.4g}<br>x₁ %{y:.4g}<br>f %{customdata:.6g}<extra></extra>",
        )
    ]
    if isinstance(problem, TestFunction):
        marks = (("saddle", problem.saddles, "x-thin-open"), ("minimum", problem.minima, "star"))
        traces += [_marks(*mark) for mark in marks if len(mark[1])]
    return traces


def _marks(name: str, points: Array, symbol: str) -> Any:
    marker = {"symbol": symbol, "size": 13, "color": INK, "line": {"width": 2 if name == "saddle" else 0}}
    group = {"name": name, "legendgroup": name}  # a group each: plotly stacks what has none
    return go.Scatter(x=points[:, 0], y=points[:, 1], mode="markers", marker=marker, **group)


def bounds_of(problem: Problem, domain: Any) -> Array:
    """Lower and upper bound of both coordinates, shape (2, 2): those given, or else those of the problem. Raises.

    >>> import burlab as bl
    >>> bounds_of(bl.problems.branin(), None)
    array([[-5., 10.],
           [ 0., 15.]])
    """
    if domain is None:
        if not isinstance(problem, TestFunction):
            raise ArgumentError(
                "the problem states no domain. Pass domain=[(left, right), (bottom, top)], or a TestFunction."
            )
        domain = problem.domain
    bounds = as_floats(domain, "domain")
    if bounds.shape != (2, 2):
        raise ShapeError(
            f"the domain has shape {bounds.shape}, expected (2, 2): a contour needs a function of two variables."
        )
    if not (np.isfinite(bounds).all() and (bounds[:, 0] < bounds[:, 1]).all()):
        raise ArgumentError(f"domain={bounds.tolist()} must hold two finite bounds per coordinate, the lower first.")
    return bounds
