"""Dispatch of the functions of `bl.scipy`: traced values go to the graph, arrays and numbers to a compiled kernel."""

from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.compiler.function import Function
from burlab.graph.node import Node, as_node, holds_node
from burlab.graph.numpy_api.promotion import promote
from burlab.runtime.checks.numbers import real
from burlab.runtime.plain import as_array
from burlab.typing import Operand


def choose(rule: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The rule for traced values, a compiled kernel of it for arrays. Keywords are options, which no array may be."""
    kernel: Any = Function(rule, name=name, reads=())

    def chosen(*arrays: Any, **options: Any) -> Any:
        if holds_node(arrays):
            return rule(*arrays, **options)
        return kernel(*[_given(x, name) for x in arrays], **options)

    return chosen


def _given(x: Operand, name: str) -> Any:
    """None and floats as they are, which widen no array; all else as an array."""
    if x is None or type(x) is float:
        return x
    if type(x) in (int, bool):
        return real(int(x), f"an argument of {name}")
    return as_array(x, f"an argument of {name}")


def floats(*values: Any) -> list[Any]:
    """The values as nodes of their common floating dtype, in which Python numbers count as arrays do; None as it is."""
    nodes = iter(promote([as_node(v) for v in values if v is not None], float_only=True))
    return [None if v is None else _strong(next(nodes)) for v in values]


def _strong(n: Node) -> Node:
    """A number that was converted for its neighbours keeps that dtype, also alone."""
    return Node(n.op, n.inputs, n.params, n.shape, n.dtype) if n.weak and n.dtype == np.float32 else n
