"""Test functions of any dimension with many local minima."""

from typing import Any

import numpy as np

from burlab.typing import Vector

from .benchmark_function import TestFunction, box, dimension


def rastrigin(dim: int = 2) -> TestFunction:
    """Rastrigin's function: 10 d + sum of x_i^2 - 10 cos(2 pi x_i), a local minimum near every point of integers.

    Args:
        dim: Number d of coordinates, at least 1.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> float(bl.problems.rastrigin(dim=3)([0.0, 1.0, 0.0]))
    1.0
    """
    dim = dimension(dim, 1)
    return TestFunction(
        "rastrigin",
        lambda x: 10 * dim + np.sum(x**2 - 10 * np.cos(2 * np.pi * x)),
        start=np.resize([3.4, -2.6], dim),
        domain=box(-5.12, 5.12, dim),
        minima=np.zeros((1, dim)),
        minimum=0.0,
        source="Rastrigin 1974, Systems of Extremal Control, for dim = 2; any dim in Mühlenbein, Schomisch and Born "
        "1991, Parallel Computing 17",
        smoothness=2 + 40 * np.pi**2,
    )


def ackley(dim: int = 2) -> TestFunction:
    """Ackley's function: a flat, rugged plain around one funnel, whose lowest point is a kink.

    -20 exp(-0.2 |x| / sqrt(d)) - exp(mean of cos(2 pi x_i)) + 20 + e. The gradient at the kink is taken as zero.

    Args:
        dim: Number d of coordinates, at least 1.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> f = bl.problems.ackley()
    >>> abs(float(f(f.minima[0]))) < 1e-15, f.smooth
    (True, False)
    """
    dim = dimension(dim, 1)

    def formula(x: Vector) -> Any:
        length: Any = np.linalg.norm(x)
        funnel = np.exp(-0.2 * dim**-0.5 * length)
        return 20 * (1 - funnel) + np.e - np.exp(np.sum(np.cos(2 * np.pi * x)) / dim)

    return TestFunction(
        "ackley",
        formula,
        start=np.resize([14.4, -9.7], dim),
        domain=box(-32.768, 32.768, dim),
        minima=np.zeros((1, dim)),
        minimum=0.0,
        source="Ackley 1987, A Connectionist Machine for Genetic Hillclimbing, for dim = 2; any dim and the domain in "
        "Bäck 1996, Evolutionary Algorithms in Theory and Practice",
        smooth=False,
    )


def styblinski_tang(dim: int = 2) -> TestFunction:
    """The function of Styblinski and Tang: half the sum of x_i^4 - 16 x_i^2 + 5 x_i.

    Args:
        dim: Number d of coordinates, at least 1.

    Returns:
        The function of d numbers, with 2^d local minima, one of them lowest.

    >>> import burlab as bl
    >>> round(bl.problems.styblinski_tang(dim=1).minimum, 6)
    -39.166166
    """
    dim = dimension(dim, 1)
    none = np.empty((0, dim))
    lowest, second, hill = -2.903534027771177, 2.746802770990837, 0.1567312567803401  # where 4 x^3 - 32 x + 5 = 0
    return TestFunction(
        "styblinski_tang",
        lambda x: 0.5 * np.sum(x**4 - 16 * x**2 + 5 * x),
        start=np.resize([4.0, -0.5], dim),
        domain=box(-5.0, 5.0, dim),
        minima=np.full((1, dim), lowest),
        minimum=-39.16616570377141 * dim,
        source="Styblinski and Tang 1990, Experiments in nonconvex optimization, Neural Networks 3(4)",
        saddles=np.array([[hill, lowest], [lowest, hill], [hill, second], [second, hill]]) if dim == 2 else none,
    )
