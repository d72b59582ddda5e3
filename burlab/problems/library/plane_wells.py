"""Test functions of two variables with several wells, and the ways between them."""

from typing import Any

import numpy as np

from burlab.typing import Vector

from .benchmark_function import TestFunction, box, like
from .sources import DIXON_SZEGO, JAMIL_YANG


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
        source=f"Branin 1972, IBM Journal of Research and Development 16(5); constants and domain as in {DIXON_SZEGO}",
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


def six_hump_camel() -> TestFunction:
    """Six-hump camel: (4 - 2.1 x^2 + x^4 / 3) x^2 + x y + (4 y^2 - 4) y^2, with six minima, two of them lowest.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> bl.problems.six_hump_camel().minima.round(4).tolist()
    [[0.0898, -0.7127], [-0.0898, 0.7127]]
    """
    lowest = np.array([0.08984201310031806, -0.7126564030207396])
    return TestFunction(
        "six_hump_camel",
        lambda x: (4 - 2.1 * x[0] ** 2 + x[0] ** 4 / 3) * x[0] ** 2 + x[0] * x[1] + (4 * x[1] ** 2 - 4) * x[1] ** 2,
        start=np.array([-2.5, 1.5]),
        domain=np.array([[-3.0, 3.0], [-2.0, 2.0]]),
        minima=np.stack([lowest, -lowest]),
        minimum=-1.0316284534898774,
        source=DIXON_SZEGO,
        saddles=np.zeros((1, 2)),
    )


def treccani() -> TestFunction:
    """Treccani's function: x^4 + 4 x^3 + 4 x^2 + y^2, two equal wells with a pass of height 1 halfway.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> float(bl.problems.treccani()([-1.0, 0.0]))
    1.0
    """
    return TestFunction(
        "treccani",
        lambda x: x[0] ** 4 + 4 * x[0] ** 3 + 4 * x[0] ** 2 + x[1] ** 2,
        start=np.array([3.0, 4.0]),
        domain=box(-5.0, 5.0, 2),
        minima=np.array([[-2.0, 0.0], [0.0, 0.0]]),
        minimum=0.0,
        source=f"{DIXON_SZEGO}; {JAMIL_YANG}",
        saddles=np.array([[-1.0, 0.0]]),
    )


def zettl() -> TestFunction:
    """Zettl's function: (x^2 + y^2 - 2 x)^2 + x / 4, a ring that is a little lower at one point.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> round(bl.problems.zettl().minimum, 6)
    -0.003791
    """
    return TestFunction(
        "zettl",
        lambda x: (x[0] ** 2 + x[1] ** 2 - 2 * x[0]) ** 2 + 0.25 * x[0],
        start=np.array([4.0, 3.0]),
        domain=np.array([[-1.0, 5.0], [-1.0, 5.0]]),
        minima=np.array([[-0.029895985050660383, 0.0]]),
        minimum=-0.0037912372204686898,
        source=f"Zettl 1970, A global optimization problem; {JAMIL_YANG}",
    )


def deckkers_aarts() -> TestFunction:
    """The function of Dekkers and Aarts: 10^5 x^2 + y^2 - r^4 + 10^-5 r^8 with r^2 = x^2 + y^2, two narrow deep wells.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> round(bl.problems.deckkers_aarts().minimum, 3)
    -24776.518
    """

    def formula(x: Vector) -> Any:
        square = x[0] ** 2 + x[1] ** 2
        return 1e5 * x[0] ** 2 + x[1] ** 2 - square**2 + 1e-5 * square**4

    return TestFunction(
        "deckkers_aarts",
        formula,
        start=np.array([10.0, 2.0]),
        domain=box(-20.0, 20.0, 2),
        minima=np.array([[0.0, -14.945112151891959], [0.0, 14.945112151891959]]),
        minimum=-24776.51834231769,
        source="Dekkers and Aarts 1991, Global optimization and simulated annealing, Mathematical Programming 50; "
        f"under this name in {JAMIL_YANG}",
    )


def muller_brown() -> TestFunction:
    """The potential of Müller and Brown: three wells and the two passes of a reaction between them.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> f = bl.problems.muller_brown()
    >>> [round(float(f(x)), 1) for x in f.saddles]
    [-40.7, -72.2]
    """
    height = np.array([-200.0, -100.0, -170.0, 15.0])
    a, b, c = np.array([[-1.0, -1.0, -6.5, 0.7], [0.0, 0.0, 11.0, 0.6], [-10.0, -10.0, -6.5, 0.7]])
    x0, y0 = np.array([[1.0, 0.0, -0.5, -1.0], [0.0, 0.5, 1.5, 1.0]])
    tables = height, a, b, c, x0, y0

    def formula(x: Vector) -> Any:
        h, xx, xy, yy, u, v = (like(x, table) for table in tables)
        dx, dy = x[0] - u, x[1] - v
        return np.sum(h * np.exp(xx * dx**2 + xy * dx * dy + yy * dy**2))

    return TestFunction(
        "muller_brown",
        formula,
        start=np.array([0.62, 0.1]),
        domain=np.array([[-1.5, 1.2], [-0.2, 2.0]]),
        minima=np.array([[-0.5582236346330243, 1.4417258418046686]]),
        minimum=-146.69951720995402,
        source="Müller and Brown 1979, Theoretica Chimica Acta 53(1)",
        saddles=np.array([[-0.8220015587327321, 0.6243128028148713], [0.212486582000662, 0.2929883251073678]]),
    )
