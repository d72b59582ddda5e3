"""Least-squares problems of the kinds of Moré, Garbow and Hillstrom 1981, in unchanged NumPy: values and Jacobians.

Second engine: the same text on numbers of 50 digits, differentiated by central differences.
"""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import burlab as bl
from tests.engines import assert_close
from tests.graph.buffers.programs import traced


def rosenbrock(x: Any) -> Any:
    f = np.zeros(2)
    f[0] = 10 * (x[1] - x[0] ** 2)
    f[1] = 1 - x[0]
    return f


def extended_rosenbrock(x: Any) -> Any:
    f = np.zeros(len(x))
    f[::2] = 10 * (x[1::2] - x[::2] ** 2)
    f[1::2] = 1 - x[::2]
    return f


def powell_singular(x: Any) -> Any:
    f = np.empty(4)
    f[0] = x[0] + 10 * x[1]
    f[1] = 5**0.5 * (x[2] - x[3])
    f[2] = (x[1] - 2 * x[2]) ** 2
    f[3] = 10**0.5 * (x[0] - x[3]) ** 2
    return f


def freudenstein_roth(x: Any) -> Any:
    f = np.zeros(2)
    f[0] = -13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1]
    f[1] = -29 + x[0] + ((1 + x[1]) * x[1] - 14) * x[1]
    return f


def beale(x: Any) -> Any:
    f = np.array([1.5, 2.25, 2.625])
    for i in range(3):
        f[i] -= x[0] * (1 - x[1] ** (i + 1))
    return f


def watson(x: Any) -> Any:
    n = len(x)
    f = np.zeros(31)
    for i in range(29):
        t = (i + 1) / 29.0
        slope = 0.0
        for j in range(1, n):
            slope = slope + j * t ** (j - 1) * x[j]
        total = 0.0
        for j in range(n):
            total = total + t**j * x[j]
        f[i] = slope - total**2 - 1
    f[29] = x[0]
    f[30] = x[1] - x[0] ** 2 - 1
    return f


def penalty_one(x: Any) -> Any:
    n = len(x)
    f = np.zeros(n + 1)
    f[:n] = 1e-5**0.5 * (x - 1)
    f[n] = -0.25
    for j in range(n):
        f[n] += x[j] ** 2
    return f


def penalty_two(x: Any) -> Any:
    n = len(x)
    f = np.zeros(2 * n)
    f[0] = x[0] - 0.2
    for i in range(1, n):
        y = np.exp((i + 1) / 10) + np.exp(i / 10)
        f[i] = 1e-5**0.5 * (np.exp(x[i] / 10) + np.exp(x[i - 1] / 10) - y)
    for i in range(n, 2 * n - 1):
        f[i] = 1e-5**0.5 * (np.exp(x[i - n + 1] / 10) - np.exp(-1 / 10))
    f[-1] = -1.0
    for j in range(n):
        f[-1] += (n - j) * x[j] ** 2
    return f


def variably_dimensioned(x: Any) -> Any:
    n = len(x)
    f = np.zeros(n + 2)
    f[:n] = x - 1
    for j in range(n):
        f[n] += (j + 1) * (x[j] - 1)
    f[n + 1] = f[n] ** 2
    return f


def brown_almost_linear(x: Any) -> Any:
    n = len(x)
    f = np.full(n, -(n + 1.0))
    for i in range(n - 1):
        f[i] += x[i]
        for j in range(n):
            f[i] += x[j]
    f[n - 1] = -1.0
    product = 1.0
    for j in range(n):
        product = product * x[j]
    f[n - 1] += product
    return f


def chebyquad(x: Any) -> Any:
    n = len(x)
    f = np.zeros(n)
    for j in range(n):
        before, now = 1.0, 2 * x[j] - 1
        twice = 2 * now
        for i in range(n):
            f[i] += now
            before, now = now, twice * now - before
    f /= n
    for i in range(1, n, 2):
        f[i] += 1 / ((i + 1) ** 2 - 1)
    return f


def broyden_tridiagonal(x: Any) -> Any:
    f = (3 - 2 * x) * x + 1
    out = np.zeros(len(x))
    out[:] = f
    out[1:] -= x[:-1]
    out[:-1] -= 2 * x[1:]
    return out


def broyden_banded(x: Any) -> Any:
    n = len(x)
    f = np.zeros(n)
    for i in range(n):
        f[i] = x[i] * (2 + 5 * x[i] ** 2) + 1
        for j in range(max(0, i - 5), min(n, i + 2)):
            if j != i:
                f[i] -= x[j] * (1 + x[j])
    return f


def discrete_boundary_value(x: Any) -> Any:
    n = len(x)
    h = 1.0 / (n + 1)
    padded = np.zeros(n + 2)
    padded[1:-1] = x
    f = np.zeros(n)
    for i in range(1, n + 1):
        f[i - 1] = 2 * padded[i] - padded[i - 1] - padded[i + 1] + h**2 / 2 * (padded[i] + i * h + 1) ** 3
    return f


def bratu(x: Any) -> Any:
    m = 2
    u = np.zeros((m + 2, m + 2))
    for i in range(m):
        for j in range(m):
            u[i + 1, j + 1] = x[i * m + j]
    f = np.zeros((m, m))
    for i in range(1, m + 1):
        for j in range(1, m + 1):
            around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
            f[i - 1, j - 1] = 4 * u[i, j] - around - 0.5 * np.exp(u[i, j])
    return f.ravel()


def chandrasekhar(x: Any) -> Any:
    n = len(x)
    mu = np.zeros(n)
    for i in range(n):
        mu[i] = (i + 0.5) / n
    f = np.zeros(n)
    for i in range(n):
        total = 0.0
        for j in range(n):
            total = total + mu[i] / (mu[i] + mu[j]) * x[j]
        f[i] = x[i] - 1 / (1 - 0.45 / n * total)
    return f


def trigonometric(x: Any) -> Any:
    n = len(x)
    f = np.zeros(n)
    for i in range(n):
        f[i] = n + (i + 1) * (1 - np.cos(x[i])) - np.sin(x[i])
        for j in range(n):
            f[i] -= np.cos(x[j])
    return f


def osborne(x: Any) -> Any:
    f = np.zeros(11)
    for i in range(11):
        t = i / 10.0
        f[i] = 1 / (1 + i) - (x[0] * np.exp(-t * x[2] ** 2) + x[1] * np.exp(-x[3] * (t - 0.3) ** 2))
    return f


def linear_rank_one(x: Any) -> Any:
    total = np.zeros(())
    for j in range(len(x)):
        total += (j + 1) * x[j]
    f = np.zeros(6)
    for i in range(6):
        f[i] = (i + 1) * total - 1
    return f


def lower_triangle(x: Any) -> Any:
    L = np.zeros((4, 4))
    for i in range(4):
        L[i, : i + 1] = x[: i + 1]
        L[i, i] = np.exp(x[i])
    G = np.zeros((4, 4))
    for i in range(4):
        for j in range(i + 1):
            for k in range(j + 1):
                G[i, j] += L[i, k] * L[j, k]
    return G.ravel()


PROBLEMS: tuple[tuple[Callable[..., Any], int], ...] = (
    (rosenbrock, 2), (extended_rosenbrock, 4), (powell_singular, 4), (freudenstein_roth, 2), (beale, 2), (watson, 4),
    (penalty_one, 4), (penalty_two, 4), (variably_dimensioned, 4), (brown_almost_linear, 4), (chebyquad, 4),
    (broyden_tridiagonal, 5), (broyden_banded, 7), (discrete_boundary_value, 4), (bratu, 4), (chandrasekhar, 4),
    (trigonometric, 4), (osborne, 4), (linear_rank_one, 4), (lower_triangle, 4),
)  # fmt: skip


def in_digits(f: Callable[..., Any], x: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The Jacobian by central differences in 50 digits: of order 1e-30."""

    def objects(make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*args: Any, **kwargs: Any) -> Any:
            return make(*args, **kwargs).astype(object)

        return made

    with monkeypatch.context() as patch, mpmath.workdps(50):
        for name in ("zeros", "empty", "full", "array"):
            patch.setattr(np, name, objects(getattr(np, name)))
        for name in ("exp", "sin", "cos"):
            patch.setattr(np, name, getattr(mpmath, name))
        array = np.asarray
        point, h = array([mpmath.mpf(float(t)) for t in x], dtype=object), mpmath.mpf(10) ** -15
        columns: list[Any] = []
        for k in range(len(x)):
            step = array([h if j == k else mpmath.mpf(0) for j in range(len(x))], dtype=object)
            columns.append((f(point + step) - f(point - step)) / (2 * h))
        return np.stack(columns, axis=1).astype(float)


@pytest.mark.parametrize(("f", "n"), PROBLEMS, ids=lambda p: getattr(p, "__name__", ""))
def test_values_and_jacobians(f: Callable[..., Any], n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.linspace(0.3, 1.1, n)
    assert_close(traced(f, x), f(x), 1e-13)
    assert_close(traced(bl.jacobian(f), x), in_digits(f, x, monkeypatch), 1e-12)
