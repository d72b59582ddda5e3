"""Programs that lose digits, and programs that do not, on numbers of NumPy, of mpmath and of a trace."""

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

rng = np.random.default_rng(0)


class Exact:
    """Functions of NumPy for numbers and arrays of mpmath."""

    def __getattr__(self, name: str) -> Any:
        renamed = {"arccos": "acos", "arctan": "atan", "arctan2": "atan2"}.get(name, name)
        return np.frompyfunc(getattr(mpmath.mp, renamed), 2 if name == "arctan2" else 1, 1)

    def solve(self, a: Any, b: Any) -> Any:
        found = mpmath.lu_solve(mpmath.matrix(a.tolist()), mpmath.matrix(b.tolist()))
        return np.array(list(found), object)


class Floats:
    """The same functions in NumPy."""

    solve = staticmethod(np.linalg.solve)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def rump(m: Any, a: Any, b: Any) -> Any:
    return 333.75 * b**6 + a**2 * (11 * a**2 * b**2 - b**6 - 121 * b**4 - 2) + 5.5 * b**8 + a / (2 * b)


def muller(m: Any, steps: int, before: Any, now: Any) -> Any:  # converges to 6, and in floating-point numbers to 100
    for _ in range(steps):
        before, now = now, 111 - 1130 / now + 3000 / (now * before)
    return now


def alternating(m: Any, x: Any) -> Any:
    total, term = 1.0, 1.0
    for k in range(1, 80):
        term = term * x / k
        total = total + term
    return total


def taylor(m: Any, x: Any) -> Any:
    powers = x ** np.arange(90)
    return np.sum(powers / np.array([float(math.factorial(k)) for k in range(90)]))


def compensated(m: Any, x: Any) -> Any:  # Kahan 1965
    total = rest = 0.0
    for k in range(len(x)):
        y = x[k] - rest
        new = total + y
        total, rest = new, (new - total) - y
    return total


def horner(m: Any, x: Any) -> Any:
    total = 1.0
    for c in (-7.0, 21.0, -35.0, 35.0, -21.0, 7.0, -1.0):
        total = total * x + c
    return total


def heron(m: Any, a: Any, b: Any, c: Any) -> Any:
    s = (a + b + c) / 2
    return m.sqrt(s * (s - a) * (s - b) * (s - c))


def kahan_area(m: Any, a: Any, b: Any, c: Any) -> Any:  # a >= b >= c
    return m.sqrt((a + (b + c)) * (c - (a - b)) * (c + (a - b)) * (a + (b - c))) / 4


def variance(m: Any, x: Any) -> Any:
    return np.mean(x**2) - np.mean(x) ** 2


def two_pass(m: Any, x: Any) -> Any:
    return np.mean((x - np.mean(x)) ** 2)


def hilbert(n: int) -> Any:
    return 1.0 / (np.arange(n)[:, None] + np.arange(n) + 1.0)


DATA = 1e6 + rng.normal(size=50)
CANCELLING = rng.permutation(np.concatenate([LARGE := 1e10 * rng.normal(size=20), -LARGE, rng.normal(size=20)]))
LOSING: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "1 - cos": (lambda m, x: (1 - m.cos(x)) / x**2, (1e-6,)),
    "naive variance": (variance, (DATA,)),
    "Rump's polynomial": (rump, (77617.0, 33096.0)),
    "small root": (lambda m, b: (-b + m.sqrt(b * b - 4.0)) / 2, (1e7,)),
    "exp - 1": (lambda m, x: m.exp(x) - 1, (1.2345e-10,)),
    "log(1 + x)": (lambda m, x: m.log(1 + x), (1.2345e-11,)),
    "difference of roots": (lambda m, x: m.sqrt(x + 1) - m.sqrt(x), (1.2345e11,)),
    "difference of quotients": (lambda m, x: 1 / x - 1 / (x + 1), (1.2345e7,)),
    "tan - sin": (lambda m, x: m.tan(x) - m.sin(x), (1.2345e-4,)),
    "difference of squares": (lambda m, a, b: a * a - b * b, (1.23456789, 1.234567889)),
    "needle": (heron, (100.0, 99.9999999999, 1e-9)),
    "sum that cancels": (lambda m, x: np.sum(x), (CANCELLING,)),
    "alternating series": (alternating, (-20.0,)),
    "Muller's recurrence": (lambda m, *xs: muller(m, 8, *xs), (2.0, -4.0)),
    "determinant": (
        lambda m, a: a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0],
        (np.array([[1.1, 1.3], [1.1 * 1.7, 1.3 * 1.7 * (1 + 1e-9)]]),),
    ),
    "difference quotient": (lambda m, x: (m.sin(x + 1e-9) - m.sin(x)) / 1e-9, (0.7,)),
    "Hilbert matrix": (lambda m, a: m.solve(a, 1 / (1.0 + np.arange(8)) + 0.1), (hilbert(8),)),
    "expanded polynomial": (horner, (1.05,)),
    "arccos near 1": (lambda m, x: m.arccos(m.cos(x)), (1.2345e-5,)),
    "logsumexp without its shift": (lambda m, x: m.log(np.sum(m.exp(x))), (np.array([800.0, 801.0]),)),
    "cross entropy of probabilities": (
        lambda m, x: -m.log(m.exp(x)[0] / np.sum(m.exp(x))),
        (np.array([30.0, 1.0, 0.3]),),
    ),
    "Taylor series of e^x": (taylor, (-25.0,)),
    "two by two": (
        lambda m, a: m.solve(a, np.array([1.0, 1.7])),
        (np.array([[1.1, 1.3], [1.1 * 1.7, 1.3 * 1.7 * (1 + 1e-9)]]),),
    ),
    "product that cancels": (
        lambda m, a, b: np.sum(a * b),
        (np.array([1.1, 1e8, -1e8]), np.array([0.3, 1.23456789, 1.23456789 + 1e-9])),
    ),
}
HEALTHY: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "half angle": (lambda m, x: 2 * m.sin(x / 2) ** 2 / x**2, (1e-6,)),
    "two passes": (two_pass, (DATA - 1e6,)),
    "large root": (lambda m, b: (b + m.sqrt(b * b - 4.0)) / 2, (1e7,)),
    "Vieta": (lambda m, b: 2 / (b + m.sqrt(b * b - 4.0)), (1e7,)),
    "expm1": (lambda m, x: m.expm1(x), (1.2345e-10,)),
    "log1p": (lambda m, x: m.log1p(x), (1.2345e-11,)),
    "rationalized": (lambda m, x: 1 / (m.sqrt(x + 1) + m.sqrt(x)), (1.2345e11,)),
    "one quotient": (lambda m, x: 1 / (x * (x + 1)), (1.2345e7,)),
    "factored": (lambda m, a, b: (a - b) * (a + b), (1.23456789, 1.234567889)),
    "Kahan's triangle": (kahan_area, (100.0, 99.9999999999, 1e-9)),
    "sum of one sign": (lambda m, x: np.sum(x), (np.abs(DATA),)),
    "series of one sign": (alternating, (20.0,)),
    "logsumexp": (lambda m, x: np.max(x) + m.log(np.sum(m.exp(x - np.max(x)))), (np.array([800.0, 801.0, 790.0]),)),
    "softmax": (lambda m, x: m.exp(x - np.max(x)) / np.sum(m.exp(x - np.max(x))), (rng.normal(size=9),)),
    "polynomial": (horner, (3.7,)),
    "norm": (lambda m, x: m.sqrt(np.sum(x * x)), (rng.normal(size=30),)),
    "well-conditioned": (lambda m, a: m.solve(a, np.ones(6)), (rng.normal(size=(6, 6)) + 5 * np.eye(6),)),
    "sine": (lambda m, x: m.sin(x) * m.cos(x), (1e8,)),
    "powers": (lambda m, x: x**1.5 + x**0.25, (7.3,)),
    "cross entropy": (lambda m, x: m.log1p(np.sum(m.exp(x[1:] - x[0]))), (np.array([30.0, 1.0, 0.3]),)),
    "compensated sum": (compensated, (np.abs(DATA),)),
    "inverse series": (lambda m, x: 1 / taylor(m, x), (25.0,)),
    "network": (lambda m, x: np.sum(m.tanh(x @ np.full((5, 3), 0.25))), (rng.normal(size=5),)),
}
