"""Test functions whose minimum lies at the end of a long valley."""

from typing import Any

import numpy as np

from burlab.typing import Vector

from .benchmark_function import TestFunction, box, dimension


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
