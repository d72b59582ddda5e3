"""The points of a curve that a thinned picture of it must keep: the lowest and the highest of each stretch."""

import numpy as np

from burlab.typing import Array, ArrayLike, Indices


def extremes(y: Array, starts: ArrayLike) -> Indices:
    """Return positions of the lowest and the highest number of each stretch, the first of equal ones.

    Args:
        y: Heights, shape (n,), float; NaN is left out.
        starts: Where stretches begin, shape (k,): 0 and larger integers in order. Each ends where the next one begins.

    Returns:
        Shape (at most 2 k,), in no order, with repetitions. A stretch of NaN only adds none of its own.

    >>> extremes(np.array([3.0, 1.0, 2.0, 5.0, np.nan, 0.0]), [0, 3])
    array([1, 5, 0, 3])
    """
    begins = np.asarray(starts, np.intp)
    widths = np.diff(begins, append=y.size)
    found: list[Indices] = []
    for end in (np.fmin, np.fmax):
        at = np.flatnonzero(y == np.repeat(end.reduceat(y, begins), widths))
        first: Indices = np.searchsorted(at, begins)  # of a stretch of NaN only: that of a later one
        found.append(at[first[first < at.size]])
    return np.concatenate(found)
