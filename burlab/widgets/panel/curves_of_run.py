"""The record of one run as curves, read as it grows."""

import math
from time import monotonic
from typing import Any

import numpy as np

from burlab.charts.limits import along

from .column import Column
from .pyramid import Series

_MAX_POINTS = 4000  # of a path
_WAIT_SECONDS = 0.3  # until a path of more points is read again
_NO_PATH = (np.empty(0), np.empty((0, 2)))


class DrawnPath:
    """steps: shape (n,), points: shape (n, d), float64: those of the run's path that can be seen apart."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Nowhere."""
        self.steps: Series
        self.points: Series
        self.steps, self.points = _NO_PATH
        self._is_old = True
        self._next = 0.0

    def grown(self) -> None:
        """There may be more of it."""
        self._is_old = True

    def read(self, run: Any) -> None:
        """Take what there is: of a run at rest at once, and a long one of a run that plays now and then."""
        now = monotonic()
        if not self._is_old or (now < self._next and run.running):
            return
        self._is_old = False
        if (found := run.path) is None:
            return
        self.steps, self.points = found
        if len(self.steps) > _MAX_POINTS:
            seen = along(self.points, _MAX_POINTS)
            self.steps, self.points = self.steps[seen], self.points[seen]
            self._next = now + _WAIT_SECONDS


NOT_DRAWN = ("step", "samples", "memory", "stamp_step", "stamp_time")
PACE = "time_per_step"  # seconds, between two time stamps
_ENTRIES_PER_READ = 1 << 18  # entries that are read at once: two megabytes a column
_RATE_STAMPS = 32  # time stamps that tell how fast it is now


class RunCurves:
    """A pyramid for every column of a run's record, and its path. `read` costs time in the rows that are new.

    window: the first and the last step that are taken; None for all, and only then the path. stamps: seconds of running
    by step, where there is a time stamp. version: changes when there is something new to draw.
    """

    def __init__(self, run: Any, window: tuple[float, float] | None = None) -> None:
        self.run = run
        self.window = window
        self.version = 0
        self.curves: dict[str, Column] = {}
        self.stamps = Column()
        self.path = DrawnPath()
        self._cursor: Any = None
        self._parent: Any = run.parent
        self._recent: list[tuple[float, float]] = []  # time stamps
        self._stamp: tuple[float, float] = (-1.0, 0.0)  # row and nanoseconds of the last time stamp

    def read(self, seconds: float = math.inf) -> bool:
        """Take what was written since the last time; whether that was all. seconds: after which the rest is left."""
        if self.run.parent is not self._parent:  # it has branched off, and continues in a record of its own
            self._parent, self._cursor = self.run.parent, None
        end = monotonic() + seconds
        while (count := self._read_piece()) == _ENTRIES_PER_READ and monotonic() < end:
            pass
        if not self.window:
            self.path.read(self.run)
        return count < _ENTRIES_PER_READ

    def _read_piece(self) -> int:
        """Take at most a piece; how many entries there were."""
        rows, self._cursor, fresh = self.run.tail(self._cursor, most=_ENTRIES_PER_READ)
        if fresh:
            for curve in self.curves.values():
                curve.clear()
            self.stamps.clear()
            self._stamp = (-1.0, 0.0)
            self._recent.clear()
            self.path.clear()
        steps = rows["step"]
        taken = self._taken(steps)
        for name in rows:
            if name not in NOT_DRAWN:
                self._curve(name).append(steps[taken], rows[name][taken])
        self._read_stamps(rows["stamp_step"], rows["stamp_time"])
        new = bool(fresh or steps[taken].size)
        self.version += new
        if new:
            self.path.grown()
        return int(steps.size)

    def _taken(self, steps: Series) -> slice:
        """Return a mask of the rows in the window."""
        if self.window is None:
            return slice(None)
        first, last = self.window
        return slice(*np.searchsorted(steps, [first, np.nextafter(last, np.inf)]).tolist())

    def _curve(self, name: str) -> Column:
        return self.curves.setdefault(name, Column())

    def _read_stamps(self, steps: Series, times: Series) -> None:
        """Time per step between stamps: seconds, at the later one."""
        if steps.size:
            self._recent = [*self._recent, *zip(steps[-_RATE_STAMPS:], times[-_RATE_STAMPS:], strict=True)][
                -_RATE_STAMPS:
            ]
        at: Series = np.concatenate([[self._stamp[0]], steps])
        when: Series = np.concatenate([[self._stamp[1]], times])
        done, took = np.diff(at), np.diff(when)
        real = done > 0
        shown, pace = steps[real], took[real] / done[real] * 1e-9
        taken = self._taken(shown)
        self._curve(PACE).append(shown[taken], pace[taken])
        self.stamps.append(steps, times * 1e-9)
        if steps.size:
            self._stamp = (float(steps[-1]), float(times[-1]))

    @property
    def pace(self) -> float:
        """Seconds per step, over the latest time stamps; NaN without two of them."""
        (first, start), (last, end) = (self._recent or [(0.0, 0.0)])[0], (self._recent or [(0.0, 0.0)])[-1]
        return (end - start) / (last - first) * 1e-9 if last > first else math.nan


def family(run: Any, most: int = 4) -> list[Any]:
    """The runs that this one branched from, the nearest first."""
    found: list[Any] = []
    run = run.parent
    while run is not None and len(found) < most:
        found.append(run)
        run = run.parent
    return found
