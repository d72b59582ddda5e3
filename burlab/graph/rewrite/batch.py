"""Batching: a graph for one sample becomes a graph for many, node by node, by each operation's own rule."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from burlab.graph import control, query, scan
from burlab.graph.graph import Call, Graph
from burlab.graph.linear import LINEAR, broadcast, convert, reshape, spread, transpose
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.promotion import node
from burlab.graph.order import topological
from burlab.graph.origin import derived_from
from burlab.graph.scalar import scalar_ops
from burlab.graph.signatures import made
from burlab.graph.substitute import keep

_TOGETHER = {"stop_gradient", "surrogate", "fold_in", "call"}  # all inputs batched
_SHIFTED = {"reduce_max", "reduce_min", "argmax", "argmin"}  # params are axes


def batch(graph: Graph, batched: Sequence[bool], size: int) -> Graph:
    """The graph with a new leading axis of `size` on the inputs marked `batched` and on every output."""
    inputs, outputs, flags = _rows(graph, batched, size)
    return Graph(inputs, tuple(y if flag else spread(y, size) for y, flag in zip(outputs, flags, strict=True)))


def _rows(graph: Graph, batched: Sequence[bool], size: int) -> tuple[tuple[Node, ...], list[Node], list[bool]]:
    """The inputs, the outputs, and which of these depend on what is batched and so have the new axis."""
    inputs = tuple(_input(x, size) if b else x for x, b in zip(graph.inputs, batched, strict=True))
    known = dict(zip(graph.inputs, inputs, strict=True))
    many = {new for new, b in zip(inputs, batched, strict=True) if b}
    scans: dict[Any, scan.Many] = {}
    for n in topological(graph.outputs):
        if n in known:
            continue
        xs = [known[x] for x in n.inputs]
        flags = [x in many for x in xs]
        if not any(flags):
            known[n] = keep(n, tuple(xs))
            continue
        with derived_from(n):
            if n.op == "scan":  # one execution gives all of its results
                key = (n.inputs, n.params.region)
                scans[key] = scans.get(key) or scan.batched(n, xs, flags, size, _rows)
                known[n], has_rows = scans[key].result(n.params.item)
            else:
                known[n], has_rows = _batched(n, xs, flags, size), True
        if has_rows:
            many.add(known[n])
    outputs = [known[y] for y in graph.outputs]
    return inputs, outputs, [y in many for y in outputs]


def _input(x: Node, size: int) -> Node:
    with derived_from(x):
        return Node("input", (), x.params, (size, *x.shape), x.dtype)


def _batched(n: Node, xs: list[Node], flags: list[bool], size: int) -> Node:
    if n.op in LINEAR:
        return LINEAR[n.op].batch(n.params, xs, flags)
    shape = (size, *n.shape)
    if n.op.partition("'")[0] in scalar_ops() or n.op in _TOGETHER:
        inputs = tuple(x if f else spread(x, size) for x, f in zip(xs, flags, strict=True))
        if n.op == "call":
            return made("call", _many(n.params, size), *inputs)
        return Node(n.op, inputs, n.params, shape, n.dtype)
    if n.op == "ask":
        return query.batched(n, xs, flags, size)
    if n.op in control.CONTROL:
        return control.batched(n, xs, flags, size)
    if n.op in _SHIFTED:
        params = n.params + 1 if isinstance(n.params, int) else tuple(a + 1 for a in n.params)
        return made(n.op, params, *xs)
    if n.op == "uniform":
        return made(n.op, n.params, *xs)
    raise AssertionError(f"the operation {n.op} has no batching rule")  # a row without a rule is a defect of ours


def _many(call: Call, size: int) -> Call:
    """A sub-graph for many samples keeps a reverse rule of its own."""

    def many(graph: Graph) -> Graph:
        return batch(graph, [True] * len(graph.inputs), size)

    return Call(call.name, many(call.graph), call.backward and many(call.backward))


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
