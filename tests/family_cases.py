"""Rows of the operations in further tables, as `tests/op_cases.py` has those of the first; whole numbers apart."""

from typing import Any

import mpmath
import numpy as np
from mpmath import mp
from scipy import special

from tests.op_cases import ABOVE_ZERO, EVERY_EDGE, INF, LARGE, NAN, ORDINARY, PAIRED_EDGES, PAIRS, TINY, OpCase

WITHIN_ONE = (-0.9375, -0.5, -0.3125, 0.0625, 0.4375, 0.5625, 0.875)
HALVES = (0.5, -0.5, 1.5, -2.5, 2.0**52 - 0.5, -(2.0**51) - 0.5, 2.0**52 + 1, 0.9999999999999999, 1e9 + 0.25)
WHOLE_EDGES = (*EVERY_EDGE, *HALVES)
POWERS = tuple(2.0**k for k in (-1074, -1022, -149, -30, -1, 1, 2, 10, 31, 52, 100, 1023))
TENS = tuple(10.0**k for k in range(-5, 23))
CUBES = tuple(float(s * k**3) for k in range(1, 40) for s in (1, -1))
DIVIDED = (*PAIRED_EDGES, (7.0, -2.0), (-7.0, 2.0), (0.3, 0.1), (1e300, 7.0), (6.0, -3.0), (-6.0, 3.0), (1e17, 0.1))


def _rint(x: Any) -> Any:
    return mpmath.nint(x)


def _trunc(x: Any) -> Any:
    return mpmath.floor(x) if x > 0 else mpmath.ceil(x)


def _cbrt(x: Any) -> Any:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def _sinc(x: Any) -> Any:
    return mpmath.sinc(mpmath.pi * x)


def _exponent(x: Any) -> Any:
    return mp.mpf(mpmath.frexp(x)[1])


def _exponent_of(x: Any) -> Any:
    return np.frexp(x)[1]


def _ldexp(x: Any, n: Any) -> Any:
    with np.errstate(all="ignore"):
        whole = np.nan_to_num(np.clip(n, -5000, 5000)).astype(int)
        return np.where(np.isnan(n), np.nan, np.ldexp(x, whole))


def _lower_bound(x: Any) -> Any:
    last = np.minimum(x, np.finfo(x.dtype).max)
    return np.where((x == 0) & ~np.signbit(x), x, np.nextafter(last, np.array(-np.inf, x.dtype)))


def _phi(x: Any) -> Any:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def _ndtri(p: Any) -> Any:
    """By Newton's method on log Phi."""
    if p > 0.5:
        return -_ndtri(1 - p)
    guess, target = mp.mpf(special.ndtri(float(p))), mpmath.log(p)
    for _ in range(4):
        guess -= (mpmath.log(_phi(guess)) - target) * _phi(guess) / mpmath.npdf(guess)
    return guess


def _riemann_zeta(n: Any, s: Any) -> Any:
    """SciPy's where n is 0; else what is known at edges."""
    known = {(1.0, 1.0): -INF, (2.0, INF): 0.0}
    return [special.zeta(b) if a == 0 else known.get((a, b), NAN) for a, b in zip(n, s, strict=True)]


def _zeta_partial(orders: Any, n: Any, s: Any, q: Any) -> Any:
    """By Leibniz' rule from d^j/dq^j zeta(s, q) = (-1)^j s (s + 1) ... (s + j - 1) zeta(s + j, q); n more by s."""
    i, j = orders[0] + int(n), orders[1]
    rising = [mpmath.diff(lambda t: mpmath.rf(t, j), s, m) for m in range(min(i, j) + 1)]  # a polynomial of degree j
    return (-1) ** j * sum(mpmath.binomial(i, m) * r * mpmath.zeta(s + j, q, i - m) for m, r in enumerate(rising))


def _zeta_derivative(n: Any, s: Any, q: Any) -> Any:
    known = {(-1.0, 2.0, 2.0): 0.0, (1.0, INF, 2.0): 0.0, (1.0, 2.0, INF): 0.0}
    return [special.zeta(b, c) if a == 0 else known.get((a, b, c), NAN) for a, b, c in zip(n, s, q, strict=True)]


def _mills(x: Any) -> Any:
    with mp.workdps(60):
        finite = [float(mpmath.npdf(v) / _phi(mp.mpf(v))) if np.isfinite(v) else v for v in np.asarray(x, float)]
    return np.where(np.isfinite(x), finite, np.where(x > 0, 0.0, -np.asarray(x)))


def _student(df: Any, t: Any) -> Any:
    slope = mpmath.gamma((df + 1) / 2) / mpmath.gamma(df / 2) / mpmath.sqrt(mpmath.pi * df)
    return mp.mpf(1) / 2 + t * slope * mpmath.hyp2f1(mp.mpf(1) / 2, (df + 1) / 2, mp.mpf(3) / 2, -t * t / df)


def _gammainc(a: Any, x: Any) -> Any:
    return mpmath.gammainc(a, 0, x, regularized=True)


def _gamma_density(a: Any, x: Any) -> Any:
    return x ** (a - 1) * mpmath.exp(-x) / mpmath.gamma(a)


def _betainc(a: Any, b: Any, x: Any) -> Any:
    return mpmath.betainc(a, b, 0, x, regularized=True)


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    return x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b)


def _beta_by(f: Any, m: Any, n: Any, a: Any, b: Any, x: Any) -> Any:
    return mpmath.diff(lambda a, b: f(a, b, x), (a, b), (int(m), int(n)))


def _edges_by(*args: Any) -> Any:
    """Derivatives by parameters at edges: 0 at the ends of the support and for negative orders, nan without one."""
    known = {(-1.0, 1.0, 1.0), (0.0, 2.0, 0.0), (1.0, 2.0, INF), (1.0, 3.0, 0.0)}
    known |= {(0.0, 1.0, 2.0, 2.0, 0.0), (1.0, 0.0, 2.0, 2.0, 1.0), (-1.0, 0.0, 1.0, 1.0, 0.5)}
    return [0.0 if point in known else NAN for point in zip(*args, strict=True)]


def _solved(f: Any, near: Any, *args: Any) -> Any:
    """Where f is 0: by secants from SciPy's number."""
    x = mp.mpf(float(near(*map(float, args))))
    return mpmath.findroot(f, (x, x * (1 + mp.mpf(10) ** -14)), tol=mp.mpf(10) ** -110)


_E5M2 = (0.0, 3.0 + 128 + 256 + 1024 + 2 * 4096, 2.0**-14, 57344.0)  # threshold, rule, least, largest


def _e5m2(x: Any, *_: Any) -> Any:
    unit = mp.mpf(2) ** (max(mpmath.floor(mpmath.log(abs(x), 2)), -14) - 2)
    return mpmath.nint(x / unit) * unit


def _e5m2_of(x: Any, *_: Any) -> Any:
    with np.errstate(all="ignore"):
        unit = 2.0 ** (np.maximum(np.frexp(x)[1] - 1, -14) - 2)
        y = np.where(np.isfinite(x), np.rint(x / unit) * unit, x)
        return np.where(np.abs(y) > 57344, np.copysign(np.inf, x), y)


INCOMPLETE = (
    (0.0, 1.0),
    (1.0, 0.0),
    (2.0, INF),
    (INF, 2.0),
    (-1.0, 1.0),
    (1.0, -1.0),
    (NAN, 1.0),
    (1.0, NAN),
    (2.0, TINY),
)
INCOMPLETE_POINTS = ((0.75, 1.5), (2.5, 0.75), (11.0, 30.5), (100.0, 99.5), (0.0625, 0.25))
EDGES_BY = ((0.0, 2.0, 0.0), (1.0, 2.0, INF), (1.0, -1.0, 1.0), (5.0, 1.0, 1.0), (0.5, 1.0, 1.0), (-1.0, 1.0, 1.0),
            (1.0, 1.0, NAN), (1.0, 3.0, 0.0))  # fmt: skip
BETA_EDGES_BY = ((0.0, 1.0, 2.0, 2.0, 0.0), (1.0, 0.0, 2.0, 2.0, 1.0), (1.0, 0.0, -1.0, 2.0, 0.5),
                 (5.0, 0.0, 1.0, 1.0, 0.5), (-1.0, 0.0, 1.0, 1.0, 0.5), (1.0, 0.0, 2.0, 2.0, 1.5))  # fmt: skip
QUANTILE_EDGES = ((2.0, 0.0), (2.0, 1.0), (2.0, -0.5), (2.0, 1.5), (INF, 0.5), (NAN, 0.5), (2.0, NAN), (-1.0, 0.5),
                  (0.0, 0.5), (0.0, 0.0), (0.0, 1.0), (0.015625, 1e-300), (2.0, 0.5))  # fmt: skip
BETA_QUANTILE_EDGES = ((1.0, 2.0, 0.0), (1.0, 2.0, 1.0), (1.0, 2.0, -0.5), (1.0, 2.0, 1.5), (-1.0, 1.0, 0.5),
                       (1.0, 2.0, NAN), (2.0, 3.0, 0.5))  # fmt: skip
BETA_POINTS = ((0.75, 1.5, 0.25), (2.5, 0.75, 0.875), (11.0, 30.5, 0.3125), (100.0, 99.5, 0.5), (0.0625, 3.0, 0.0625))
BETA_EDGES = (
    (1.0, 2.0, 0.0),
    (1.0, 2.0, 1.0),
    (1.0, 2.0, -0.5),
    (1.0, 2.0, 1.5),
    (NAN, 1.0, 0.5),
    (2.0, 3.0, NAN),
    (-1.0, 2.0, 0.5),
)


def _error_of(f: Any) -> Any:
    """f(x + dx, ...) - z in float64, 0 where an argument or the result is infinite or nan."""

    def error(*arguments: Any) -> Any:
        *xs, z = (np.asarray(a, np.float64) for a in arguments)
        found = f(*(x + dx for x, dx in zip(xs[::2], xs[1::2], strict=True))) - z
        return np.where(np.isfinite(found) & np.all(np.isfinite(xs), axis=0), found, 0.0)

    return error


ERRORS_OF_ONE = ((0.75, 0.015625, 0.5), (-2.5, 0.125, 7.0), (0.0078125, 0.0, 2.0), (11.0, -0.5, 3.0))
ERRORS_OF_TWO = ((0.75, 0.015625, -0.375, 0.25, 3.5), (-2.5, 0.125, 7.0, -0.5, 11.0), (1.5, 0.0, 0.625, 0.0, -2.0))
ERROR_EDGES_OF_ONE = ((INF, 0.0, 1.0), (-INF, 0.0, 0.0), (NAN, 0.0, 1.0), (0.5, 0.0, INF), (0.0, 0.0, 0.75))
ERROR_EDGES_OF_TWO = (
    (INF, 0.0, 1.0, 0.0, INF), (1.0, 0.0, -INF, 0.0, 0.5), (NAN, 0.0, 1.0, 0.0, 1.0), (1.0, 0.0, 2.0, 0.0, NAN),
    (0.5, 0.25, 2.0, 0.125, 0.75),
)  # fmt: skip

FAMILY_CASES: dict[str, tuple[OpCase, ...]] = {
    "rounding": (
        OpCase("floor", mpmath.floor, np.floor, ORDINARY, WHOLE_EDGES, jax="numpy.floor", ulp=0, edge_ulp=0),
        OpCase("ceil", mpmath.ceil, np.ceil, ORDINARY, WHOLE_EDGES, jax="numpy.ceil", ulp=0, edge_ulp=0),
        OpCase("rint", _rint, np.rint, (-2.25, -0.75, 0.3125, 1.625), WHOLE_EDGES, jax="numpy.rint", ulp=0, edge_ulp=0),
        OpCase("trunc", _trunc, np.trunc, ORDINARY, WHOLE_EDGES, jax="numpy.trunc", ulp=0, edge_ulp=0),
        OpCase("fmod", lambda x, y: x - y * _trunc(x / y), np.fmod,
               ((0.75, 0.5), (-2.25, 0.3125), (1.5, 2.5)), DIVIDED, ulp=0, edge_ulp=0),
        OpCase("floor_divide", lambda x, y: mpmath.floor(x / y), np.floor_divide, PAIRS, DIVIDED, ulp=0, edge_ulp=0,
               jax="numpy.floor_divide"),
        OpCase("remainder", lambda x, y: x - y * mpmath.floor(x / y), np.remainder, PAIRS, DIVIDED, ulp=0, edge_ulp=0,
               jax="numpy.remainder"),
        OpCase("copysign", lambda x, y: abs(x) * mpmath.sign(y), np.copysign, PAIRS, PAIRED_EDGES, ulp=0, edge_ulp=0,
               kinks=(((0.0, -1.0), (-1.0, 0.0)), ((-0.0, -1.0), (1.0, 0.0))), jax="numpy.copysign"),
        OpCase("fmax", max, np.fmax, PAIRS, PAIRED_EDGES, jax="numpy.fmax", ulp=0, edge_ulp=0,
               kinks=(((1.5, 1.5), (0.0, 1.0)), ((NAN, 1.0), (0.0, 1.0)), ((1.0, NAN), (1.0, 0.0)))),
        OpCase("fmin", min, np.fmin, PAIRS, PAIRED_EDGES, jax="numpy.fmin", ulp=0, edge_ulp=0,
               kinks=(((1.5, 1.5), (0.0, 1.0)), ((NAN, 1.0), (0.0, 1.0)), ((1.0, NAN), (1.0, 0.0)))),
        OpCase("nextafter", lambda x, _: x, np.nextafter, PAIRS, PAIRED_EDGES, ulp=1, edge_ulp=0),
        OpCase("lower_bound", lambda x: x, _lower_bound, ulp=1, edge_ulp=0),
        OpCase("upper_bound", lambda x: x, lambda x: -_lower_bound(-x), ulp=1, edge_ulp=0),
        OpCase("ldexp", lambda x, n: x * mp.mpf(2) ** mpmath.nint(n), _ldexp,
               ((0.75, 3.0), (-2.25, -4.0), (1.5, 0.0)), PAIRED_EDGES, ulp=0, edge_ulp=0, order=1),
        OpCase("mantissa", lambda x: mpmath.frexp(x)[0], lambda x: np.frexp(x)[0], (0.3, -5.0, 1.5e-5),
               (*EVERY_EDGE, -3e-310, 0.5), ulp=0, edge_ulp=0),
        OpCase("exponent", _exponent, _exponent_of, (0.3, -5.0, 1.5e-5), EVERY_EDGE, ulp=0, edge_ulp=0),
        OpCase("signbit", lambda x: x < 0, np.signbit, order=0),
    ),
    "elementary": (
        OpCase("arcsin", mpmath.asin, np.arcsin, WITHIN_ONE, jax="numpy.arcsin", complex_step=True),
        OpCase("arccos", mpmath.acos, np.arccos, WITHIN_ONE, jax="numpy.arccos", complex_step=True),
        OpCase("arcsinh", mpmath.asinh, np.arcsinh, (*ORDINARY, 1e-9, 1e10), jax="numpy.arcsinh"),
        OpCase("arccosh", mpmath.acosh, np.arccosh, (1.0625, 1.5, 11.0, 1e10), jax="numpy.arccosh"),
        OpCase("cbrt", _cbrt, np.cbrt, (*ORDINARY, 30.0), (*EVERY_EDGE, *CUBES), jax="numpy.cbrt"),
        OpCase("exp2", lambda x: mp.mpf(2) ** x, np.exp2, (*ORDINARY, -30.5),
               (*EVERY_EDGE, 1023.0, -1074.0, 4.0, -2.0, 127.0, -149.0), jax="numpy.exp2"),
        OpCase("log2", lambda x: mpmath.log(x, 2), np.log2, (*ABOVE_ZERO, 1.0625), (*EVERY_EDGE, *POWERS),
               jax="numpy.log2"),
        OpCase("log10", mpmath.log10, np.log10, (*ABOVE_ZERO, 1.0625), (*EVERY_EDGE, *TENS), jax="numpy.log10"),
        OpCase("sinc", _sinc, np.sinc, (0.25, -0.75, 0.0625, 1.25, 0.3125, 2.5), (0.0, -0.0, NAN, TINY, -TINY, 1e-300),
               jax="numpy.sinc", slack=4),
    ),
    "special": (
        OpCase("polygamma", lambda n, x: mpmath.polygamma(int(n), x), special.polygamma,
               ((1.0, 0.75), (1.0, 11.0), (2.0, 1.5), (3.0, 0.0625), (5.0, 30.0)),
               ((0.0, 2.0), (1.0, 0.5), (2.0, 1e3), (1.0, NAN), (3.0, -2.5)), ulp=8, parameters=1),
        OpCase("digamma", mpmath.digamma, special.psi, (*ABOVE_ZERO, 1.4375, -0.75, 1e5),
               (0.0, -0.0, INF, NAN, 1.0, -1.0, -3.0, 1e-300, LARGE), jax="scipy.special.digamma"),
        OpCase("gammaln", mpmath.loggamma, special.gammaln, (*ABOVE_ZERO, 1.9375, 1e5),
               (0.0, -0.0, INF, NAN, 1.0, 2.0, -1.0, -3.0, 1e-300, -0.5, -10.25), jax="scipy.special.gammaln"),
        OpCase("gamma", mpmath.gamma, special.gamma, (*ABOVE_ZERO, -0.75, 30.5),
               (0.0, -0.0, INF, NAN, 1.0, 2.0, -1.0, -3.0, 170.0, 172.0), jax="scipy.special.gamma", ulp=8),
        OpCase("betaln", lambda a, b: mpmath.log(mpmath.beta(a, b)), special.betaln,
               ((0.75, 1.5), (11.0, 0.0625), (30.5, 1e3), (0.25, 20.0)),
               ((0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (INF, 1.0), (1.0, NAN), (1e-300, 1e-300), (2.0, LARGE)),
               slack=8),  # JAX's slopes of it are off by 1e-6
        OpCase("beta", mpmath.beta, special.beta, ((0.75, 1.5), (11.0, 0.0625), (3.5, 20.5), (0.25, 20.0)),
               ((0.0, 1.0), (1.0, 1.0), (1.0, NAN), (1e-300, 1e-5), (3.0, 2.0), (-0.5, 2.25)),
               slack=8),
        OpCase("exprel", lambda x: mpmath.expm1(x) / x if x else mp.mpf(1), special.exprel,
               (*ORDINARY, 1e-9, -0.9375, 0.96875, -1.0625, 11.0, -30.5),
               (*EVERY_EDGE, 709.0, 716.0, 718.0, -745.0), slack=4),
        OpCase("zeta_derivative", lambda n, s, q: mpmath.zeta(s, q, int(n)), _zeta_derivative,
               ((1.0, 2.0, 0.75), (1.0, 2.5, 11.0), (1.0, 1.0625, 1.5), (0.0, 4.0, 0.0625)),
               ((1.0, 0.5, 2.0), (1.0, 1.0, 2.0), (-1.0, 2.0, 2.0), (5.0, 2.0, 2.0), (1.0, 2.0, -1.25),
                (1.0, 2.0, NAN), (1.0, INF, 2.0), (1.0, 2.0, INF), (0.0, 2.0, 1.5)), parameters=1,
               partial=_zeta_partial),
        OpCase("zeta", mpmath.zeta, special.zeta,
               ((2.0, 0.75), (2.5, 11.0), (30.0, 1.5), (4.0, 0.0625)),
               ((1.0, 2.0), (0.5, 2.0), (2.0, 0.0), (3.0, -1.0), (3.0, -1.25), (2.0, NAN), (2.0, 1e9)),
               partial=lambda orders, s, q: _zeta_partial(orders, 0, s, q)),
        OpCase("riemann_zeta", lambda n, s: mpmath.zeta(s, 1, int(n)), _riemann_zeta,
               ((0.0, 2.5), (1.0, 0.5), (0.0, -0.75), (1.0, -4.0), (0.0, -10.25), (1.0, 30.0)),
               ((0.0, 1.0), (1.0, 1.0), (0.0, 0.0), (0.0, INF), (2.0, INF), (0.0, NAN), (0.0, -4.0), (5.0, 2.0),
                (0.5, 2.0), (-1.0, 2.0), (0.0, -301.0), (0.0, -1e-9)), parameters=1, ulp=8, slack=8),
        OpCase("xlogy", lambda x, y: x * mpmath.log(y), special.xlogy, ((0.75, 1.5), (-2.25, 0.3125)), PAIRED_EDGES,
               jax="scipy.special.xlogy"),
        OpCase("xlog1py", lambda x, y: x * mpmath.log1p(y), special.xlog1py, ((0.75, 1.5), (-2.25, 0.3125)),
               PAIRED_EDGES, jax="scipy.special.xlog1py"),
        OpCase("rel_entr", lambda x, y: x * mpmath.log(x / y), special.rel_entr,
               ((0.75, 1.5), (2.25, 0.3125), (1.5, 1.5), (11.0, 0.0625)),
               tuple(p for p in PAIRED_EDGES if TINY not in p), jax="scipy.special.rel_entr"),
        OpCase("power_exp", lambda x, y, z: x**y * mpmath.exp(z), lambda x, y, z: np.exp(special.xlogy(y, x) + z),
               ((0.75, 1.5, -0.5), (2.25, -0.3125, 1.0), (1.5, 2.5, 0.0), (11.0, 0.5, -2.0)),
               tuple((*p, z) for p in PAIRED_EDGES for z in (0.0, -1.5)), order=2, ulp=8),
    ),
    "normal": (
        OpCase("erfinv", mpmath.erfinv, special.erfinv, (*WITHIN_ONE, 1e-9, 0.9990234375),
               (0.0, 1.0, -1.0, 1.5, -2.0, NAN, INF, -INF, TINY, 1e-300, 1 - 2.0**-53), jax="scipy.special.erfinv"),
        OpCase("erfcinv", lambda p: -_ndtri(p / 2) / mpmath.sqrt(2), special.erfcinv,
               (0.0625, 0.4375, 0.5625, 0.875, 1.4375, 1.5625, 1.9375, 1e-9, 1e-30),
               (0.0, -0.0, 2.0, -1.0, 2.5, NAN, INF, -INF, 1e-300, 1e-310, 2.0**-53)),
        OpCase("ndtri", _ndtri, special.ndtri, (0.0625, 0.21875, 0.4375, 0.5625, 0.875, 1e-9, 1e-30),
               (0.0, -0.0, 1.0, 0.5, -1.0, 1.5, NAN, INF, -INF, TINY, 1e-300, 1 - 2.0**-53), jax="scipy.special.ndtri"),
        OpCase("mills_excess", lambda x: x + mpmath.npdf(x) / _phi(x), lambda x: x + _mills(x),
               (*ORDINARY, -30.5, -5.0, 11.0, -0.0625), (0.0, -0.0, INF, NAN, TINY, -TINY, 40.0, 5.0, -1e-3),
               ulp=16, slack=64),
        OpCase("mills", lambda x: mpmath.npdf(x) / _phi(x), _mills, (*ORDINARY, -30.5, 11.0, -0.0625),
               (0.0, -0.0, INF, -INF, NAN, TINY, -TINY, 40.0, -5.0, 5.0), slack=8),
        OpCase("log_ndtr", lambda x: mpmath.log(_phi(x)), special.log_ndtr,
               (*ORDINARY, -30.5, -0.9375, -1.0625, 5.0), (*EVERY_EDGE, -1e5, 40.0), slack=8),
        OpCase("erfcx", lambda x: mpmath.exp(x * x) * mpmath.erfc(x), special.erfcx,
               (*ORDINARY, -4.0, 5.0, 30.5), (0.0, -0.0, INF, -INF, NAN, TINY, -TINY, 40.0, 1e10, -27.0),
               ulp=4 + 2 * 4.0**2, slack=64),
    ),
    "incomplete": (
        OpCase("gamma_density_by", lambda n, a, x: mpmath.diff(lambda a: _gamma_density(a, x), a, int(n)), _edges_by,
               ((0.0, 0.75, 1.5), (1.0, 2.5, 0.75), (1.0, 11.0, 30.5)), EDGES_BY, parameters=1, slack=8),
        OpCase("gammainc_by", lambda n, a, x: mpmath.diff(lambda a: _gammainc(a, x), a, int(n)), _edges_by,
               ((0.0, 0.75, 1.5), (1.0, 2.5, 0.75), (1.0, 11.0, 30.5)), EDGES_BY, parameters=1, slack=8, order=2),
        OpCase("gammainc", _gammainc, special.gammainc, INCOMPLETE_POINTS, INCOMPLETE, slack=8),
        OpCase("gammaincc", lambda a, x: mpmath.gammainc(a, x, regularized=True), special.gammaincc,
               INCOMPLETE_POINTS, INCOMPLETE, slack=8, order=1),
        OpCase("beta_density_by", lambda m, n, a, b, x: _beta_by(_beta_density, m, n, a, b, x), _edges_by,
               ((0.0, 1.0, 0.75, 1.5, 0.25), (1.0, 0.0, 2.5, 0.75, 0.875)), BETA_EDGES_BY, parameters=2, slack=16,
               order=2),
        OpCase("betainc_by", lambda m, n, a, b, x: _beta_by(_betainc, m, n, a, b, x), _edges_by,
               ((0.0, 1.0, 0.75, 1.5, 0.25), (1.0, 0.0, 2.5, 0.75, 0.875)), BETA_EDGES_BY, parameters=2, slack=16,
               order=1),
        OpCase("betainc", _betainc, special.betainc, BETA_POINTS[:4], BETA_EDGES, slack=16, order=2),
        OpCase("betaincc", lambda a, b, x: mpmath.betainc(a, b, x, 1, regularized=True), special.betaincc,
               BETA_POINTS[:2], BETA_EDGES, slack=16, order=1),
        OpCase("stdtr", _student, special.stdtr,
               ((1.0, -0.75), (4.5, 0.3125), (4.5, -11.0), (100.0, 1.5), (0.5, 2.25), (3.0, 0.0)),
               ((1.0, 0.0), (INF, 0.5), (2.0, INF), (2.0, -INF), (2.0, NAN), (NAN, 1.0), (-1.0, 0.5)), slack=64),
    ),
    "formats": (
        OpCase("round_to", _e5m2, _e5m2_of, tuple((x, *_E5M2) for x in (0.3, -0.75, 1.5, 1e-5, -3000.5)),
               tuple((x, *_E5M2) for x in (*EVERY_EDGE, 61439.0, 61440.0, 7e-6)), ulp=0, edge_ulp=0, order=1),
    ),
    "shadow": (
        OpCase("sum_error", lambda x, dx, y, dy, z: x + dx + y + dy - z, _error_of(lambda x, y: x + y),
               ERRORS_OF_TWO, ERROR_EDGES_OF_TWO, edge_ulp=64, order=2),
        OpCase("product_error", lambda x, dx, y, dy, z: (x + dx) * (y + dy) - z, _error_of(lambda x, y: x * y),
               ERRORS_OF_TWO, ERROR_EDGES_OF_TWO, edge_ulp=64, order=2),
        OpCase("quotient_error", lambda x, dx, y, dy, z: (x + dx) / (y + dy) - z, _error_of(lambda x, y: x / y),
               ERRORS_OF_TWO, ERROR_EDGES_OF_TWO, edge_ulp=64, order=2),
        *(
            OpCase(f"{name}_error", lambda x, dx, z, f=f: f(x + dx) - z, _error_of(getattr(np, name)), ERRORS_OF_ONE,
                   ERROR_EDGES_OF_ONE, edge_ulp=64, order=2)
            for name, f in {"exp": mpmath.exp, "expm1": mpmath.expm1, "sin": mpmath.sin, "cos": mpmath.cos}.items()
        ),
    ),
    "quantiles": (
        OpCase("gammaincinv", lambda a, p: _solved(lambda x: _gammainc(a, x) - p, special.gammaincinv, a, p),
               special.gammaincinv, ((0.75, 0.25), (2.5, 0.875), (100.0, 0.0625)), QUANTILE_EDGES, slack=16, order=2),
        OpCase("gammainccinv", lambda a, p: _solved(lambda x: 1 - _gammainc(a, x) - p, special.gammainccinv, a, p),
               special.gammainccinv, ((0.75, 0.25), (2.5, 0.875), (30.5, 1e-6)), QUANTILE_EDGES, slack=16, order=1),
        OpCase("betaincinv", lambda a, b, p: _solved(lambda x: _betainc(a, b, x) - p, special.betaincinv, a, b, p),
               special.betaincinv, ((0.75, 1.5, 0.25), (11.0, 30.5, 0.75)), BETA_QUANTILE_EDGES, slack=16, order=2),
        OpCase("betainccinv", lambda a, b, p: 1 - _solved(lambda x: _betainc(b, a, x) - p, special.betaincinv, b, a, p),
               special.betainccinv, ((0.75, 1.5, 0.25), (11.0, 30.5, 0.75)), BETA_QUANTILE_EDGES, slack=16, order=1),
        OpCase("stdtrit", lambda df, p: _solved(lambda t: _student(df, t) - p, special.stdtrit, df, p),
               special.stdtrit, ((1.0, 0.25), (4.5, 0.625), (0.5, 0.0625), (100.0, 0.75)),
               ((1.0, 0.5), (INF, 0.25), (2.0, 1.0), (2.0, NAN), (NAN, 0.5), (-1.0, 0.5), (2.0, 1.5)),
               slack=32, order=2),
    ),
    "bessel": (
        OpCase("jv", lambda n, x: mpmath.besselj(int(n), x), special.jv,
               ((0.0, 0.75), (0.0, -11.0), (1.0, 1.5), (1.0, 1e-3), (2.0, 30.5), (5.0, 4.0), (-3.0, 2.5)),
               ((0.0, 0.0), (1.0, 0.0), (2.0, -0.0), (0.0, NAN), (NAN, 1.0), (1.0, -2.0), (0.0, TINY), (3.0, 1.0)),
               parameters=1, ulp=8, edge_ulp=16),
        OpCase("iv", lambda n, x: mpmath.besseli(int(n), x), special.iv,
               ((0.0, 0.75), (0.0, -11.0), (1.0, 1.5), (1.0, 1e-3), (2.0, 60.5), (5.0, 4.0), (-3.0, 2.5), (0.0, 29.5)),
               ((0.0, 0.0), (1.0, 0.0), (2.0, -0.0), (0.0, NAN), (NAN, 1.0), (1.0, -2.0), (0.0, 720.0)),
               parameters=1, edge_ulp=16),
        OpCase("ive", lambda n, x: mpmath.besseli(int(n), x) * mpmath.exp(-abs(x)), special.ive,
               ((0.0, 0.75), (0.0, -11.0), (1.0, 1.5), (1.0, 1e-3), (2.0, 60.5), (5.0, 4.0), (-3.0, 2.5), (0.0, 29.5)),
               ((0.0, 0.0), (1.0, 0.0), (0.0, NAN), (NAN, 1.0), (1.0, -2.0), (1.0, 1e8)),
               parameters=1, edge_ulp=16, slack=16),
        OpCase("yv", lambda n, x: mpmath.bessely(int(n), x), special.yv,
               ((0.0, 0.75), (1.0, 11.0), (5.0, 4.0), (-3.0, 2.5)),
               ((0.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, NAN), (NAN, 1.0), (3.0, 1.0)),
               parameters=1, ulp=16, edge_ulp=16, slack=16, order=2),
        OpCase("kv", lambda n, x: mpmath.besselk(int(n), x), special.kv,
               ((0.0, 0.75), (1.0, 1.5), (5.0, 4.0), (-3.0, 2.5)),
               ((0.0, 0.0), (1.0, 0.0), (0.0, INF), (0.0, NAN), (NAN, 1.0), (1.0, -2.0), (0.0, 1e-300), (40.0, 2.0)),
               parameters=1, edge_ulp=16, order=1),  # mpmath takes a second for each
        OpCase("kve", lambda n, x: mpmath.besselk(int(n), x) * mpmath.exp(x), special.kve,
               ((0.0, 0.75), (1.0, 1.5), (2.0, 60.5)),
               ((0.0, 0.0), (1.0, 0.0), (0.0, NAN), (NAN, 1.0), (1.0, -2.0), (1.0, 1e8), (9.0, 1e3)),
               parameters=1, edge_ulp=16, slack=16, order=1),
    ),
}  # fmt: skip
