"""Elementwise operations on transposed arrays, done before the transpose: two that face each other then cancel."""

from typing import cast

from burlab.graph.graph import Graph
from burlab.graph.linear_nodes import broadcast, transpose
from burlab.graph.node import Node
from burlab.graph.origin import derived_from
from burlab.graph.substitute import keep

Order = tuple[int, ...]


def sink_transposes(graph: Graph) -> Graph:
    """Return the graph with transposes as late as possible.

    Products with sparse matrices want samples as the last axis, all else has them first: without this, the layers
    between two such products would be computed on transposed arrays, and copied.
    """
    known = {x: x for x in graph.inputs}
    made: dict[tuple[Node, Order], Node] = {}  # each array is transposed once
    for n in graph.nodes:
        if n in known:
            continue
        inputs = tuple(known[x] for x in n.inputs)
        with derived_from(n):
            if n.row.elementwise:
                known[n] = _sunk(n, inputs)
            elif n.op == "transpose":
                x, order = _transposed(inputs[0], n.params)
                known[n] = x if order == tuple(range(x.ndim)) else made.setdefault((x, order), transpose(x, order))
            else:
                known[n] = keep(n, inputs)
    return Graph(graph.inputs, tuple(known[y] for y in graph.outputs))


def _transposed(x: Node, order: Order) -> tuple[Node, Order]:
    """The array that is transposed in the end, and the order of its axes."""
    return (x.inputs[0], tuple(x.params[a] for a in order)) if x.op == "transpose" else (x, order)


def _sunk(n: Node, inputs: tuple[Node, ...]) -> Node:
    """An elementwise operation on what its operands are transposes of, if they are all of one."""
    orders = {cast("Order", x.params) for x in inputs if x.op == "transpose"}
    if len(orders) != 1:
        return keep(n, inputs)
    (order,) = orders
    moved = [_before(x, order) for x in inputs]
    if any(x is None for x in moved):
        return keep(n, inputs)
    operands = tuple(x for x in moved if x is not None)
    return transpose(Node(n.op, operands, n.params, operands[0].shape, n.dtype), order)


def _before(x: Node, order: Order) -> Node | None:
    """The array of which an operand is the transpose; None where that would be a copy."""
    if x.op == "transpose":
        return x.inputs[0]
    if x.op != "broadcast" or x.inputs[0].ndim > 1:
        return None
    axes: Order = x.params[1]
    back = [order.index(a) for a in range(len(order))]
    return broadcast(x.inputs[0], tuple(x.shape[a] for a in back), tuple(order[a] for a in axes))
