"""The map of a race in two dimensions: the heights of the problem, and the paths of the racers over it."""

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from burlab.charts import Axis, Curve, Dots, Map
from burlab.charts.grid import grid, shade
from burlab.charts.limits import along
from burlab.graph import tree
from burlab.problems import FiniteSum, TestFunction
from burlab.problems.point import as_start
from burlab.run import Run
from burlab.transforms import vmap

from .racer import Racer
from .setting import Setting

Numbers = np.ndarray[Any, np.dtype[np.float64]]
_FINE, _COARSE = 121, 25  # points along each axis
_SECONDS = 1.0  # that heights of a finite sum may take
_MARGIN = 0.08  # around the paths that leave the first box, in sizes of the box
_FARTHEST = 3.0  # sizes of the first box beyond which no path is followed


class RaceMap:
    """Heights over a box that follows the paths, computed at first use."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._box: Numbers = _first_box(setting)
        self._heights: Any = None
        self._shade: Any = None
        self._version = 0
        self._reach: Numbers = _FARTHEST * np.ptp(self._box, axis=1)
        self._centre: Numbers = self._box.mean(axis=1)

    def chart(self, racers: list[Racer], firsts: Mapping[str, int] | None = None) -> Map:
        """The map with the path of every racer: that of its first seed, and those of others faintly.

        firsts: the step from which the path of a racer is drawn, by name; else all of it is.
        """
        firsts = firsts or {}
        paths = {r.name: [_from(run, firsts.get(r.name, 0)) for run in r.runs if run.path is not None] for r in racers}
        self._follow([path for found in paths.values() for path in found])
        curves: list[Curve] = []
        dots: list[Dots] = []
        for racer in racers:
            for k, path in reversed(list(enumerate(paths[racer.name]))):
                seen = path[self._seen(path)]
                label = "" if k else racer.name
                curves.append(Curve(seen[:, 0], seen[:, 1], label, racer.colour, faint=k > 0))
                if not k and len(seen) and np.isfinite(path[-1]).all():
                    dots.append(Dots(path[-1:, 0], path[-1:, 1], "", racer.colour, hints=(racer.name,)))
        low, high = self._box.T
        return Map(
            "paths", "paths",
            Axis("x₀", low=float(low[0]), high=float(high[0])), Axis("x₁", low=float(low[1]), high=float(high[1])),
            self._known_heights(), self._version, tuple(curves), (*self._marks(), *dots), shade=self._shade,
        )  # fmt: skip

    def _marks(self) -> list[Dots]:
        """Known minima and saddles of a library problem."""
        problem = self._setting.problem
        if not isinstance(problem, TestFunction):
            return []
        kinds = (("saddle", problem.saddles, "cross"), ("minimum", problem.minima, "star"))
        return [Dots(at[:, 0], at[:, 1], name, -1, shape) for name, at, shape in kinds if len(at)]

    def _follow(self, paths: list[Numbers]) -> None:
        """A box that holds the paths, with a margin where it was too small. A racer that diverges is not followed."""
        points = np.concatenate([self._box.T, *paths])
        near: Numbers = points[(np.abs(points - self._centre) < self._reach).all(axis=1)]  # NaN is not near
        low: Numbers = near.min(axis=0)
        high: Numbers = near.max(axis=0)
        if (low < self._box[:, 0]).any() or (high > self._box[:, 1]).any():
            spare = _MARGIN * (high - low)
            low = np.where(low < self._box[:, 0], low - spare, low)
            high = np.where(high > self._box[:, 1], high + spare, high)
            self._box = np.stack([low, high], axis=1)
            self._heights = None

    def _known_heights(self) -> Any:
        if self._heights is None:
            self._heights = heights(self._setting, self._box)
            self._shade = None if self._heights is None else shade(self._heights, self._lowest())
            self._version += 1
        return self._heights

    def _lowest(self) -> float:
        """Return the reference of heights: the known minimum of a library problem, else the lowest on the grid."""
        problem = self._setting.problem
        if isinstance(problem, TestFunction):
            return problem.minimum
        return float(np.nanmin(self._heights)) if np.isfinite(self._heights).any() else 0.0

    def _seen(self, path: Numbers) -> Any:
        """Positions of the points of a path that can be seen apart, both ends among them."""
        near = np.flatnonzero(np.isfinite(path).all(axis=1))
        return near[along(path[near], box=self._box)]


def _from(run: Run, first: int) -> Numbers:
    """The points of a path from a step on."""
    steps, points = run.path or (np.empty(0), np.empty((0, 2)))
    return points[max(int(np.searchsorted(steps, first, side="right")) - 1, 0) :]


def heights(setting: Setting, box: Numbers) -> Any:
    """The problem over a box, shape (n, n), rows along the second coordinate; NaN where it has no value.

    As fine as a second allows: a finite sum is evaluated point by point.
    """
    start = as_start(setting.start(setting.seeds[0]), "x0")
    dtype = start.leaves[0].dtype

    def value(p: Any) -> Any:
        return problem(start.with_numbers(p).tree)

    problem, n = setting.problem, _FINE
    if isinstance(problem, FiniteSum):
        if problem.oracle.keyed:
            return None  # its value depends on random numbers
        middle = start.with_numbers(box.mean(axis=1)).tree
        problem.value(middle)  # the first call compiles
        begin = perf_counter()
        problem.value(middle)
        n = int(np.clip((_SECONDS / max(perf_counter() - begin, 1e-9)) ** 0.5, _COARSE, _FINE))
    points = grid(box, n).points.astype(dtype)
    with np.errstate(all="ignore"):  # a picture of 1/x shows its pole: no warning
        if isinstance(problem, FiniteSum):
            found = np.array([problem.value(start.with_numbers(p).tree) for p in points], np.float64)
        else:
            found = np.asarray(vmap(value)(points), np.float64)
    return np.where(np.isfinite(found), found, np.nan).reshape(n, n)


def _first_box(setting: Setting) -> Numbers:
    """Return the domain of a library problem; else a box around the start."""
    if isinstance(setting.problem, TestFunction):
        return np.array(setting.problem.domain)
    leaves = tree.flatten(setting.start(setting.seeds[0]))[0]
    start = np.concatenate([np.ravel(np.asarray(leaf, np.float64)) for leaf in leaves])
    reach = max(1.0, 1.5 * float(np.abs(start).max()))
    return np.stack([start - reach, start + reach], axis=1)
