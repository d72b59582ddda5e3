"""Scalar operations on nodes: NumPy's promotion and broadcasting, then one node of the C++ table per operation."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.errors import ShapeError

from .linear import broadcast, convert
from .node import UFUNCS, Node, Origin, as_node, constant, fault, user_line
from .scalar import scalar_ops

BOOL, INT64, FLOAT64 = np.dtype(bool), np.dtype(np.int64), np.dtype(np.float64)


class PrecisionWarning(UserWarning):
    """float32 work became float64 work because something of dtype float64 met it."""


def node(op: str, *inputs: Node) -> Node:
    """A scalar operation on inputs of one shape and dtype: what sweeps and rewrites use, which need no promotion."""
    last = inputs[-1] if op.startswith("where") else inputs[0]
    mask = "'" not in op and not scalar_ops()[op].differentiable
    return Node(op, inputs, None, last.shape, BOOL if mask else last.dtype, all(x.weak for x in inputs))


def apply(op: str, *values: Any) -> Node:
    """A scalar operation on anything that NumPy would take, with its promotion and broadcasting."""
    xs = [as_node(value) for value in values]
    shape = common_shape(op, xs)
    if op == "where":
        xs = [as_mask(xs[0]), *promote(xs[1:])]
    else:
        xs = promote(xs, float_only=op in _FLOAT_ONLY)
        if xs[0].dtype == BOOL:
            xs, op = _on_masks(op, xs)
    return node(op, *(broadcast(x, shape) for x in xs))


def common_shape(op: str, xs: list[Node]) -> tuple[int, ...]:
    """The shape that all broadcast to. Raises ShapeError naming both sides."""
    first = xs[0].shape
    if all(x.shape == first for x in xs):
        return first
    try:
        return np.broadcast_shapes(*(x.shape for x in xs))
    except ValueError:
        shapes = " and ".join(str(x.shape) for x in xs)
        line = user_line()
        where = f'File "{line[0]}", line {line[1]}: ' if line else ""
        raise ShapeError(
            f"{where}{op} needs shapes that broadcast, got {shapes}. Reshape one of them, or add an axis with [:, None]."
        ) from None


def common_dtype(xs: list[Node]) -> "np.dtype[Any]":
    """NumPy's result dtype, in which Python scalars (weak nodes) do not widen arrays."""
    first = xs[0].dtype
    if all(x.dtype is first and not x.weak for x in xs):
        return first
    strong = [x.dtype for x in xs if not x.weak]
    scalars = [_PYTHON[x.dtype.kind] for x in xs if x.weak]
    result = np.result_type(*strong, *scalars)
    if result == FLOAT64 and any(d == np.float32 for d in strong):
        _warn_widened()
    return result


_PYTHON = {"f": 1.0, "i": 1, "u": 1, "b": True}
_FLOAT_ONLY: set[str] = set()  # filled by `register`
_warned: set[Origin | None] = set()


def promote(xs: list[Node], float_only: bool = False) -> list[Node]:
    """The nodes in their common dtype; in a floating one if `float_only`, as np.exp of integers is."""
    dtype = common_dtype(xs)
    if float_only and dtype.kind != "f":
        dtype = FLOAT64
    return [as_dtype(x, dtype) for x in xs]


def as_dtype(x: Node, dtype: "np.dtype[Any]") -> Node:
    """The node in a dtype; a known array is converted now."""
    if x.dtype == dtype:
        return x
    if x.op == "constant":
        y = constant(x.params, dtype)
        y.weak = x.weak and x.dtype.kind == dtype.kind
        return y
    return convert(x, dtype)


def as_mask(x: Node) -> Node:
    """The node as booleans: what is not zero."""
    return x if x.dtype == BOOL else node("not_equal", x, constant(np.zeros(x.shape, x.dtype)))


def _on_masks(op: str, xs: list[Node]) -> tuple[list[Node], str]:
    """Operations on booleans as NumPy defines them: + is or, * is and; comparisons go through int64."""
    logic = {"add": "logical_or", "maximum": "logical_or", "mul": "logical_and", "minimum": "logical_and"}.get(op, op)
    if logic.startswith("logical_"):
        return xs, logic
    if op in ("sub", "neg"):
        raise fault(f"{op} of booleans, which NumPy refuses too", "np.logical_xor, ~mask or mask.astype(float)")
    return [convert(x, INT64) for x in xs], op


def _warn_widened() -> None:
    line = user_line()
    if line in _warned:
        return
    _warned.add(line)
    where = f'File "{line[0]}", line {line[1]}: ' if line else ""
    warnings.warn(
        f"{where}a float32 array met a float64 one, so NumPy's rules make all that follows float64 (twice the bytes). "
        "Use a Python number, or np.float32(...), or .astype(np.float32).",
        PrecisionWarning,
        stacklevel=2,
    )


def unary(op: str) -> Callable[[Any], Node]:
    """The function of one argument that an operation is."""
    return lambda x: apply(op, x)


def binary(op: str) -> Callable[[Any, Any], Node]:
    """The function of two arguments that an operation is."""
    return lambda x, y: apply(op, x, y)


def power(x: Any, y: Any) -> Node:
    """x ** y; small constant exponents become products and roots, as NumPy's own fast paths do."""
    xs = [as_node(x), as_node(y)]
    exponent = xs[1]
    if exponent.op == "constant" and exponent.shape == ():
        known = float(exponent.params)
        base = promote(xs)[0] if exponent.dtype.kind == "f" else xs[0]
        if known == 2:
            return apply("square", base)
        if known == 3:
            return apply("cube", base)
        if known == 4:
            return apply("square", apply("square", base))
        if known == 1:
            return base
        if base.dtype.kind == "f" and known in (0.5, -1.0):
            return apply("sqrt", base) if known == 0.5 else apply("div", 1, base)
        if common_dtype(xs).kind in "iu" and known < 0:
            raise fault("an integer array to a negative power, which NumPy refuses too", "x.astype(float) ** -1")
    return apply("power", x, y)


def clip(x: Any, minimum: Any = None, maximum: Any = None, **kwargs: Any) -> Node:
    """min(max(x, minimum), maximum), each bound optional, as np.clip."""
    low = kwargs.pop("min", minimum)
    high = kwargs.pop("max", maximum)
    only_defaults("np.clip", kwargs)
    result = as_node(x)
    if low is not None:
        result = apply("maximum", result, low)
    if high is not None:
        result = apply("minimum", result, high)
    return result


def only_defaults(name: str, kwargs: dict[str, Any]) -> None:
    """Refuse keyword arguments of NumPy's that have no meaning here."""
    for key, value in kwargs.items():
        if value is not None and value is not np._NoValue:  # pyright: ignore  # noqa: SLF001, PGH003 - NumPy's default
            raise fault(f"{name}({key}=...) of a traced array", "the function without it")


def _absolute(x: Any) -> Node:
    x = as_node(x)
    return x if x.dtype == BOOL else apply("abs", x)


def _floor_divide(x: Any, y: Any) -> Node:
    raise fault("// of traced values, which has no derivative", "/ or integer arithmetic before tracing")


def _remainder(x: Any, y: Any) -> Node:
    raise fault("% of traced values, which has no derivative", "integer arithmetic before tracing")


def _finite(op: str, otherwise: bool) -> Callable[[Any], Node]:
    def test(x: Any) -> Node:
        x = as_node(x)
        return apply(op, x) if x.dtype.kind == "f" else broadcast(constant(otherwise, BOOL), x.shape)

    return test


def _logical(op: str) -> Callable[..., Node]:
    return lambda *xs: apply(op, *(as_mask(as_node(x)) for x in xs))


def _bitwise(op: str) -> Callable[..., Node]:
    def rule(*xs: Any) -> Node:
        nodes = [as_node(x) for x in xs]
        if any(x.dtype != BOOL for x in nodes):
            raise fault("& | ~ of what is not boolean", "a comparison such as x > 0 on each side")
        return apply(op, *nodes)

    return rule


# NumPy's name -> the operation, for those that take floats only (integers become float64).
_FLOAT_UFUNCS = {
    name: name
    for name in "exp expm1 log log1p sqrt sin cos tan arctan arctan2 sinh cosh tanh".split()
} | {"divide": "div"}
_ANY_UFUNCS = {"add": "add", "subtract": "sub", "multiply": "mul", "negative": "neg", "square": "square", "sign": "sign"}
_ANY_UFUNCS |= {name: name for name in "maximum minimum less less_equal greater greater_equal equal not_equal".split()}
_TWO = {"arctan2", "divide", "add", "subtract", "multiply", "maximum", "minimum"}
_TWO |= {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"}
_LOG2, _LOG10 = math.log(2.0), math.log(10.0)

_FLOAT_ONLY.update(_FLOAT_UFUNCS.values(), "erf erfc sigmoid softplus gelu silu".split())
for _name, _op in (_FLOAT_UFUNCS | _ANY_UFUNCS).items():
    UFUNCS[_name] = binary(_op) if _name in _TWO else unary(_op)
UFUNCS |= {
    "power": power,
    "float_power": lambda x, y: power(as_dtype(as_node(x), FLOAT64), y),
    "absolute": _absolute,
    "fabs": _absolute,
    "positive": as_node,
    "reciprocal": lambda x: apply("div", 1, x),
    "log2": lambda x: apply("div", apply("log", x), _LOG2),
    "log10": lambda x: apply("div", apply("log", x), _LOG10),
    "exp2": lambda x: apply("exp", apply("mul", x, _LOG2)),
    "hypot": lambda x, y: apply("sqrt", apply("add", apply("square", x), apply("square", y))),
    "logaddexp": lambda x, y: apply("add", apply("maximum", x, y), _log1p_exp_gap(x, y)),
    "deg2rad": lambda x: apply("mul", x, math.pi / 180),
    "rad2deg": lambda x: apply("mul", x, 180 / math.pi),
    "isfinite": _finite("isfinite", True),
    "isnan": _finite("isnan", False),
    "isinf": lambda x: apply("logical_not", apply("logical_or", UFUNCS["isfinite"](x), UFUNCS["isnan"](x))),
    "logical_and": _logical("logical_and"),
    "logical_or": _logical("logical_or"),
    "logical_not": _logical("logical_not"),
    "logical_xor": lambda x, y: apply("not_equal", as_mask(as_node(x)), as_mask(as_node(y))),
    "bitwise_and": _bitwise("logical_and"),
    "bitwise_or": _bitwise("logical_or"),
    "invert": _bitwise("logical_not"),
    "floor_divide": _floor_divide,
    "remainder": _remainder,
}


def _log1p_exp_gap(x: Any, y: Any) -> Node:
    return apply("log1p", apply("exp", apply("neg", apply("abs", apply("sub", x, y)))))
