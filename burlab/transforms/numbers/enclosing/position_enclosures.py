"""Enclosures of order: positions of entries in sorted rows, and what is read or added at positions that are not known.

A position is between two whole numbers. The entry that is read there is one of those between, so its interval is the
hull of theirs.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from burlab.graph.linear_nodes import broadcast, gather, reshape, sum_over, transpose
from burlab.graph.node import Node, constant
from burlab.graph.operation import make_node
from burlab.transforms.numbers.pairs import Pair, Value, number, op, pair, within

MAX_CANDIDATES = 2**24
POSITIONS = ("argsort", "argkth", "argtop", "argpartition", "argmax", "argmin")
_WHOLE = np.dtype(np.int64)


def position(n: Node, xs: Sequence[Value]) -> Pair:
    """The lowest and the highest place at which the entry of each rank may be."""
    x = pair(xs[0])
    if n.op in ("argmax", "argmin"):
        return _of_extreme(n, x)
    length = x.low.shape[-1]
    if n.op == "argpartition":
        return Pair(broadcast(constant(0, _WHOLE), n.shape), broadcast(constant(length - 1, _WHOLE), n.shape))
    if x.low.size * length > MAX_CANDIDATES:
        raise KeyError(f"{n.op} of rows of {length}")
    if n.op == "argtop":
        x = Pair(op("neg", x.high), op("neg", x.low))
    first, last = _ranks(x)
    ranks = np.arange(n.shape[-1]) if n.op in ("argsort", "argtop") else np.array(n.params)
    shape = (*x.low.shape[:-1], len(ranks), length)
    wanted = broadcast(constant(ranks.reshape(-1, 1), _WHOLE), shape)
    first, last = (broadcast(reshape(r, (*r.shape[:-1], 1, length)), shape) for r in (first, last))
    return _ends(op("logical_and", op("less_equal", first, wanted), op("less_equal", wanted, last)))


def _ranks(x: Pair) -> Pair:
    """Count the entries that come before each one in order, surely and perhaps. Of equal ones the first comes first."""
    length = x.low.shape[-1]
    shape = (*x.low.shape, length)  # ..., entry, other
    earlier = broadcast(constant(np.arange(length)[:, None] > np.arange(length)), shape)
    apart = broadcast(constant(~np.eye(length, dtype=bool)), shape)
    low, high = (broadcast(reshape(end, (*end.shape, 1)), shape) for end in x)
    other_low, other_high = (broadcast(reshape(end, (*end.shape[:-1], 1, length)), shape) for end in x)

    def count(a: Node, b: Node) -> Node:
        ties = op("logical_and", op("equal", a, b), earlier)
        before = op("logical_and", op("logical_or", op("less", a, b), ties), apart)
        return sum_over(before, (len(shape) - 1,))

    return Pair(count(other_high, low), count(other_low, high))


def _ends(possible: Node) -> Pair:
    """The first and the last place of the last axis with a mask."""
    length, axis = possible.shape[-1], possible.ndim - 1
    places = broadcast(constant(np.arange(length), _WHOLE), possible.shape)
    first = op("where", possible, places, number(length - 1, places))
    last = op("where", possible, places, number(0, places))
    return Pair(make_node("reduce_min", (axis,), first), make_node("reduce_max", (axis,), last))


def _of_extreme(n: Node, x: Pair) -> Pair:
    """The entries that may be the extreme one."""
    axis: int = n.params
    if n.op == "argmin":
        x = Pair(op("neg", x.high), op("neg", x.low))
    order = (*(k for k in range(x.low.ndim) if k != axis), axis)
    low, high = (transpose(end, order) for end in x)
    most = make_node("reduce_max", (low.ndim - 1,), low)
    return _ends(op("greater_equal", high, broadcast(reshape(most, (*most.shape, 1)), high.shape)))


def gathered(n: Node, xs: Sequence[Value]) -> Pair:
    """The hull of the entries that may be read at positions between two."""
    x, index = pair(xs[0]), pair(xs[1])
    batch: int = n.params
    shape = _candidates(n, index.low, x.low.shape[batch])
    axes = tuple(range(batch))
    rest = tuple(range(index.low.ndim + 1, len(shape)))
    ends = (broadcast(end, shape, (*axes, index.low.ndim, *rest)) for end in x)
    return _hull(index, Pair(*ends), index.low.ndim)


def scattered(n: Node, xs: Sequence[Value]) -> Pair:
    """The hull of the entries that may be put at positions between two, of which no two are the same."""
    y, index = pair(xs[0]), pair(xs[1])
    batch, size = n.params
    if index.low.ndim != batch + 1 or not _differ(n.inputs[1]):
        raise KeyError("a sum at positions that are not known")
    shape = _candidates(n, index.low, size)
    axes = (*range(index.low.ndim), *range(index.low.ndim + 1, len(shape)))
    found = _hull(index, Pair(*(broadcast(end, shape, axes) for end in y)), index.low.ndim - 1)
    return found if index.low.shape[-1] == size else _or_nothing(index, found, shape)


def _candidates(n: Node, index: Node, size: int) -> tuple[int, ...]:
    """The shape of all entries that may be read: that of the index, then the places, then the rest of an entry."""
    rest = n.shape[index.ndim :]
    shape = (*index.shape, size, *rest)
    if math.prod(shape) > MAX_CANDIDATES:
        raise KeyError(f"{n.op} at {math.prod(shape)} positions that are not known")
    return shape


def _differ(index: Node) -> bool:
    """Return True if the positions along the last axis are known to differ, as those that sorting gives do.

    Negative ones count from the end: whole numbers of a row's length are different in that way, too.
    """
    if index.op == "where":
        mask, counted, index = index.inputs
        if mask.op != "less" or mask.inputs[0] is not index or counted.op != "add" or counted.inputs[0] is not index:
            return False
    if index.op in ("slice", "convert"):
        return _differ(index.inputs[0])
    if index.op in ("add", "sub"):
        return any(_differ(x) and y.known is not None for x, y in (index.inputs, index.inputs[::-1]))
    return index.op in POSITIONS[:4]


def _hull(index: Pair, x: Pair, axis: int) -> Pair:
    """The hull along an axis of the entries whose place is between two; nan where there is none."""
    possible = _possible(index, x.low.shape)
    infinite = number(math.inf, x.low)
    least = make_node("reduce_min", (axis,), op("where", possible, x.low, infinite))
    most = make_node("reduce_max", (axis,), op("where", possible, x.high, op("neg", infinite)))
    return within(op("less_equal", least, most), Pair(least, most))


def _possible(index: Pair, shape: tuple[int, ...]) -> Node:
    """Masks of the places between two, after the axes of the index."""
    at = index.low.ndim
    places = broadcast(constant(np.arange(shape[at]), index.low.dtype), shape, (at,))
    low, high = (broadcast(end, shape, tuple(range(at))) for end in index)
    return op("logical_and", op("less_equal", low, places), op("less_equal", places, high))


def _or_nothing(index: Pair, found: Pair, shape: tuple[int, ...]) -> Pair:
    """With 0 where it is not sure that something is put at a place."""
    axis = index.low.ndim - 1
    sure = broadcast(op("equal", index.low, index.high), shape, tuple(range(axis + 1)))
    count = sum_over(op("logical_and", _possible(index, shape), sure), (axis,))
    hit, zero = op("greater", count, number(0, count)), number(0.0, found.low)
    low, high = op("fmin", found.low, zero), op("fmax", found.high, zero)
    return Pair(op("where", hit, found.low, low), op("where", hit, found.high, high))


def partitioned(n: Node, xs: Sequence[Value]) -> Pair:
    """The entries at the places, as in order; between two places the entries between them, in an order not known."""
    x = pair(xs[0])
    low, high = (make_node("sort", None, end) for end in x)
    length = x.low.shape[-1]
    first, last = np.arange(length), np.arange(length)
    edges = [-1, *n.params, length]
    for a, b in pairwise(edges):
        first[a + 1 : b], last[a + 1 : b] = a + 1, b - 1
    index = (broadcast(constant(places, _WHOLE), x.low.shape) for places in (first, last))
    return Pair(*(gather(end, places, x.low.ndim - 1) for end, places in zip((low, high), index, strict=True)))


RULES: dict[str, Callable[[Node, Sequence[Value]], Pair]] = {
    **dict.fromkeys(POSITIONS, position),
    "partition": partitioned,
}
"""The rules of operations on order."""
