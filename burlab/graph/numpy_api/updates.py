"""Functional updates: an array with some of its entries replaced or added to, at places that may be traced."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from burlab.errors import ShapeError
from burlab.graph.faults import fault
from burlab.graph.linear_nodes import put, reshape, transpose
from burlab.graph.node import Node, as_node, constant
from burlab.graph.origin import location
from burlab.typing import ArrayLike, Index

from .arguments import broadcast_shape
from .elementwise import where
from .indexing import INTEGERS, expanded, flat_index, getitem, normal_index
from .promotion import BOOL, INT64, as_dtype, as_mask
from .shapes import broadcast_to


@dataclass(frozen=True, slots=True)
class _Rows:
    """An array as rows, which an index names, and the update of these rows.

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


def at_add(x: Node, key: Index, value: ArrayLike) -> Node:
    """x with value added to the entries at x[key]; an entry that is named twice gets both. Of x's dtype."""
    if (chosen := _chosen(x, key, value)) is not None:
        mask, new = chosen
        if x.dtype == BOOL:
            return where(mask, x | new, x)
        return where(mask, x + new, x)
    rows = _rows(x, key, value)
    if x.dtype == BOOL:
        table, new = (as_dtype(part, INT64) for part in (rows.table, rows.new))
        return rows.array(as_mask(put(table, new, rows.index, adds=True)))
    return rows.array(put(rows.table, rows.new, rows.index, adds=True))


def at_set(x: Node, key: Index, value: ArrayLike) -> Node:
    """x with the entries at x[key] replaced. Of an entry that is named twice the last one counts. Of x's dtype."""
    if (chosen := _chosen(x, key, value)) is not None:
        return where(*chosen, x)
    rows = _rows(x, key, value)
    return rows.array(put(rows.table, rows.new, rows.index))


def _chosen(x: Node, key: Index, value: ArrayLike) -> tuple[Node, Node] | None:
    """Return mask and values in the shape of x where the index is a traced mask, else None."""
    items = list(cast("tuple[Any, ...]", key)) if isinstance(key, tuple) else [key]
    places = [k for k, item in enumerate(items) if isinstance(item, Node) and item.dtype == BOOL]
    if not places:
        return None
    others = [item for k, item in enumerate(items) if k not in places]
    if len(places) > 1 or not all(
        item is Ellipsis or (isinstance(item, slice) and item == slice(None)) for item in others
    ):
        raise fault("a traced mask beside other indices", "np.where(mask, new, old), which takes whole arrays")
    mask: Node = items[places[0]]
    after = len(items) - 1 - places[0]
    first = x.ndim - mask.ndim - after if Ellipsis in items[: places[0]] else places[0]
    if first < 0 or x.shape[first : first + mask.ndim] != mask.shape:
        raise ShapeError(
            f"{location()}a mask of shape {mask.shape} met an array of shape {x.shape}. Pass one entry each."
        )
    before, rest = x.shape[:first], x.shape[first + mask.ndim :]
    new = _like(x, as_node(value))
    if broadcast_shape(new.shape, (*before, 1, *rest)) != (*before, 1, *rest):
        what = f"{new.shape} values for a traced mask, which chooses how many entries only when it runs"
        raise fault(what, "one number for all of them, or np.where(mask, new, old) with arrays of one shape")
    new = reshape(broadcast_to(new, (*before, 1, *rest)), (*before, *(1,) * mask.ndim, *rest))
    mask = reshape(mask, (*mask.shape, *(1,) * len(rest)))
    return broadcast_to(mask, x.shape), broadcast_to(new, x.shape)


def _rows(x: Node, key: Index, value: ArrayLike) -> _Rows:
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
