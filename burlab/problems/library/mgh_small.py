"""Problems 1 to 7, 13, 14 and 16 of Moré, Garbow and Hillstrom: formulas of a few unknowns."""

from typing import Any

import numpy as np

from burlab.typing import Vector

from .mgh_form import MghForm, stack, where


def rosenbrock() -> MghForm:
    """1. Rosenbrock 1960."""
    return MghForm(lambda x: stack([10 * (x[1] - x[0] ** 2), 1 - x[0]]), [-1.2, 1.0], 0.0, ([1.0, 1.0],))


def freudenstein_roth() -> MghForm:
    """2. Freudenstein and Roth 1963. The start leads to the local minimum."""

    def r(x: Vector) -> Any:
        a, b = x[0], x[1]
        return stack([-13 + a + ((5 - b) * b - 2) * b, -29 + a + ((b + 1) * b - 14) * b])

    return MghForm(r, [0.5, -2.0], 0.0, ([5.0, 4.0],))


def powell_badly_scaled() -> MghForm:
    """3. Powell 1970."""
    return MghForm(lambda x: stack([1e4 * x[0] * x[1] - 1, np.exp(-x[0]) + np.exp(-x[1]) - 1.0001]), [0.0, 1.0])


def brown_badly_scaled() -> MghForm:
    """4. Brown."""
    return MghForm(lambda x: stack([x[0] - 1e6, x[1] - 2e-6, x[0] * x[1] - 2]), [1.0, 1.0], 0.0, ([1e6, 2e-6],))


def beale() -> MghForm:
    """5. Beale 1958."""
    y, power = np.array([1.5, 2.25, 2.625]), np.arange(1, 4)
    return MghForm(lambda x: y - x[0] * (1 - x[1] ** power), [1.0, 1.0], 0.0, ([3.0, 0.5],))


def jennrich_sampson() -> MghForm:
    """6. Jennrich and Sampson 1968, with 10 residuals."""
    i = np.arange(1.0, 11.0)
    return MghForm(lambda x: 2 + 2 * i - (np.exp(i * x[0]) + np.exp(i * x[1])), [0.3, 0.4], 124.362)


def helical_valley() -> MghForm:
    """7. Fletcher and Powell 1963."""

    def r(x: Vector) -> Any:
        angle = np.arctan(x[1] / x[0]) / (2 * np.pi) + where(x[0] < 0, 0.5, 0.0)
        return stack([10 * (x[2] - 10 * angle), 10 * (np.sqrt(x[0] ** 2 + x[1] ** 2) - 1), x[2]])

    return MghForm(r, [-1.0, 0.0, 0.0], 0.0, ([1.0, 0.0, 0.0],))


def powell_singular() -> MghForm:
    """13. Powell 1962. The Jacobian is singular at the minimum."""

    def r(x: Vector) -> Any:
        a, b, c, d = x[0], x[1], x[2], x[3]
        return stack([a + 10 * b, np.sqrt(5) * (c - d), (b - 2 * c) ** 2, np.sqrt(10) * (a - d) ** 2])

    return MghForm(r, [3.0, -1.0, 0.0, 1.0], 0.0, ([0.0, 0.0, 0.0, 0.0],))


def wood() -> MghForm:
    """14. Colville 1968."""

    def r(x: Vector) -> Any:
        a, b, c, d = x[0], x[1], x[2], x[3]
        pairs = [10 * (b - a**2), 1 - a, np.sqrt(90) * (d - c**2), 1 - c]
        return stack([*pairs, np.sqrt(10) * (b + d - 2), (b - d) / np.sqrt(10)])

    return MghForm(r, [-3.0, -1.0, -3.0, -1.0], 0.0, ([1.0, 1.0, 1.0, 1.0],))


def brown_dennis() -> MghForm:
    """16. Brown and Dennis 1971, with 20 residuals."""
    t = np.arange(1, 21) / 5

    def r(x: Vector) -> Any:
        return (x[0] + t * x[1] - np.exp(t)) ** 2 + (x[2] + x[3] * np.sin(t) - np.cos(t)) ** 2

    return MghForm(r, [25.0, 5.0, -5.0, -1.0], 85822.2)
