"""The plane of a run with two parameters: how high the function is there, and the path of the run."""

import threading
from time import perf_counter
from typing import Any

import numpy as np

from burlab.graph import tree
from burlab.plots import landscape
from burlab.problems import FiniteSum, TestFunction
from burlab.problems.point import as_point

from .background_work import in_background
from .pyramid import Series

_MAX_SECONDS = 1.5  # that a landscape may take
_MAX_RESOLUTION, _MIN_RESOLUTION = 121, 31  # points along each axis
_MARGIN = 0.15  # of the box, around a path that leaves it
_MAX_REACH = 20.0  # times the first box: a run that diverges is not followed further


class PanelLandscape:
    """The contour of a panel. `refresh` is quick; heights are computed in a thread and come later.

    box: bounds of both parameters, shape (2, 2). heights: a `Landscape`, None as long as there is none; version: how
    often they were computed. why: what went wrong with them.
    """

    def __init__(self, run: Any) -> None:
        self.heights: Any = None
        self.version = 0
        self.why = ""
        self.box: Series = _first_box(run)
        self._centre, self._reach = self.box.mean(axis=1), _MAX_REACH * np.ptp(self.box, axis=1)
        self._followed: Any = None  # the path that was looked at last
        self._wanted: Any = None  # the box of the heights that are there or being computed
        self._thread: threading.Thread | None = None

    def refresh(self, run: Any, points: Series) -> None:
        """Follow a path, shape (n, 2), out of the box, and start to compute heights for a new one."""
        if points is not self._followed:
            self._followed = points
            self._follow(points)
        idle = self._thread is None or not self._thread.is_alive()
        if idle and run.problem is not None and not np.array_equal(self.box, self._wanted):
            self._wanted = self.box
            problem, box = _as_function(run), self.box
            self._thread = in_background(lambda: self._compute(problem, box), "landscape")

    def _follow(self, points: Series) -> None:
        """A box that holds the path, with a margin where it was too small."""
        near = points[(np.abs(points - self._centre) < self._reach).all(axis=1)]  # NaN is not near
        if not near.size:
            return
        low, high = np.minimum(self.box[:, 0], near.min(axis=0)), np.maximum(self.box[:, 1], near.max(axis=0))
        if (low < self.box[:, 0]).any() or (high > self.box[:, 1]).any():
            spare = _MARGIN * (high - low)
            low = np.where(low < self.box[:, 0], low - spare, low)
            high = np.where(high > self.box[:, 1], high + spare, high)
            self.box = np.stack([low, high], axis=1)

    @property
    def computing(self) -> bool:
        """Return True while heights are computed."""
        return self._thread is not None and self._thread.is_alive()

    def wait(self) -> None:
        """Wait for heights that are being computed."""
        if self._thread is not None:
            self._thread.join()

    def _compute(self, problem: Any, box: Any) -> None:
        try:
            self.heights = landscape(problem, box, resolution=_resolution(problem, box))
            self.version += 1
        except Exception as error:
            self.why = f"no contour: {error}"


def marks(problem: Any) -> dict[str, Series]:
    """Known minima and saddles of a library problem, each of shape (k, 2)."""
    if not isinstance(problem, TestFunction):
        return {}
    return {"minimum": np.asarray(problem.minima, float), "saddle": np.asarray(problem.saddles, float)}


def flat(x: tree.Tree) -> Series:
    """All entries of a point."""
    return np.concatenate([np.ravel(np.asarray(leaf, np.float64)) for leaf in tree.flatten(x)[0]])


def _first_box(run: Any) -> Any:
    if isinstance(run.problem, TestFunction):
        return np.asarray(run.problem.domain, np.float64)
    points = run.path[1]
    start = points[0] if len(points) else flat(run.x)
    reach = np.maximum(1.0, 1.5 * np.abs(start).max())
    return np.stack([start - reach, start + reach], axis=1)


def _as_function(run: Any) -> Any:
    """The problem as a function of a vector of two, whatever the structure of its point."""
    problem, point = run.problem, as_point(run.x, "x")
    if isinstance(run.x, np.ndarray) and point.leaves[0].ndim == 1:
        return problem

    def function(p: Any) -> Any:
        return problem(point.with_numbers(p).tree)

    return function


def _resolution(problem: Any, box: Any) -> int:
    """As fine as the time allows: a finite sum is evaluated point by point."""
    if not isinstance(problem, FiniteSum):
        return _MAX_RESOLUTION
    middle = box.mean(axis=1)
    problem.value(middle)  # the first call compiles
    start = perf_counter()
    problem.value(middle)
    return int(np.clip((_MAX_SECONDS / max(perf_counter() - start, 1e-9)) ** 0.5, _MIN_RESOLUTION, _MAX_RESOLUTION))
