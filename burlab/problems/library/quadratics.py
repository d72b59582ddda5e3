"""Quadratics of chosen spectrum."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.plain import as_floats
from burlab.runtime.ranges import Range, number_in
from burlab.typing import ArrayLike, Vector

from .benchmark_function import Points, TestFunction, box, dimension


def quadratic(
    eigenvalues: Sequence[float] | Points | None = None,
    *,
    dim: int = 2,
    condition: float = 10.0,
    seed: int | None = 0,
) -> TestFunction:
    """f(x) = 1/2 x^T H x, where H has the eigenvalues that you choose and random eigenvectors.

    Args:
        eigenvalues: Of H, shape (d,); negative ones make a saddle. None: `dim` of them, from 1 to `condition`, evenly
            spaced in their logarithms.
        dim: Number of eigenvalues, where none are given.
        condition: The largest of them.
        seed: Of the eigenvectors, whose distribution is uniform (Haar); None for those along the axes of x.

    Returns:
        The function of d numbers, whose start has coordinate one along every eigenvector.

    >>> import burlab as bl
    >>> f = bl.problems.quadratic(condition=100.0, dim=3, seed=None)
    >>> bl.hessian(f)(f.start).diagonal(), f.smoothness, f.strong_convexity
    (array([  1.,  10., 100.]), 100.0, 1.0)
    """
    spectrum = _geometric(dim, condition) if eigenvalues is None else _checked(eigenvalues)
    d = len(spectrum)
    axes = np.eye(d) if seed is None else _rotation(d, seed)
    matrix = (axes * spectrum) @ axes.T
    matrix = (matrix + matrix.T) / 2  # symmetric to the last bit

    def formula(x: Vector) -> Any:
        return 0.5 * (x @ (np.asarray(matrix, x.dtype) @ x))

    least, start = float(spectrum.min()), axes.sum(1)
    return TestFunction(
        "quadratic",
        formula,
        start=start,
        domain=box(-1.5, 1.5, d) * max(1.0, float(np.abs(start).max())),
        minima=np.zeros((1 if least >= 0 else 0, d)),
        minimum=0.0 if least >= 0 else -np.inf,
        source="the eigenvalues are given; the rotation as in Stewart 1980, SIAM Journal on Numerical Analysis 17(3)",
        saddles=np.zeros((1 if least < 0 < spectrum.max() else 0, d)),
        smoothness=float(np.abs(spectrum).max()),
        strong_convexity=least if least > 0 else None,
    )


_CONDITION = Range(1.0, np.inf)


def _geometric(dim: int, condition: float) -> Points:
    dim = dimension(dim, 1)
    return np.geomspace(1.0, number_in(_CONDITION, condition, "condition"), dim)


def _checked(eigenvalues: ArrayLike) -> Points:
    spectrum = as_floats(eigenvalues, "eigenvalues").copy()
    if spectrum.ndim != 1 or spectrum.size == 0 or not np.isfinite(spectrum).all():
        raise ArgumentError(f"eigenvalues={shown(eigenvalues)} are no list of finite numbers. Pass one per dimension.")
    return spectrum


def _rotation(dim: int, seed: int) -> Points:
    """The orthogonal factor of a Gaussian matrix, with the signs that make it uniform."""
    q, r = np.linalg.qr(np.random.default_rng(whole(seed, "seed", 0)).normal(size=(dim, dim)))
    return q * np.sign(np.diag(r))
