"""Problems 21 to 35 of Moré, Garbow and Hillstrom: of any number of unknowns."""

from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import whole
from burlab.typing import Vector

from .mgh_form import MghForm, stack


def _multiple(n: int, of: int) -> int:
    if whole(n, "n", of) % of:
        raise ArgumentError(f"n={n} is not a multiple of {of}, as this problem needs. Pass n={n // of * of + of}.")
    return n


def _residuals(n: int, m: int, least: int = 1) -> tuple[int, int]:
    n = whole(n, "n", least)
    return n, whole(m, "m", n)


def extended_rosenbrock(n: int = 10) -> MghForm:
    """21. Spedicato 1975."""
    n = _multiple(n, 2)

    def r(x: Vector) -> Any:
        return stack([10 * (x[1::2] - x[::2] ** 2), 1 - x[::2]], axis=1).reshape(n)

    return MghForm(r, np.tile([-1.2, 1.0], n // 2), 0.0, (np.ones(n),))


def extended_powell(n: int = 12) -> MghForm:
    """22. Spedicato 1975, after Powell's singular function."""
    n = _multiple(n, 4)

    def r(x: Vector) -> Any:
        a, b, c, d = x[::4], x[1::4], x[2::4], x[3::4]
        parts = [a + 10 * b, np.sqrt(5) * (c - d), (b - 2 * c) ** 2, np.sqrt(10) * (a - d) ** 2]
        return stack(parts, axis=1).reshape(n)

    return MghForm(r, np.tile([3.0, -1.0, 0.0, 1.0], n // 4), 0.0, (np.zeros(n),))


def penalty_1(n: int = 4) -> MghForm:
    """23. Gill, Murray and Pitfield 1972."""
    n = whole(n, "n", 1)

    def r(x: Vector) -> Any:
        return np.concatenate([np.sqrt(1e-5) * (x - 1), stack([np.sum(x * x) - 0.25])])

    return MghForm(r, np.arange(1.0, n + 1), {4: 2.24997e-5, 10: 7.08765e-5}.get(n, np.nan))


def penalty_2(n: int = 4) -> MghForm:
    """24. Gill, Murray and Pitfield 1972."""
    i = np.arange(1.0, 1 + whole(n, "n", 2))
    y, weights = np.exp(i[1:] / 10) + np.exp(i[:-1] / 10), n + 1 - i

    def r(x: Vector) -> Any:
        e = np.exp(x / 10)
        middle = np.sqrt(1e-5) * np.concatenate([e[1:] + e[:-1] - y, e[1:] - np.exp(-0.1)])
        return np.concatenate([stack([x[0] - 0.2]), middle, stack([np.sum(weights * x * x) - 1])])

    return MghForm(r, np.full(n, 0.5), {4: 9.37629e-6, 10: 2.93660e-4}.get(n, np.nan))


def variably_dimensioned(n: int = 10) -> MghForm:
    """25. Spedicato."""
    j = np.arange(1.0, 1 + whole(n, "n", 1))

    def r(x: Vector) -> Any:
        total = np.sum(j * (x - 1))
        return np.concatenate([x - 1, stack([total, total**2])])

    return MghForm(r, 1 - j / n, 0.0, (np.ones(n),))


def trigonometric(n: int = 10) -> MghForm:
    """26. Spedicato 1975. From the start a local minimum, of 2.79506e-5 for 10 unknowns, is found."""
    i = np.arange(1.0, 1 + whole(n, "n", 1))

    def r(x: Vector) -> Any:
        return n - np.sum(np.cos(x)) + i * (1 - np.cos(x)) - np.sin(x)

    return MghForm(r, np.full(n, 1 / n), 0.0, (np.zeros(n),))


def brown_almost_linear(n: int = 10) -> MghForm:
    """27. Brown 1969."""
    n = whole(n, "n", 1)

    def r(x: Vector) -> Any:
        return np.concatenate([x[:-1] + np.sum(x) - (n + 1), stack([np.prod(x) - 1])])

    return MghForm(r, np.full(n, 0.5), 0.0, (np.ones(n),))


def boundary_value(n: int = 10) -> MghForm:
    """28. Moré and Cosnard 1979: a discrete boundary value problem."""
    n = whole(n, "n", 1)
    h = 1 / (n + 1)
    t = h * np.arange(1.0, n + 1)

    def r(x: Vector) -> Any:
        ends = np.concatenate([np.zeros(1), x, np.zeros(1)])
        return 2 * x - ends[:-2] - ends[2:] + h**2 * (x + t + 1) ** 3 / 2

    return MghForm(r, t * (t - 1))


def integral_equation(n: int = 10) -> MghForm:
    """29. Moré and Cosnard 1979: a discrete integral equation."""
    n = whole(n, "n", 1)
    h = 1 / (n + 1)
    t = h * np.arange(1.0, n + 1)
    kernel = np.where(t[None] <= t[:, None], (1 - t[:, None]) * t[None], t[:, None] * (1 - t[None]))
    return MghForm(lambda x: x + h / 2 * (kernel @ (x + t + 1) ** 3), t * (t - 1))


def broyden_tridiagonal(n: int = 10) -> MghForm:
    """30. Broyden 1965."""
    n = whole(n, "n", 1)

    def r(x: Vector) -> Any:
        ends = np.concatenate([np.zeros(1), x, np.zeros(1)])
        return (3 - 2 * x) * x - ends[:-2] - 2 * ends[2:] + 1

    return MghForm(r, np.full(n, -1.0))


def broyden_banded(n: int = 10) -> MghForm:
    """31. Broyden 1971: five diagonals below and one above."""
    i = np.arange(whole(n, "n", 1))
    gap = i[None] - i[:, None]
    band = ((gap >= -5) & (gap <= 1) & (gap != 0)).astype(float)
    return MghForm(lambda x: x * (2 + 5 * x**2) + 1 - band @ (x * (1 + x)), np.full(n, -1.0))


def linear_full_rank(n: int = 5, m: int = 10) -> MghForm:
    """32. A linear function."""
    n, m = _residuals(n, m)

    def r(x: Vector) -> Any:
        return np.concatenate([x, np.zeros(m - n)]) - 2 / m * np.sum(x) - 1

    return MghForm(r, np.ones(n), float(m - n), (np.full(n, -1.0),))


def linear_rank_1(n: int = 5, m: int = 10) -> MghForm:
    """33. A linear function whose Jacobian has rank 1."""
    n, m = _residuals(n, m)
    i, j = np.arange(1.0, m + 1), np.arange(1.0, n + 1)
    return MghForm(lambda x: i * np.sum(j * x) - 1, np.ones(n), m * (m - 1) / (2 * (2 * m + 1)))


def linear_rank_1_zeros(n: int = 5, m: int = 10) -> MghForm:
    """34. A linear function whose Jacobian has rank 1, and zero rows and columns."""
    n, m = _residuals(n, m, 3)
    i, j = np.arange(float(m)), np.arange(1.0, n + 1)
    rows, columns = np.where(i < m - 1, i, 0.0), np.where((j > 1) & (j < n), j, 0.0)
    return MghForm(lambda x: rows * np.sum(columns * x) - 1, np.ones(n), (m**2 + 3 * m - 6) / (2 * (2 * m - 3)))


CHEBYQUAD = {8: 3.51687e-3, 10: 6.50395e-3} | dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 9), 0.0)


def chebyquad(n: int = 8, m: int | None = None) -> MghForm:
    """35. Fletcher 1965: points of a quadrature with equal weights."""
    n, m = _residuals(n, n if m is None else m)
    k = np.arange(1, m + 1)
    integrals = np.where(k % 2 == 0, -1 / np.where(k == 1, 1, k**2 - 1.0), 0.0)

    def r(x: Vector) -> Any:
        y = 2 * x - 1
        polynomials = [np.ones(n), y]
        for _ in range(m - 1):
            polynomials.append(2 * y * polynomials[-1] - polynomials[-2])
        return np.sum(stack(polynomials[1 : m + 1]), axis=1) / n - integrals

    return MghForm(r, np.arange(1.0, n + 1) / (n + 1), CHEBYQUAD.get(n, np.nan) if m == n else np.nan)
