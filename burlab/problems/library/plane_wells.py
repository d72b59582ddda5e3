"""Test functions of two variables with several wells, and the ways between them."""

from typing import Any

import numpy as np

from burlab.typing import Vector

from .benchmark_function import TestFunction, box, like

_JAMIL = "Jamil and Yang 2013, arXiv:1308.4008"


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
        source="Dixon and Szego 1978, Towards Global Optimisation 2",
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
        source=f"Dixon and Szego 1978, Towards Global Optimisation 2; {_JAMIL}",
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
        source=f"Zettl 1970, A global optimization problem; {_JAMIL}",
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
        source="Dekkers and Aarts 1991, Global optimization and simulated annealing, Mathematical Programming 50",
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

    def formula(x: Vector) -> Any:
        h, xx, xy, yy, u, v = like(x, height, a, b, c, x0, y0)
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
