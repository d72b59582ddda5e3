"""Test functions of any dimension, not quadratic, in which each coordinate depends on others."""

from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import one_of, shown
from burlab.typing import Vector

from .benchmark_function import TestFunction, box, dimension, like
from .sources import CUTEST, RAHNAMAYAN


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
        lambda x: (x[0] - 1) ** 2 + np.sum(like(x, weights) * (2 * x[1:] ** 2 - x[:-1]) ** 2),
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
        s = np.sum(like(x, half) * x)
        return np.sum(x**2) + s**2 + s**4

    return TestFunction(
        "zakharov",
        formula,
        start=np.resize([8.0, -3.0], dim),
        domain=box(-5.0, 10.0, dim),
        minima=np.zeros((1, dim)),
        minimum=0.0,
        source=RAHNAMAYAN,
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
        source=RAHNAMAYAN,
        smoothness=1.0,
    )


def arwhead(dim: int = 10) -> TestFunction:
    """ARWHEAD: the sum over i < d of (x_i^2 + x_d^2)^2 - 4 x_i + 3, whose Hessian is an arrow.

    Args:
        dim: Number d of coordinates, at least 2.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> bl.problems.arwhead(dim=4).minima
    array([[1., 1., 1., 0.]])
    """
    dim = dimension(dim, 2)
    return TestFunction(
        "arwhead",
        lambda x: np.sum((x[:-1] ** 2 + x[-1] ** 2) ** 2 - 4 * x[:-1] + 3),
        start=np.ones(dim),
        domain=box(-2.0, 2.0, dim),
        minima=np.append(np.ones(dim - 1), 0.0)[None],
        minimum=0.0,
        source=f"Conn, Gould, Lescrenier and Toint 1994, problem 55; {CUTEST}",
    )


def liarwhd(dim: int = 10) -> TestFunction:
    """LIARWHD: the sum of 4 (x_i^2 - x_1)^2 + (x_i - 1)^2.

    Args:
        dim: Number d of coordinates, at least 1.

    Returns:
        The function of d numbers.

    >>> import numpy as np, burlab as bl
    >>> float(bl.problems.liarwhd(dim=2)(np.full(2, 4.0)))
    1170.0
    """
    dim = dimension(dim, 1)
    return TestFunction(
        "liarwhd",
        lambda x: np.sum(4 * (x**2 - x[0]) ** 2 + (x - 1) ** 2),
        start=np.full(dim, 4.0),
        domain=box(-5.0, 5.0, dim),
        minima=np.ones((1, dim)),
        minimum=0.0,
        source=f"Li 1989, cited by {CUTEST}",
    )


def dixmaan(dim: int = 9, letter: str = "A") -> TestFunction:
    """DIXMAANA, E or I: 1 + sum of x_i^2 (i/d)^k, with couplings of weight 1/8 between the thirds of x.

    1 + sum_i (i/d)^k x_i^2 + 1/8 sum over i <= 2 d / 3 of x_i^2 x_{i+d/3}^4 + 1/8 sum over i <= d / 3 of
    (i/d)^k x_i x_{i+2d/3}, with k = 0, 1 or 2.

    Args:
        dim: Number d of coordinates, a multiple of 3.
        letter: "A", "E" or "I".

    Returns:
        The function of d numbers.

    Raises:
        ArgumentError: For another letter, or a number that 3 does not divide.

    >>> import numpy as np, burlab as bl
    >>> float(bl.problems.dixmaan(dim=3)(np.full(3, 2.0)))
    29.5
    """
    if (dim := dimension(dim, 3)) % 3:
        raise ArgumentError(f"dim={shown(dim)} of dixmaan is not a multiple of 3. Pass {dim // 3 * 3 + 3}.")
    powers = {"A": 0, "E": 1, "I": 2}
    third = dim // 3
    weights = (np.arange(1, dim + 1) / dim) ** powers[one_of(letter, powers, "letter")]

    def formula(x: Vector) -> Any:
        scale = like(x, weights)
        near = np.sum(x[: 2 * third] ** 2 * x[third:] ** 4)
        far = np.sum(scale[:third] * x[:third] * x[2 * third :])
        return 1 + np.sum(scale * x**2) + 0.125 * near + 0.125 * far

    return TestFunction(
        "dixmaan",
        formula,
        start=np.full(dim, 2.0),
        domain=box(-3.0, 3.0, dim),
        minima=np.zeros((1, dim)),
        minimum=1.0,
        source=f"Dixon and Maany 1988, A family of test problems with sparse Hessians; {CUTEST}",
    )
