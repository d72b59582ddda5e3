"""The record of one run as curves, read as it grows."""

import math
from time import monotonic
from typing import Any

import numpy as np

from burlab.plots import apart

from .pyramid import Pyramid, Series

NOT_DRAWN = ("step", "stamp_step", "stamp_time")
PACE = "time_per_step"  # seconds, between two time stamps
_PIECE = 1 << 18  # entries that are read at once: two megabytes a column
_LONG, _WAIT = 4000, 0.3  # a path of more points is read again after so many seconds
_NO_PATH = (np.empty(0), np.empty((0, 2)))
_RECENT = 32  # time stamps that tell how fast it is now


class Lines:
    """A pyramid for every column of a run's record. `read` costs time in the rows that are new.

    version: changes when there is something new to draw.
    """

    def __init__(self, run: Any) -> None:
        self.run = run
        self.version = 0
        self.curves: dict[str, Pyramid] = {}
        self.path: tuple[Series, Series] = _NO_PATH  # steps and points, of two parameters
        self._path_is_old = True
        self._next_path = 0.0
        self._cursor: Any = None
        self._parent: Any = run.parent
        self._recent: list[tuple[float, float]] = []  # time stamps
        self._stamp: tuple[float, float] = (-1.0, 0.0)  # row and nanoseconds of the last time stamp

    def read(self, seconds: float = math.inf) -> bool:
        """Take what was written since the last time; whether that was all. seconds: after which the rest is left."""
        if self.run.parent is not self._parent:  # it has branched off, and continues in a record of its own
            self._parent, self._cursor = self.run.parent, None
        end = monotonic() + seconds
        while (count := self._read_piece()) == _PIECE and monotonic() < end:
            pass
        self._read_path()
        return count < _PIECE

    def _read_piece(self) -> int:
        """Take at most a piece; how many entries there were."""
        rows, self._cursor, fresh = self.run.tail(self._cursor, most=_PIECE, keeps=True)
        if fresh:
            for curve in self.curves.values():
                curve.clear()
            self._stamp = (-1.0, 0.0)
            self._recent.clear()
            self.path = _NO_PATH
        steps = rows["step"]
        for name in rows:
            if name not in NOT_DRAWN:
                self._curve(name).append(steps, rows[name])
        self._read_stamps(rows["stamp_step"], rows["stamp_time"])
        new = bool(fresh or steps.size)
        self.version += new
        self._path_is_old |= new
        return int(steps.size)

    def _read_path(self) -> None:
        """The path is read whole: at rest at once, and a long one of a run that plays now and then.

        A run thins its path as it grows. What was read before is finer, and is kept.
        """
        now = monotonic()
        if not self._path_is_old or (now < self._next_path and self.run.running):
            return
        self._path_is_old = False
        found = self.run.path
        if found is None:
            return
        (steps, points), (known_steps, known) = found, self.path
        if known.shape[1] == points.shape[1]:
            new = steps > (known_steps[-1] if known_steps.size else -1)
            steps, points = np.concatenate([known_steps, steps[new]]), np.concatenate([known, points[new]])
        if len(steps) > _LONG:
            seen = apart(points)
            steps, points = steps[seen], points[seen]
            self._next_path = now + _WAIT
        self.path = steps, points

    def _curve(self, name: str) -> Pyramid:
        return self.curves.setdefault(name, Pyramid())

    def _read_stamps(self, steps: Series, times: Series) -> None:
        """Time per step between stamps: seconds, at the later one."""
        if steps.size:
            self._recent = [*self._recent, *zip(steps[-_RECENT:], times[-_RECENT:], strict=True)][-_RECENT:]
        at: Series = np.concatenate([[self._stamp[0]], steps])
        when: Series = np.concatenate([[self._stamp[1]], times])
        done, took = np.diff(at), np.diff(when)
        real = done > 0
        self._curve(PACE).append(steps[real], took[real] / done[real] * 1e-9)
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
