"""Test functions whose minimum lies at the end of a long valley."""

from typing import Any

import numpy as np

from burlab.typing import Vector

from .benchmark_function import TestFunction, box, dimension, like
from .sources import CUTEST, JAMIL_YANG


def rosenbrock(dim: int = 2) -> TestFunction:
    """Rosenbrock's banana: sum over i of 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2.

    The floor of its valley is bent and flat. From dim = 4 on there is a local minimum near (-1, 1, ..., 1), too.

    Args:
        dim: Number d of coordinates, at least 2.

    Returns:
        The function of d numbers.

    >>> import numpy as np, burlab as bl
    >>> bl.grad(bl.problems.rosenbrock(dim=3))(np.array([2.0, 1.0, 2.0]))
    array([ 2402., -1000.,   200.])
    """
    dim = dimension(dim, 2)
    return TestFunction(
        "rosenbrock",
        lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2),
        start=np.resize([-1.2, 1.0], dim),
        domain=box(-2.048, 2.048, dim),
        minima=np.ones((1, dim)),
        minimum=0.0,
        source="Rosenbrock 1960, The Computer Journal 3(3), for dim = 2; the chained form and the domain as in De Jong "
        "1975; not the sum over pairs of Moré, Garbow and Hillstrom 1981, problem 21",
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
        source=f"Nash 1984, SIAM Journal on Numerical Analysis 21(4); {CUTEST}",
    )


def chebyshev_rosenbrock(dim: int = 2) -> TestFunction:
    """Nesterov's smooth Chebyshev-Rosenbrock function: (x_1 - 1)^2 / 4 + sum over i of (x_{i+1} - 2 x_i^2 + 1)^2.

    Its valley oscillates like Chebyshev's polynomials: its length grows exponentially with dim.

    Args:
        dim: Number d of coordinates, at least 2.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> f = bl.problems.chebyshev_rosenbrock(dim=4)
    >>> float(f(f.start)), float(f(f.minima[0]))
    (1.0, 0.0)
    """
    dim = dimension(dim, 2)
    return TestFunction(
        "chebyshev_rosenbrock",
        lambda x: 0.25 * (x[0] - 1) ** 2 + np.sum((x[1:] - 2 * x[:-1] ** 2 + 1) ** 2),
        start=np.concatenate([[-1.0], np.ones(dim - 1)]),
        domain=box(-1.5, 1.5, dim),
        minima=np.ones((1, dim)),
        minimum=0.0,
        source="Gürbüzbalaban and Overton 2012, On Nesterov's nonsmooth Chebyshev-Rosenbrock functions, Nonlinear "
        "Analysis 75(3), the smooth variant",
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
        source=f"Witte and Holst 1964, for dim = 2; {CUTEST}",
    )


def powell_singular() -> TestFunction:
    """Powell's singular function of four variables: at the minimum the Hessian has rank two, the rest is quartic.

    Returns:
        The function of 4 numbers.

    >>> import burlab as bl
    >>> float(bl.problems.powell_singular()([3.0, -1.0, 0.0, 1.0]))
    215.0
    """

    def formula(x: Vector) -> Any:
        return (x[0] + 10 * x[1]) ** 2 + 5 * (x[2] - x[3]) ** 2 + (x[1] - 2 * x[2]) ** 4 + 10 * (x[0] - x[3]) ** 4

    return TestFunction(
        "powell_singular",
        formula,
        start=np.array([3.0, -1.0, 0.0, 1.0]),
        domain=box(-4.0, 5.0, 4),
        minima=np.zeros((1, 4)),
        minimum=0.0,
        source="Powell 1962, The Computer Journal 5(2); Moré, Garbow and Hillstrom 1981, problem 13",
    )


def beale() -> TestFunction:
    """Beale's function: a curved valley between steep walls and flat plains, where gradients explode and vanish.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> float(bl.problems.beale()([3.0, 0.5]))
    0.0
    """

    def formula(x: Vector) -> Any:
        a, b = x[0], x[1]
        return (1.5 - a * (1 - b)) ** 2 + (2.25 - a * (1 - b**2)) ** 2 + (2.625 - a * (1 - b**3)) ** 2

    return TestFunction(
        "beale",
        formula,
        start=np.array([1.0, 1.0]),
        domain=box(-4.5, 4.5, 2),
        minima=np.array([[3.0, 0.5]]),
        minimum=0.0,
        source="Beale 1958, Technical Report 25, Statistical Techniques Research Group, Princeton; "
        "Moré, Garbow and Hillstrom 1981, problem 5",
    )


def sineval() -> TestFunction:
    """SINEVAL of CUTEst: 10^4 (y - sin x)^2 + x^2 / 4, a valley as narrow as a hair along a sine.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> float(bl.problems.sineval()([0.0, 0.0]))
    0.0
    """
    return TestFunction(
        "sineval",
        lambda x: 1e4 * (x[1] - np.sin(x[0])) ** 2 + 0.25 * x[0] ** 2,
        start=np.array([4.712389, -1.0]),
        domain=np.array([[-5.0, 5.0], [-1.5, 1.5]]),
        minima=np.zeros((1, 2)),
        minimum=0.0,
        source=f"Fletcher 1973, cited by {CUTEST}",
    )


def biggs_exp2() -> TestFunction:
    """Biggs's EXP2: fit exp(-t x) - 5 exp(-t y) to the curve of (1, 10) at the times 0.1, 0.2, ..., 1.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> float(bl.problems.biggs_exp2()([1.0, 10.0])) < 1e-30
    True
    """
    times = np.arange(1, 11) / 10
    curve = np.exp(-times) - 5 * np.exp(-10 * times)

    def formula(x: Vector) -> Any:
        t, y = like(x, times), like(x, curve)
        return np.sum((np.exp(-t * x[0]) - 5 * np.exp(-t * x[1]) - y) ** 2)

    return TestFunction(
        "biggs_exp2",
        formula,
        start=np.array([2.0, 4.0]),
        domain=box(0.0, 20.0, 2),
        minima=np.array([[1.0, 10.0]]),
        minimum=0.0,
        source=f"Biggs 1971, Minimization algorithms making use of non-quadratic properties; {JAMIL_YANG}",
    )
