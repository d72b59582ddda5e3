"""Functional updates: an array with some of its entries replaced or added to, at places that may be traced."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from burlab.graph.linear import broadcast, reshape, scatter, sum_over, transpose
from burlab.graph.node import Node, as_node, constant

from .indexing import INTEGERS, expanded, flat_index, getitem, normal_index
from .promotion import BOOL, INT64, apply, as_dtype, as_mask
from .shapes import broadcast_to


@dataclass(frozen=True, slots=True)
class _Rows:
    """An array as rows, which an index names, and what is to be done to them.

    table: shape (size, *rest); index: integers, any shape; new: shape (*index, *rest). order: the axes of the array
    that the table was made from, as the table has them; shape: with its first axis split into those again.
    """

    table: Node
    index: Node
    new: Node
    order: tuple[int, ...]
    shape: tuple[int, ...]

    def array(self, table: Node) -> Node:
        """A table as the array that it was."""
        return transpose(reshape(table, self.shape), tuple(int(a) for a in np.argsort(self.order)))


def at_add(x: Node, key: Any, value: Any) -> Node:
    """x with value added to the entries at x[key]; an entry that is named twice gets both. Of x's dtype."""
    rows = _rows(x, key, value)
    return rows.array(apply("add", rows.table, scatter(rows.new, rows.index, 0, rows.table.shape[0])))


def at_set(x: Node, key: Any, value: Any) -> Node:
    """x with the entries at x[key] replaced. Of an entry that is named twice the last one counts. Of x's dtype."""
    rows = _rows(x, key, value)
    index, new, size = rows.index, rows.new, rows.table.shape[0]
    if index.size != 1:
        index, new = _last_of_each(rows)
    numbers = INT64 if x.dtype == BOOL else x.dtype
    there = scatter(broadcast(constant(1, INT64), index.shape), index, 0, size)
    rest = (1,) * (rows.table.ndim - 1)
    replaced = broadcast_to(reshape(apply("greater", there, 0), (size, *rest)), rows.table.shape)
    put = as_dtype(scatter(as_dtype(new, numbers), index, 0, size), x.dtype) if x.dtype != BOOL else as_mask(
        scatter(as_dtype(new, numbers), index, 0, size))  # fmt: skip
    return rows.array(apply("where", replaced, put, rows.table))


def _last_of_each(rows: _Rows) -> tuple[Node, Node]:
    """The index in a row, and the new rows, where one that a later one replaces goes to where that one goes, as zero.

    By comparing each index with each later one: for more than some thousands of traced indices a loop is faster.
    """
    count = rows.index.size
    index = reshape(rows.index, (count,))
    new = reshape(rows.new, (count, *rows.table.shape[1:]))
    same = apply("equal", reshape(index, (count, 1)), reshape(index, (1, count)))
    later = constant(np.triu(np.ones((count, count), bool), 1))
    replaced = as_mask(sum_over(as_dtype(apply("logical_and", same, later), INT64), (1,)))
    column = broadcast_to(reshape(replaced, (count, *(1,) * (new.ndim - 1))), new.shape)
    return index, apply("where", column, constant(0, new.dtype), new)


def _rows(x: Node, key: Any, value: Any) -> _Rows:
    keys = expanded(x, list(cast("tuple[Any, ...]", key)) if isinstance(key, tuple) else [key])
    whole = [item is not None and isinstance(item, slice) and item == slice(None) for item in keys]
    axes = tuple(a for a, full in enumerate(whole) if not full)
    shape = getitem(x, key).shape
    if any(item is None for item in keys) or not axes or any(isinstance(keys[a], slice) for a in axes):
        places = getitem(constant(np.arange(x.size).reshape(x.shape)), key)
        new = _like(x, broadcast_to(as_node(value), shape))
        return _Rows(reshape(x, (x.size,)), places, new, tuple(range(x.ndim)), x.shape)
    arrays = [normal_index(np.asarray(i) if isinstance(i, INTEGERS) else i, x.shape[a], a)
              for a, i in ((a, keys[a]) for a in axes)]  # fmt: skip
    common = np.broadcast_shapes(*(i.shape for i in arrays))
    index = flat_index([broadcast_to(i, common) for i in arrays], [x.shape[a] for a in axes])
    rest = tuple(a for a in range(x.ndim) if a not in axes)
    order = (*axes, *rest)
    front = transpose(x, order)
    size = int(np.prod([x.shape[a] for a in axes]))
    new = _like(x, broadcast_to(as_node(value), shape))
    if common and axes[-1] - axes[0] == len(axes) - 1:  # NumPy leaves the axes of an index where they were
        k, before = len(common), axes[0]
        new = transpose(new, (*range(before, before + k), *range(before), *range(before + k, new.ndim)))
    return _Rows(reshape(front, (size, *front.shape[len(axes) :])), index, new, order, front.shape)


def _like(x: Node, value: Node) -> Node:
    """A value in the dtype of the array that it is put into."""
    return as_mask(value) if x.dtype == BOOL else as_dtype(value, x.dtype)
