"""Smoothing of noise: a weighted average along an axis, and medians and ranges of a column."""

import numpy as np

from .column import place_of
from .pyramid import Series

_CELLS = 400  # along an axis
_MAX_WIDTH = 0.08  # of the axis: the standard deviation of the widest average
_REVERSAL_SHARE, _STEP_SHARE = 0.35, 0.02  # of noise: share of turns, size of steps as a part of the axis
_MIN_MEANS = 50  # differences of means from which noise is recognized
_SPREAD_RATIO = 3.0  # of noise within stretches of rows: how high they are, times the way from one mean to the next
_SPREAD_CELLS = 80  # places along an axis that each have a middle and a range


def smoothed(means: Series, amount: float, *, log: bool, log_steps: bool) -> tuple[Series, Series]:
    """A curve through means of stretches, shape (5, n), which leaves a slope as it is up to the ends.

    At each place it is the line of least squares with Gaussian weights (local linear regression, Fan 1992).
    amount: from 0 to 1, how wide they are. log: averages are of logarithms, as the axis shows; what is not positive is
    left out. Every place of the axis counts as much as any other, and so do a few early steps of a logarithmic one.
    """
    x, y, *_, weight = means[:, means[1] > 0] if log else means
    if x.size < 2:
        return x, y
    cell = _cells(x, log_steps, _CELLS)
    mass = np.bincount(cell, weight, _CELLS)
    held = mass > 0
    divisor = np.where(held, mass, 1.0)
    level = np.bincount(cell, weight * (np.log(y) if log else y), _CELLS) / divisor
    reach = np.arange(1 - _CELLS // 2, _CELLS // 2)
    kernel = np.exp(-0.5 * (reach / max(amount * _MAX_WIDTH * _CELLS, 1e-3)) ** 2)
    ones, first, second, heights, tilts = (
        np.convolve(values, kernel * reach**power, "same")[held]
        for values, power in ((held, 0), (held, 1), (held, 2), (level, 0), (level, 1))
    )
    spare = second * ones - first**2
    alone = spare <= 1e-9 * ones**2  # no other place has a weight
    found = np.where(alone, heights / ones, (second * heights - first * tilts) / np.where(alone, 1.0, spare))
    return (np.bincount(cell, weight * x, _CELLS) / divisor)[held], np.exp(found) if log else found


def spread(means: Series, *, log_steps: bool) -> tuple[Series, Series, Series, Series]:
    """Along an axis: x, the median of the means of stretches, and what nine in ten of their rows lie between."""
    x, y, low, high, _ = means
    if x.size < 2:
        return x, y, low, high
    cell = _cells(x, log_steps, _SPREAD_CELLS)
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    size = np.diff(starts, append=x.size)

    def quantile(values: Series, share: float) -> Series:
        """Of each cell, the value at a share of its values in order."""
        return values[np.lexsort((values, cell))][starts + (share * (size - 1)).astype(np.intp)]

    middle = quantile(y, 0.5)
    bottom, top = quantile(low, 0.05), quantile(high, 0.95)
    return np.add.reduceat(x, starts) / size, middle, np.minimum(bottom, middle), np.maximum(top, middle)


def noisy(means: Series, *, log: bool) -> bool:
    """Return True if a column goes up and down so often, and so far, that only its average can be read.

    Means of many rows hardly turn, and then it shows in how far the rows lie from each other.
    """
    means = means[:, means[1] > 0] if log else means
    y, low, high = (_on_axis(row, means[1], log) for row in means[1:4])
    late = slice(y.size // 2, None)  # many begin with a descent
    steps = np.diff(y[late])
    if steps.size < _MIN_MEANS:
        return False
    far, usual = _STEP_SHARE * float(np.ptp(y)), float(np.median(np.abs(steps)))
    turns = np.diff(np.sign(steps)) != 0
    around = float(np.median((high - low)[late]))
    return (float(turns.mean()) > _REVERSAL_SHARE and usual > far) or around > max(far, _SPREAD_RATIO * usual)


def _on_axis(values: Series, means: Series, log: bool) -> Series:
    """Return heights on an axis. log: logarithms; values without one take that of their mean."""
    return np.log(np.where(values > 0, values, means)) if log else values


def _cells(x: Series, log_steps: bool, count: int) -> Series:
    places = place_of(x, log_steps)
    across = (places - places[0]) / max(float(places[-1] - places[0]), 1e-300)
    return np.minimum((across * count).astype(np.intp), count - 1)
