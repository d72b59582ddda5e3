"""Python's operators on nodes: `x * y` is NumPy's `multiply` of the table of ufuncs.

The usual operands, nodes and Python's numbers, go straight to the table; other operands are looked at first.
"""

from collections.abc import Callable
from numbers import Number
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from burlab.runtime.plain import is_complex, is_sparse, lends_array
from burlab.typing import ArrayLike

from . import hooks
from .faults import fault
from .rules import UFUNCS

if TYPE_CHECKING:
    from .node import Node


Comparison = Callable[["Node", Any], "Node"]
PLAIN: set[type] = {float, int}
"""The types of usual operands; `Node` is added below its definition."""
STRONGER: set[type] = set()
"""The types of traced values whose rules take nodes: a call that has one among its arguments is theirs."""
_OPERANDS = (int, float, np.ndarray, np.generic, list, tuple, range)
_NEVER = (type(None), str, bytes, dict, set, frozenset)  # no other library's arithmetic handles these


def unary(ufunc: str) -> "Callable[[Node], Node]":
    """Return the method of an operator such as `-x`."""

    def method(x: "Node") -> "Node":
        result: Node = UFUNCS[ufunc](x)
        return result if result is not x else hooks.results.own(result, x)

    return method


def binary(ufunc: str) -> "tuple[Callable[[Node, Any], Node], Callable[[Node, Any], Node]]":
    """Return the methods of an operator such as `x + y`: of the left operand, and of the right one."""

    def left(x: "Node", y: ArrayLike) -> "Node":
        if type(y) not in PLAIN:
            return _general(ufunc, x, y, y, never=_NEVER)
        result: Node = UFUNCS[ufunc](x, y)
        return result if result is not x and result is not y else hooks.results.own(result, x, y)

    def right(y: "Node", x: ArrayLike) -> "Node":
        if type(x) not in PLAIN:
            return _general(ufunc, x, y, x, never=_NEVER)
        return hooks.results.own(UFUNCS[ufunc](x, y), y)

    return left, right


def comparison(ufunc: str) -> "Callable[[Node, Any], Node]":
    """Return the method of an operator such as `x < y`."""

    def method(x: "Node", y: ArrayLike) -> "Node":
        return UFUNCS[ufunc](x, y) if type(y) in PLAIN else _general(ufunc, x, y, y, never=())  # None == x is False

    return method


def _of_sparse(ufunc: str, x: ArrayLike, y: ArrayLike) -> Any:
    """The operator on a node and one of SciPy's sparse matrices. Of the older class `*` is the matrix product."""
    sparse: Any = x if is_sparse(x) else y
    name = "matmul" if ufunc == "multiply" and type(sparse).__name__.endswith("_matrix") else ufunc
    first, second = (hooks.sparse_constant(part) if is_sparse(part) else part for part in (x, y))
    return getattr(np, name)(first, second)


def _general(ufunc: str, x: ArrayLike, y: ArrayLike, other: ArrayLike, never: tuple[type, ...]) -> Any:
    """The operator on x and y, one of which is a node and the other one of any type."""
    if is_complex(other):
        return hooks.complex_numbers().call_operator(ufunc, x, y)
    if type(other) in STRONGER:
        return NotImplemented
    if is_sparse(other):
        return _of_sparse(ufunc, x, y)
    if isinstance(other, _OPERANDS) or lends_array(other):
        return hooks.results.own(UFUNCS[ufunc](x, y), x, y)
    if isinstance(other, (Number, *never)):
        remedy = "float() of it" if isinstance(other, Number) else "a number or an array"
        raise fault(f"a {type(cast('object', other)).__name__} met a traced array", remedy)
    return NotImplemented
