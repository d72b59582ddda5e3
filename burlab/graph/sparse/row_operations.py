"""Products with rows of a sparse matrix in CSR form, as operations.

Inputs are two arrays, `columns` of shape (k,), and `starts` and `ends` of shape (*s): row r of the matrix has the
entries starts[r] to ends[r] - 1 of `values` and `columns`. So rows of a batch are two integers each, and no entry is
copied.

row_products: values of shape (k,) and x of shape (d, *w): out[r] = sum_e values[e] x[columns[e]], shape (*s, *w).
spread_rows: values and y of shape (*s, *w): out[columns[e]] += values[e] y[r], shape (d, *w): the transpose by x.
row_samples: x and y: out[e] = sum of x[columns[e]] y[r], shape (k,): the transpose by values.

Parameters: the size d; about how many entries a row has; whether rows are apart: then x, or `out` of spread_rows, has
the shape (*s, d, *w), rows of its own for each row of the matrix.
"""
# ruff: noqa: D102 - Operation documents the methods

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from burlab.graph.linear_nodes import broadcast, reshape, sum_over, transpose
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.promotion import node
from burlab.graph.operation import (
    Batching,
    Linearity,
    Operation,
    Shares,
    Tangents,
    make_node,
    repeated,
    structural,
    total,
)
from burlab.graph.signatures import FLOATS, WHOLE, Form, require
from burlab.graph.tally import Tally, fused
from burlab.runtime.checks.stored import flag, record, size

Nodes = Sequence[Node]


class RowParams(NamedTuple):
    """size: d, the columns of the matrix. entries: of a row, about. apart: see the module."""

    size: int
    entries: int
    apart: bool = False

    def lead(self, starts: Node) -> tuple[int, ...]:
        """Return the axes of x before those of its rows."""
        return (*starts.shape, self.size) if self.apart else (self.size,)


class RowOperation(Operation):
    """Base of the three: linear in each of the first two inputs."""

    dense_operands = True
    indexed = True
    linearity = Linearity.EACH
    follows_sums = True
    parameters = record(size, size, flag)

    def form(self, params: RowParams, inputs: Nodes) -> Form:
        require(len(inputs) == 5, "it has two arrays, columns, starts and ends")
        first, second, columns, starts, ends = inputs
        require(first.dtype == second.dtype and first.dtype in FLOATS, "its arrays are floats of one dtype")
        integers = columns.ndim == 1 and starts.shape == ends.shape and starts.dtype == ends.dtype
        require(integers and {columns.dtype, starts.dtype} <= WHOLE, "its indices are integers, a start for each end")
        shape = self.shape(RowParams(*params), inputs)
        require(shape is not None, "its arrays have the shapes that its indices ask for")
        return shape or (), first.dtype

    @abstractmethod
    def shape(self, params: RowParams, inputs: Nodes) -> tuple[int, ...] | None:
        """Return the shape of the value; None for inputs that do not fit."""

    def forward(self, n: Node, tangents: Tangents) -> Node | None:
        varying = [(k, tangents[x]) for k, x in enumerate(n.inputs[:2]) if x in tangents]
        return total(make_node(n.op, n.params, *n.inputs[:k], t, *n.inputs[k + 1 :]) for k, t in varying)

    def reverse(self, n: Node, g: Node, active: set[Node]) -> Shares:
        return [(x, self.transposed(n, g, k)) for k, x in enumerate(n.inputs[:2]) if x in active]

    @abstractmethod
    def transposed(self, n: Node, g: Node, k: int) -> Node:
        """The cotangent of input k, from the cotangent of the node."""

    def differentiable_inputs(self, _: Node) -> tuple[int, ...]:
        return 0, 1

    def work(self, n: Node) -> int:
        starts = n.inputs[3]
        return starts.size * max(n.params[1], 1) * math.prod(_width(n))

    def tally(self, n: Node) -> Tally:
        """Return a fused multiply-add for each entry: of a whole matrix all, else of rows of the mean length."""
        columns, starts, ends = n.inputs[2:]
        entries = starts.size * n.params[1]
        if starts.is_constant and ends.is_constant:
            entries = int(np.sum(ends.params - starts.params))
        elif starts.shape and starts.is_input and ends.is_input:
            entries = columns.size
        return fused(entries * math.prod(_width(n)))

    def touched(self, n: Node) -> int:
        """The entries of the rows, each with what it is multiplied by, and the value."""
        values, columns, starts = n.inputs[0], n.inputs[2], n.inputs[3]
        each = columns.itemsize + values.itemsize * (1 + math.prod(_width(n)))
        return starts.size * (n.params[1] * each + 2 * starts.itemsize) + n.nbytes


@structural
class RowProducts(RowOperation):
    """Rows times an array."""

    name = "row_products"

    def shape(self, params: RowParams, inputs: Nodes) -> tuple[int, ...] | None:
        values, x, columns, starts, _ = inputs
        lead = params.lead(starts)
        fits = values.shape == columns.shape and x.shape[: len(lead)] == lead
        return (*starts.shape, *x.shape[len(lead) :]) if fits else None

    def transposed(self, n: Node, g: Node, k: int) -> Node:
        values, x, *rows = n.inputs
        return row_samples(n.params, x, g, *rows) if k == 0 else spread_rows(n.params, values, g, *rows)

    def batched(self, n: Node, xs: Nodes, flags: Sequence[bool], many: Batching) -> Node:
        values, x, columns, starts, ends = xs
        params = RowParams(*n.params)
        if flags[0] or flags[2]:
            return row_products(params._replace(apart=True), *_all_apart(n, xs, flags, many.size, 1))
        rows_differ = flags[3] or flags[4]
        starts, ends = _both(starts, ends, flags, many.size)
        if flags[1] and not rows_differ and not params.apart:  # each entry is read once for all samples
            lead = n.inputs[3].ndim
            together = row_products(params, values, _with_axis(x, 0, 1), columns, starts, ends)
            return _with_axis(together, lead, 0)
        if flags[1] or params.apart:
            x = _apart(x, n.inputs[1], n.inputs[3], params, flags[1], many.size)
            starts, ends = (r if rows_differ else repeated(r, many.size) for r in (starts, ends))
            params = params._replace(apart=True)
        return row_products(params, values, x, columns, starts, ends)


@structural
class SpreadRows(RowOperation):
    """The rows, times a number or an array each, added up."""

    name = "spread_rows"
    adds_up = True

    def shape(self, params: RowParams, inputs: Nodes) -> tuple[int, ...] | None:
        values, y, columns, starts, _ = inputs
        fits = values.shape == columns.shape and y.shape[: starts.ndim] == starts.shape
        return (*params.lead(starts), *y.shape[starts.ndim :]) if fits else None

    def transposed(self, n: Node, g: Node, k: int) -> Node:
        values, y, *rows = n.inputs
        return row_samples(n.params, g, y, *rows) if k == 0 else row_products(n.params, values, g, *rows)

    def batched(self, n: Node, xs: Nodes, flags: Sequence[bool], many: Batching) -> Node:
        values, y, columns, starts, ends = xs
        params = RowParams(*n.params)
        lead = n.inputs[3].ndim
        if not any((flags[0], *flags[2:])) and not params.apart:
            together = _with_axis(y, 0, lead)
            return _with_axis(spread_rows(params, values, together, columns, starts, ends), 1, 0)
        if flags[0] or flags[2]:
            inputs = _all_apart(n, xs, flags, many.size, None)
        else:
            starts, ends = _both(starts, ends, flags, many.size)
            starts, ends = (r if flags[3] or flags[4] else repeated(r, many.size) for r in (starts, ends))
            inputs = (values, y if flags[1] else repeated(y, many.size), columns, starts, ends)
        each = spread_rows(params._replace(apart=True), *inputs)
        return each if params.apart else sum_over(each, tuple(range(1, 1 + lead)))

    def sums_along(self, n: Node) -> bool:
        return not n.params[2]

    def summed_inputs(self, n: Node) -> Nodes:
        return n.inputs[1], *n.inputs[3:]

    def summed(self, n: Node, xs: Nodes) -> Node:
        y, starts, ends = xs
        return spread_rows(n.params, n.inputs[0], y, n.inputs[2], starts, ends)


@structural
class RowSamples(RowOperation):
    """Products of an array's rows with numbers of the matrix's rows, where it has entries."""

    name = "row_samples"

    def shape(self, params: RowParams, inputs: Nodes) -> tuple[int, ...] | None:
        x, y, columns, starts, _ = inputs
        lead = params.lead(starts)
        rest = x.shape[len(lead) :]
        return columns.shape if x.shape[: len(lead)] == lead and y.shape == (*starts.shape, *rest) else None

    def transposed(self, n: Node, g: Node, k: int) -> Node:
        x, y, *rows = n.inputs
        return spread_rows(n.params, g, y, *rows) if k == 0 else row_products(n.params, g, x, *rows)

    def batched(self, n: Node, xs: Nodes, flags: Sequence[bool], many: Batching) -> Node:
        inputs = _all_apart(n, xs, flags, many.size, 0)
        together = row_samples(RowParams(*n.params)._replace(apart=True), *inputs)
        return reshape(together, (many.size, together.size // many.size))


def row_products(params: RowParams, *inputs: Node) -> Node:
    """Return the node: values, x, columns, starts, ends."""
    return make_node("row_products", tuple(params), *inputs)


def spread_rows(params: RowParams, *inputs: Node) -> Node:
    """Return the node: values, y, columns, starts, ends."""
    return make_node("spread_rows", tuple(params), *inputs)


def row_samples(params: RowParams, *inputs: Node) -> Node:
    """Return the node: x, y, columns, starts, ends."""
    return make_node("row_samples", tuple(params), *inputs)


def _width(n: Node) -> tuple[int, ...]:
    """The axes of a row of x behind its columns."""
    if n.op == "row_products":
        return n.shape[n.inputs[3].ndim :]
    return n.inputs[1].shape[n.inputs[3].ndim :]


def _with_axis(x: Node, source: int, to: int) -> Node:
    """x with one of its axes elsewhere."""
    order = [k for k in range(x.ndim) if k != source]
    order.insert(to, source)
    return transpose(x, tuple(order))


def _both(starts: Node, ends: Node, flags: Sequence[bool], many: int) -> tuple[Node, Node]:
    """Starts and ends of samples, if those of one of them differ."""
    if flags[3] == flags[4]:
        return starts, ends
    return (starts if flags[3] else repeated(starts, many)), (ends if flags[4] else repeated(ends, many))


def _apart(x: Node, one: Node, starts: Node, params: RowParams, has_samples: bool, many: int) -> Node:
    """x with the axis of samples in front, and rows of its own for each row. one, starts: of one sample."""
    x = x if has_samples else repeated(x, many)
    if params.apart:
        return x
    lead = starts.ndim
    axes = (0, *range(1 + lead, 1 + lead + one.ndim))
    return broadcast(x, (many, *starts.shape, *one.shape), axes)


def _all_apart(n: Node, xs: Nodes, flags: Sequence[bool], many: int, place: int | None) -> tuple[Node, ...]:
    """The inputs for samples with matrices of their own, as those for one matrix with all entries and all rows.

    place: of the input that has rows of the size d; None where it is the value.
    """
    params = RowParams(*n.params)
    xs = [x if f else repeated(x, many) for x, f in zip(xs, flags, strict=True)]
    columns, starts, ends = xs[2:]
    entries = columns.shape[1]
    first = constant(np.arange(many, dtype=starts.dtype) * entries)
    starts, ends = (node("add", r, broadcast(first, r.shape, (0,))) for r in (starts, ends))
    arrays = [
        _apart(x, n.inputs[k], n.inputs[3], params, True, many) if k == place else x for k, x in enumerate(xs[:2])
    ]
    if place != 0:  # the values of entries, one sample's after another's
        arrays[0] = reshape(arrays[0], (many * entries,))
    return *arrays, reshape(columns, (many * entries,)), starts, ends
