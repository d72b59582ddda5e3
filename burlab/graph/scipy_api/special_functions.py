"""The ufuncs of `scipy.special` on nodes: most are one operation of the C++ tables, the others a formula in a few."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from burlab.graph.node import FUNCTIONS, SPECIAL, UFUNCS, Node, as_node
from burlab.graph.numpy_api.elementwise import (
    arctanh,
    copysign,
    erfc,
    exp,
    floor,
    gamma,
    gammaln,
    isfinite,
    isnan,
    log,
    log1p,
    power,
    rel_entr,
    rint,
    sin,
    softplus,
    where,
    xlogy,
)
from burlab.graph.numpy_api.promotion import apply, as_dtype, promote
from burlab.typing import ArrayLike

from . import bessel_rows, distribution_rows, elliptic_rows, special_rows, wave_rows  # noqa: F401 # pyright: ignore[reportUnusedImport] - they fill the table
from .special_loops import by_loop, fill_tables


def _ndtr(x: ArrayLike) -> Node:
    """Return erfc(-x / sqrt 2) / 2, as 1 + erf cancels far below 0. Rounding x / sqrt 2 costs x^2 / 2 ulp."""
    return 0.5 * erfc(as_node(x) * -math.sqrt(0.5))


def _bessel(op: str, order: int | None = None) -> Callable[..., Node]:
    """Return the rule of a Bessel function, whose order is given, or its first argument.

    Of an order that is whole, and known while the function is traced, our own loops compute it.
    """

    def of_order(n: ArrayLike, x: ArrayLike) -> Node:
        known = as_node(n)
        if not known.is_constant or np.any(known.params != np.floor(known.params)):
            return by_loop(op)(known, x)
        return apply(op, known, x)

    return of_order if order is None else partial(of_order, float(order))


def _logit(x: ArrayLike) -> Node:
    """Return log(x / (1 - x)), near 1/2 by arctanh, whose argument is exact there."""
    (p,) = promote([as_node(x)], float_only=True)
    far = abs(p - 0.5) > 0.25
    near = arctanh(2.0 * where(far, 0.5, p) - 1.0)
    away = where(far, p, 0.25)
    ends = log(away) - log1p(-away)
    return where(far, ends, where(isnan(p), p, 2.0 * near))


def _log_expit(x: ArrayLike) -> Node:
    return -softplus(-as_node(x))


def _entr(x: ArrayLike) -> Node:
    """Return -x log x, 0 at 0, -inf below."""
    x = as_node(x)
    return where(x < 0.0, -math.inf, -xlogy(x, x))


def _kl_div(x: ArrayLike, y: ArrayLike) -> Node:
    """Return x log(x / y) - x + y, inf outside of the domain."""
    x, y = promote([as_node(x), as_node(y)], float_only=True)
    entropy = rel_entr(x, y)
    inside = ((x > 0.0) & (y > 0.0)) | isfinite(entropy)
    return where(inside, entropy - x + y, entropy)


def _parity(whole: Node) -> Node:
    """Return 1 for even numbers, -1 for odd ones, nan for infinite ones."""
    odd = whole - 2.0 * floor(0.5 * whole)
    return 1.0 - 2.0 * odd


def _gammasgn(x: ArrayLike) -> Node:
    """Return the sign of Gamma: nan at its poles, except 0, where it is the sign of the zero."""
    (x,) = promote([as_node(x)], float_only=True)
    below = floor(x)
    left = where(below == x, math.nan, _parity(below))
    at_most_zero = where(x < 0.0, left, copysign(1.0, x))
    return as_dtype(where(x > 0.0, 1.0, where(isnan(x), x, at_most_zero)), x.dtype)


def _rgamma(x: ArrayLike) -> Node:
    """Return 1 / Gamma, which has no poles; below 1/2 by sin(pi x) Gamma(1 - x) / pi, whose sine is exact."""
    (x,) = promote([as_node(x)], float_only=True)
    large = 20.0 if x.dtype == np.float64 else 8.0  # Gamma^4 is finite below it, and so are third derivatives
    left, right = x < 0.5, x > large
    low = where(left, x, 0.25)
    whole = rint(low)
    remainder, mirrored = low - whole, gamma(1.0 - low)
    wave = sin(math.pi * remainder) * (1 / math.pi)
    zero = ((mirrored == math.inf) & (remainder == 0.0)) | (low == -math.inf)
    reflected = where(zero, 0.0, _parity(whole) * wave * mirrored)
    middle = 1.0 / gamma(where(left | right, 1.0, x))
    high = exp(-gammaln(where(right, x, 21.0)))
    value = where(left, reflected, where(right, high, middle))
    return where(isnan(x), x, value)


# SciPy's names of single operations of a C++ table, which may have another name.
_SAME = """
    erf erfc gamma gammaln betaln beta exprel xlogy xlog1py rel_entr erfinv erfcinv ndtri log_ndtr erfcx
    gammainc gammaincc betainc betaincc stdtr gammaincinv gammainccinv betaincinv betainccinv stdtrit
""".split()
_OTHER = {"expit": "sigmoid", "psi": "digamma", "_zeta": "zeta"}
_IN_NUMPY = "cbrt exp2 expm1 log1p".split()
_RULES: dict[str, Callable[..., Node]] = {
    "exp10": partial(power, 10.0),
    "ndtr": _ndtr,
    **{f"{op[0]}{n}{op[2:]}": _bessel(op, n) for op in ("jv", "iv", "ive") for n in (0, 1)},
    **{f"{op[0]}{n}{op[2:]}": _bessel(op, n) for op in ("yv", "kv", "kve") for n in (0, 1)},
    **{op: _bessel(op) for op in ("jv", "iv", "ive", "yv", "kv", "kve")},
    "yn": _bessel("yv"),
    "kn": _bessel("kv"),
    "_riemann_zeta": partial(apply, "riemann_zeta", 0.0),
    "logit": _logit,
    "log_expit": _log_expit,
    "entr": _entr,
    "kl_div": _kl_div,
    "gammasgn": _gammasgn,
    "rgamma": _rgamma,
}
SPECIAL.update((name, partial(apply, op)) for name, op in (*zip(_SAME, _SAME, strict=True), *_OTHER.items()))
SPECIAL.update((name, UFUNCS[name]) for name in _IN_NUMPY)
SPECIAL.update(_RULES)
FUNCTIONS[np.i0] = _RULES["i0"]
fill_tables()
