"""Test functions of two variables with one lowest point: bowls, smooth or rippled."""

from typing import Any

import numpy as np

from burlab.typing import Vector

from .benchmark_function import TestFunction, box
from .sources import CUTEST, HEDAR, JAMIL_YANG


def booth() -> TestFunction:
    """Booth's function, a convex quadratic: (x + 2 y - 7)^2 + (2 x + y - 5)^2, of condition number 9.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> float(bl.problems.booth()([1.0, 3.0]))
    0.0
    """
    return TestFunction(
        "booth",
        lambda x: (x[0] + 2 * x[1] - 7) ** 2 + (2 * x[0] + x[1] - 5) ** 2,
        start=np.array([-5.0, -5.0]),
        domain=box(-10.0, 10.0, 2),
        minima=np.array([[1.0, 3.0]]),
        minimum=0.0,
        source=JAMIL_YANG,
        smoothness=18.0,
        strong_convexity=2.0,
    )


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
        source=f"{HEDAR}; {JAMIL_YANG}",
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
        source=JAMIL_YANG,
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
        source=f"Price 1977, The Computer Journal 20(4); {JAMIL_YANG}",
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
        source=f"Himmelblau 1972, Applied Nonlinear Programming, problem 29; {CUTEST}",
    )
