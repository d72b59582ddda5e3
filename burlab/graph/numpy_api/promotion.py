"""Scalar operations on nodes: NumPy's promotion and broadcasting, then one node of the C++ table per operation."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.errors import DTypeError, ShapeError
from burlab.graph.faults import fault
from burlab.graph.linear_nodes import broadcast, convert
from burlab.graph.node import Node, as_node, constant, stays_narrow
from burlab.graph.operation import make_node
from burlab.graph.origin import Origin, location, user_line
from burlab.graph.scalar import parsed
from burlab.graph.scalar_table import ROWS
from burlab.graph.signatures import BOOL

from .arguments import broadcast_shape

INT8, INT64, FLOAT32, FLOAT64 = (np.dtype(t) for t in (np.int8, np.int64, np.float32, np.float64))


class PrecisionWarning(UserWarning):
    """float32 work became float64 work because something of dtype float64 met it."""


def node(op: str, *inputs: Node) -> Node:
    """A scalar operation on inputs of one shape and dtype: what sweeps and rewrites use, which need no promotion."""
    return make_node(op, None, *inputs, weak=inputs[0].weak and all(x.weak for x in inputs))


def apply(op: str, *values: Any) -> Node:
    """A scalar operation on anything that NumPy would take, with its promotion and broadcasting."""
    xs = [as_node(value) for value in values]
    if not _alike(op, xs):
        shape = common_shape(op, xs)
        if op == "where":
            xs = [as_mask(xs[0]), *promote(xs[1:])]
        else:
            xs = promote(xs, float_only=parsed(op).row.of_floats) if op != "div" else _divided(xs)
            if xs[0].dtype == BOOL:
                xs, op = _on_masks(op, xs)
        xs = [broadcast(x, shape) for x in xs]
    special = POWERS[op](*xs) if op in POWERS else None
    return node(op, *xs) if special is None else special


def _alike(op: str, xs: list[Node]) -> bool:
    """Return True if the operands have one shape and dtype already: floats, or masks of a logical operation."""
    values = xs[1:] if op == "where" else xs
    shape, dtype = values[0].shape, values[0].dtype
    if dtype.kind != "f" and not (dtype is BOOL and op in _LOGIC):
        return False
    for x in values:  # not `all`, which takes twice as long: every operation comes here
        if x.weak or x.dtype is not dtype or x.shape != shape:
            return False
    return values is xs or (xs[0].dtype is BOOL and xs[0].shape == shape)


_LOGIC = frozenset(row.name for row in ROWS if row.of_masks)
POWERS: dict[str, Callable[..., Node | None]] = {}  # products that are more than the operation: see `norm_powers.py`


def common_shape(op: str, xs: list[Node]) -> tuple[int, ...]:
    """The shape that all broadcast to. Raises ShapeError naming both sides."""
    first = xs[0].shape
    if all(x.shape == first for x in xs):
        return first
    shape = broadcast_shape(*(x.shape for x in xs))
    if shape is None:
        shapes = " and ".join(str(x.shape) for x in xs)
        raise ShapeError(
            f"{location()}{op} needs shapes that broadcast, got {shapes}. Reshape one, or add an axis with [:, None]."
        )
    return shape


def common_dtype(xs: list[Node]) -> "np.dtype[Any]":
    """NumPy's result dtype, in which Python scalars (weak nodes) do not widen arrays."""
    first = xs[0].dtype
    if all(x.dtype is first and not x.weak for x in xs):
        return first
    strong = [x.dtype for x in xs if not x.weak]
    if not strong:  # one that is no Python number's dtype is that of an array that it met
        strong = [x.dtype for x in xs if x.dtype == np.float32][:1]
    scalars = [_PYTHON[x.dtype.kind] for x in xs if x.weak]
    result = np.result_type(*strong, *scalars)
    if result == FLOAT64 and any(x.dtype == np.float32 and not x.is_constant for x in xs):
        _warn_widened(next(x.dtype for x in xs if x.dtype != np.float32 and not x.weak))
    return result


_PYTHON = {"f": 1.0, "i": 1, "u": 1, "b": True}
_warned: set[Origin | None] = set()


def promote(xs: list[Node], float_only: bool = False) -> list[Node]:
    """The nodes in their common dtype; in a floating one if `float_only`, as np.exp of integers is."""
    dtype = common_dtype(xs)
    if float_only and dtype.kind != "f":  # each as a float: int8 beside uint16 is float32, int32 beside a mask float64
        dtype = np.result_type(*(floating(dtype if x.weak else x.dtype) for x in xs))
    return [as_dtype(x, dtype) for x in xs]


def strong(x: Node) -> Node:
    """The node with a dtype of its own, as np.asarray gives a Python number one."""
    return constant(x.params, x.dtype) if x.weak and x.is_constant else x


def floating(dtype: "np.dtype[Any]") -> "np.dtype[Any]":
    """The dtype of NumPy's functions of floats: of one or two bytes float32, which stands for float16, too."""
    return dtype if dtype.kind == "f" else FLOAT32 if dtype.itemsize < 4 else FLOAT64


def as_floating(x: Node) -> Node:
    """The node in that dtype."""
    return as_dtype(x, floating(x.dtype))


def _divided(xs: list[Node]) -> list[Node]:
    """Operands of a division, which of integers is one of float64."""
    dtype = common_dtype(xs)
    return [as_dtype(x, dtype if dtype.kind == "f" else FLOAT64) for x in xs]


def as_dtype(x: Node, dtype: "np.dtype[Any]") -> Node:
    """The node in a dtype; a known array is converted now, unless it is large and narrow and becomes floats."""
    if x.dtype == dtype:
        return x
    if x.is_constant and not (dtype.kind == "f" and stays_narrow(x.params)):
        try:
            with np.errstate(invalid="ignore"):
                y = constant(x.params.item() if x.weak else x.params, dtype)  # a Python integer must fit, as in NumPy
        except (OverflowError, ValueError):
            raise DTypeError(
                f"{location()}the number {x.params.item()} met an array of {dtype}, which cannot hold it. "
                "Convert the array with .astype(np.int64) or .astype(float)."
            ) from None
        y.weak = x.weak
        return y
    return convert(x, dtype)


def as_mask(x: Node) -> Node:
    """The node as booleans: True for nonzero elements."""
    return x if x.dtype == BOOL else node("not_equal", x, constant(np.zeros(x.shape, x.dtype)))


def _on_masks(op: str, xs: list[Node]) -> tuple[list[Node], str]:
    """Operations on booleans as NumPy defines them: + is or, * is and; all others are those of int8."""
    logic = {"add": "logical_or", "maximum": "logical_or", "mul": "logical_and", "minimum": "logical_and"}.get(op, op)
    if logic in _LOGIC:
        return xs, logic
    if op in ("sub", "neg"):
        raise fault(f"{op} of booleans, which NumPy refuses too", "np.logical_xor, ~mask or mask.astype(float)")
    return [as_dtype(x, INT8) for x in xs], op


def _warn_widened(other: "np.dtype[Any]") -> None:
    line = user_line()
    if line in _warned:
        return
    _warned.add(line)
    warnings.warn_explicit(
        f"{location()}a float32 array met {'an' if other.kind == 'i' else 'a'} {other} one, so NumPy's rules make all "
        "that follows float64 (twice the bytes). Use a Python number, or np.float32(...), or .astype(np.float32).",
        PrecisionWarning,
        *(line or ("unknown", 0)),
    )
