"""Test functions of two variables."""

from typing import Any

import numpy as np

from burlab.typing import Vector

from .benchmark_function import TestFunction, box


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
        source="Jamil and Yang 2013, arXiv:1308.4008",
        smoothness=18.0,
        strong_convexity=2.0,
    )


def himmelblau() -> TestFunction:
    """Himmelblau's function: four equal minima, and between them four saddles and a hill.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> len(bl.problems.himmelblau().minima)
    4
    """
    return TestFunction(
        "himmelblau",
        lambda x: (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2,
        start=np.array([0.0, 0.0]),
        domain=box(-5.0, 5.0, 2),
        minima=np.array(
            [
                [3.0, 2.0],
                [-2.805118086952745, 3.131312518250573],
                [-3.779310253377747, -3.2831859912861696],
                [3.5844283403304917, -1.8481265269644036],
            ]
        ),
        minimum=0.0,
        source="Himmelblau 1972, Applied Nonlinear Programming, McGraw-Hill",
        saddles=np.array(
            [
                [0.08667750455539636, 2.884254701174776],
                [3.385154183607021, 0.07385187983774928],
                [-3.0730257507643897, -0.08135304428796751],
                [-0.12796134673068008, -1.9537149802445763],
            ]
        ),
    )


def branin() -> TestFunction:
    """Branin's function: three equal minima in a landscape without symmetry. The minimum is 5 / (4 pi).

    Returns:
        The function of 2 numbers.

    >>> import numpy as np, burlab as bl
    >>> bl.problems.branin().minima[:, 1]
    array([12.275,  2.275,  2.475])
    """

    def formula(x: Vector) -> Any:
        bend = x[1] - 5.1 / (4 * np.pi**2) * x[0] ** 2 + 5 / np.pi * x[0] - 6
        return bend**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x[0]) + 10

    return TestFunction(
        "branin",
        formula,
        start=np.array([2.5, 7.5]),
        domain=np.array([[-5.0, 10.0], [0.0, 15.0]]),
        minima=np.array([[-np.pi, 12.275], [np.pi, 2.275], [3 * np.pi, 2.475]]),
        minimum=5 / (4 * np.pi),
        source="Branin 1972, IBM Journal of Research and Development 16(5); constants and domain as in "
        "Dixon and Szego 1978, Towards Global Optimisation 2",
    )


def goldstein_price() -> TestFunction:
    """The function of Goldstein and Price: four local minima, values from 3 to a million in one small square.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> float(bl.problems.goldstein_price()([0.0, -1.0]))
    3.0
    """

    def formula(x: Vector) -> Any:
        a, b = x[0], x[1]
        near = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2)
        far = 30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2)
        return near * far

    return TestFunction(
        "goldstein_price",
        formula,
        start=np.array([1.5, 1.0]),
        domain=box(-2.0, 2.0, 2),
        minima=np.array([[0.0, -1.0]]),
        minimum=3.0,
        source="Goldstein and Price 1971, On descent from local minima, Mathematics of Computation 25(115)",
    )
