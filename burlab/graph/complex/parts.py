"""Real and imaginary nodes of anything that NumPy takes, and complex arrays of such nodes."""

from typing import Any, cast

import numpy as np

from burlab.graph.handles import present
from burlab.graph.linear_nodes import broadcast, zeros
from burlab.graph.node import Node, as_node, constant
from burlab.graph.numpy_api.promotion import common_shape, promote, strong
from burlab.graph.substitute import copy
from burlab.runtime.plain import as_array, is_complex
from burlab.typing import ArrayLike

from .array import FUNCTIONS, Complex

Parts = tuple[Node, Node | None]


def pair(real: ArrayLike, imag: Any) -> Complex:
    """Return the complex array of two real ones, in their common floating dtype and shape."""
    x, y = promote([as_node(real), as_node(imag)], float_only=True)
    shape = common_shape("a complex array", [x, y])
    halves = [copy(n, n.inputs) if n is given and n.inputs else n for n, given in ((x, real), (y, imag))]
    return Complex(broadcast(halves[0], shape), broadcast(halves[1], shape))


def parts(value: Any) -> Parts:
    """Return the real and the imaginary part of a value. The imaginary part of a real value is None."""
    value = present(value)
    if type(value) is Complex:
        return value.real, value.imag
    if not is_complex(value):
        return as_node(value), None
    if isinstance(value, (list, tuple)):
        items = cast("list[Any]", value)
        if _holds_traced(items):
            return parts(FUNCTIONS[np.stack]([as_array_or_node(item) for item in items]))
        value = as_array(value, "a list that met a traced array")
    if type(value) is complex:
        return constant(value.real), constant(value.imag)
    array = np.asarray(value)
    return constant(np.real(array)), constant(np.imag(array))


def met(x: ArrayLike, y: ArrayLike) -> tuple[Parts, Parts]:
    """Return the parts of two operands in their common floating dtype. Python numbers take that of the array."""
    (a, b), (c, d) = parts(x), parts(y)
    halves = promote([half for half in (a, c, b, d) if half is not None], float_only=True)
    a, c, *imaginary = halves if all(half.weak for half in halves) else map(strong, halves)
    return (a, b if b is None else imaginary[0]), (c, d if d is None else imaginary[-1])


def as_array_or_node(value: ArrayLike) -> Any:
    """Return a `Complex` of a complex value, a node of a real one."""
    real, imag = parts(value)
    return real if imag is None else Complex(real, imag)


def as_complex(value: ArrayLike) -> Complex:
    """Return a `Complex` of any value. The imaginary part of a real value is 0."""
    real, imag = parts(value)
    return pair(real, 0.0) if imag is None else Complex(real, imag)


def real_of(value: Any) -> Any:
    """Return the real part of an array, or of each array in a list."""
    if isinstance(value, (list, tuple)) and is_complex(cast("Any", value)):
        return [real_of(item) for item in cast("list[Any]", value)]
    return parts(value)[0] if is_complex(value) else cast("Any", value)


def imag_of(value: ArrayLike) -> Any:
    """Return the imaginary part of an array, or of each array in a list."""
    if isinstance(value, (list, tuple)):
        return [imag_of(item) for item in cast("list[Any]", value)]
    if is_complex(value):
        return parts(value)[1]
    node = as_node(value)
    return constant(0.0) if node.weak else zeros(node.shape, node.dtype)


def _holds_traced(items: "list[Any] | tuple[Any, ...]") -> bool:
    return any(
        isinstance(item, (Node, Complex))
        or (isinstance(item, (list, tuple)) and _holds_traced(cast("list[Any]", item)))
        for item in items
    )
