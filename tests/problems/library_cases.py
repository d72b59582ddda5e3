"""One row per test function: the function again, number by number, for mpmath and for JAX.

`test_library.py` walks `burlab.problems` and fails where a row is missing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from burlab import problems


@dataclass(frozen=True, slots=True)
class FunctionCase:
    """One function of the library.

    exact: f(m, x), where m is mpmath or jax.numpy and x a list of numbers. options: keyword arguments of each variant
    that is tested. flat: whether the Hessian at the minima is singular.
    """

    name: str
    exact: Callable[[Any, list[Any]], Any]
    options: list[dict[str, Any]] = field(default_factory=lambda: [{}])
    flat: bool = False

    def variants(self) -> list[problems.TestFunction]:
        return [getattr(problems, self.name)(**options) for options in self.options]


def _beale(_: Any, x: list[Any]) -> Any:
    return sum((c - x[0] + x[0] * x[1] ** k) ** 2 for k, c in ((1, 1.5), (2, 2.25), (3, 2.625)))


def _branin(m: Any, x: list[Any]) -> Any:
    a, b, c, r, s, t = 1, 5.1 / (4 * m.pi**2), 5 / m.pi, 6, 10, 1 / (8 * m.pi)
    return a * (x[1] - b * x[0] ** 2 + c * x[0] - r) ** 2 + s * (1 - t) * m.cos(x[0]) + s


def _goldstein_price(_: Any, x: list[Any]) -> Any:
    a, b = x
    first = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a * a - 14 * b + 6 * a * b + 3 * b * b)
    return first * (30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a * a + 48 * b - 36 * a * b + 27 * b * b))


def _ackley(m: Any, x: list[Any]) -> Any:
    root = m.sqrt(sum(c * c for c in x) / len(x))
    waves = sum(m.cos(2 * m.pi * c) for c in x) / len(x)
    return -20 * m.exp(-root / 5) - m.exp(waves) + 20 + m.exp(1)


def _rosenbrock(_: Any, x: list[Any]) -> Any:
    return sum(100 * (b - a**2) ** 2 + (a - 1) ** 2 for a, b in pairwise(x))


def _chebyshev(_: Any, x: list[Any]) -> Any:
    return (1 - x[0]) ** 2 / 4 + sum((b - (2 * a**2 - 1)) ** 2 for a, b in pairwise(x))


def _powell(_: Any, x: list[Any]) -> Any:
    a, b, c, d = x
    return (a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4


EIGENVALUES = [0.5, 3.0, 40.0]


def _quadratic(_: Any, x: list[Any]) -> Any:
    """Along the axes: what a rotation does to it has a test of its own."""
    return sum(c * a**2 / 2 for c, a in zip(EIGENVALUES, x, strict=True))


DIMENSIONS = [{}, {"dim": 3}, {"dim": 6}]

CASES = [
    FunctionCase("ackley", _ackley, [*DIMENSIONS, {"dim": 1}]),
    FunctionCase("beale", _beale),
    FunctionCase("booth", lambda _, x: (x[0] + 2 * x[1] - 7) ** 2 + (2 * x[0] + x[1] - 5) ** 2),
    FunctionCase("branin", _branin),
    FunctionCase("chebyshev_rosenbrock", _chebyshev, DIMENSIONS),
    FunctionCase("goldstein_price", _goldstein_price),
    FunctionCase("himmelblau", lambda _, x: (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2),
    FunctionCase("monkey_saddle", lambda _, x: x[0] ** 3 - 3 * x[0] * x[1] ** 2),
    FunctionCase("powell_singular", _powell, flat=True),
    FunctionCase("quadratic", _quadratic, [{"eigenvalues": EIGENVALUES, "seed": None}]),
    FunctionCase(
        "rastrigin",
        lambda m, x: sum(c * c - 10 * m.cos(2 * m.pi * c) + 10 for c in x),
        [*DIMENSIONS, {"dim": 1}],
    ),
    FunctionCase("rosenbrock", _rosenbrock, DIMENSIONS),
    FunctionCase("saddle", lambda _, x: x[0] ** 2 / 2 + x[1] ** 4 / 4 - x[1] ** 2 / 2),
    FunctionCase(
        "styblinski_tang", lambda _, x: sum(c**4 - 16 * c**2 + 5 * c for c in x) / 2, [*DIMENSIONS, {"dim": 1}]
    ),
]

VARIANTS = [(case, f) for case in CASES for f in case.variants()]


def points(f: problems.TestFunction, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Random points of the domain, shape (count, dim)."""
    rng = np.random.default_rng(f.dim)
    return rng.uniform(f.domain[:, 0], f.domain[:, 1], (count, f.dim))
