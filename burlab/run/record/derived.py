"""Columns that a record does not store: they follow from the number of the step.

A record holds an entry per step, or once it is merged two entries for `span` steps: minimum and maximum.
"""

import numpy as np

from burlab.runtime.coerce import Array

from .tables import Column


def steps(first: int, count: int, rows: int, span: int) -> Column:
    """The steps that entries [first, first + count) stand for: the first and the last of each span. int64.

    >>> steps(0, 4, rows=7, span=4)
    array([0, 3, 4, 6])
    """
    entries = np.arange(first, first + count)
    if span == 2:
        return entries
    return np.minimum(entries // 2 * span + entries % 2 * (span - 1), rows - 1)


def live(start: float, changes: tuple[Array, Array], at: Column, span: int) -> Column:
    """A number that changes now and then, at every entry.

    start: its value at step 0. changes: steps, never falling, and the values from these steps on. at: the entries'
    steps.

    >>> live(1.0, (np.array([2, 4]), np.array([9.0, 3.0])), at=np.array([0, 3, 4, 7]), span=4)
    array([1., 9., 3., 3.])
    """
    moments, values = changes
    values = np.concatenate([[start], values])
    column = values[np.searchsorted(moments, at, side="right")]
    if span == 2 or not moments.size:
        return column
    low, high = np.fmin(column[::2], column[1::2]), np.fmax(column[::2], column[1::2])
    last = np.append(moments[1:] != moments[:-1], True)  # of several changes at one step only the last was ever used
    inside = last & (moments <= at[-1])
    pairs = moments[inside] // span
    np.fmin.at(low, pairs, values[1:][inside])
    np.fmax.at(high, pairs, values[1:][inside])
    return np.stack([low, high], axis=1).reshape(-1)


def times(stamps: tuple[Array, Array], elapsed: float, rows: int, at: Column) -> Column:
    """When the steps `at` ended, in nanoseconds of running, from the steps that have a stamp.

    stamps: steps and times. elapsed: the time when the run last came to rest, maybe before these steps.

    >>> times((np.array([0, 4]), np.array([10.0, 50.0])), elapsed=70.0, rows=7, at=np.arange(7))
    array([10., 20., 30., 40., 50., 60., 70.])
    """
    moments, known = stamps
    known, moments = known[moments < rows], moments[moments < rows]
    after = not known.size or elapsed >= known[-1]
    if after and (not known.size or moments[-1] < rows - 1):
        moments, known = np.append(moments, rows - 1), np.append(known, elapsed)
    return np.interp(at, moments, known)
