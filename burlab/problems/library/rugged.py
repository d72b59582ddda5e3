"""Test functions of any dimension with many local minima."""

from typing import Any

import numpy as np

from burlab.typing import Vector

from .benchmark_function import TestFunction, box, dimension
from .sources import JAMIL_YANG


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


def levy(dim: int = 2) -> TestFunction:
    """Levy's function of w = 1 + (x - 1) / 4: waves of growing size around one point.

    sin^2(pi w_1) + sum over i < d of (w_i - 1)^2 (1 + 10 sin^2(pi w_i + 1)) + (w_d - 1)^2 (1 + sin^2(2 pi w_d)).

    Args:
        dim: Number d of coordinates, at least 1.

    Returns:
        The function of d numbers.

    >>> import numpy as np, burlab as bl
    >>> float(bl.problems.levy(dim=4)(np.ones(4))) < 1e-30
    True
    """
    dim = dimension(dim, 1)

    def formula(x: Vector) -> Any:
        v = (x - 1) / 4  # w - 1, so that the sines vanish at the minimum
        waves = 1 + 10 * np.sin(np.pi * v[:-1] + np.pi + 1) ** 2
        return (
            np.sin(np.pi * v[0]) ** 2 + np.sum(v[:-1] ** 2 * waves) + v[-1] ** 2 * (1 + np.sin(2 * np.pi * v[-1]) ** 2)
        )

    return TestFunction(
        "levy",
        formula,
        start=np.resize([-7.0, 6.0], dim),
        domain=box(-10.0, 10.0, dim),
        minima=np.ones((1, dim)),
        minimum=0.0,
        source="Levy and Montalvo 1985, The tunneling algorithm, SIAM Journal on Scientific and Statistical Computing "
        "6(1); in this form by Laguna and Martí 2005, Journal of Global Optimization 33",
    )


def wavy(dim: int = 2) -> TestFunction:
    """The W function: 1 - mean of cos(10 x_i) exp(-x_i^2 / 2), ten waves in each coordinate.

    Args:
        dim: Number d of coordinates, at least 1.

    Returns:
        The function of d numbers.

    >>> import numpy as np, burlab as bl
    >>> float(bl.problems.wavy(dim=3)(np.zeros(3)))
    0.0
    """
    dim = dimension(dim, 1)
    return TestFunction(
        "wavy",
        lambda x: np.sum(1 - np.cos(10 * x) * np.exp(-0.5 * x**2)) / dim,
        start=np.resize([1.6, -1.0], dim),
        domain=box(-np.pi, np.pi, dim),
        minima=np.zeros((1, dim)),
        minimum=0.0,
        source=f"Courrieu 1997, cited by {JAMIL_YANG}",
        smoothness=101.0 / dim,
    )
