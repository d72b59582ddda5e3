"""Linear operations by an integer index: rows of a table, and rows added or put into one."""
# ruff: noqa: D102 - LinearOp documents the methods

import math
from collections.abc import Sequence

import numpy as np

from burlab.runtime.checks.stored import flag, record, size

from .linear_nodes import LinearOp, Shape, broadcast, gather, put, scatter, zeros
from .linear_table import all_batched, need
from .node import Node, constant
from .operation import Linearity, Tangents, make_node, structural
from .signatures import NUMBERS, Form, require
from .tally import Tally

Flags = Sequence[bool]
Nodes = Sequence[Node]
Shapes = Sequence[Shape]


@structural
class Gather(LinearOp):
    """out[b, i, r] = x[b, index[b, i], r], with `batch` leading axes b. Linear in x."""

    name = "gather"
    selects = True
    moves_data = True
    dense_operands = True
    indexed = True
    parameters = size

    def shape(self, batch: int, shapes: Shapes) -> Shape:
        x, index = shapes
        need(0 <= batch < len(x) and x[:batch] == index[:batch], f"leading axes of {x} and {index}", batch)
        return index + x[batch + 1 :]

    def transpose(self, g: Node, node: Node, _k: int) -> Node:
        batch: int = node.params
        return scatter(g, node.inputs[1], batch, node.inputs[0].shape[batch])

    def batch(self, batch: int, xs: Nodes, batched: Flags) -> Node:
        if batch == 0 and not batched[0]:
            return gather(xs[0], xs[1], 0)  # one table, many indices
        x, index = all_batched(xs, batched)
        return gather(x, index, batch + 1)


@structural
class Scatter(LinearOp):
    """(batch, size): zeros of shape (b, size, r) with out[b, index[b, i], r] += y[b, i, r]. Linear in y."""

    name = "scatter"
    adds_up = True
    dense_operands = True
    indexed = True
    parameters = record(size, size)
    dtypes = NUMBERS

    def shape(self, params: tuple[int, int], shapes: Shapes) -> Shape:
        batch, size = params
        y, index = shapes
        fits = 0 <= batch <= len(index) and y[: len(index)] == index and size >= 0
        need(fits, f"axes of {y} and {index}", params)
        return (*y[:batch], size, *y[len(index) :])

    def tally(self, n: Node) -> Tally:
        return Tally(additions=n.inputs[0].size)

    def transpose(self, g: Node, node: Node, _k: int) -> Node:
        return gather(g, node.inputs[1], node.params[0])

    def batch(self, params: tuple[int, int], xs: Nodes, batched: Flags) -> Node:
        y, index = all_batched(xs, batched)
        return scatter(y, index, params[0] + 1, params[1])

    def sums_along(self, n: Node) -> bool:
        return n.params[0] == 0

    def summed(self, n: Node, xs: Nodes) -> Node:
        return scatter(xs[0], xs[1], 0, n.params[1])


@structural
class Put(LinearOp):
    """(batch, adds): x with out[b, index[b, i], r] = rows[b, i, r], or += it. Linear in x and rows together."""

    name = "put"
    dense_operands = True
    indexed = True
    linearity = Linearity.ALL
    follows_sums = False
    parameters = record(size, flag)

    def shape(self, params: tuple[int, bool], shapes: Shapes) -> Shape:
        batch, _ = params
        x, rows, index = shapes
        fits = 0 <= batch < len(x) and batch <= len(index) and x[:batch] == index[:batch]
        need(fits and rows == index + x[batch + 1 :], f"rows {rows} at {index} of {x}", params)
        return x

    def checked(self, params: tuple[int, bool], inputs: Nodes) -> Form:
        form = super().checked(params, inputs)
        require(not params[1] or form[1] in NUMBERS, "it does not add masks")
        return form

    def tally(self, n: Node) -> Tally:
        """Return those of the rows: what is around them stays where it is."""
        rows = n.inputs[1].size
        return Tally(additions=rows) if n.params[1] else Tally(copies=rows)

    def is_linear(self, n: Node, varying: Nodes) -> bool:
        return n.inputs[2] not in varying

    def forward(self, n: Node, tangents: Tangents) -> Node | None:
        x, rows = (tangents[v] if v in tangents else zeros(v.shape, v.dtype) for v in n.inputs[:2])
        return put(x, rows, n.inputs[2], *n.params) if not tangents.keys().isdisjoint(n.inputs) else None

    def transpose(self, g: Node, node: Node, k: int) -> Node:
        _, rows, index = node.inputs
        batch, adds = node.params
        if k == 0:
            return g if adds else put(g, zeros(rows.shape, rows.dtype), index, batch)
        share = gather(g, index, batch)
        return share if adds else _of_the_last(share, node)

    def batch(self, params: tuple[int, bool], xs: Nodes, batched: Flags) -> Node:
        x, rows, index = all_batched(xs, batched)
        return put(x, rows, index, params[0] + 1, params[1])


def _of_the_last(share: Node, node: Node) -> Node:
    """The cotangents of rows that were put, zero where a later row went to the same place."""
    x, _, index = node.inputs
    batch: int = node.params[0]
    count = math.prod(index.shape[batch:])
    if count == 1:
        return share
    order = np.broadcast_to(np.arange(count).reshape(index.shape[batch:]), index.shape)
    number = constant(order, np.int64)
    winners = gather(put(zeros(x.shape[: batch + 1], number.dtype), number, index, batch), index, batch)
    winning = broadcast(make_node("equal", None, winners, number), share.shape, tuple(range(index.ndim)))
    return make_node("where", None, winning, share, zeros(share.shape, share.dtype))
