"""Problems 8 to 12, 15 and 17 to 20 of Moré, Garbow and Hillstrom: curves through data."""

from typing import Any

import numpy as np

from burlab.runtime.checks.numbers import whole
from burlab.typing import Vector

from .mgh_form import MghForm, stack

BARD = "0.14 0.18 0.22 0.25 0.29 0.32 0.35 0.39 0.37 0.58 0.73 0.96 1.34 2.10 4.39"
GAUSSIAN = "0.0009 0.0044 0.0175 0.0540 0.1295 0.2420 0.3521 0.3989 0.3521 0.2420 0.1295 0.0540 0.0175 0.0044 0.0009"
MEYER = "34780 28610 23650 19630 16370 13720 11540 9744 8261 7030 6005 5147 4427 3820 3307 2872"
KOWALIK = "0.1957 0.1947 0.1735 0.1600 0.0844 0.0627 0.0456 0.0342 0.0323 0.0235 0.0246"
KOWALIK_PLACES = "4 2 1 0.5 0.25 0.167 0.125 0.1 0.0833 0.0714 0.0625"
OSBORNE_1 = """0.844 0.908 0.932 0.936 0.925 0.908 0.881 0.850 0.818 0.784 0.751 0.718 0.685 0.658 0.628 0.603 0.580
0.558 0.538 0.522 0.506 0.490 0.478 0.467 0.457 0.448 0.438 0.431 0.424 0.420 0.414 0.411 0.406"""
OSBORNE_2 = """1.366 1.191 1.112 1.013 0.991 0.885 0.831 0.847 0.786 0.725 0.746 0.679 0.608 0.655 0.616 0.606 0.602
0.626 0.651 0.724 0.649 0.649 0.694 0.644 0.624 0.661 0.612 0.558 0.533 0.495 0.500 0.423 0.395 0.375 0.372 0.391 0.396
0.405 0.428 0.429 0.523 0.562 0.607 0.653 0.672 0.708 0.633 0.668 0.645 0.632 0.591 0.559 0.597 0.625 0.739 0.710 0.729
0.720 0.636 0.581 0.428 0.292 0.162 0.098 0.054"""


def _numbers(text: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return np.array(text.split(), np.float64)


def bard() -> MghForm:
    """8. Bard 1970."""
    u, y = np.arange(1.0, 16.0), _numbers(BARD)
    v = 16 - u
    w = np.minimum(u, v)
    return MghForm(lambda x: y - (x[0] + u / (v * x[1] + w * x[2])), [1.0, 1.0, 1.0], 8.21487e-3)


def gaussian() -> MghForm:
    """9. A bell."""
    t, y = (8 - np.arange(1.0, 16.0)) / 2, _numbers(GAUSSIAN)
    return MghForm(lambda x: x[0] * np.exp(-x[1] * (t - x[2]) ** 2 / 2) - y, [0.4, 1.0, 0.0], 1.12793e-8)


def meyer() -> MghForm:
    """10. Meyer 1970."""
    t, y = 45 + 5 * np.arange(1.0, 17.0), _numbers(MEYER)
    return MghForm(lambda x: x[0] * np.exp(x[1] / (t + x[2])) - y, [0.02, 4000.0, 250.0], 87.9458)


def gulf(m: int = 99) -> MghForm:
    """11. Gulf research and development: Cox 1969. In the paper's formula "y_i m i x_2" stands for y_i - x_2."""
    t = np.arange(1.0, 1 + whole(m, "m", 3, 99)) / 100
    y = 25 + (-50 * np.log(t)) ** (2 / 3)
    start = [5.0, 2.5, 0.15]
    return MghForm(lambda x: np.exp(-(np.abs(y - x[1]) ** x[2]) / x[0]) - t, start, 0.0, ([50.0, 25.0, 1.5],))


def box(m: int = 10) -> MghForm:
    """12. Box 1966, in three dimensions. The minima are two points and the line x_1 = x_2, x_3 = 0."""
    t = 0.1 * np.arange(1.0, 1 + whole(m, "m", 3))

    def r(x: Vector) -> Any:
        return np.exp(-t * x[0]) - np.exp(-t * x[1]) - x[2] * (np.exp(-t) - np.exp(-10 * t))

    return MghForm(r, [0.0, 10.0, 20.0], 0.0, ([1.0, 10.0, 1.0], [10.0, 1.0, -1.0], [3.0, 3.0, 0.0]))


def kowalik_osborne() -> MghForm:
    """15. Kowalik and Osborne 1968."""
    u, y = _numbers(KOWALIK_PLACES), _numbers(KOWALIK)

    def r(x: Vector) -> Any:
        return y - x[0] * (u**2 + u * x[1]) / (u**2 + u * x[2] + x[3])

    return MghForm(r, [0.25, 0.39, 0.415, 0.39], 3.07505e-4)


def osborne_1() -> MghForm:
    """17. Osborne 1972: two exponentials."""
    t, y = 10 * np.arange(33.0), _numbers(OSBORNE_1)

    def r(x: Vector) -> Any:
        return y - (x[0] + x[1] * np.exp(-t * x[3]) + x[2] * np.exp(-t * x[4]))

    return MghForm(r, [0.5, 1.5, -1.0, 0.01, 0.02], 5.46489e-5)


def biggs_exp6(m: int = 13) -> MghForm:
    """18. Biggs 1971. From the start a local minimum is found, too: 5.65565e-3 for 13 residuals."""
    t = 0.1 * np.arange(1.0, 1 + whole(m, "m", 6))
    y = np.exp(-t) - 5 * np.exp(-10 * t) + 3 * np.exp(-4 * t)

    def r(x: Vector) -> Any:
        return x[2] * np.exp(-t * x[0]) - x[3] * np.exp(-t * x[1]) + x[5] * np.exp(-t * x[4]) - y

    return MghForm(r, [1.0, 2.0, 1.0, 1.0, 1.0, 1.0], 0.0, ([1.0, 10.0, 1.0, 5.0, 4.0, 3.0],))


def osborne_2() -> MghForm:
    """19. Osborne 1972: an exponential and three bells."""
    t, y = np.arange(65.0) / 10, _numbers(OSBORNE_2)

    def r(x: Vector) -> Any:
        bells = [x[1 + k] * np.exp(-((t - x[8 + k]) ** 2) * x[5 + k]) for k in range(3)]
        return y - (x[0] * np.exp(-t * x[4]) + bells[0] + bells[1] + bells[2])

    return MghForm(r, [1.3, 0.65, 0.65, 0.7, 0.6, 3.0, 5.0, 7.0, 2.0, 4.5, 5.5], 4.01377e-2)


WATSON = {6: 2.28767e-3, 9: 1.39976e-6, 12: 4.72238e-10}


def watson(n: int = 6) -> MghForm:
    """20. Kowalik and Osborne 1968: a polynomial that solves a differential equation."""
    n = whole(n, "n", 2, 31)
    t = np.arange(1.0, 30.0)[:, None] / 29
    j = np.arange(float(n))
    powers = t**j
    slopes = j * t ** np.maximum(j - 1, 0)

    def r(x: Vector) -> Any:
        return np.concatenate([slopes @ x - (powers @ x) ** 2 - 1, stack([x[0], x[1] - x[0] ** 2 - 1])])

    return MghForm(r, np.zeros(n), WATSON.get(n, np.nan))
