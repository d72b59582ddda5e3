"""Derivatives of orders 1 to 3, by every argument in every order, where a rule has a guard: against mpmath's limits."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp
from scipy import special

import burlab as bl
from tests.engines import GEARS


@dataclass(frozen=True)
class Case:
    """A function, the same on mpmath's numbers, points, and the side of each from which the limit is taken.

    by: the arguments that it is derived by, all of them unless given. order: the highest.
    """

    name: str
    function: Callable[..., Any]
    exact: Callable[..., Any]
    points: Sequence[tuple[tuple[float, ...], tuple[int, ...]]]
    by: tuple[int, ...] | None = None
    order: int = 3

    @property
    def derived(self) -> tuple[int, ...]:
        return self.by or tuple(range(len(self.points[0][0])))


def gammainc(a: Any, x: Any) -> Any:
    """The lower one by its series, which is fast in many digits."""
    term = total = 1 / mp.mpf(a)
    k = 1
    while abs(term) > mp.eps * abs(total):
        term *= x / (a + k)
        total, k = total + term, k + 1
    return total * x**a * mpmath.exp(-x) / mpmath.gamma(a)


def betainc(a: Any, b: Any, x: Any) -> Any:
    return x**a / a * mpmath.hyp2f1(a, 1 - b, a + 1, x) / mpmath.beta(a, b)


def powers(x: Any) -> Any:
    return np.sum(x[:, None] ** np.arange(5.0), axis=1)


def mass(name: str, k: float, *shapes: float) -> Callable[..., Any]:
    return lambda p: getattr(bl.scipy.stats, name).pmf(k, *shapes, p)


def log_mass(name: str, k: float, *shapes: float) -> Callable[..., Any]:
    return lambda p: getattr(bl.scipy.stats, name).logpmf(k, *shapes, p)


def powers_of(p: Any, k: float, m: float, factor: int = 1) -> Any:
    """p^k (1 - p)^m times the factor."""
    return factor * p ** int(k) * (1 - p) ** int(m)


def density(name: str, *shapes: float) -> Callable[..., Any]:
    return lambda x: getattr(bl.scipy.stats, name).pdf(x, *shapes)


def log_density(name: str, *shapes: float) -> Callable[..., Any]:
    return lambda x: getattr(bl.scipy.stats, name).logpdf(x, *shapes)


ENDS = [((0.0,), (1,)), ((1.0,), (-1,))]
START = ENDS[:1]

log, INSIDE, FIRST, SECOND = mpmath.log, (0, 0), (1, 0), (0, 1)
CASES = (
    Case("power", lambda x, y: x**y, lambda x, y: x**y, [((23.0, 0.0), INSIDE), ((23.0, 1.0), INSIDE)]),
    Case("power at 0", lambda x, y: x**y, lambda x, y: x**y,
         [((23.0, 2.0), INSIDE), ((1.0, 0.0), INSIDE),
          *(((0.0, y), FIRST) for y in (-1.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0))]),
    Case("powers of 0 to 4", powers, lambda x: sum(x**k for k in range(5)), [((0.0,), (0,)), ((-1.0,), (0,))]),
    Case("xlogy", special.xlogy, lambda x, y: x * log(y),
         [((0.0, 0.75), INSIDE), ((0.0, 0.0), SECOND), ((2.0, 0.0), SECOND), ((-2.0, 0.5), INSIDE)]),
    Case("xlog1py", special.xlog1py, lambda x, y: x * log(1 + y),
         [((0.0, -0.75), INSIDE), ((0.0, -1.0), SECOND), ((2.0, -1.0), SECOND), ((0.0, 0.0), INSIDE)]),
    Case("rel_entr", special.rel_entr, lambda x, y: x * log(x / y),
         [((0.0, 0.75), FIRST), ((2.0, 0.0), SECOND), ((2.0, 2.0), INSIDE)]),
    Case("rel_entr by y", special.rel_entr, lambda x, y: x * log(x / y) if x else x * y, [((0.0, 0.0), SECOND)], (1,)),
    Case("kl_div", special.kl_div, lambda x, y: x * log(x / y) - x + y,
         [((0.0, 0.75), FIRST), ((2.0, 0.0), SECOND), ((2.0, 2.0), INSIDE)]),
    Case("entr", special.entr, lambda x: -x * log(x), [((0.0,), (1,)), ((0.5,), (0,))]),
    Case("erfcx", special.erfcx, lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
         [((x,), (0,)) for x in (-20.0, -12.0, 0.0, 5.0)]),
    Case("exprel", special.exprel, lambda x: mpmath.expm1(x) / x, [((x,), (1,)) for x in (0.0, 1.0, -1.0)]),
    Case("sinc", np.sinc, lambda x: mpmath.sin(mpmath.pi * x) / (mpmath.pi * x),
         [((x,), (1,)) for x in (0.0, 1.0, 1 / math.pi)]),
    Case("logit", special.logit, lambda x: log(x) - log(1 - x), [((x,), (0,)) for x in (0.25, 0.5, 0.75)]),
    Case("rgamma", special.rgamma, mpmath.rgamma, [((x,), (0,)) for x in (-2.0, -1.0, 0.0, 0.5, 20.0)]),
    Case("gammainc", special.gammainc, gammainc,
         [((a, 0.0), SECOND) for a in (0.5, 1.0, 1.5, 2.0, 3.0)], order=2),
    Case("gammaincc by x", special.gammaincc, lambda a, x: 1 - gammainc(a, x),
         [((a, 0.0), SECOND) for a in (0.5, 1.0, 2.0, 3.0, 4.5)], by=(1,)),
    Case("betainc", special.betainc, betainc,
         [((1.0, 1.5, 0.0), (0, 0, 1)), ((2.0, 0.5, 0.0), (0, 0, 1)), ((0.5, 2.0, 0.0), (0, 0, 1))], order=1),
    Case("betaincc by x", special.betaincc, lambda a, b, x: betainc(b, a, 1 - x),
         [((1.5, 1.0, 1.0), (0, 0, -1)), ((0.5, 2.0, 1.0), (0, 0, -1)), ((2.0, 3.0, 1.0), (0, 0, -1))], by=(2,)),
    *(Case(f"bernoulli at {k:g}", mass("bernoulli", k), lambda p, k=k: powers_of(p, k, 1 - k), ENDS)
      for k in (0.0, 1.0)),
    *(Case(f"binomial at {k:g}", mass("binom", k, 3.0), lambda p, k=k: powers_of(p, k, 3 - k, 3 if k % 3 else 1), ENDS)
      for k in (0.0, 1.0, 3.0)),
    *(Case(f"poisson at {k}", mass("poisson", k), lambda m, k=k: m**k * mpmath.exp(-m) / math.factorial(k), START)
      for k in (0, 1, 2)),
    Case("log bernoulli at 0", log_mass("bernoulli", 0.0), lambda p: log(1 - p), ENDS),
    Case("log bernoulli at 1", log_mass("bernoulli", 1.0), log, ENDS),
    Case("log binomial at 3", log_mass("binom", 3.0, 3.0), lambda p: 3 * log(p), ENDS),
    Case("log poisson at 0", log_mass("poisson", 0.0), lambda m: -m, START),
    *(Case(f"gamma density {a:g}", density("gamma", a), lambda x, a=a: x ** (a - 1) * mpmath.exp(-x) / mpmath.gamma(a),
           START) for a in (0.5, 1.0, 2.0, 2.5, 4.0)),
    Case("log gamma density", log_density("gamma", 1.0), lambda x: -x, START),
    Case("chi2 density", density("chi2", 4.0), lambda x: x * mpmath.exp(-x / 2) / 4, START),
    Case("log chi2 density", log_density("chi2", 2.0), lambda x: -x / 2 - log(2), START),
    Case("beta density", density("beta", 1.0, 2.0), lambda x: 2 * (1 - x), ENDS),
    Case("log beta density", log_density("beta", 2.0, 1.0), lambda x: log(2 * x), ENDS),
    Case("lognorm cdf", lambda x: bl.scipy.stats.lognorm.cdf(x, 1.0),
         lambda x: mpmath.erfc(-log(x) / mpmath.sqrt(2)) / 2, START),
    Case("dirichlet density", lambda x: bl.scipy.stats.dirichlet.pdf(np.stack([x, 1 - x]), np.array([2.0, 3.0])),
         lambda x: 12 * x * (1 - x) ** 2, ENDS),
)  # fmt: skip


def limit(case: Case, point: tuple[float, ...], side: tuple[int, ...], by: tuple[int, ...]) -> float:
    """The partial near the point, ever nearer: where it converges to, infinity, or nan where it does neither."""
    found = []
    for digits in (20, 40, 60):
        at = tuple(mp.mpf(x) + s * mp.mpf(10) ** -digits for x, s in zip(point, side, strict=True))
        orders = tuple(by.count(k) for k in range(len(at)))
        found.append(
            mp.re(mpmath.diff(case.exact, at, orders) if len(at) > 1 else mpmath.diff(case.exact, at[0], len(by)))
        )
    first, second, last = found
    if abs(last - second) <= 1e-8 * (1 + abs(last)):
        return float(last) if abs(last) > 1e-9 or not any(side) else 0.0
    return math.copysign(math.inf, last) if abs(last) > 1.2 * abs(second) > abs(first) else math.nan


def partials(case: Case, orders: Sequence[tuple[int, ...]]) -> Callable[..., Any]:
    """All partials of the entries, one gradient after the other."""

    def after(f: Any, by: tuple[int, ...]) -> Any:
        for k in by:
            f = bl.grad(lambda *xs, f=f: np.sum(f(*xs)), k)
        return f

    return lambda *xs: [after(case.function, by)(*xs) for by in orders]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_derivatives_at_special_points_are_limits(case: Case) -> None:
    orders = [by for n in range(1, case.order + 1) for by in itertools.product(case.derived, repeat=n)]
    columns = [np.array(x) for x in zip(*(point for point, _ in case.points), strict=True)]
    got = bl.compile(partials(case, orders), *columns, gear="replay")(*columns)
    with mp.workdps(240):
        for by, values in zip(orders, got, strict=True):
            for (point, side), value in zip(case.points, values, strict=True):
                wanted = limit(case, point, side, by)
                if not math.isnan(wanted):
                    np.testing.assert_allclose(value, wanted, rtol=1e-9, atol=1e-12, err_msg=f"{point} by {by}")


OF_MINUS_INFINITY = {
    "logsumexp": lambda x: bl.logsumexp(x, axis=-1),
    "softmax": bl.softmax,
    "log_softmax": bl.log_softmax,
    "scipy's logsumexp": lambda x: bl.scipy.special.logsumexp(x, axis=-1),
    "with weights": lambda x: bl.scipy.special.logsumexp(x, axis=-1, b=np.array([1.0, 2.0, 0.5])),
    "cross_entropy": lambda x: bl.nn.cross_entropy(x, np.array([1, 2])),
}


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("name", OF_MINUS_INFINITY)
def test_rows_of_minus_infinity_alone_have_derivative_zero(name: str, gear: Any) -> None:
    """Reverse, forward and twice; the other row has the derivatives that it has alone."""
    f, x = OF_MINUS_INFINITY[name], np.array([[-np.inf] * 3, [0.5, -np.inf, 1.25]])

    def total(x: Any) -> Any:
        y = f(x)
        return np.sum(y * np.arange(1.0, 1.0 + np.size(y)).reshape(np.shape(y)))

    def found(x: Any) -> Any:
        return bl.grad(total)(x), bl.grad(lambda x: bl.jvp(total, (x,), (np.ones_like(x),))[1])(x)

    for slope in bl.compile(found, x, gear=gear)(x):
        np.testing.assert_array_equal(slope[0], 0)
        assert np.isfinite(slope[1]).all()
    assert (
        bl.compile(lambda x: bl.jvp(total, (x,), (np.ones_like(x),))[1], x[:1].repeat(2, 0), gear=gear)(
            x[:1].repeat(2, 0)
        )
        == 0
    )


def test_masked_rows_of_attention_move_nothing() -> None:
    scores, seen = np.arange(6.0).reshape(2, 3), np.array([[False] * 3, [True, False, True]])

    def loss(scores: Any) -> Any:
        weights = bl.softmax(np.where(seen, scores, -np.inf))
        return np.sum(np.where(seen, weights, 0.0) ** 2)

    got, alone = bl.grad(loss)(scores), bl.grad(lambda s: np.sum(bl.softmax(s) ** 2))(scores[1, ::2])
    np.testing.assert_allclose(got, [[0, 0, 0], [alone[0], 0, alone[1]]], rtol=1e-14)


def test_a_weight_of_zero_has_its_derivative() -> None:
    """Against JAX's of the formula; where the entry is large the derivative is, too."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    z = np.array([0.5, 1.0, 2.0, 1.0, 0.0, 2.0])
    ours = bl.hessian(lambda z: bl.scipy.special.logsumexp(z[:3], b=z[3:]))(z)
    theirs = jax.hessian(lambda z: jax.numpy.log(jax.numpy.sum(z[3:] * jax.numpy.exp(z[:3]))))(z)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15)
    a, w = np.array([0.5, 100.0, 900.0, -np.inf]), np.array([1.0, 0.0, 0.0, 0.0])
    slope = bl.grad(lambda w: bl.scipy.special.logsumexp(a, b=w))(w)
    np.testing.assert_allclose(slope, [1.0, math.exp(99.5), math.inf, 0.0], rtol=1e-14)
