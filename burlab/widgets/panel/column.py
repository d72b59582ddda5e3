"""One column of a record, as an axis of steps of either kind shows it."""

from collections.abc import Callable
from typing import Any

import numpy as np

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
        retained = _extremes_of_buckets(place_of(x, log_steps), y, count // 2 - 1) if x.size > count else slice(None)
        return x[retained], y[retained]

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


def _extremes_of_buckets(places: Series, heights: Series, buckets: int) -> Any:
    """Positions of the lowest and the highest point of each of so many equal parts of an axis, and of the last one."""
    bucket = np.floor((places - places[0]) / (places[-1] - places[0]) * buckets)
    starts = np.flatnonzero(np.diff(bucket, prepend=-1.0))
    inside = np.diff(starts, append=places.size)
    found = [
        _first(heights == np.repeat(end.reduceat(heights, starts), inside), starts) for end in (np.minimum, np.maximum)
    ]
    return np.unique(np.concatenate((*found, [places.size - 1])))


def _first(chosen: Any, starts: Any) -> Any:
    """The first chosen position of each part that begins at `starts`."""
    at = np.flatnonzero(chosen)
    return at[np.searchsorted(at, starts)]


def place_of(step: Series, log_steps: bool) -> Series:
    """Return the places of steps along an axis, up to its scale."""
    return np.log(np.maximum(step, FIRST_STEP)) if log_steps else step
