"""Batching: a graph for one sample becomes a graph for many, node by node, by each operation's own rule."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from burlab.graph.graph import Graph, topological
from burlab.graph.linear_nodes import broadcast, convert, reshape, transpose
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.promotion import node
from burlab.graph.operation import Batching, repeated
from burlab.graph.origin import derived_from
from burlab.graph.substitute import keep


def batch(graph: Graph, batched: Sequence[bool], size: int, executions: dict[Any, Any] | None = None) -> Graph:
    """The graph with a new leading axis of `size` on the inputs marked `batched` and on every output.

    executions: receives what the executions of sub-graphs became, by the rules of their operations.
    """
    inputs, outputs, flags = _rows(graph, batched, size, executions)
    return Graph(inputs, tuple(y if flag else repeated(y, size) for y, flag in zip(outputs, flags, strict=True)))


def _rows(
    graph: Graph, batched: Sequence[bool], size: int, executions: dict[Any, Any] | None = None
) -> tuple[tuple[Node, ...], list[Node], list[bool]]:
    """The inputs, the outputs, and which of these depend on what is batched and so have the new axis."""
    inputs = tuple(_input(x, size) if b else x for x, b in zip(graph.inputs, batched, strict=True))
    known = dict(zip(graph.inputs, inputs, strict=True))
    many = {new for new, b in zip(inputs, batched, strict=True) if b}
    rules = Batching(size, _rows, {} if executions is None else executions)
    for n in topological(graph.outputs):
        if n in known:
            continue
        xs = [known[x] for x in n.inputs]
        flags = [x in many for x in xs]
        if not any(flags):
            known[n] = keep(n, tuple(xs))
            continue
        with derived_from(n):
            known[n] = n.row.batched(n, xs, flags, rules)
        if known[n].ndim > n.ndim:  # a result of a scan may be the same for all samples
            many.add(known[n])
    outputs = [known[y] for y in graph.outputs]
    return inputs, outputs, [y in many for y in outputs]


def _input(x: Node, size: int) -> Node:
    with derived_from(x):
        return Node("input", (), x.params, (size, *x.shape), x.dtype)


def to_front(x: Node, axis: int) -> Node:
    """The node with one axis moved to the front."""
    return transpose(x, (axis, *(k for k in range(x.ndim) if k != axis)))


def from_front(x: Node, axis: int) -> Node:
    """The node with its first axis moved to `axis`."""
    order = list(range(1, x.ndim))
    order.insert(axis, 0)
    return transpose(x, tuple(order))


def basis(shape: tuple[int, ...], dtype: "np.dtype[Any]") -> Node:
    """The unit vectors of a space of arrays, shape (size, *shape): made in the kernel, not stored in the graph."""
    size = math.prod(shape)
    position = constant(np.arange(size))
    rows, columns = (broadcast(position, (size, size), (axis,)) for axis in (0, 1))
    return reshape(convert(node("equal", rows, columns), dtype), (size, *shape))
