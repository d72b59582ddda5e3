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
    that is tested. flat: whether the Hessian at the minima is singular. share: of the domain, around its middle, where
    searches begin; below 1 where it has more local minima than a search can try.
    """

    name: str
    exact: Callable[[Any, list[Any]], Any]
    options: list[dict[str, Any]] = field(default_factory=lambda: [{}])
    flat: bool = False
    share: float = 1.0

    def within(self, points: Any) -> Any:
        """Points of a domain, or its bounds, that are symmetric to 0, moved into the share."""
        return points if self.share == 1 else self.share * points

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


def _muller_brown(m: Any, x: list[Any]) -> Any:
    total = 0
    for height, a, b, c, x0, y0 in (
        (-200, -10, 0, -100, 10, 0), (-100, -10, 0, -100, 0, 5), (-170, -65, 110, -65, -5, 15), (15, 7, 6, 7, -10, 10),
    ):  # fmt: skip
        u, v = x[0] - _number(m, x0), x[1] - _number(m, y0)
        total += height * m.exp((a * u**2 + b * u * v + c * v**2) / 10)
    return total


def _number(m: Any, tenths: int, of: int = 10) -> Any:
    """A decimal number without the rounding of a float where m is mpmath."""
    return m.mpf(tenths) / of if hasattr(m, "mpf") else tenths / of


def _biggs_exp2(m: Any, x: list[Any]) -> Any:
    times = [_number(m, k) for k in range(1, 11)]
    return sum((m.exp(-t * x[0]) - 5 * m.exp(-t * x[1]) - m.exp(-t) + 5 * m.exp(-10 * t)) ** 2 for t in times)


def _griewank(m: Any, x: list[Any]) -> Any:
    product = 1
    for i, c in enumerate(x, 1):
        product *= m.cos(c / m.sqrt(_number(m, i, 1)))
    return 1 + sum(c * c for c in x) / 4000 - product


def _schaffer(m: Any, x: list[Any], wave: Any) -> Any:
    return _number(m, 5) + (wave**2 - _number(m, 5)) / (1 + (x[0] ** 2 + x[1] ** 2) / 1000) ** 2


def _levy(m: Any, x: list[Any]) -> Any:
    *w, last = [1 + (c - 1) / 4 for c in x]
    first = (w or [last])[0]
    middle = sum((c - 1) ** 2 * (1 + 10 * m.sin(m.pi * c + 1) ** 2) for c in w)
    return m.sin(m.pi * first) ** 2 + middle + (last - 1) ** 2 * (1 + m.sin(2 * m.pi * last) ** 2)


HARTMANN = {
    3: (
        ((30, 100, 300), (1, 100, 350)) * 2,
        ("36890 11700 26730", "46990 43870 74700", "10910 87320 55470", "3815 57430 88280"),
    ),
    6: (
        (
            (100, 30, 170, 35, 17, 80),
            (0.5, 100, 170, 1, 80, 140),
            (30, 35, 17, 100, 170, 80),
            (170, 80, 0.5, 100, 1, 140),
        ),
        (
            "13120 16960 55690 1240 82830 58860",
            "23290 41350 83070 37360 10040 99910",
            "23480 14510 35220 28830 30470 66500",
            "40470 88280 87320 57430 10910 3810",
        ),
    ),
}
"""Ten times the exponents, and 10^5 times the centres."""


def _hartmann(m: Any, x: list[Any]) -> Any:
    scales, centres = HARTMANN[len(x)]
    total = 0
    for weight, row, text in zip((10, 12, 30, 32), scales, centres, strict=True):
        places = [_number(m, int(word), 100_000) for word in text.split()]
        total -= _number(m, weight) * m.exp(
            -sum(_number(m, a) * (c - p) ** 2 for a, c, p in zip(row, x, places, strict=True))
        )
    return total


def _shekel(terms: int) -> Callable[[Any, list[Any]], Any]:
    holes = [
        "4 4 4 4",
        "1 1 1 1",
        "8 8 8 8",
        "6 6 6 6",
        "3 7 3 7",
        "2 9 2 9",
        "5 5 3 3",
        "8 1 8 1",
        "6 2 6 2",
        "7 3.6 7 3.6",
    ]

    def exact(m: Any, x: list[Any]) -> Any:
        total = 0
        for width, text in list(zip((1, 2, 2, 4, 4, 6, 3, 7, 5, 5), holes, strict=True))[:terms]:
            hole = [_number(m, round(10 * float(word))) for word in text.split()]
            total -= 1 / (_number(m, width) + sum((c - h) ** 2 for c, h in zip(x, hole, strict=True)))
        return total

    return exact


def _nesterov_chain(_: Any, x: list[Any]) -> Any:
    """With L = 4: half of the sum of squares of all differences of 0, x, 0, minus x_1."""
    return sum((b - a) ** 2 for a, b in pairwise([0, *x, 0])) / 2 - x[0]


def _zakharov(_: Any, x: list[Any]) -> Any:
    s = sum(i * c for i, c in enumerate(x, 1)) / 2
    return sum(c**2 for c in x) + s**2 + s**4


def _dixmaan(power: int) -> Callable[[Any, list[Any]], Any]:
    def exact(_: Any, x: list[Any]) -> Any:
        n, third = len(x), len(x) // 3
        total = 1
        for i in range(1, n + 1):
            total += (i**power * x[i - 1] ** 2) / n**power
            if i <= 2 * third:
                total += x[i - 1] ** 2 * x[i - 1 + third] ** 4 / 8
            if i <= third:
                total += i**power * x[i - 1] * x[i - 1 + 2 * third] / (8 * n**power)
        return total

    return exact


def _triangles(_: Any, x: list[Any]) -> Any:
    return sum(sum(x[: i + 1]) ** 2 for i in range(len(x)))


EIGENVALUES = [0.5, 3.0, 40.0]


def _quadratic(_: Any, x: list[Any]) -> Any:
    """Along the axes: what a rotation does to it has a test of its own."""
    return sum(c * a**2 / 2 for c, a in zip(EIGENVALUES, x, strict=True))


DIMENSIONS = [{}, {"dim": 3}, {"dim": 6}]

CASES = [
    FunctionCase(
        "arwhead", lambda _, x: sum((c**2 + x[-1] ** 2) ** 2 - 4 * c + 3 for c in x[:-1]), [{}, {"dim": 2}, {"dim": 5}]
    ),
    FunctionCase("biggs_exp2", _biggs_exp2),
    FunctionCase(
        "bohachevsky",
        lambda m, x: (
            x[0] ** 2
            + 2 * x[1] ** 2
            - _number(m, 3) * m.cos(3 * m.pi * x[0])
            - _number(m, 4) * m.cos(4 * m.pi * x[1])
            + _number(m, 7)
        ),
    ),
    FunctionCase(
        "cube", lambda _, x: (x[0] - 1) ** 2 + sum(100 * (b - a**3) ** 2 for a, b in pairwise(x)), [{}, {"dim": 4}]
    ),
    FunctionCase(
        "deckkers_aarts",
        lambda m, x: (
            10**5 * x[0] ** 2
            + x[1] ** 2
            - (x[0] ** 2 + x[1] ** 2) ** 2
            + (x[0] ** 2 + x[1] ** 2) ** 4 * _number(m, 1, 10**5)
        ),
    ),
    FunctionCase("dixmaan", _dixmaan(0), [{}, {"dim": 6}]),
    FunctionCase("dixmaan", _dixmaan(1), [{"dim": 6, "letter": "E"}]),
    FunctionCase("dixmaan", _dixmaan(2), [{"dim": 6, "letter": "I"}]),
    FunctionCase(
        "dixon_price",
        lambda _, x: (x[0] - 1) ** 2 + sum(i * (2 * b**2 - a) ** 2 for i, (a, b) in enumerate(pairwise(x), 2)),
        DIMENSIONS,
    ),
    FunctionCase(
        "dqdrtic",
        lambda _, x: sum(x[i] ** 2 + 100 * x[i + 1] ** 2 + 100 * x[i + 2] ** 2 for i in range(len(x) - 2)),
        [{}, {"dim": 3}],
    ),
    FunctionCase("egg_crate", lambda m, x: sum(c**2 + 25 * m.sin(c) ** 2 for c in x)),
    FunctionCase("exponential", lambda m, x: -m.exp(-sum(c**2 for c in x) / 2), DIMENSIONS),
    FunctionCase(
        "genrose", lambda _, x: 1 + sum(100 * (b - a**2) ** 2 + (b - 1) ** 2 for a, b in pairwise(x)), [{}, {"dim": 2}]
    ),
    FunctionCase("griewank", _griewank, [*DIMENSIONS, {"dim": 1}], share=0.02),
    FunctionCase("hager", lambda m, x: sum(m.exp(c) - m.sqrt(i) * c for i, c in enumerate(x, 1)), [{}, {"dim": 2}]),
    FunctionCase("hartmann", _hartmann, [{}, {"dim": 6}]),
    FunctionCase("himmelbg", lambda m, x: m.exp(-x[0] - x[1]) * (2 * x[0] ** 2 + 3 * x[1] ** 2)),
    FunctionCase("levy", _levy, [*DIMENSIONS, {"dim": 1}]),
    FunctionCase("liarwhd", lambda _, x: sum(4 * (c**2 - x[0]) ** 2 + (c - 1) ** 2 for c in x), [{}, {"dim": 2}]),
    FunctionCase(
        "matyas", lambda m, x: _number(m, 26, 100) * (x[0] ** 2 + x[1] ** 2) - _number(m, 48, 100) * x[0] * x[1]
    ),
    FunctionCase("muller_brown", _muller_brown),
    FunctionCase("nesterov_chain", _nesterov_chain, [{}, {"dim": 2}]),
    FunctionCase(
        "periodic",
        lambda m, x: 1 + m.sin(x[0]) ** 2 + m.sin(x[1]) ** 2 - _number(m, 1) * m.exp(-(x[0] ** 2) - x[1] ** 2),
    ),
    FunctionCase("quartc", lambda _, x: sum((c - i) ** 4 for i, c in enumerate(x, 1)), [{}, {"dim": 2}], flat=True),
    FunctionCase(
        "raydan", lambda m, x: sum(_number(m, i) * (m.exp(c) - c) for i, c in enumerate(x, 1)), [{}, {"dim": 2}]
    ),
    FunctionCase("schaffer_2", lambda m, x: _schaffer(m, x, m.sin(x[0] ** 2 - x[1] ** 2)), share=0.03),
    FunctionCase("schaffer_4", lambda m, x: _schaffer(m, x, m.cos(m.sin(x[0] ** 2 - x[1] ** 2))), share=0.03),
    FunctionCase("schwefel", lambda m, x: -sum(c * m.sin(m.sqrt(abs(c))) for c in x), [*DIMENSIONS, {"dim": 1}]),
    FunctionCase("schwefel_double_sum", _triangles, [{}, {"dim": 1}, {"dim": 2}]),
    FunctionCase("shekel", _shekel(10)),
    FunctionCase("shekel", _shekel(7), [{"terms": 7}]),
    FunctionCase("shekel", _shekel(5), [{"terms": 5}]),
    FunctionCase("sineval", lambda m, x: 10**4 * (x[1] - m.sin(x[0])) ** 2 + x[0] ** 2 / 4),
    FunctionCase(
        "six_hump_camel",
        lambda m, x: (
            4 * x[0] ** 2 - _number(m, 21) * x[0] ** 4 + x[0] ** 6 / 3 + x[0] * x[1] - 4 * x[1] ** 2 + 4 * x[1] ** 4
        ),
    ),
    FunctionCase("treccani", lambda _, x: x[0] ** 4 + 4 * x[0] ** 3 + 4 * x[0] ** 2 + x[1] ** 2),
    FunctionCase(
        "trid", lambda _, x: sum((c - 1) ** 2 for c in x) - sum(a * b for a, b in pairwise(x)), [{}, {"dim": 2}]
    ),
    FunctionCase(
        "tridia",
        lambda _, x: (x[0] - 1) ** 2 + sum(i * (2 * b - a) ** 2 for i, (a, b) in enumerate(pairwise(x), 2)),
        [{}, {"dim": 2}],
    ),
    FunctionCase(
        "wavy", lambda m, x: 1 - sum(m.cos(10 * c) * m.exp(-(c**2) / 2) for c in x) / len(x), [*DIMENSIONS, {"dim": 1}]
    ),
    FunctionCase("zakharov", _zakharov, [*DIMENSIONS, {"dim": 1}]),
    FunctionCase("zettl", lambda _, x: (x[0] ** 2 + x[1] ** 2 - 2 * x[0]) ** 2 + x[0] / 4),
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
