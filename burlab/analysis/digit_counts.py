"""Right decimal digits of arrays: of three runs in random rounding, and of numbers whose errors are known."""

import math
from typing import Any

import numpy as np

from burlab.runtime.coerce import Array

RUNS = 3
_STUDENT = 4.302653  # the mean of three normal numbers is known to this many of its standard errors, at 95 %


def most_digits(dtype: "np.dtype[Any]") -> float:
    """Return how many decimal digits a number has: inf for whole numbers and masks."""
    return -math.log10(np.finfo(dtype).epsneg) if dtype.kind == "f" else math.inf


def of_runs(values: Array) -> Array:
    """Return the right digits of each entry. values: of the runs, which are the first axis."""
    if values.dtype.kind != "f":
        return np.where(np.all(values == values[0], axis=0), math.inf, 0.0)
    with np.errstate(all="ignore"):
        return _agreeing(_size(values), values)


def least_of_runs(values: Array) -> float:
    """Return the right digits of the least right entry, relative to the largest one."""
    if values.size == 0 or values.dtype.kind != "f":
        return math.inf if np.all(values == values[:1]) else 0.0
    with np.errstate(all="ignore"):
        return float(np.min(_agreeing(_at_largest(_size(values)), values)))


def of_errors(values: Array, errors: Array | None) -> Array:
    """Return the right digits of each entry. errors: what the values lack; None if they lack nothing."""
    most = np.full(values.shape, most_digits(values.dtype))
    if errors is None:
        return most
    with np.errstate(all="ignore"):
        return _right(np.abs(values + errors), errors, float(most_digits(values.dtype)))


def least_of_errors(values: Array, errors: Array | None) -> float:
    """Return the right digits of the least right entry, relative to the largest one."""
    most = most_digits(values.dtype)
    if errors is None or values.size == 0:
        return most
    with np.errstate(all="ignore"):
        return float(np.min(_right(_at_largest(np.abs(values + errors)), errors, most)))


def believed(shadow: float | Array, rounding: float | Array, complete: bool) -> Array:
    """Return the digits that the errors show; where they may be wrong themselves, the fewer of both counts.

    complete: whether all rounding errors are known. Where random rounding leaves no digit, 16 or more were lost, and
    errors of 32 digits may have none left.
    """
    return np.where(complete & (np.asarray(rounding) >= 1.0), shadow, np.minimum(shadow, rounding))


def _at_largest(size: Array) -> Array:
    largest = float(np.max(size, where=np.isfinite(size), initial=0.0))
    return np.where(np.isfinite(size), largest, size)


def _right(size: Array, errors: Array, most: float) -> Array:
    found = np.log10(size / np.abs(errors))
    return np.where(errors == 0.0, most, np.clip(np.nan_to_num(found, nan=0.0, posinf=most), 0.0, most))


def _agreeing(size: Array, values: Array) -> Array:
    """The right digits of numbers that differ in the runs, relative to a size."""
    most = most_digits(values.dtype)
    scale, scaled = _scaled(values)
    found = np.log10(math.sqrt(RUNS) / _STUDENT * (size / scale) / _deviation(scaled))
    alike = np.all((values == values[0]) | (np.isnan(values) & np.isnan(values[0])), axis=0)
    return np.where(alike, most, np.clip(np.nan_to_num(found, nan=0.0), 0.0, most))


def _size(values: Array) -> Array:
    """The size of the mean of the runs."""
    scale, scaled = _scaled(values)
    return np.abs(np.mean(scaled, axis=0)) * scale


def _scaled(values: Array) -> tuple[Array, Array]:
    """The largest size in the runs, and the numbers divided by it: their squares neither overflow nor underflow."""
    wide = values.astype(np.float64)
    scale = np.max(np.abs(wide), axis=0)
    scale = np.where(scale == 0, 1.0, scale)
    return scale, wide / scale


def _deviation(values: Array) -> Array:
    """The standard deviation of the runs, as `np.std(values, axis=0, ddof=1)` but several times as fast."""
    mean = sum(values) / RUNS
    return np.sqrt(sum((one - mean) ** 2 for one in values) / (RUNS - 1))
