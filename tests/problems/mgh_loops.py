"""Problems of Moré, Garbow and Hillstrom once more: in loops over single numbers, as the paper numbers them from 1."""

from collections.abc import Callable
from math import atan, cos, exp, log, pi, sin, sqrt
from typing import Any

Residual = Callable[[Any, int], list[float]]


def _each(
    of_index: Callable[[Any, int, int], float], more: Callable[[Any, int], list[float]] | None = None
) -> Residual:
    """Residuals f_i, i = 1 to n, of x_1 to x_n (x[0] is no unknown), and further ones."""
    return lambda x, n: [of_index(x, i, n) for i in range(1, n + 1)] + (more(x, n) if more else [])


def _at(x: Any, i: int, n: int) -> float:
    """x_i, 0 outside."""
    return x[i] if 1 <= i <= n else 0.0


def _chebyshev(k: int, y: float) -> float:
    return 1.0 if k == 0 else y if k == 1 else 2 * y * _chebyshev(k - 1, y) - _chebyshev(k - 2, y)


def _integral(x: Any, i: int, n: int) -> float:
    h = 1 / (n + 1)

    def cube(j: int) -> float:
        return (x[j] + j * h + 1) ** 3

    low = sum(j * h * cube(j) for j in range(1, i + 1))
    high = sum((1 - j * h) * cube(j) for j in range(i + 1, n + 1))
    return x[i] + h * ((1 - i * h) * low + i * h * high) / 2


def _banded(x: Any, i: int, n: int) -> float:
    others = [j for j in range(max(1, i - 5), min(n, i + 1) + 1) if j != i]
    return x[i] * (2 + 5 * x[i] ** 2) + 1 - sum(x[j] * (1 + x[j]) for j in others)


def _penalty_2(x: Any, n: int) -> list[float]:
    root = sqrt(1e-5)
    found = [x[1] - 0.2]
    for i in range(2, n + 1):
        y = exp(i / 10) + exp((i - 1) / 10)
        found.append(root * (exp(x[i] / 10) + exp(x[i - 1] / 10) - y))
    found += [root * (exp(x[i - n + 1] / 10) - exp(-0.1)) for i in range(n + 1, 2 * n)]
    return [*found, sum((n - j + 1) * x[j] ** 2 for j in range(1, n + 1)) - 1]


def _powell(x: Any, n: int) -> list[float]:
    found: list[float] = []
    for k in range(0, n, 4):
        a, b, c, d = x[k + 1 : k + 5]
        found += [a + 10 * b, sqrt(5) * (c - d), (b - 2 * c) ** 2, sqrt(10) * (a - d) ** 2]
    return found


def _gulf(x: Any, _: int) -> list[float]:
    t = [i / 100 for i in range(1, 100)]
    return [exp(-(abs(25 + (-50 * log(s)) ** (2 / 3) - x[2]) ** x[3]) / x[1]) - s for s in t]


def _biggs(x: Any, _: int) -> list[float]:
    def at(t: float) -> float:
        y = exp(-t) - 5 * exp(-10 * t) + 3 * exp(-4 * t)
        return x[3] * exp(-t * x[1]) - x[4] * exp(-t * x[2]) + x[6] * exp(-t * x[5]) - y

    return [at(0.1 * i) for i in range(1, 14)]


def _watson(x: Any, n: int) -> list[float]:
    def at(t: float) -> float:
        slope = sum((j - 1) * x[j] * t ** (j - 2) for j in range(2, n + 1))
        return slope - sum(x[j] * t ** (j - 1) for j in range(1, n + 1)) ** 2 - 1

    return [at(i / 29) for i in range(1, 30)] + [x[1], x[2] - x[1] ** 2 - 1]


def _gaussian(x: Any, _: int) -> list[float]:
    y = [0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521]
    return [x[1] * exp(-x[2] * ((8 - i) / 2 - x[3]) ** 2 / 2) - [*y, 0.3989, *y[::-1]][i - 1] for i in range(1, 16)]


def _wood(x: Any, _: int) -> list[float]:
    left = [10 * (x[2] - x[1] ** 2), 1 - x[1], sqrt(90) * (x[4] - x[3] ** 2), 1 - x[3]]
    return [*left, sqrt(10) * (x[2] + x[4] - 2), (x[2] - x[4]) / sqrt(10)]


def _helix(x: Any, _: int) -> list[float]:
    angle = atan(x[2] / x[1]) / (2 * pi) + (0.5 if x[1] < 0 else 0)
    return [10 * (x[3] - 10 * angle), 10 * (sqrt(x[1] ** 2 + x[2] ** 2) - 1), x[3]]


def _chebyquad(x: Any, n: int) -> list[float]:
    def at(i: int) -> float:
        mean = sum(_chebyshev(i, 2 * x[j] - 1) for j in range(1, n + 1)) / n
        return mean - (-1 / (i**2 - 1) if i % 2 == 0 else 0)

    return [at(i) for i in range(1, n + 1)]


def _numbered(x: Any, n: int) -> float:
    return sum(j * (x[j] - 1) for j in range(1, n + 1))


def _squares(x: Any, n: int) -> float:
    return sum(x[j] ** 2 for j in range(1, n + 1))


LOOPS: dict[str, Residual] = {
    "powell_badly_scaled": lambda x, n: [1e4 * x[1] * x[2] - 1, exp(-x[1]) + exp(-x[2]) - 1.0001],
    "brown_badly_scaled": lambda x, n: [x[1] - 1e6, x[2] - 2e-6, x[1] * x[2] - 2],
    "beale": lambda x, n: [y - x[1] * (1 - x[2] ** i) for i, y in ((1, 1.5), (2, 2.25), (3, 2.625))],
    "helical_valley": _helix,
    "gaussian": _gaussian,
    "gulf": _gulf,
    "wood": _wood,
    "biggs_exp6": _biggs,
    "watson": _watson,
    "extended_rosenbrock": lambda x, n: [
        g for k in range(1, n, 2) for g in (10 * (x[k + 1] - x[k] ** 2), 1 - x[k])
    ],
    "extended_powell": _powell,
    "penalty_1": _each(lambda x, i, n: sqrt(1e-5) * (x[i] - 1), lambda x, n: [_squares(x, n) - 0.25]),
    "penalty_2": _penalty_2,
    "variably_dimensioned": _each(
        lambda x, i, n: x[i] - 1, lambda x, n: [_numbered(x, n), _numbered(x, n) ** 2]
    ),
    "trigonometric": _each(
        lambda x, i, n: n - sum(cos(x[j]) for j in range(1, n + 1)) + i * (1 - cos(x[i])) - sin(x[i])
    ),
    "boundary_value": _each(
        lambda x, i, n: 2 * x[i] - _at(x, i - 1, n) - _at(x, i + 1, n)
        + (1 / (n + 1)) ** 2 * (x[i] + i / (n + 1) + 1) ** 3 / 2
    ),
    "integral_equation": _each(_integral),
    "broyden_tridiagonal": _each(
        lambda x, i, n: (3 - 2 * x[i]) * x[i] - _at(x, i - 1, n) - 2 * _at(x, i + 1, n) + 1
    ),
    "broyden_banded": _each(_banded),
    "chebyquad": _chebyquad,
}  # fmt: skip
