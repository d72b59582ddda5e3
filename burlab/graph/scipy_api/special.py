"""The ufuncs of `scipy.special` on nodes: most are one operation of the C++ tables, the others composed of a few."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from burlab.graph.faults import unsupported
from burlab.graph.node import FUNCTIONS, SPECIAL, UFUNCS, Node, as_node
from burlab.graph.numpy_api.promotion import apply, as_dtype, promote


def _plain(op: str) -> Callable[..., Node]:
    def rule(*xs: Any) -> Node:
        return apply(op, *xs)

    return rule


def _exp10(x: Any) -> Node:
    return apply("power", 10.0, x)


def _ndtr(x: Any) -> Node:
    """By erfc, not 1 + erf: far below 0 the sum would cancel. Rounding x / sqrt 2 costs x^2 / 2 ulp."""
    return apply("mul", 0.5, apply("erfc", apply("mul", x, -math.sqrt(0.5))))


def _bessel(op: str, order: int | None = None) -> Callable[..., Node]:
    """A Bessel function: of the order given, or of its first argument, which has to be known and whole."""

    def of_order(n: Any, x: Any) -> Node:
        known = as_node(n)
        if not known.is_constant or np.any(known.params != np.floor(known.params)):
            raise unsupported(f"scipy.special.{op}", "the order has to be a known whole number")
        return apply(op, known, x)

    return of_order if order is None else partial(of_order, float(order))


def _logit(x: Any) -> Node:
    """log(x / (1 - x)); around 1/2 by arctanh, whose argument is exact there."""
    (p,) = promote([as_node(x)], float_only=True)
    far = apply("greater", apply("abs", apply("sub", p, 0.5)), 0.25)
    near = apply("arctanh", apply("sub", apply("mul", 2.0, apply("where", far, 0.5, p)), 1.0))
    away = apply("where", far, p, 0.25)
    ends = apply("sub", apply("log", away), apply("log1p", apply("neg", away)))
    return apply("where", far, ends, apply("where", apply("isnan", p), p, apply("mul", 2.0, near)))


def _log_expit(x: Any) -> Node:
    return apply("neg", apply("softplus", apply("neg", x)))


def _entr(x: Any) -> Node:
    """-x log x, 0 at 0, -inf below."""
    return apply("where", apply("less", x, 0.0), -math.inf, apply("neg", apply("xlogy", x, x)))


def _kl_div(x: Any, y: Any) -> Node:
    """x log(x / y) - x + y, inf outside of the domain."""
    x, y = promote([as_node(x), as_node(y)], float_only=True)
    entropy = apply("rel_entr", x, y)
    positive = apply("logical_and", apply("greater", x, 0.0), apply("greater", y, 0.0))
    inside = apply("logical_or", positive, apply("isfinite", entropy))
    return apply("where", inside, apply("add", apply("sub", entropy, x), y), entropy)


def _parity(whole: Any) -> Node:
    """1 for even numbers, -1 for odd ones, nan for infinite ones."""
    odd = apply("sub", whole, apply("mul", 2.0, apply("floor", apply("mul", 0.5, whole))))
    return apply("sub", 1.0, apply("mul", 2.0, odd))


def _gammasgn(x: Any) -> Node:
    """The sign of Gamma; nan at its poles, of which 0 has the sign of its side."""
    (x,) = promote([as_node(x)], float_only=True)
    floor = apply("floor", x)
    below = apply("where", apply("equal", floor, x), math.nan, _parity(floor))
    beside = apply("where", apply("less", x, 0.0), below, apply("copysign", 1.0, x))
    return as_dtype(
        apply("where", apply("greater", x, 0.0), 1.0, apply("where", apply("isnan", x), x, beside)), x.dtype
    )


def _rgamma(x: Any) -> Node:
    """1 / Gamma, which has no poles: for small x by the reflection sin(pi x) Gamma(1 - x) / pi, whose sine is exact."""
    (x,) = promote([as_node(x)], float_only=True)
    large = 20.0 if x.dtype == np.float64 else 8.0  # Gamma^4 is finite below it, and so are third derivatives
    left, right = apply("less", x, 0.5), apply("greater", x, large)
    low = apply("where", left, x, 0.25)
    whole = apply("rint", low)
    rest, mirrored = apply("sub", low, whole), apply("gamma", apply("sub", 1.0, low))
    wave = apply("mul", apply("sin", apply("mul", math.pi, rest)), 1 / math.pi)
    zero = apply("logical_and", apply("equal", mirrored, math.inf), apply("equal", rest, 0.0))
    zero = apply("logical_or", zero, apply("equal", low, -math.inf))
    reflected = apply("where", zero, 0.0, apply("mul", apply("mul", _parity(whole), wave), mirrored))
    middle = apply("div", 1.0, apply("gamma", apply("where", apply("logical_or", left, right), 1.0, x)))
    high = apply("exp", apply("neg", apply("gammaln", apply("where", right, x, 21.0))))
    value = apply("where", left, reflected, apply("where", right, high, middle))
    return apply("where", apply("isnan", x), x, value)


# SciPy's names of what is one operation of a C++ table: the same, or another.
_SAME = """
    erf erfc gamma gammaln betaln beta exprel xlogy xlog1py rel_entr erfinv erfcinv ndtri log_ndtr erfcx
    gammainc gammaincc betainc betaincc stdtr gammaincinv gammainccinv betaincinv betainccinv stdtrit
""".split()
_OTHER = {"expit": "sigmoid", "psi": "digamma", "_zeta": "zeta"}
_NUMPYS = "cbrt exp2 expm1 log1p".split()
_RULES: dict[str, Callable[..., Node]] = {
    "exp10": _exp10,
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
SPECIAL.update((name, _plain(op)) for name, op in (*zip(_SAME, _SAME, strict=True), *_OTHER.items()))
SPECIAL.update((name, UFUNCS[name]) for name in _NUMPYS)
SPECIAL.update(_RULES)
FUNCTIONS[np.i0] = _RULES["i0"]
