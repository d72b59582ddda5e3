"""The path of a run while its landscape is shown. Knows no screen."""

import threading
from typing import Any

import numpy as np

from burlab.analysis import Landscape
from burlab.analysis.flat_objective import FlatObjective
from burlab.problems import FiniteSum

_POINTS_PER_UPDATE = 60  # points that are taken between two polls
_MAX_SAMPLES = 1_000_000  # that may be read for their values
_MAX_POINTS = 300  # points that are retained; of more every second one is left out


class RunTrail:
    """Points of a run since its landscape was computed, with the true values there. For any thread.

    They are its points at each poll, and, if the run keeps its path, points between two polls.

    run: a run, or anything else, which has no trail.
    """

    def __init__(self, run: Any) -> None:
        self._run = run
        self._seen: tuple[int, int] | None = None  # the step and the length of the record at the last poll
        self._steps: list[int] = []
        self._points: list[Any] = []
        self._values: list[float] = []
        self._lock = threading.Lock()

    @property
    def step(self) -> int:
        """The step of the last point; -1 without one."""
        with self._lock:
            return self._steps[-1] if self._steps else -1

    @property
    def last(self) -> Any:
        """The last point as a vector, None without one."""
        with self._lock:
            return self._points[-1] if self._points else None

    def update(self) -> bool:
        """Read the run's step and return True if it has changed."""
        now = (int(self._run.t), int(self._run.length))
        if now == self._seen:
            return False
        self._seen = now
        objective = FlatObjective.of(self._run, None)
        step, x = int(self._run.t), objective.x
        since = max((s for s in self._steps if s < step), default=step)  # a run may be sent back
        steps, points = self._passed(since, step)
        values = [objective.value(p) if np.isfinite(p).all() else np.nan for p in (*points, x)]
        with self._lock:
            retained = [k for k, s in enumerate(self._steps) if s < step]
            self._steps = [*(self._steps[k] for k in retained), *steps, step]
            self._points = [*(self._points[k] for k in retained), *points, x]
            self._values = [*(self._values[k] for k in retained), *values]
            if len(self._steps) > _MAX_POINTS:
                for one in (self._steps, self._points, self._values):
                    del one[-2:0:-2]
        return True

    def _passed(self, since: int, step: int) -> tuple[list[int], list[Any]]:
        """Some evenly spaced steps between two, and their points; none if the run keeps no path."""
        path = getattr(self._run, "path", None) if step - since > 1 else None
        if path is None:
            return [], []
        problem, (steps, points) = self._run.problem, path
        count = (
            min(_POINTS_PER_UPDATE, _MAX_SAMPLES // len(problem))
            if isinstance(problem, FiniteSum)
            else _POINTS_PER_UPDATE
        )
        at = np.searchsorted(steps, np.linspace(since, step, count + 2)[1:-1])
        at = np.unique(at[at < len(steps)])
        at = at[(steps[at] > since) & (steps[at] < step)]
        return steps[at].tolist(), list(points[at])

    def over(self, found: Landscape) -> Landscape:
        """A landscape with its own path, continued by this trail to the run's present point."""
        with self._lock:
            steps, points, values = np.array(self._steps, np.float64), np.array(self._points), np.array(self._values)
        if not len(steps):
            return found
        able = np.isfinite(points).all(axis=1)
        new = able & (steps > found.path_steps[-1]) if len(found.path_steps) else able
        old = found.path_steps <= steps[-1]
        places = np.concatenate([found.path[old], found.places(points[new]) if new.any() else np.empty((0, 2))])
        at = np.concatenate([found.path_steps[old], steps[new]])
        return found.along(at, places, np.concatenate([found.path_values[old], values[new]]))
