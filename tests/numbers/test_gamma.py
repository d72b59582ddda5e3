"""gamma and its kin over all their ranges: how far from the exact value, and what is part of a loop."""

import math
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
ABOVE = np.concatenate([10.0 ** RNG.uniform(-8, 2.2, 40), RNG.uniform(0, 4, 40), [1.0, 2.0, 1.46163, 1.4617, 171.6]])
BELOW = -np.concatenate([10.0 ** RNG.uniform(-8, 2.1, 20), RNG.uniform(0, 12, 40)])
ROOTS = np.array([-0.504083, -1.573498, -2.610721, -3.635293, -4.653238, -5.667162, -6.677418, -7.687788, -8.695764])
BELOW = BELOW[np.min(np.abs(BELOW[:, None] - ROOTS), axis=1) > 0.05]  # near the other roots of digamma parts cancel
FIRST = np.concatenate([10.0 ** RNG.uniform(-3, 2, 30), RNG.uniform(0.1, 20, 30), 10.0 ** RNG.uniform(0, 7, 20)])
SECOND = np.concatenate([10.0 ** RNG.uniform(-3, 2, 30), RNG.uniform(0.1, 20, 30), 10.0 ** RNG.uniform(-1, 1, 20)])
ORDERS = np.concatenate([10.0 ** RNG.uniform(-3, 2, 40), RNG.uniform(0.1, 20, 40), RNG.uniform(30, 900, 20)])
LIMITS = ORDERS * np.concatenate([10.0 ** RNG.uniform(-1, 0.7, 80), RNG.uniform(0.9, 1.1, 20)])
EXPONENTS = 1 + 10.0 ** RNG.uniform(-4, 2, 80)


def _gammainc(a: Any, *ends: Any) -> Any:
    return mpmath.gammainc(a, *ends, regularized=True)


CASES: dict[str, tuple[Any, Any, Callable[..., Any], float]] = {  # and the bound in units in the last place
    "digamma": (special.psi, (ABOVE,), mpmath.digamma, 2.5),
    "digamma below": (special.psi, (BELOW,), mpmath.digamma, 8.0),
    "trigamma": (bl.grad(lambda x: np.sum(special.psi(x))), (ABOVE,), lambda x: mpmath.polygamma(1, x), 2.5),
    "gamma": (special.gamma, (ABOVE,), mpmath.gamma, 4.0),
    "gamma below": (special.gamma, (BELOW,), mpmath.gamma, 4.0),
    "beta": (special.beta, (FIRST, SECOND), mpmath.beta, 6.0),
    "betaln": (special.betaln, (FIRST, SECOND), lambda a, b: mpmath.log(mpmath.beta(a, b)), 6.0),
    "gammainc": (special.gammainc, (ORDERS, LIMITS), lambda a, x: _gammainc(a, 0, x), 20.0),
    "gammaincc": (special.gammaincc, (ORDERS[20:], LIMITS[20:]), _gammainc, 20.0),
    "zeta": (special.zeta, (EXPONENTS, SECOND), mpmath.zeta, 4.0),
}


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """All of them, compiled once."""
    inputs = [xs for _, xs, _, _ in CASES.values()]
    values = bl.compile(lambda inputs: [f(*xs) for (f, *_), xs in zip(CASES.values(), inputs, strict=True)], inputs)
    return dict(zip(CASES, values(inputs), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_gamma_error_is_within_the_stated_ulp(name: str, found: dict[str, Any]) -> None:
    _, xs, exact, stated = CASES[name]
    with mp.workdps(100):
        errors = [error_in_ulp(y, exact(*map(mp.mpf, map(float, x)))) for y, *x in zip(found[name], *xs, strict=True)]
    worst = int(np.argmax(errors))
    assert 0.4 < errors[worst] <= stated, ([x[worst] for x in xs], errors[worst])


def test_gamma_of_whole_numbers_is_exact() -> None:
    x = np.arange(1.0, 19.0)
    assert bl.compile(special.gamma, x)(x).tolist() == [math.factorial(k) for k in range(18)]


def test_edges_are_those_of_scipy() -> None:
    x = np.array(
        [0.0, -0.0, np.inf, np.nan, -1.0, -170.0, 5e-324, 1e-310, -1e-310, 171.7, 1e300, -1e300, -181.5, -200.5]
    )
    gamma, psi = bl.compile(lambda x: (special.gamma(x), special.psi(x)), x)(x)
    np.testing.assert_allclose(gamma, special.gamma(x), rtol=1e-13, atol=1e-320)
    np.testing.assert_allclose(psi, special.psi(x), rtol=1e-13)
    a = np.array([0.0, np.inf, 5e-324, 1e-300, 1e-300, 1e8, 1e8, 1.0, np.nan, 300.0])
    b = np.array([1.0, 1.0, 1.0, 1e-5, 1e-300, 1e8, 1e-8, 1.0, 1.0, 1e4])
    np.testing.assert_allclose(bl.compile(special.beta, a, b)(a, b), special.beta(a, b), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gamma_lane_has_the_bits_of_a_scalar(dtype: Any) -> None:
    def all_of(x: Any) -> Any:
        return special.gamma(x), special.psi(x), bl.scipy.special.polygamma(1, x)

    some = np.concatenate([ABOVE[::9], BELOW[::9]]).astype(dtype)
    kernel, one = bl.compile(all_of, some), bl.compile(all_of, some[0])
    assert "vectorize(assume_safety)" in kernel.source
    wanted = [np.array(column) for column in zip(*map(one, some), strict=True)]
    assert [y.tobytes() for y in kernel(some)] == [y.tobytes() for y in wanted]


FUNCTIONS = (  # and the same for mpmath
    (special.gamma, mpmath.gamma),
    (special.gammaln, mpmath.loggamma),
    (special.psi, mpmath.digamma),
    (lambda x: special.betaln(x, 2.0), lambda x: mpmath.log(mpmath.beta(x, 2))),
    (lambda x: special.beta(x, 2.0), lambda x: mpmath.beta(x, 2)),
    (special.k0, lambda x: mpmath.besselk(0, x)),
)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_are_right_and_compiled_without_a_word(order: int, capfd: pytest.CaptureFixture[str]) -> None:
    """Each function in a loop of its own, since the lengths differ; of partials some have lanes, others do not."""

    def sums(xs: Any) -> Any:
        return sum(np.sum(f(x)) for (f, _), x in zip(FUNCTIONS, xs, strict=True))

    xs = [np.linspace(0.5, 3.0, 16 + k) for k in range(len(FUNCTIONS))]
    derivative = bl.grad(sums)
    for _ in range(order - 1):
        derivative = bl.grad(lambda xs, inner=derivative: sum(np.sum(g) for g in inner(xs)))
    for (_, exact), x, y in zip(FUNCTIONS, xs, bl.compile(derivative, xs)(xs), strict=True):
        wanted = [float(mpmath.diff(exact, v, order)) for v in x[::5]]
        np.testing.assert_allclose(y[::5], wanted, rtol=1e-11, atol=1e-11)
    assert "not vectorized" not in capfd.readouterr().err
