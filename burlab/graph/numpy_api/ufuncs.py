"""NumPy's elementwise functions: most are one operation of the C++ table, the others are composed of a few."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from burlab.graph.faults import fault
from burlab.graph.linear_nodes import broadcast
from burlab.graph.node import FUNCTIONS, METHODS, UFUNCS, Node, as_node, constant
from burlab.graph.operation import make_node
from burlab.graph.scalar_table import ROWS
from burlab.typing import ArrayLike

from .arguments import NOT_GIVEN, only_defaults
from .elementwise import cube, maximum, minimum, power, sign, softplus, sqrt, square, where
from .promotion import (
    BOOL,
    FLOAT64,
    INT8,
    POWERS,
    apply,
    as_dtype,
    as_floating,
    as_mask,
    common_dtype,
    common_shape,
    promote,
)
from .roots import root


def power_(x: ArrayLike, y: ArrayLike) -> Node:
    """x ** y; small constant exponents become products and roots, as NumPy's own fast paths do."""
    xs = [as_node(x), as_node(y)]
    exponent = xs[1]
    if exponent.is_constant and exponent.shape == () and exponent.dtype != BOOL:
        known = float(exponent.params)
        base, promoted = promote(xs)
        if (special := POWERS["power"](base, promoted)) is not None:  # of a norm
            return special
        if known == 2 and xs[0].dtype == BOOL and exponent.weak:
            return square(as_dtype(xs[0], INT8))  # as `mask**2` has it
        if known == 2:
            return square(base)
        if known == 3:
            return cube(base)
        if known in (4, 5, 6):
            even = square(apply("cube" if known == 6 else "square", base))
            return base * even if known == 5 else even
        if known == 1:
            return base
        if base.dtype.kind == "f" and known in (0.5, -1.0):
            return sqrt(base) if known == 0.5 else 1 / base
    if common_dtype(xs).kind == "f":
        return power(*xs)
    return _whole_power(*promote(xs))


def _whole_power(x: Node, n: Node) -> Node:
    """x ** n of integers or masks. An exponent must not be negative: a known one is checked now."""
    x, n = (as_dtype(z, INT8) if z.dtype == BOOL else z for z in (x, n))
    if n.is_constant and (n.params < 0).any():
        raise fault("an integer array to a negative power, which NumPy refuses too", "x.astype(float) ** -1")
    if not n.is_constant and n.dtype.kind == "i":
        n = make_node("exponents", None, n, weak=n.weak)
    return power(x, n)


def clip(a: ArrayLike, a_min: ArrayLike | None = None, a_max: ArrayLike | None = None, **kwargs: Any) -> Node:
    """min(max(a, a_min), a_max), each bound optional, as np.clip, which also calls them min and max."""
    low, high = kwargs.pop("min", a_min), kwargs.pop("max", a_max)
    only_defaults("np.clip", kwargs)
    result, *bounds = promote([as_node(x) for x in (a, low, high) if x is not None and x is not NOT_GIVEN])
    if low is not None and low is not NOT_GIVEN:
        result = maximum(result, bounds.pop(0))
    return minimum(result, bounds.pop()) if bounds else result


def _absolute(x: ArrayLike) -> Node:
    node = as_node(x)
    return node if node.dtype == BOOL else apply("abs", node)


def _logaddexp(x: ArrayLike, y: ArrayLike) -> Node:
    """The larger one, plus softplus of how much less the other is: smooth at ties, where maximum and abs are not."""
    x, y = promote([as_node(x), as_node(y)], float_only=True)
    first = x >= y
    more, less = where(first, x, y), where(first, y, x)
    return more + softplus(_gap(more, less))


def _logaddexp2(x: ArrayLike, y: ArrayLike) -> Node:
    """log2(2**x + 2**y)."""
    x, y = promote([as_node(x), as_node(y)], float_only=True)
    first = x >= y
    more, less = where(first, x, y), where(first, y, x)
    gap = _gap(more, less) * _LOG2
    return more + softplus(gap) / _LOG2


def _gap(more: Node, less: Node) -> Node:
    """Return the difference to the larger operand, 0 for two infinities that are equal."""
    without_gap = (more == less) & _isinf(more)
    return where(without_gap, 0.0, less - more)


def _hypot(x: ArrayLike, y: ArrayLike) -> Node:
    """The root of the sum of squares, scaled lest they overflow; infinite if one is. Its derivative at 0 is 0."""
    x, y = promote([as_node(x), as_node(y)], float_only=True)
    x, y = _neighbour(x, y), _neighbour(y, x)
    larger = maximum(_absolute(x), _absolute(y))
    usable = (larger > 0.0) & UFUNCS["isfinite"](larger)
    scale = where(usable, larger, 1.0)
    scale = make_node("stop_gradient", None, scale, weak=scale.weak)
    total = apply("add", *(square(z / scale) for z in (x, y)))
    return scale * root(total)


def _neighbour(x: Node, y: Node) -> Node:
    """x, but 0 for a nan where y is infinite, which decides alone."""
    return where(UFUNCS["isnan"](x) & _isinf(y), constant(0.0, x.dtype), x)


def _isinf(x: ArrayLike) -> Node:
    return ~(UFUNCS["isfinite"](x) | UFUNCS["isnan"](x))


def _reciprocal(x: ArrayLike) -> Node:
    """1 / x; of integers what is left when the fraction is cut off: 0 but for 1 and -1, and of 0 what NumPy has."""
    node = as_node(x)
    node = as_dtype(node, INT8) if node.dtype == BOOL else node
    if node.dtype.kind == "f":
        return 1 / node
    ones = [node == constant(sign, node.dtype) for sign in ((1, -1) if node.dtype.kind == "i" else (1,))]
    infinite = np.iinfo(node.dtype).min if node.itemsize >= 4 and node.dtype.kind == "i" else 0
    rest = where(node == 0, constant(infinite, node.dtype), constant(0, node.dtype))
    return where(ones[0], node, where(ones[-1], node, rest))


def _compared(name: str) -> Callable[[Any, Any], Node]:
    """A comparison, exact even if no dtype holds both sides: int64 and uint64, or a Python integer out of range."""

    def rule(x: ArrayLike, y: ArrayLike) -> Node:
        xs = [as_node(x), as_node(y)]
        if xs[0].dtype.kind == "f" or xs[1].dtype.kind == "f":
            return apply(name, *xs)
        for k, side in ((0, xs[1]), (1, xs[0])):
            if (beyond := _beyond(xs[k], side.dtype)) and not side.weak:
                signs = (beyond, 0) if k == 0 else (0, beyond)
                shape = common_shape(name, xs)
                return broadcast(constant(bool(getattr(np, name)(*signs)), BOOL), shape)
        if {z.dtype.kind for z in xs} == {"i", "u"} and common_dtype(xs) == FLOAT64:
            return _across_signs(name, xs)
        return apply(name, *xs)

    return rule


def _beyond(x: Node, dtype: "np.dtype[Any]") -> int:
    """1 where a Python integer is above all integers of a dtype, -1 where it is below, else 0."""
    if not (x.weak and x.is_constant and x.dtype.kind in "iu" and dtype.kind in "iu"):
        return 0
    number, limits = int(x.params), np.iinfo(dtype)
    return int(number > limits.max) - int(number < limits.min)


def _across_signs(name: str, xs: list[Node]) -> Node:
    """Compare signed with unsigned integers: a negative one is below all others."""
    signed = xs[0].dtype.kind == "u"  # which of them is
    outcome = bool(getattr(np, name)(*((0, -1) if signed else (-1, 0))))
    whole = [as_dtype(x, np.dtype(np.uint64)) for x in xs]
    return where(xs[signed] < 0, constant(outcome, BOOL), apply(name, *whole))


def _sign(x: ArrayLike) -> Node:
    node = as_node(x)
    if node.dtype == BOOL:
        raise fault("np.sign of booleans, which NumPy refuses too", "the mask itself, or mask.astype(int)")
    return sign(node)


def _positive(x: ArrayLike) -> Node:
    node = as_node(x)
    if node.dtype == BOOL:
        raise fault("np.positive of booleans, which NumPy refuses too", "the mask itself, or mask.astype(int)")
    return node


def _times(over: float, under: float) -> Callable[[Any], Node]:
    """x over / under, the quotient rounded in the dtype of x, as NumPy has it."""

    def rule(x: ArrayLike) -> Node:
        node = as_floating(as_node(x))
        single = node.dtype == np.float32
        return node * (float(np.float32(over) / np.float32(under)) if single else over / under)

    return rule


def _finite(op: str, otherwise: bool) -> Callable[[Any], Node]:
    def test(x: ArrayLike) -> Node:
        node = as_node(x)
        return apply(op, node) if node.dtype.kind == "f" else broadcast(constant(otherwise, BOOL), node.shape)

    return test


def _logical(op: str) -> Callable[..., Node]:
    def rule(*xs: Any) -> Node:
        return apply(op, *(as_mask(as_node(x)) for x in xs))

    return rule


# NumPy's names of single operations of the C++ table.
_SAME = (
    *(row.name for row in ROWS if row.of_floats and row.name not in ("ldexp", "nextafter") and hasattr(np, row.name)),
    *"square maximum minimum".split(),
)
_OTHER = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "negative": "neg"}
_LOG2 = math.log(2.0)
_UNARY: dict[str, Callable[[Any], Node]] = {
    "absolute": _absolute,
    "fabs": lambda x: abs(as_floating(as_node(x))),
    "positive": _positive,
    "sign": _sign,
    "conjugate": lambda x: as_dtype(as_node(x), INT8) if as_node(x).dtype == BOOL else as_node(x),
    "reciprocal": _reciprocal,
    **dict.fromkeys(("deg2rad", "radians"), _times(math.pi, 180.0)),
    **dict.fromkeys(("rad2deg", "degrees"), _times(180.0, math.pi)),
    "isfinite": _finite("isfinite", True),
    "isnan": _finite("isnan", False),
    "isinf": _isinf,
    "logical_not": _logical("logical_not"),
}
_BINARY: dict[str, Callable[[Any, Any], Node]] = {
    "power": power_,
    "float_power": lambda x, y: power_(*(as_dtype(as_node(z), FLOAT64) for z in (x, y))),
    "hypot": _hypot,
    "logaddexp": _logaddexp,
    "logaddexp2": _logaddexp2,
    "logical_and": _logical("logical_and"),
    "logical_or": _logical("logical_or"),
    "logical_xor": lambda x, y: as_mask(as_node(x)) != as_mask(as_node(y)),
}
UFUNCS.update((name, partial(apply, op)) for name, op in (*zip(_SAME, _SAME, strict=True), *_OTHER.items()))
UFUNCS.update((name, _compared(name)) for name in "less less_equal greater greater_equal equal not_equal".split())
UFUNCS.update(_UNARY)
UFUNCS.update(_BINARY)
FUNCTIONS[np.clip] = clip
METHODS["clip"] = clip
