"""Matrices of intervals: their middles, products, and sums rounded upwards."""

import numpy as np

from burlab.graph.linalg.matrices import column, eye, mT, row
from burlab.graph.linear_nodes import broadcast, contract, convert, sum_over
from burlab.graph.node import Node
from burlab.transforms.numbers.arithmetic_enclosures import add
from burlab.transforms.numbers.pairs import Pair, Value, magnitudes, number, op, pair, up
from burlab.transforms.numbers.tensor_enclosures import added_up, contracted


def middle(x: Value) -> Node:
    """Matrices inside, near the middle of an interval."""
    if not isinstance(x, Pair):
        return x
    half = number(0.5, x.low)
    return op("add", op("mul", x.low, half), op("mul", x.high, half))


def product(x: Value, y: Value) -> Pair:
    """Products of matrices in the last two axes, where leading axes are the same. Numbers are exact."""
    a, b = pair(x).low, pair(y).low
    lead = "abcdefgh"[: a.ndim - 2]
    return pair(contracted(contract(f"{lead}ij,{lead}jk->{lead}ik", a, b), [x, y]))


def transposed(x: Value) -> Value:
    """The transposed matrices."""
    return Pair(mT(x.low), mT(x.high)) if isinstance(x, Pair) else mT(x)


def widened(x: Value, by: Node) -> Pair:
    """All matrices that differ by no more than some numbers."""
    return add(x, Pair(op("neg", by), by))


def size_of(x: Value) -> Node:
    """The largest absolute values, entry by entry."""
    return magnitudes(x).high


def identity(like: Node) -> Node:
    """Identity matrices of the shape of others."""
    return broadcast(eye(like.shape[-1], like), like.shape)


def total_above(x: Node, axes: tuple[int, ...]) -> Node:
    """Upper bounds of sums of numbers that are not negative."""
    return added_up(sum_over(x, axes), [Pair(x, x)]).high if axes else x


def norm_above(x: Value) -> Node:
    """Upper bounds of Frobenius norms of matrices: one number each."""
    size = size_of(x)
    return up(op("sqrt", total_above(up(op("square", size)), (size.ndim - 2, size.ndim - 1))))


def repeated(x: Node, like: Node) -> Node:
    """A number for each matrix, at each of its entries."""
    return broadcast(column(column(x)), like.shape)


def of_columns(x: Node, like: Node) -> Node:
    """A number for each column, at each of its entries."""
    return broadcast(row(x), like.shape)


def holds(mask: Node) -> Node:
    """Return True for each matrix of masks that holds everywhere."""
    axes = (mask.ndim - 2, mask.ndim - 1)
    failing = sum_over(convert(op("logical_not", mask), np.dtype(np.int64)), axes)
    return op("equal", failing, number(0, failing))


def proved(mask: Node, found: Pair, inputs: tuple[Value, ...], otherwise: Pair) -> Pair:
    """Bounds of the matrices for which a proof was found, others for the rest; nan where an input holds nan."""
    known = holds(op("equal", pair(inputs[0]).low, pair(inputs[0]).low))
    for x in inputs[1:]:
        known = op("logical_and", known, holds(op("equal", pair(x).low, pair(x).low)))
    if found.low.ndim > mask.ndim:
        mask, known = repeated(mask, found.low), repeated(known, found.low)
    nan = number(np.nan, found.low)
    ends = zip(found, otherwise, strict=True)
    return Pair(*(op("where", mask, good, op("where", known, rest, nan)) for good, rest in ends))


def everything(like: Node) -> Pair:
    """All numbers."""
    infinite = number(np.inf, like)
    return Pair(op("neg", infinite), infinite)


def permuted(rows: Node, x: Value) -> Value:
    """Exchanged rows, by a matrix of zeros and ones: exact."""
    return Pair(*(_exact(rows, end) for end in x)) if isinstance(x, Pair) else _exact(rows, x)


def _exact(rows: Node, x: Node) -> Node:
    lead = "abcdefgh"[: x.ndim - 2]
    return contract(f"{lead}ij,{lead}jk->{lead}ik", rows, x)
