"""Test functions with hundreds of local minima in their usual domains, around a wide bowl or none."""

from typing import Any

import numpy as np

from burlab.typing import Vector

from .benchmark_function import TestFunction, box, dimension, like
from .sources import JAMIL_YANG

prod: Any = np.prod  # NumPy's, whose types know no traced values


def griewank(dim: int = 2) -> TestFunction:
    """Griewank's function: 1 + |x|^2 / 4000 - product of cos(x_i / sqrt(i)), a wide bowl with small waves.

    Args:
        dim: Number d of coordinates, at least 1.

    Returns:
        The function of d numbers.

    >>> import numpy as np, burlab as bl
    >>> float(bl.problems.griewank(dim=5)(np.zeros(5)))
    0.0
    """
    dim = dimension(dim, 1)
    widths = np.sqrt(np.arange(1.0, dim + 1))

    def formula(x: Vector) -> Any:
        return 1 + np.sum(x**2) / 4000 - prod(np.cos(x / like(x, widths)))

    return TestFunction(
        "griewank",
        formula,
        start=np.resize([310.0, -270.0], dim),
        domain=box(-600.0, 600.0, dim),
        minima=np.zeros((1, dim)),
        minimum=0.0,
        source="Griewank 1981, Generalized descent for global optimization, Journal of Optimization Theory and "
        "Applications 34(1), for dim = 2 and 10",
    )


def schwefel(dim: int = 2) -> TestFunction:
    """Schwefel's function 2.26: minus the sum of x_i sin(sqrt(|x_i|)), whose lowest point is far from the second one.

    The minimum is that of the domain; beyond it the waves go deeper without end.

    Args:
        dim: Number d of coordinates, at least 1.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> f = bl.problems.schwefel()
    >>> abs(float(f(f.minima[0])) - f.minimum) < 1e-12
    True
    """
    dim = dimension(dim, 1)

    def formula(x: Vector) -> Any:
        root = np.sqrt(np.abs(x) + 1e-300)  # the slope at 0 is 0, not 0 / 0
        return -np.sum(x * np.sin(root))

    return TestFunction(
        "schwefel",
        formula,
        start=np.resize([-300.0, 200.0], dim),
        domain=box(-500.0, 500.0, dim),
        minima=np.full((1, dim), 420.968746359982),
        minimum=-418.9828872724337 * dim,
        source=f"Schwefel 1981, Numerical Optimization of Computer Models, problem 2.26; cited by {JAMIL_YANG}",
    )


def schaffer_2() -> TestFunction:
    """Schaffer's function N. 2: 1/2 + (sin^2(x_1^2 - x_2^2) - 1/2) / (1 + |x|^2 / 1000)^2, ridges that cross at 0.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> float(bl.problems.schaffer_2()([0.0, 0.0]))
    0.0
    """

    def formula(x: Vector) -> Any:
        return 0.5 + (np.sin(x[0] ** 2 - x[1] ** 2) ** 2 - 0.5) / (1 + np.sum(x**2) / 1000) ** 2

    return TestFunction(
        "schaffer_2",
        formula,
        start=np.array([3.0, -1.0]),
        domain=box(-100.0, 100.0, 2),
        minima=np.zeros((1, 2)),
        minimum=0.0,
        source=f"Mishra 2007, Some new test functions for global optimization; cited by {JAMIL_YANG}",
    )


def schaffer_4() -> TestFunction:
    """Schaffer's function N. 4: 1/2 + (cos^2(sin(x_1^2 - x_2^2)) - 1/2) / (1 + |x|^2 / 1000)^2, with four minima.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> f = bl.problems.schaffer_4()
    >>> len(f.minima), round(f.minimum, 6)
    (4, 0.292579)
    """
    place = 1.2531318314637332  # near sqrt(pi / 2), where sin is 1

    def formula(x: Vector) -> Any:
        return 0.5 + (np.cos(np.sin(x[0] ** 2 - x[1] ** 2)) ** 2 - 0.5) / (1 + np.sum(x**2) / 1000) ** 2

    return TestFunction(
        "schaffer_4",
        formula,
        start=np.array([3.0, -1.0]),
        domain=box(-100.0, 100.0, 2),
        minima=place * np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]]),
        minimum=0.292578632035980549,
        source=f"Mishra 2007, Some new test functions for global optimization; cited by {JAMIL_YANG}",
    )
