"""Test functions of two variables with one lowest point: bowls, rippled bowls, and narrow valleys."""

from typing import Any

import numpy as np

from burlab.typing import Vector

from .benchmark_function import TestFunction, box, like

_JAMIL = "Jamil and Yang 2013, arXiv:1308.4008"
_CUTEST = "Gould, Orban and Toint 2015, CUTEst, Computational Optimization and Applications 60"


def matyas() -> TestFunction:
    """Matyas's function, a convex quadratic: 0.26 (x^2 + y^2) - 0.48 x y, of condition number 25.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> round(float(bl.problems.matyas()([1.0, 1.0])), 9)
    0.04
    """
    return TestFunction(
        "matyas",
        lambda x: 0.26 * (x[0] ** 2 + x[1] ** 2) - 0.48 * x[0] * x[1],
        start=np.array([-8.0, 5.0]),
        domain=box(-10.0, 10.0, 2),
        minima=np.zeros((1, 2)),
        minimum=0.0,
        source=f"Hedar 2005, Global Optimization Test Problems; {_JAMIL}",
        smoothness=1.0,
        strong_convexity=0.04,
    )


def bohachevsky() -> TestFunction:
    """Bohachevsky's first function: x^2 + 2 y^2 - 0.3 cos(3 pi x) - 0.4 cos(4 pi y) + 0.7, a rippled bowl.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> abs(float(bl.problems.bohachevsky()([0.0, 0.0]))) < 1e-15
    True
    """

    def formula(x: Vector) -> Any:
        waves = 0.3 * (1 - np.cos(3 * np.pi * x[0])) + 0.4 * (1 - np.cos(4 * np.pi * x[1]))
        return x[0] ** 2 + 2 * x[1] ** 2 + waves

    return TestFunction(
        "bohachevsky",
        formula,
        start=np.array([-60.0, 45.0]),
        domain=box(-100.0, 100.0, 2),
        minima=np.zeros((1, 2)),
        minimum=0.0,
        source="Bohachevsky, Johnson and Stein 1986, Generalized simulated annealing, Technometrics 28(3)",
    )


def egg_crate() -> TestFunction:
    """The egg crate: x^2 + y^2 + 25 (sin^2 x + sin^2 y).

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> float(bl.problems.egg_crate()([0.0, 0.0]))
    0.0
    """
    return TestFunction(
        "egg_crate",
        lambda x: np.sum(x**2) + 25 * np.sum(np.sin(x) ** 2),
        start=np.array([4.0, -3.5]),
        domain=box(-5.0, 5.0, 2),
        minima=np.zeros((1, 2)),
        minimum=0.0,
        source=_JAMIL,
        smoothness=52.0,
    )


def periodic() -> TestFunction:
    """Price's periodic function: 1 + sin^2 x + sin^2 y - 0.1 exp(-x^2 - y^2), equal hollows but one.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> bl.problems.periodic().minimum
    0.9
    """
    return TestFunction(
        "periodic",
        lambda x: 1 + np.sum(np.sin(x) ** 2) - 0.1 * np.exp(-np.sum(x**2)),
        start=np.array([-7.0, 8.6]),
        domain=box(-10.0, 10.0, 2),
        minima=np.zeros((1, 2)),
        minimum=0.9,
        source=f"Price 1977, The Computer Journal 20(4); {_JAMIL}",
    )


def himmelbg() -> TestFunction:
    """HIMMELBG of CUTEst: exp(-x - y) (2 x^2 + 3 y^2), which also falls to its minimum 0 at infinity.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> float(bl.problems.himmelbg()([0.0, 0.0]))
    0.0
    """
    return TestFunction(
        "himmelbg",
        lambda x: np.exp(-x[0] - x[1]) * (2 * x[0] ** 2 + 3 * x[1] ** 2),
        start=np.array([0.5, 0.5]),
        domain=box(-1.0, 1.5, 2),
        minima=np.zeros((1, 2)),
        minimum=0.0,
        source=f"Himmelblau 1972, Applied Nonlinear Programming, problem 29; {_CUTEST}",
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
        source=f"Fletcher 1973, cited by {_CUTEST}",
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
        t, y = like(x, times, curve)
        return np.sum((np.exp(-t * x[0]) - 5 * np.exp(-t * x[1]) - y) ** 2)

    return TestFunction(
        "biggs_exp2",
        formula,
        start=np.array([2.0, 4.0]),
        domain=box(0.0, 20.0, 2),
        minima=np.array([[1.0, 10.0]]),
        minimum=0.0,
        source=f"Biggs 1971, Minimization algorithms making use of non-quadratic properties; {_JAMIL}",
    )
