"""The path of a run with two parameters, read again where it has grown."""

from time import monotonic
from typing import Any

import numpy as np

from burlab.charts.limits import along

from .pyramid import Series

_LONG, _WAIT = 4000, 0.3  # points that are kept at most; a path of more is read again after so many seconds
_NONE = (np.empty(0), np.empty((0, 2)))


class Path:
    """steps: shape (n,), points: shape (n, d), float64: those of the run's path that can be seen apart."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Nowhere."""
        self.steps: Series
        self.points: Series
        self.steps, self.points = _NONE
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
        if len(self.steps) > _LONG:
            seen = along(self.points, _LONG)
            self.steps, self.points = self.steps[seen], self.points[seen]
            self._next = now + _WAIT
