"""Problems of CUTEst with a published formula and a known minimum, of any dimension, and relatives of them."""

from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import one_of, shown
from burlab.typing import Vector

from .benchmark_function import TestFunction, box, dimension, like

_CUTEST = "Gould, Orban and Toint 2015, CUTEst, Computational Optimization and Applications 60"
_ANDREI = "Andrei 2008, An unconstrained optimization test functions collection, Advanced Modeling and Optimization 10"


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
        source=f"Conn, Gould, Lescrenier and Toint 1994, problem 55; {_CUTEST}",
    )


def cube(dim: int = 2) -> TestFunction:
    """CUBE: (x_1 - 1)^2 + sum over i > 1 of 100 (x_i - x_{i-1}^3)^2, a valley along a cubic.

    Args:
        dim: Number d of coordinates, at least 2.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> float(bl.problems.cube()([0.0, 1.0]))
    101.0
    """
    dim = dimension(dim, 2)
    return TestFunction(
        "cube",
        lambda x: (x[0] - 1) ** 2 + 100 * np.sum((x[1:] - x[:-1] ** 3) ** 2),
        start=np.resize([-1.2, 1.0], dim),
        domain=box(-1.5, 1.5, dim),
        minima=np.ones((1, dim)),
        minimum=0.0,
        source=f"Witte and Holst 1964, for dim = 2; {_CUTEST}",
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
        source=f"Toint 1978, problem 22; {_CUTEST}",
        smoothness=float(curvature.max()),
        strong_convexity=float(curvature.min()),
    )


def genrose(dim: int = 5) -> TestFunction:
    """GENROSE: 1 + sum over i > 1 of 100 (x_i - x_{i-1}^2)^2 + (x_i - 1)^2, of minimum 1.

    Args:
        dim: Number d of coordinates, at least 2.

    Returns:
        The function of d numbers; the first coordinate of its two minima has either sign.

    >>> import burlab as bl
    >>> bl.problems.genrose(dim=3).minima
    array([[ 1.,  1.,  1.],
           [-1.,  1.,  1.]])
    """
    dim = dimension(dim, 2)
    return TestFunction(
        "genrose",
        lambda x: 1 + np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (x[1:] - 1) ** 2),
        start=np.arange(1, dim + 1) / (dim + 1),
        domain=box(-2.0, 2.0, dim),
        minima=np.stack([np.ones(dim), np.append(-1.0, np.ones(dim - 1))]),
        minimum=1.0,
        source=f"Nash 1984, SIAM Journal on Numerical Analysis 21(4); {_CUTEST}",
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
        lambda x: (x[0] - 1) ** 2 + np.sum(like(x, weights)[0] * (2 * x[1:] - x[:-1]) ** 2),
        start=np.ones(dim),
        domain=box(-2.0, 2.0, dim),
        minima=np.exp2(-np.arange(float(dim)))[None],
        minimum=0.0,
        source=f"Toint 1978, problem 8; {_CUTEST}",
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
        source=f"Li 1989, cited by {_CUTEST}",
    )


def quartc(dim: int = 10) -> TestFunction:
    """QUARTC: the sum of (x_i - i)^4, whose Hessian at the minimum is 0.

    Args:
        dim: Number d of coordinates, at least 1.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> bl.problems.quartc(dim=3).minima
    array([[1., 2., 3.]])
    """
    dim = dimension(dim, 1)
    lowest = np.arange(1.0, dim + 1)
    return TestFunction(
        "quartc",
        lambda x: np.sum((x - like(x, lowest)[0]) ** 4),
        start=np.full(dim, 2.0),
        domain=box(0.0, dim + 2.0, dim),
        minima=lowest[None],
        minimum=0.0,
        source=f"the problem QUARTIC of Liu and Nocedal 1989, Mathematical Programming 45; {_CUTEST}",
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
        scale = like(x, weights)[0]
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
        source=f"Dixon and Maany 1988, A family of test problems with sparse Hessians; {_CUTEST}",
    )


def raydan(dim: int = 10) -> TestFunction:
    """Raydan's first function: the sum of i (exp(x_i) - x_i) / 10, strictly convex.

    Args:
        dim: Number d of coordinates, at least 1.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> bl.problems.raydan(dim=4).minimum
    1.0
    """
    dim = dimension(dim, 1)
    weights = np.arange(1, dim + 1) / 10
    return TestFunction(
        "raydan",
        lambda x: np.sum(like(x, weights)[0] * (np.exp(x) - x)),
        start=np.ones(dim),
        domain=box(-2.0, 2.0, dim),
        minima=np.zeros((1, dim)),
        minimum=dim * (dim + 1) / 20,
        source=f"Raydan 1997, SIAM Journal on Optimization 7(1); {_ANDREI}",
    )


def hager(dim: int = 10) -> TestFunction:
    """Hager's function: the sum of exp(x_i) - sqrt(i) x_i, strictly convex.

    Args:
        dim: Number d of coordinates, at least 1.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> bl.problems.hager(dim=3).minima.round(6).tolist()
    [[0.0, 0.346574, 0.549306]]
    """
    dim = dimension(dim, 1)
    roots = np.sqrt(np.arange(1.0, dim + 1))
    lowest = np.log(roots)
    return TestFunction(
        "hager",
        lambda x: np.sum(np.exp(x) - like(x, roots)[0] * x),
        start=np.ones(dim),
        domain=box(-1.0, 3.0 + lowest[-1], dim),
        minima=lowest[None],
        minimum=float(np.sum(roots - roots * lowest)),
        source=_ANDREI,
    )
