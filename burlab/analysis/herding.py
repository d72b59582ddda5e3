"""A few points in place of many: those whose mean follows the mean of all."""

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.plain import as_floats
from burlab.typing import ArrayLike, Indices, Numbers


def herding(points: ArrayLike, count: int) -> Indices:
    """Choose points one by one, each so that the mean of those chosen comes as near as it can to the mean of all.

    Welling 2009, Herding dynamical weights to learn, ICML, in the version that chooses no point twice: Algorithm 4 of
    iCaRL (Rebuffi et al. 2017, arXiv:1611.07725). For points of equal norm, each maximizes the product with Welling's
    weights, w <- w + mean - x. Any first part of the order is a choice of its own.

    Args:
        points: Shape (n, d), such as the features of the samples of one class.
        count: Number of points to choose, from 1 to n.

    Returns:
        Positions in the order in which they were chosen, shape (count,), int64; the lowest one where two are as good.

    Raises:
        ArgumentError: For a count above n, or points that are not finite.
        ShapeError: For points that are no matrix.

    Cost: n d multiplications a choice.

    >>> import burlab as bl
    >>> bl.analysis.herding([[0.0], [1.0], [2.0], [9.0]], 2)  # the mean is 3
    array([2, 1])
    """
    x = checked_rows(points, "herding")
    count = whole(count, "count", 1, len(x))
    x = x - x.mean(axis=0)  # the mean of all becomes 0
    left, total = np.einsum("ij,ij->i", x, x), np.zeros(x.shape[1])  # left: |x|^2, or inf for a chosen point
    order = np.empty(count, np.int64)
    for k in range(count):
        order[k] = np.argmin(left + 2 * (x @ total))  # |total + x|^2 - |total|^2
        total += x[order[k]]
        left[order[k]] = np.inf
    return order


def checked_rows(points: ArrayLike, name: str) -> Numbers:
    """Return points as finite float64 of shape (n, d)."""
    x = as_floats(points, f"points of {name}")
    if x.ndim != 2 or not x.size:
        raise ShapeError(f"points of {name} has shape {x.shape}, expected (n, d): a row for each point.")
    wrong = np.flatnonzero(~np.isfinite(x).all(axis=1))
    if wrong.size:
        row = int(wrong[0])
        raise ArgumentError(f"row {row} of points of {name} is {shown(x[row])}, expected finite numbers. Remove it.")
    return x
