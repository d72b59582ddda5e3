"""One column of a record, as an axis of steps of either kind shows it."""

from collections.abc import Callable

import numpy as np

from burlab.charts.stretch_extremes import extremes

from .pyramid import Pyramid, Series

_FIRST, _FACTOR, _HEADS = 512, 16, 4
_HEAD_BUCKETS = 512  # buckets of a head: more than an axis shows of the decades that it is for
_ALL_POINTS = 1 << 20  # more points than a pyramid has
FIRST_STEP = 0.5  # where an axis with logarithms shows step 0


class Column(Pyramid):
    """A pyramid of all rows, and of the first 512, 8,192, ... rows one each, which stay fine."""

    def __init__(self) -> None:
        self._heads = [(_FIRST * _FACTOR**k, Pyramid(_HEAD_BUCKETS)) for k in range(_HEADS)]
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
        x, y = self._all_heads(lambda part: np.stack(part.points(_ALL_POINTS, log=log)))
        if x.size <= count:
            return x, y
        places = place_of(x, log_steps)
        bucket = np.floor((places - places[0]) / (places[-1] - places[0]) * (count // 2 - 1))
        retained = np.unique(np.append(extremes(y, np.flatnonzero(np.diff(bucket, prepend=-1.0))), x.size - 1))
        return x[retained], y[retained]

    def all_points(self) -> tuple[Series, Series]:
        """Return all points (x, y) that are stored, in order."""
        return self.along(_ALL_POINTS, log=False, log_steps=True)

    def means_along(self, *, log_steps: bool) -> Series:
        """The means of buckets, as `Pyramid.means`, finer where an axis of logarithms shows more."""
        return self._all_heads(Pyramid.means) if log_steps else self.means()

    def _all_heads(self, of: Callable[[Pyramid], Series]) -> Series:
        """Join `of` of each head, where no finer one reaches; its first row is x."""
        found: list[Series] = []
        last = -1.0
        for part in [head for most, head in self._heads if most < _FACTOR * self.rows] + [self]:
            rows = of(part)
            found.append(rows[:, rows[0] > last])
            last = float(found[-1][0, -1]) if found[-1].size else last
        return np.concatenate(found, axis=1)


def place_of(step: Series, log_steps: bool) -> Series:
    """Return the places of steps along an axis, up to its scale."""
    return np.log(np.maximum(step, FIRST_STEP)) if log_steps else step
