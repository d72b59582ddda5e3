"""Quantiles and tails of the normal distribution over all their ranges: how far from the exact value."""

from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp
from scipy import special

import burlab as bl
from tests.numbers.test_accuracy import error_in_ulp

STATED = {"erfinv": 4.0, "erfcinv": 3.5, "ndtri": 4.5, "log_ndtr": 4.0, "mills": 4.0}  # units in the last place
RNG = np.random.default_rng(1)
TAILS = 10.0 ** RNG.uniform(-320, -0.4, 60)
CENTRE = RNG.uniform(0.01, 1, 60)
NEIGHBOURS = 10.0 ** RNG.uniform(-15, -1, 40)
PROBABILITIES = np.concatenate([TAILS, CENTRE, 1 - NEIGHBOURS, [0.25, np.nextafter(0.25, 1), 0.5, 5e-324]])
REALS = np.concatenate([RNG.normal(size=60) * 5, -(10.0 ** RNG.uniform(0, 8, 40)), RNG.uniform(-40, 37, 60), [-1.0]])


def _inverse(p: Any) -> Any:
    """y with erfc y = p, 0 < p <= 1/2."""
    log = mpmath.log(p)
    return mpmath.findroot(lambda y: mpmath.log(mpmath.erfc(y)) - log, mpmath.sqrt(-log) * mp.mpf("0.98") - 0.3)


def _erfcinv(p: Any) -> Any:
    p = mp.mpf(p)
    return _inverse(p) if p <= 0.5 else -_inverse(2 - p) if p >= 1.5 else mpmath.erfinv(1 - p)


def _erfinv(x: Any) -> Any:
    return mpmath.erfinv(mp.mpf(x)) if abs(x) < 0.9 else _inverse(1 - mp.mpf(x))


def _phi(x: Any) -> Any:
    return mpmath.erfc(-mp.mpf(x) / mpmath.sqrt(2)) / 2


def _log_ndtr(x: Any) -> Any:
    return mpmath.log(_phi(x)) if x < 1 else mpmath.log1p(-_phi(-x))


def _mills(x: Any) -> Any:
    return mpmath.exp(-(mp.mpf(x) ** 2) / 2) / mpmath.sqrt(2 * mp.pi) / _phi(x)


CASES = {
    "erfinv": (special.erfinv, np.concatenate([CENTRE, 1 - NEIGHBOURS, TAILS, [0.5, np.nextafter(0.5, 1)]]), _erfinv),
    "erfcinv": (special.erfcinv, 2 * PROBABILITIES, _erfcinv),
    "ndtri": (special.ndtri, PROBABILITIES, lambda p: -_erfcinv(2 * mp.mpf(p)) * mpmath.sqrt(2)),
    "log_ndtr": (special.log_ndtr, REALS, _log_ndtr),
    "mills": (bl.grad(lambda x: np.sum(special.log_ndtr(x))), REALS, _mills),
}


@pytest.mark.parametrize("name", CASES)
def test_normal_error_is_within_the_stated_ulp(name: str) -> None:
    function, x, exact = CASES[name]
    got = bl.compile(function, x)(x)
    with mp.workdps(40):
        errors = [error_in_ulp(y, exact(float(v))) for v, y in zip(x, got, strict=True)]
    worst = int(np.argmax(errors))
    assert 0.4 < errors[worst] <= STATED[name], (x[worst], errors[worst])


@pytest.mark.parametrize("name", CASES)
def test_normal_lane_has_the_bits_of_a_scalar(name: str) -> None:
    function, x, _ = CASES[name]
    some, one = x[::17], bl.compile(function, x[0])
    assert bl.compile(function, some)(some).tobytes() == np.array([one(v) for v in some]).tobytes()


@pytest.mark.parametrize("gear", ["replay", "compiled"])
def test_functions_without_lanes_compile_without_warnings(gear: Any, capfd: pytest.CaptureFixture[str]) -> None:
    f = bl.hvp(lambda x: np.sum(special.log_ndtr(x)))
    x = np.linspace(-9.0, 3.0, 64)
    found = bl.compile(f, x, x * 0 + 1, gear=gear)(x, x * 0 + 1)
    with mp.workdps(40):
        wanted = [float(-_mills(v) * (v + _mills(v))) for v in map(float, x)]
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
    assert "not vectorized" not in capfd.readouterr().err
