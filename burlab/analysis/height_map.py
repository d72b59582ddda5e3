"""A function of two parameters over a box: its heights on a grid, its known points, and a box that follows paths."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from burlab.charts.chart import Curve, Dots, Map
from burlab.charts.grid import axes, grid, lowest, shade
from burlab.problems import FiniteSum, TestFunction
from burlab.typing import Numbers, Tree

from .flat_objective import FlatObjective, Problem

_SECONDS = 1.0  # that the heights of a finite sum, which is evaluated point by point, may take
_MIN_RESOLUTION, _MAX_RESOLUTION = 31, 121  # points along each axis
_MARGIN = 0.15  # of the box, around a path that leaves it


@dataclass(frozen=True)
class HeightMap:
    """A function of two variables on a grid. x: shape (nx,), y: shape (ny,), value: shape (ny, nx), all float64.

    minimum: heights are measured from it; -inf for a function without a minimum.
    """

    x: Numbers
    y: Numbers
    value: Numbers
    minimum: float

    @cached_property
    def shade(self) -> Numbers:
        """The numbers behind the colours, shape (ny, nx): the logarithm of the height, so that valleys show detail.

        For a function without a minimum the value itself; NaN where the value is not finite.
        """
        return shade(self.value, self.minimum)


def height_map(problem: Problem, x: Tree, box: Numbers, resolution: int | None = None) -> HeightMap:
    """The heights of a problem of two parameters over a box.

    Args:
        problem: As for `FlatObjective.of`.
        x: A point, whose structure the problem takes.
        box: Lower and upper bound of both parameters, shape (2, 2).
        resolution: Points along each axis; None for as many as a second allows, 31 to 121.

    >>> height_map(lambda x: x[0] - x[1], np.zeros(2), np.array([[0.0, 1.0], [0.0, 2.0]]), 2).value.tolist()
    [[0.0, 1.0], [-2.0, -1.0]]
    """
    objective = FlatObjective.of(problem, x)
    a, b, points = grid(box, resolution or _resolution(objective, box.mean(axis=1)))
    value = objective.values_on(np.zeros(2), np.eye(2), points).reshape(len(b), len(a))
    return HeightMap(a, b, value, problem.minimum if isinstance(problem, TestFunction) else lowest(value))


def map_over(  # noqa: PLR0913 - all that a map shows
    box: Numbers,
    heights: HeightMap | None,
    title: str,
    curves: tuple[Curve, ...],
    dots: tuple[Dots, ...],
    *,
    name: str,
    version: int,
    note: str = "",
    labels: Sequence[str] = ("x₀", "x₁"),
) -> Map:
    """A map of two parameters over a box, with its heights once they are known; see `Map`. labels: of the axes."""
    x, y = axes(box, labels)
    value, shades = (None, None) if heights is None else (heights.value, heights.shade)
    return Map(name, title, x, y, value, version, curves, dots, note, shade=shades)


def known_points(problem: Problem) -> tuple[Dots, ...]:
    """The saddles and minima of a test function; none of another problem.

    >>> import burlab as bl
    >>> [(dots.label, dots.x.size) for dots in known_points(bl.problems.himmelblau())]
    [('saddle', 4), ('minimum', 4)]
    """
    if not isinstance(problem, TestFunction):
        return ()
    every = (
        Dots(problem.saddles[:, 0], problem.saddles[:, 1], "saddle", -1, "cross"),
        Dots(problem.minima[:, 0], problem.minima[:, 1], "minimum", -1, "star"),
    )
    return tuple(dots for dots in every if dots.x.size)


class PathBox:
    """The domain of a test function, or a box around a start, shape (2,), which grows so that it holds paths.

    bounds: of both parameters, shape (2, 2). reach: how far from the middle of the first box a point is followed, in
    sizes of that box, since a run may diverge.
    """

    def __init__(self, problem: Problem, start: Numbers, reach: float) -> None:
        far = max(1.0, 1.5 * float(np.abs(start).max()))
        domain: Any = problem.domain if isinstance(problem, TestFunction) else np.stack([start - far, start + far], 1)
        self.bounds: Numbers = np.array(domain, np.float64)
        self._centre: Numbers = self.bounds.mean(axis=1)
        self._reach: Numbers = reach * np.ptp(self.bounds, axis=1)

    def follow(self, points: Numbers) -> bool:
        """Grow until the box holds the points, shape (n, 2), with a margin; return True if it was too small."""
        near = points[(np.abs(points - self._centre) < self._reach).all(axis=1)]  # NaN is not near
        if not near.size:
            return False
        low, high = near.min(axis=0), near.max(axis=0)
        outside = np.stack([low < self.bounds[:, 0], high > self.bounds[:, 1]], axis=1)
        spare = _MARGIN * np.ptp(np.concatenate([near, self.bounds.T]), axis=0)
        if outside.any():
            self.bounds = np.where(outside, np.stack([low - spare, high + spare], axis=1), self.bounds)
        return bool(outside.any())


def _resolution(objective: FlatObjective, middle: Numbers) -> int:
    if not isinstance(objective.problem, FiniteSum):
        return _MAX_RESOLUTION
    objective.value(middle)  # the first call compiles
    start = perf_counter()
    objective.value(middle)
    return int(np.clip((_SECONDS / max(perf_counter() - start, 1e-9)) ** 0.5, _MIN_RESOLUTION, _MAX_RESOLUTION))
