"""Test functions of any dimension in which each coordinate depends on its neighbours or on all others."""

from typing import Any

import numpy as np

from burlab.runtime.ranges import POSITIVE, number_in
from burlab.typing import Vector

from .benchmark_function import TestFunction, box, dimension, like


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
        source="Neumaier, Global optimization test problems; Hedar 2005, Global Optimization Test Problems",
        smoothness=float(2 + extreme),
        strong_convexity=float(2 - extreme),
    )


def dixon_price(dim: int = 2) -> TestFunction:
    """The function of Dixon and Price: (x_1 - 1)^2 + sum over i > 1 of i (2 x_i^2 - x_{i-1})^2.

    Args:
        dim: Number d of coordinates, at least 2.

    Returns:
        The function of d numbers; the last coordinate of its two minima has either sign.

    >>> import burlab as bl
    >>> bl.problems.dixon_price().minima.round(6).tolist()
    [[1.0, 0.707107], [1.0, -0.707107]]
    """
    dim = dimension(dim, 2)
    weights = np.arange(2.0, dim + 1)
    lowest = 2.0 ** (2.0 ** (1 - np.arange(1.0, dim + 1)) - 1)
    return TestFunction(
        "dixon_price",
        lambda x: (x[0] - 1) ** 2 + np.sum(like(x, weights)[0] * (2 * x[1:] ** 2 - x[:-1]) ** 2),
        start=np.full(dim, -4.0),
        domain=box(-10.0, 10.0, dim),
        minima=np.stack([lowest, np.append(lowest[:-1], -lowest[-1])]),
        minimum=0.0,
        source="Dixon and Price 1989, The truncated Newton method for sparse unconstrained optimisation, Journal of "
        "Optimization Theory and Applications 60(2)",
    )


def zakharov(dim: int = 2) -> TestFunction:
    """Zakharov's function: |x|^2 + s^2 + s^4 with s = sum of i x_i / 2, a plate that is steep in one direction.

    Args:
        dim: Number d of coordinates, at least 1.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> float(bl.problems.zakharov()([2.0, 0.0]))
    6.0
    """
    dim = dimension(dim, 1)
    half = np.arange(1, dim + 1) / 2

    def formula(x: Vector) -> Any:
        s = np.sum(like(x, half)[0] * x)
        return np.sum(x**2) + s**2 + s**4

    return TestFunction(
        "zakharov",
        formula,
        start=np.resize([8.0, -3.0], dim),
        domain=box(-5.0, 10.0, dim),
        minima=np.zeros((1, dim)),
        minimum=0.0,
        source="Rahnamayan, Tizhoosh and Salama 2007, Computers and Mathematics with Applications 53(10)",
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


def exponential(dim: int = 2) -> TestFunction:
    """The exponential function -exp(-|x|^2 / 2): a well whose gradient vanishes far away.

    Args:
        dim: Number d of coordinates, at least 1.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> float(bl.problems.exponential()([0.0, 0.0]))
    -1.0
    """
    dim = dimension(dim, 1)
    return TestFunction(
        "exponential",
        lambda x: -np.exp(-0.5 * np.sum(x**2)),
        start=np.full(dim, 0.8),
        domain=box(-1.0, 1.0, dim),
        minima=np.zeros((1, dim)),
        minimum=-1.0,
        source="Rahnamayan, Tizhoosh and Salama 2007, Computers and Mathematics with Applications 53(10)",
        smoothness=1.0,
    )
