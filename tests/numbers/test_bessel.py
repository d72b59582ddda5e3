"""Modified Bessel functions over all their ranges: how far from the exact value, and what is part of a loop."""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp
from scipy import special

import burlab as bl
from tests.numbers.test_accuracy import error_in_ulp

RNG = np.random.default_rng(1)
EDGES = [1.0, np.nextafter(1, 0), 8.0, np.nextafter(8, 0), 650.0, 705.0]
REALS = np.concatenate([10.0 ** RNG.uniform(-150, 2.8, 30), RNG.uniform(0, 14, 60), EDGES])
STATED = 5.0  # units in the last place; K_5 and I_2 included

CASES: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "k0": (special.k0, lambda x: mpmath.besselk(0, x)),
    "k1": (special.k1, lambda x: mpmath.besselk(1, x)),
    "k1e": (special.k1e, lambda x: mpmath.besselk(1, x) * mpmath.exp(x)),
    "k5": (lambda x: special.kv(5, x), lambda x: mpmath.besselk(5, x)),
    "i0": (special.i0, lambda x: mpmath.besseli(0, x)),
    "i1": (special.i1, lambda x: mpmath.besseli(1, x)),
    "i2": (lambda x: special.iv(2, x), lambda x: mpmath.besseli(2, x)),
    "i2e": (lambda x: special.ive(2, x), lambda x: mpmath.besseli(2, x) * mpmath.exp(-x)),
}


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """All of them, compiled once."""
    values = bl.compile(lambda x: [f(x) for f, _ in CASES.values()], REALS)(REALS)
    return dict(zip(CASES, values, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_bessel_error_is_within_the_stated_ulp(name: str, found: dict[str, Any]) -> None:
    with mp.workdps(40):
        exact = [CASES[name][1](mp.mpf(float(x))) for x in REALS]
        pairs = zip(found[name], exact, strict=True)
        errors = [error_in_ulp(y, e) if abs(e) < 1e308 else float(np.isfinite(y)) * 1e9 for y, e in pairs]
    worst = int(np.argmax(errors))
    assert 0.4 < errors[worst] <= STATED, (REALS[worst], errors[worst])


def test_orders_up_to_two_are_lanes_and_have_the_bits_of_single_numbers() -> None:
    def all_of(x: Any) -> Any:
        return [f(x) for name, (f, _) in CASES.items() if name != "k5"]

    some = REALS[::9]
    kernel, one = bl.compile(all_of, some), bl.compile(all_of, some[0])
    assert "vectorize(assume_safety)" in kernel.source
    wanted = [np.array(column) for column in zip(*map(one, some), strict=True)]
    assert [y.tobytes() for y in kernel(some)] == [y.tobytes() for y in wanted]


def test_edges() -> None:
    """As SciPy has them; but I_n vanishes or overflows where the exact value does, and is infinite at infinity."""
    names = ("k0", "k1", "k1e", "i0", "i1", "i2", "i2e")
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310, 720.0, -712.0])
    values = dict(zip(names, bl.compile(lambda x: [CASES[name][0](x) for name in names], x)(x), strict=True))
    for name, y in values.items():
        chosen = np.arange(8) if name[0] == "k" else [0, 1, 4]
        np.testing.assert_allclose(y[chosen], CASES[name][0](x[chosen]), rtol=1e-13, atol=1e-320, err_msg=name)
    large = [float(mpmath.besseli(n, 712)) for n in range(3)]
    np.testing.assert_allclose([values[f"i{n}"][7] for n in range(3)], large * np.array([1, -1, 1]), rtol=1e-13)
    assert [values[f"i{n}"][2:8:4].tolist() for n in range(3)] == [[np.inf, np.inf]] * 3
    assert values["i1"][3] == -np.inf
    assert values["i2e"][2:4].tolist() == [0, 0]


@pytest.mark.parametrize("gear", ["compiled", "replay"])
def test_orders_with_and_without_lanes_meet_in_one_graph(gear: Any, capfd: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        return sum(special.iv(n, x) + special.kv(n, x) + bl.scipy.special.polygamma(n, x) for n in (0, 1, 2, 4))

    def exact(x: Any) -> Any:
        return sum(mpmath.besseli(n, x) + mpmath.besselk(n, x) + mpmath.polygamma(n, x) for n in (0, 1, 2, 4))

    x = np.linspace(0.5, 6.0, 12)
    both = bl.compile(lambda x: (f(x), bl.grad(lambda x: np.sum(f(x)))(x)), x, gear=gear)(x)
    for order, y in enumerate(both):
        wanted = [float(mpmath.diff(exact, v, order)) for v in x[::3]]
        np.testing.assert_allclose(y[::3], wanted, rtol=1e-11)
    assert "not vectorized" not in capfd.readouterr().err
