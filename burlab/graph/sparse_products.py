"""Products with a sparse matrix whose entries are a vector of values and two of indices, as rewriting makes them.

`sparse_product`: inputs are values of shape (k,), x of shape (n, *r), columns and rows of shape (k,). The value has the
shape (size, *r): out[rows[i]] += values[i] * x[columns[i]], in the order of i. `sampled_product`: inputs are x and y of
shapes (n, *r) and (m, *r), columns and rows; out[i] is the sum of x[columns[i]] * y[rows[i]]: the derivative by values.

They are made of gathers, products and scatters (`rewrite/match_sparse.py`) once derivatives are taken. The
parameters say of columns and rows whether negative ones count from the end.
"""
# ruff: noqa: D102 - Operation documents the methods

import math
from collections.abc import Sequence

import numpy as np

from burlab.runtime.checks.stored import flag, record, size

from .graph import Graph
from .linear_nodes import broadcast, gather, scatter, sum_over, transpose
from .node import Node, constant
from .numpy_api.promotion import node
from .operation import Batching, Linearity, Operation, make_node, structural
from .signatures import FLOATS, WHOLE, Form, require
from .substitute import inline
from .tally import Tally, fused

Nodes = Sequence[Node]


class _Sparse(Operation):
    """Base of both: linear in each of the first two inputs."""

    dense_operands = True
    indexed = True
    linearity = Linearity.EACH
    follows_sums = True

    def tally(self, n: Node) -> Tally:
        return fused(self.work(n))

    def of_entries(self, n: Node, inputs: Nodes) -> Node:
        """The value for other inputs, by gathers and products."""
        raise NotImplementedError

    def batched(self, n: Node, xs: Nodes, flags: Sequence[bool], many: Batching) -> Node:
        given = tuple(Node("input", (), None, x.shape, x.dtype) for x in n.inputs)
        inputs, outputs, _ = many.graph(Graph(given, (self.of_entries(n, given),)), flags, many.size)
        return inline(Graph(inputs, tuple(outputs)), xs)[0]


@structural
class SparseProduct(_Sparse):
    """(size, columns, rows): a sparse matrix times an array."""

    name = "sparse_product"
    parameters = record(size, flag, flag)

    def form(self, params: tuple[int, bool, bool], inputs: Nodes) -> Form:
        values, x = _checked(inputs)
        require(x.ndim > 0 and inputs[2].shape == values.shape, "it has a value for each index")
        return (params[0], *x.shape[1:]), x.dtype

    def work(self, n: Node) -> int:
        return n.inputs[0].size * math.prod(n.shape[1:])

    def of_entries(self, n: Node, inputs: Nodes) -> Node:
        values, x, columns, rows = inputs
        count, *_ = n.params
        columns, rows = _counted(columns, x.shape[0], n.params[1]), _counted(rows, count, n.params[2])
        picked = gather(x, columns)
        return scatter(node("mul", broadcast(values, picked.shape, (0,)), picked), rows, 0, count)

    def batched(self, n: Node, xs: Nodes, flags: Sequence[bool], many: Batching) -> Node:
        """Samples become an axis behind that of the matrix, so that each entry is read once for all of them."""
        if not flags[1] or flags[0] or flags[2] or flags[3]:
            return super().batched(n, xs, flags, many)
        return _exchanged(make_node(n.op, n.params, xs[0], _exchanged(xs[1]), *xs[2:]))


@structural
class SampledProduct(_Sparse):
    """(columns, rows): products of rows of two arrays, summed."""

    name = "sampled_product"
    adds_up = True
    parameters = record(flag, flag)

    def form(self, _: tuple[bool, bool], inputs: Nodes) -> Form:
        x, y = _checked(inputs)
        require(x.ndim > 0 and x.shape[1:] == y.shape[1:], "it has rows of one shape")
        return inputs[2].shape, x.dtype

    def work(self, n: Node) -> int:
        return n.size * math.prod(n.inputs[0].shape[1:])

    def of_entries(self, n: Node, inputs: Nodes) -> Node:
        x, y, columns, rows = inputs
        columns, rows = _counted(columns, x.shape[0], n.params[0]), _counted(rows, y.shape[0], n.params[1])
        product = node("mul", gather(x, columns), gather(y, rows))
        return sum_over(product, tuple(range(1, product.ndim))) if product.ndim > 1 else product

    def summed_inputs(self, n: Node) -> Nodes:
        return n.inputs[:2]

    def summed(self, n: Node, xs: Nodes) -> Node:
        return make_node(n.op, n.params, *map(_exchanged, xs), *n.inputs[2:])


def _checked(inputs: Nodes) -> tuple[Node, Node]:
    require(len(inputs) == 4, "it has two arrays and two indices")
    x, y, columns, rows = inputs
    require(x.dtype == y.dtype and x.dtype in FLOATS, "its arrays are floats of one dtype")
    fits = columns.ndim == 1 and columns.shape == rows.shape and {columns.dtype, rows.dtype} <= WHOLE
    require(fits, "its indices are integers, as many columns as rows")
    return x, y


def _exchanged(x: Node) -> Node:
    return transpose(x, (1, 0, *range(2, x.ndim)))


def _counted(index: Node, size: int, wraps: bool) -> Node:
    """An index whose negative entries count from the end, if they do."""
    if not wraps:
        return index
    zero, length = (broadcast(constant(np.asarray(k, index.dtype)), index.shape, ()) for k in (0, size))
    return node("where", node("less", index, zero), node("add", index, length), index)
