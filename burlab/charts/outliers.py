"""Ends of a linear axis if a few values lie so far from the others that these would be pressed into a line."""

from collections.abc import Iterable

import numpy as np

from burlab.typing import Numbers

_OUTLIER_FACTOR = 20.0  # times the height of what counts: farther off, a value is an outlier
_MIN_POINTS = 20  # of a curve that has outliers: of fewer, all count
_OUTER_SHARE = 0.05  # the share of points at either end that does not count


def within(curves: Iterable[Numbers]) -> tuple[float | None, float | None]:
    """The lower and the upper end of an axis, each None where no value lies far beyond what counts.

    What counts is where each curve begins, and its second half without its outermost points: a run that went astray and
    came back is seen where it is now. curves: arrays of float64, shape (n,).

    >>> y = np.exp(-np.arange(100.0) / 20)
    >>> within([y]), within([np.where(np.arange(100) == 3, 1e6, y)])[1] < 3
    ((None, None), True)
    """
    finite = [y[np.isfinite(y)] for y in curves]
    known = [y for y in finite if y.size]
    if not known:
        return None, None
    counted = np.concatenate([_counted(y) for y in known])
    low, high = float(counted.min()), float(counted.max())
    height = high - low
    if height <= 0:
        return None, None
    least, most = min(float(y.min()) for y in known), max(float(y.max()) for y in known)
    below, above = least < low - _OUTLIER_FACTOR * height, most > high + _OUTLIER_FACTOR * height
    return low - height if below else None, high + height if above else None


def _counted(y: Numbers) -> Numbers:
    late = np.quantile(y[y.size // 2 :], (_OUTER_SHARE, 1 - _OUTER_SHARE))
    return y if y.size < _MIN_POINTS else np.array([y[0], *late])
