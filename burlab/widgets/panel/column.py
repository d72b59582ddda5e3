"""One column of a record, as an axis of steps of either kind shows it."""

from typing import Any

import numpy as np

from .pyramid import NOTHING, Pyramid, Series

_FIRST, _FACTOR, _HEADS = 4096, 16, 4
_EVERY = 1 << 20  # more points than a pyramid has
FIRST_STEP = 0.5  # where an axis with logarithms shows step 0


class Column(Pyramid):
    """A pyramid of all rows, and of the first 4,096, 65,536, ... rows one each, which stay fine."""

    def __init__(self) -> None:
        self._heads = [(_FIRST * _FACTOR**k, Pyramid()) for k in range(_HEADS)]
        super().__init__()

    def clear(self) -> None:
        """No rows."""
        super().clear()
        for _, head in self._heads:
            head.clear()

    def append(self, x: Series, y: Series) -> None:
        """Add rows, as a pyramid does."""
        for most, head in self._heads:
            if (room := most - self.rows) > 0:
                head.append(x[:room], y[:room])
        super().append(x, y)

    def along(self, count: int, *, log: bool, log_steps: bool) -> tuple[Series, Series]:
        """At most `count` points (x, y) for an axis. log: only positive values; log_steps: of logarithms of steps."""
        if not log_steps:
            return self.points(count, log=log)
        x, y = NOTHING, NOTHING
        for part in [head for most, head in self._heads if most < _FACTOR * self.rows] + [self]:
            xs, ys = part.points(_EVERY, log=log)
            new = xs > (x[-1] if x.size else -1.0)
            x, y = np.append(x, xs[new]), np.append(y, ys[new])
        x = np.maximum(x, FIRST_STEP)
        kept = _extremes_of_buckets(np.log(x), y, count // 2 - 1) if x.size > count else slice(None)
        return x[kept], y[kept]


def _extremes_of_buckets(places: Series, heights: Series, buckets: int) -> Any:
    """Positions of the lowest and the highest point of each of so many equal parts of an axis, and of the last one."""
    bucket = np.floor((places - places[0]) / (places[-1] - places[0]) * buckets)
    order = np.lexsort((heights, bucket))
    ends = np.flatnonzero(np.diff(bucket[order], prepend=-1.0, append=np.inf))
    return np.unique(np.concatenate((order[ends[:-1]], order[ends[1:] - 1], [places.size - 1])))


def place_of(step: Any, log_steps: bool) -> Any:
    """Where a step is drawn."""
    return np.maximum(step, FIRST_STEP) if log_steps else step
