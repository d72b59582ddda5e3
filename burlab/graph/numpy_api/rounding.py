"""NumPy's rounding, remainders, parts of numbers and bits; and its functions that set nan and infinities apart."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.graph.faults import fault
from burlab.graph.linear_nodes import broadcast
from burlab.graph.node import FUNCTIONS, METHODS, UFUNCS, Node, as_node, constant
from burlab.typing import ArrayLike

from .arguments import only_defaults, whole
from .elementwise import copysign, exponent, isfinite, isnan, ldexp, mantissa, nextafter, rint, sinc, trunc, where
from .promotion import BOOL, FLOAT32, FLOAT64, INT8, apply, as_dtype, as_floating, as_mask, promote

INT32 = np.dtype(np.int32)


def _rounded(op: str) -> Callable[[Any], Node]:
    def rule(x: ArrayLike) -> Node:
        node = as_node(x)
        return apply(op, node) if node.dtype.kind == "f" else node

    return rule


def _whole_or_float(op: str) -> Callable[[Any, Any], Node]:
    def rule(x: ArrayLike, y: ArrayLike) -> Node:
        xs = promote([as_node(x), as_node(y)])
        return apply(op, *(as_dtype(a, INT8) if a.dtype == BOOL else a for a in xs))

    return rule


def _extreme(op: str, on_masks: str) -> Callable[[Any, Any], Node]:
    def rule(x: ArrayLike, y: ArrayLike) -> Node:
        xs = promote([as_node(x), as_node(y)])
        return apply(on_masks if xs[0].dtype == BOOL else op, *xs)

    return rule


def _divmod(x: ArrayLike, y: ArrayLike) -> tuple[Node, Node]:
    return UFUNCS["floor_divide"](x, y), UFUNCS["remainder"](x, y)


def round_(a: ArrayLike, decimals: int = 0, out: None = None) -> Node:
    """x to so many decimals, halves to even, by NumPy's steps: times a power of 10, rounded, and back."""
    only_defaults("np.round", {"out": out})
    x, digits = as_node(a), whole(decimals, "decimals")
    if x.dtype == BOOL and digits:
        raise fault("np.round of booleans to decimals, which NumPy refuses too", "mask.astype(float)")
    x = as_floating(x) if x.dtype == BOOL else x
    if x.dtype.kind != "f":
        return x if digits >= 0 else as_dtype(round_(as_dtype(x, FLOAT64), digits), x.dtype)
    if digits == 0:
        return rint(x)
    scale_op, unscale_op = ("mul", "div") if digits > 0 else ("div", "mul")
    scale = 10.0 ** abs(digits)
    return apply(unscale_op, rint(apply(scale_op, x, scale)), scale)


def _modf(x: ArrayLike) -> tuple[Node, Node]:
    """The part behind the point and the part before it, both with the sign of x."""
    node = _floating(x)
    before = trunc(node)
    behind = where(node == before, 0.0, node - before)  # inf - inf
    return copysign(behind, node), before


def _frexp(x: ArrayLike) -> tuple[Node, Node]:
    """m and e of x = m 2^e, 1/2 <= |m| < 1."""
    node = _floating(x)
    return mantissa(node), as_dtype(exponent(node), INT32)


def _ldexp(x: ArrayLike, n: ArrayLike) -> Node:
    exponent = as_node(n)
    if exponent.dtype.kind == "f" or exponent.dtype == np.uint64:
        what = f"np.ldexp of an exponent of dtype {exponent.dtype}, which NumPy refuses too"
        raise fault(what, "x * 2.0**n, or n.astype(int)")
    node = as_node(x)
    if exponent.weak and exponent.is_constant and not (node.weak or node.dtype == BOOL):
        as_dtype(exponent, INT32)  # it must fit, as in NumPy; beside masks and Python's numbers it is an int64
    small = node.weak and node.dtype.kind != "f" and exponent.dtype != BOOL
    node = as_dtype(node, FLOAT32) if small else as_floating(node)
    return ldexp(node, as_dtype(exponent, node.dtype))


def _floating(x: ArrayLike) -> Node:
    return as_floating(as_node(x))


def _spacing(x: ArrayLike) -> Node:
    """From x to the next number away from 0; nan at infinity."""
    _check_not_half("spacing", as_node(x))
    node = _floating(x)
    node = where(node == 0.0, 0.0, node)  # of -0, too, it is positive
    return nextafter(node, copysign(math.inf, node)) - node


def _nextafter(x: ArrayLike, y: ArrayLike) -> Node:
    _check_not_half("nextafter", as_node(x), as_node(y))
    return nextafter(x, y)


def _check_not_half(name: str, *xs: Node) -> None:
    """Refuse what NumPy answers in float16, whose neighbours are others than those of float32."""
    if all(x.dtype.kind != "f" and (x.weak or x.itemsize == 1) for x in xs):
        raise fault(f"np.{name} of {xs[0].dtype}, which NumPy computes in float16", "x.astype(np.float32)")


def _heaviside(x: ArrayLike, at_zero: ArrayLike) -> Node:
    node, value = promote([as_node(x), as_node(at_zero)], float_only=True)
    below = where(node < 0.0, 0.0, constant(math.nan, node.dtype))
    step = where(node > 0.0, 1.0, below)
    return where(node == 0.0, value, step)


def _infinite(sign: float) -> Callable[[Any], Node]:
    def rule(x: ArrayLike, out: None = None) -> Node:
        only_defaults("np.isposinf", {"out": out})
        node = as_node(x)
        if node.dtype.kind != "f":
            return broadcast(constant(False, BOOL), node.shape)
        return node == sign

    return rule


def nan_to_num(x: ArrayLike, copy: bool = True, nan: ArrayLike | None = 0.0, posinf: ArrayLike | None = None,
               neginf: ArrayLike | None = None) -> Node:  # fmt: skip
    """x with numbers in the place of nan and infinities: by default 0 and the largest that the dtype has."""
    del copy  # a traced array is never changed
    node = as_node(x)
    if node.dtype.kind != "f":
        return node
    nan, posinf, neginf = (v if v is None else as_dtype(as_node(v), node.dtype) for v in (nan, posinf, neginf))
    most = np.finfo(node.dtype).max
    high, low = (most if posinf is None else posinf), (-most if neginf is None else neginf)
    finite = where(node == math.inf, high, where(node == -math.inf, low, node))
    return where(isnan(node), nan, finite)


def isclose(a: ArrayLike, b: ArrayLike, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Node:
    """|a - b| <= atol + rtol |b| where b is finite; infinities that are equal are close."""
    x, y = promote([as_node(a), as_node(b)], float_only=True)
    within = abs(x - y) <= atol + rtol * abs(y)
    close = within & isfinite(y) | (x == y)
    both_nan = isnan(x) & isnan(y)
    return close | both_nan & as_mask(as_node(equal_nan))


def allclose(
    a: ArrayLike, b: ArrayLike, rtol: ArrayLike = 1e-05, atol: ArrayLike = 1e-08, equal_nan: bool = False
) -> Node:
    """Return True if all entries are close, as a mask of shape ()."""
    return FUNCTIONS[np.all](isclose(a, b, rtol, atol, equal_nan))


def _sinc(x: ArrayLike) -> Node:
    """sin(pi x) / (pi x)."""
    node = as_node(x)
    return sinc(node if node.dtype.kind == "f" else as_dtype(node, FLOAT64))


def _python_round(x: Node, digits: int | None = None) -> Node:
    return round_(x, digits or 0)


_RULES: dict[str, Callable[..., Any]] = {
    "floor": _rounded("floor"), "ceil": _rounded("ceil"), "trunc": _rounded("trunc"),
    "floor_divide": _whole_or_float("floor_divide"), "remainder": _whole_or_float("remainder"),
    "fmod": _whole_or_float("fmod"),
    "divmod": _divmod,
    "modf": _modf, "frexp": _frexp, "ldexp": _ldexp, "spacing": _spacing, "heaviside": _heaviside,
    "nextafter": _nextafter,
    "fmax": _extreme("fmax", "logical_or"), "fmin": _extreme("fmin", "logical_and"),
}  # fmt: skip
UFUNCS.update(_RULES)
FUNCTIONS.update({
    np.round: round_, np.around: round_, np.fix: _rounded("trunc"), np.nan_to_num: nan_to_num, np.isclose: isclose,
    np.allclose: allclose, np.isposinf: _infinite(math.inf), np.isneginf: _infinite(-math.inf), np.sinc: _sinc,
})  # fmt: skip
METHODS.update({"round": round_, "__round__": _python_round})
