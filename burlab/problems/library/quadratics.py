"""Quadratics: of chosen spectrum, and those of the literature."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.plain import as_floats
from burlab.runtime.ranges import POSITIVE, Range, number_in
from burlab.typing import ArrayLike, Vector

from .benchmark_function import Points, TestFunction, box, dimension, like
from .sources import CUTEST, HEDAR


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
        return 0.5 * (x @ (like(x, matrix) @ x))

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


def nesterov_chain(dim: int = 10, smoothness: float = 4.0) -> TestFunction:
    """Nesterov's worst function of smoothness L: L / 4 (1/2 x^T A x - x_1) with A the second difference.

    Within d / 2 steps no method that uses gradients alone gets closer than 3 L |x_0 - x*|^2 / (32 (k + 1)^2).

    Args:
        dim: Number d of coordinates, at least 2.
        smoothness: The number L, above 0.

    Returns:
        The function of d numbers, whose usual start is 0.

    >>> import burlab as bl
    >>> bl.problems.nesterov_chain(dim=3).minima
    array([[0.75, 0.5 , 0.25]])
    """
    dim, scale = dimension(dim, 2), number_in(POSITIVE, smoothness, "smoothness") / 4

    def formula(x: Vector) -> Any:
        return scale * (0.5 * (x[0] ** 2 + np.sum((x[1:] - x[:-1]) ** 2) + x[-1] ** 2) - x[0])

    extreme = 2 * np.cos(np.pi / (dim + 1))
    return TestFunction(
        "nesterov_chain",
        formula,
        start=np.zeros(dim),
        domain=box(-1.0, 1.5, dim),
        minima=1 - np.arange(1, dim + 1)[None] / (dim + 1),
        minimum=scale / 2 * (1 / (dim + 1) - 1),
        source="Nesterov 2004, Introductory Lectures on Convex Optimization, section 2.1.2",
        smoothness=float(scale * (2 + extreme)),
        strong_convexity=float(scale * (2 - extreme)),
    )


def trid(dim: int = 6) -> TestFunction:
    """Trid: the sum of (x_i - 1)^2 minus that of x_i x_{i-1}, a convex quadratic whose minimum is far from its start.

    Args:
        dim: Number d of coordinates, at least 2.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> bl.problems.trid(dim=6).minimum, bl.problems.trid(dim=3).minima
    (-50.0, array([[3., 4., 3.]]))
    """
    dim = dimension(dim, 2)
    i, extreme = np.arange(1.0, dim + 1), 2 * np.cos(np.pi / (dim + 1))
    return TestFunction(
        "trid",
        lambda x: np.sum((x - 1) ** 2) - np.sum(x[1:] * x[:-1]),
        start=np.zeros(dim),
        domain=box(-(dim**2.0), dim**2.0, dim),
        minima=(i * (dim + 1 - i))[None],
        minimum=-dim * (dim + 4) * (dim - 1) / 6,
        source=f"Neumaier, Global optimization test problems; {HEDAR}",
        smoothness=float(2 + extreme),
        strong_convexity=float(2 - extreme),
    )


def schwefel_double_sum(dim: int = 4) -> TestFunction:
    """Schwefel's problem 1.2: the sum over i of (x_1 + ... + x_i)^2, a convex quadratic of coupled coordinates.

    Args:
        dim: Number d of coordinates, at least 1.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> float(bl.problems.schwefel_double_sum(3)([1.0, 1.0, 1.0]))
    14.0
    """
    dim = dimension(dim, 1)
    angles = np.pi * np.array([1, 2 * dim - 1]) / (4 * dim + 2)  # eigenvalues of a product of triangles of ones
    largest, smallest = 0.5 / np.sin(angles) ** 2
    return TestFunction(
        "schwefel_double_sum",
        lambda x: np.sum(np.cumsum(x) ** 2),
        start=np.resize([60.0, -45.0], dim),
        domain=box(-65.536, 65.536, dim),
        minima=np.zeros((1, dim)),
        minimum=0.0,
        source="Schwefel 1981, Numerical Optimization of Computer Models, problem 1.2",
        smoothness=float(largest),
        strong_convexity=float(smallest),
    )


def tridia(dim: int = 10) -> TestFunction:
    """TRIDIA: (x_1 - 1)^2 + sum over i > 1 of i (2 x_i - x_{i-1})^2, a tridiagonal quadratic.

    Args:
        dim: Number d of coordinates, at least 2.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> bl.problems.tridia(dim=4).minima
    array([[1.   , 0.5  , 0.25 , 0.125]])
    """
    dim = dimension(dim, 2)
    weights = np.arange(2.0, dim + 1)
    return TestFunction(
        "tridia",
        lambda x: (x[0] - 1) ** 2 + np.sum(like(x, weights) * (2 * x[1:] - x[:-1]) ** 2),
        start=np.ones(dim),
        domain=box(-2.0, 2.0, dim),
        minima=np.exp2(-np.arange(float(dim)))[None],
        minimum=0.0,
        source=f"Toint 1978, problem 8; {CUTEST}",
    )


def dqdrtic(dim: int = 10) -> TestFunction:
    """DQDRTIC: the sum over i of x_i^2 + 100 x_{i+1}^2 + 100 x_{i+2}^2, a diagonal quadratic.

    Args:
        dim: Number d of coordinates, at least 3.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> f = bl.problems.dqdrtic(dim=5)
    >>> f.strong_convexity, f.smoothness
    (2.0, 402.0)
    """
    dim = dimension(dim, 3)
    curvature = 2 * np.convolve(np.ones(dim - 2), [1.0, 100.0, 100.0])
    return TestFunction(
        "dqdrtic",
        lambda x: np.sum(x[:-2] ** 2 + 100 * x[1:-1] ** 2 + 100 * x[2:] ** 2),
        start=np.full(dim, 3.0),
        domain=box(-5.0, 5.0, dim),
        minima=np.zeros((1, dim)),
        minimum=0.0,
        source=f"Toint 1978, problem 22; {CUTEST}",
        smoothness=float(curvature.max()),
        strong_convexity=float(curvature.min()),
    )


_CONDITION = Range(1.0, np.inf)


def _geometric(dim: int, condition: float) -> Points:
    dim = dimension(dim, 1)
    return np.geomspace(1.0, number_in(_CONDITION, condition, "condition"), dim)


def _checked(eigenvalues: ArrayLike) -> Points:
    spectrum = as_floats(eigenvalues, "eigenvalues").copy()
    if spectrum.ndim != 1 or spectrum.size == 0 or not np.isfinite(spectrum).all():
        raise ArgumentError(
            f"eigenvalues={shown(eigenvalues)} are not a list of finite numbers. Pass one per dimension."
        )
    return spectrum


def _rotation(dim: int, seed: int) -> Points:
    """The orthogonal factor of a Gaussian matrix, with the signs that make it uniform."""
    q, r = np.linalg.qr(np.random.default_rng(whole(seed, "seed", 0)).normal(size=(dim, dim)))
    return q * np.sign(np.diag(r))
