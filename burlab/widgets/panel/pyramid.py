"""Curves of any length in bounded memory: what a plot shows of ten million rows, at the cost of the new ones."""

import math
from typing import Any

import numpy as np

from burlab.runtime.extras import late

tsdownsample: Any = late("tsdownsample", "lab")

Series = np.ndarray[Any, np.dtype[np.float64]]
NOTHING: Series = np.empty(0)
_NONE: Series = np.empty((7, 0))


class Pyramid:
    """A growing curve, stored as the lowest and the highest row of equal buckets of rows.

    A bucket is `width` rows; when there are twice `buckets` of them, neighbours join and the width doubles. So every
    point stored is a row that was written, no extreme is ever lost, and appending costs time in the new rows only.
    Rows that are not finite are passed over.

    >>> import numpy as np
    >>> curve = Pyramid(buckets=4)
    >>> curve.append(np.arange(1000.0), np.sin(np.arange(1000.0)))
    >>> curve.rows, curve.width, round(curve.low, 4), round(curve.high, 4)
    (1000, 128, -1.0, 1.0)
    """

    def __init__(self, buckets: int = 2048) -> None:
        self._buckets = buckets
        self.clear()

    def clear(self) -> None:
        """No rows."""
        self.rows = 0
        self.width = 1
        # per full bucket: x and y of the lowest row, x and y of the highest, x of the first, sum and count of finite y
        self._full = _NONE
        self._part = _NONE  # the same of the last bucket, which is not full yet: one column, or none
        self._missing = 0  # rows until the last bucket is full
        self.least = math.inf  # the lowest positive y
        self._last = math.nan, math.nan  # x and y of the last row
        self.first = math.nan  # the first finite y

    @property
    def low(self) -> float:
        """The lowest finite y so far; NaN before there is one."""
        return _extreme(self._stored()[1], np.fmin)

    @property
    def lowest(self) -> float:
        """The x of the lowest finite y; NaN before there is one."""
        x, y, *_ = self._stored()
        return float(x[np.nanargmin(y)]) if np.isfinite(y).any() else math.nan

    @property
    def high(self) -> float:
        """The highest finite y so far; NaN before there is one."""
        return _extreme(self._stored()[3], np.fmax)

    def append(self, x: Series, y: Series) -> None:
        """Add rows. x: rising, shape (n,), float64; y: shape (n,), float64."""
        while self.rows + y.size > 2 * self._buckets * self.width:
            self._join()
        if not y.size:
            return
        self.rows += y.size
        if math.isnan(self.first):
            self.first = float(next(iter(y[np.isfinite(y)]), math.nan))
        self.least = min(self.least, _least(y))
        self._last = float(x[-1]), float(y[-1])
        if (ahead := min(self._missing, y.size)) > 0:
            self._part = _lower(self._part, _extremes(x[:ahead], y[:ahead], ahead))
            self._missing -= ahead
            x, y = x[ahead:], y[ahead:]
        if self._missing == 0 and self._part.size:
            self._full, self._part = np.hstack((self._full, self._part)), _NONE
        whole = y.size - y.size % self.width
        if whole:
            self._full = np.hstack((self._full, _extremes(x[:whole], y[:whole], self.width)))
        if rest := y.size - whole:
            self._part = _extremes(x[whole:], y[whole:], rest)
            self._missing = self.width - rest

    def around(self, x: float) -> tuple[float, float]:
        """The lowest and the highest y of the bucket of rows that a row is in. x: of the row."""
        stored = self._stored()
        if not stored.size:
            return math.nan, math.nan
        bucket = max(int(np.searchsorted(stored[4], x, side="right")) - 1, 0)
        return float(stored[1, bucket]), float(stored[3, bucket])

    def means(self) -> Series:
        """Of each bucket that has finite rows: x, their mean, the lowest and the highest y, and how many; (5, n)."""
        stored = self._stored()
        stored = stored[:, stored[6] > 0]
        middle = (stored[4] + np.maximum(stored[0], stored[2])) / 2 if self.width > 1 else stored[4]
        return np.stack((middle, stored[5] / stored[6], stored[1], stored[3], stored[6]))

    def before(self, x: float) -> tuple[float, float]:
        """The last finite row at or before x that is stored: x and y, both NaN where there is none."""
        stored = self._stored()
        at, y = np.concatenate((stored[0], stored[2])), np.concatenate((stored[1], stored[3]))
        known = np.isfinite(y) & (at <= x)
        if not known.any():
            return math.nan, math.nan
        last = np.where(known, at, -np.inf).argmax()
        return float(at[last]), float(y[last])

    def recent(self, rows: int) -> float:
        """The highest y of the last rows, so many or more; NaN where none is finite."""
        return _extreme(self._stored()[3, -(-(-rows // self.width) + 1) :], np.fmax)

    def zeros(self, count: int) -> Series:
        """Return x of rows that are exactly 0: at most `count`, the first and the last among them."""
        stored = self._stored()
        at = np.unique(np.concatenate((stored[0][stored[1] == 0], stored[2][stored[3] == 0])))
        at = np.append(at, self._last[0]) if self._last[1] == 0 and self._last[0] not in at[-1:] else at
        return at[np.unique(np.linspace(0, at.size - 1, min(count, at.size)).round().astype(int))]

    def points(self, count: int, *, log: bool = False) -> tuple[Series, Series]:
        """At most `count` points (x, y) that look like all of them (MinMaxLTTB, Van Der Donckt et al. 2023).

        The last row is always among them. log: for an axis that shows logarithms: only positive points, and likeness
        is judged on their logarithms.
        """
        stored = self._stored()
        swapped = stored[0] > stored[2]
        x = np.where(swapped, stored[2::-2], stored[0:4:2]).T.ravel()
        y = np.where(swapped, stored[3::-2], stored[1:4:2]).T.ravel()
        shown = np.isfinite(y) & ((y > 0) | (not log))
        shown[1::2] &= x[1::2] != x[::2]
        x, y = x[shown], y[shown]
        if math.isfinite(self._last[1]) and (self._last[1] > 0 or not log) and not (x.size and x[-1] >= self._last[0]):
            x, y = np.append(x, self._last[0]), np.append(y, self._last[1])
        if y.size > count:
            downsampler: Any = tsdownsample.MinMaxLTTBDownsampler()
            thin = downsampler.downsample(x, np.log(y) if log else y, n_out=count)
            x, y = x[thin], y[thin]
        return x, y

    def _stored(self) -> Series:
        return np.hstack((self._full, self._part))

    def _join(self) -> None:
        """Make pairs of neighbours one; the last bucket takes a neighbour that is left over."""
        pairs = self._full.shape[1] // 2
        left = self._full[:, 2 * pairs :]
        if left.size or self._part.size:
            held = self.width - self._missing if self._part.size else 0
            self._part = _lower(left, self._part) if left.size and self._part.size else np.hstack((left, self._part))
            self._missing = 2 * self.width - held - (self.width if left.size else 0)
        self._full = _lower(self._full[:, 0 : 2 * pairs : 2], self._full[:, 1 : 2 * pairs : 2])
        self.width *= 2


def _extremes(x: Series, y: Series, width: int) -> Series:
    """Return the summary of each bucket, shape (7, n / width), as in `_full`; NaN where no row is finite."""
    buckets = y.reshape(-1, width)
    if np.isfinite(y).all():
        low, high = buckets.argmin(axis=1), buckets.argmax(axis=1)
        sums, counts = buckets.sum(axis=1), np.full(len(buckets), float(width))
    else:
        finite = np.isfinite(buckets)
        buckets = np.where(finite, buckets, np.nan)
        low = np.where(finite, buckets, np.inf).argmin(axis=1)
        high = np.where(finite, buckets, -np.inf).argmax(axis=1)
        sums, counts = np.where(finite, buckets, 0.0).sum(axis=1), finite.sum(axis=1, dtype=np.float64)
    at = np.arange(len(buckets))
    places = x.reshape(-1, width)
    ends = (places[at, low], buckets[at, low], places[at, high], buckets[at, high])
    return np.stack((*ends, places[:, 0], sums, counts))


def _lower(a: Series, b: Series) -> Series:
    """The extremes of two neighbours, column by column. a: the left one."""
    low = ~(b[1] < a[1]) & ~np.isnan(a[1])  # a keeps ties, and NaN never wins
    high = ~(b[3] > a[3]) & ~np.isnan(a[3])
    return np.vstack((np.where(low, a[:2], b[:2]), np.where(high, a[2:4], b[2:4]), a[4:5], a[5:] + b[5:]))


def _least(y: Series) -> float:
    """The lowest positive number."""
    if (low := float(y.min())) > 0:
        return low
    positive = y[y > 0]
    return float(positive.min()) if positive.size else math.inf


def _extreme(y: Series, smaller: Any) -> float:
    return float(smaller.reduce(y)) if y.size else float("nan")
