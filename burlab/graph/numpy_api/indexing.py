"""NumPy indexing of nodes: basic keys are one `slice`, integer arrays (known or traced) are one `gather`."""

import operator
from typing import Any, cast

import numpy as np

from burlab.errors import BurlabError, DTypeError, IndexRangeError, ShapeError
from burlab.graph.faults import fault
from burlab.graph.linear_nodes import broadcast, gather, reshape, slice_, transpose
from burlab.graph.node import FUNCTIONS, METHODS, UFUNCS, Node, as_node, constant, holds_node
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.runtime.plain import as_array, as_plain, is_numeric
from burlab.typing import ArrayLike, Index, ShapeLike

from .arguments import normal_axis, several
from .elementwise import maximum, minimum, where
from .promotion import BOOL, INT64, as_dtype
from .row_entries import one_of_each_row

INTEGERS = (int, np.integer)
_BASIC = (*INTEGERS, slice)
_ALL = slice(None)


def getitem(x: Node, key: Index) -> Node:
    """`x[key]`: integers, slices, None, Ellipsis, integer arrays and lists, known boolean masks, in any mixture."""
    keys = expanded(x, list(cast("tuple[Any, ...]", key)) if isinstance(key, tuple) else [key])
    axes = [item for item in keys if item is not None]
    arrays = {a: item for a, item in enumerate(axes) if not isinstance(item, _BASIC)}
    if not arrays:
        y = _slice(x, axes)
        sizes = iter(y.shape)
        shape = [1 if item is None else next(sizes) for item in keys]
        sizes = [d for d, item in zip(shape, keys, strict=True) if item is None or isinstance(item, slice)]
        return reshape(y, tuple(sizes))
    if any(item is None for item in keys):
        raise fault("None together with an integer array in one index of a traced array", "two steps: x[rows][:, None]")
    # NumPy broadcasts plain integers together with the index arrays.
    arrays |= {a: np.asarray(i) for a, i in enumerate(axes) if isinstance(i, INTEGERS)}
    y = _slice(x, [_ALL if a in arrays else item for a, item in enumerate(axes)])
    return take_at(y, {a: arrays[a] for a in sorted(arrays)})


def expanded(x: Node, keys: list[Any]) -> list[Any]:
    """One entry per axis, or None for a new one: the Ellipsis is written out, masks become integer arrays."""
    items = [_index(item) for item in keys]
    used = sum(_axes(item) for item in items)
    if used > x.ndim:
        raise _bad_index(f"too many indices: {used} for an array of shape {x.shape}.")
    dots = sum(item is Ellipsis for item in items)
    if dots > 1:
        raise _bad_index("an index can hold one Ellipsis ('...') only.")
    plain: list[Any] = []
    for item in items if dots else [*items, Ellipsis]:
        if item is Ellipsis:
            plain.extend([_ALL] * (x.ndim - used))
        elif _is_mask(item):
            plain.extend(_true_places(item, x, sum(before is not None for before in plain)))
        else:
            plain.append(item)
    return plain


def _index(item: object) -> Any:
    """An index unchanged, or as an array. Raises if it is none, and for arrays that mean more than their numbers."""
    if isinstance(item, tuple):  # in an index of several parts NumPy takes it as a list
        return _index(list(cast("tuple[Any, ...]", item)))
    if isinstance(item, Node):
        if item.dtype == BOOL:
            what = "a traced mask as an index: the shape of the result would depend on its values"
            raise fault(what, "np.where(mask, x, 0)")
        return item
    if isinstance(item, list) and holds_node(cast("list[Any]", item)):
        return _index(as_node(item))
    if isinstance(item, slice):
        return _whole_slice(cast("Any", item))
    if item is None or item is Ellipsis or (isinstance(item, INTEGERS) and not isinstance(item, bool)):
        return cast("Any", item)
    if not isinstance(item, list) and (not is_numeric(item) or isinstance(item, (float, complex))):
        raise _bad_index(f"an index is an int, slice, None, Ellipsis or integer array, got {type(item).__name__}.")
    array = as_array(item, f"{location()}an index")
    if _is_mask(array) and array.ndim == 0:
        raise _bad_index("a mask as an index has the axes that it chooses from, got True or False. Use x[None] or if.")
    return array.astype(np.int64) if array.size == 0 and isinstance(item, list) else array


def _whole_slice(item: slice) -> slice:
    try:
        item.indices(1)
    except BurlabError:  # of a traced bound
        raise
    except (TypeError, ValueError) as error:
        raise _bad_index(
            f"expected a slice of ints, got {item} ({error}). Pass ints or None, and a step other than 0."
        ) from None
    return item


def _is_mask(item: object) -> bool:
    return isinstance(item, np.ndarray) and cast("Any", item).dtype == BOOL


def _axes(item: Any) -> int:
    """Return the number of axes that an index takes."""
    return item.ndim if _is_mask(item) else int(item is not None and item is not Ellipsis)


def _true_places(mask: Any, x: Node, first: int) -> list[Any]:
    """The integer arrays that select the same entries as a known mask of some axes."""
    sizes = x.shape[first : first + mask.ndim]
    if mask.shape != sizes:
        raise _bad_index(f"a mask of shape {mask.shape} met axes of shape {sizes}. Pass one entry for each of theirs.")
    return list(np.nonzero(mask))


def _bad_index(what: str) -> IndexRangeError:
    return IndexRangeError(f"{location()}{what}")


def _slice(x: Node, keys: list[Any]) -> Node:
    """Basic indices of every axis; an axis indexed by an integer keeps size 1."""
    start: list[int] = []
    step: list[int] = []
    shape: list[int] = []
    for axis, (item, size) in enumerate(zip(keys, x.shape, strict=True)):
        if isinstance(item, slice):
            first, last, stride = item.indices(size)
            start.append(first)
            step.append(stride)
            shape.append(len(range(first, last, stride)))
        else:
            k = operator.index(item)
            if not -size <= k < size:
                raise _bad_index(f"index {k} is out of bounds for axis {axis} of size {size}, shape {x.shape}.")
            start.append(k % size)
            step.append(1)
            shape.append(1)
    start = [0 if d == 0 else s for s, d in zip(start, shape, strict=True)]  # an empty slice may start past the end
    return slice_(x, tuple(start), tuple(step), tuple(shape))


def take_at(x: Node, indices: dict[int, Any]) -> Node:
    """Integer arrays along axes, broadcast together; their axes go where NumPy puts them: in place if adjacent."""
    axes = tuple(indices)
    arrays = [normal_index(index, x.shape[a], a) for a, index in indices.items()]
    shape = np.broadcast_shapes(*(i.shape for i in arrays))
    if _one_of_each_row(x, arrays, shape):  # by rows, which planning may compute in blocks
        return one_of_each_row(x, arrays[-1])
    flat = flat_index([broadcast(i, shape) for i in arrays], [x.shape[a] for a in axes])
    rest = tuple(a for a in range(x.ndim) if a not in axes)
    front = transpose(x, axes + rest)
    size = 1
    for a in axes:
        size *= x.shape[a]
    y = gather(reshape(front, (size, *front.shape[len(axes) :])), flat)
    if axes[-1] - axes[0] != len(axes) - 1:
        return y
    k, before = len(shape), axes[0]
    return transpose(y, (*range(k, k + before), *range(k), *range(k + before, y.ndim)))


def _one_of_each_row(x: Node, arrays: list[Node], shape: tuple[int, ...]) -> bool:
    """Return True for x[np.arange(n), i], or the same with more axes before the last one."""
    if len(arrays) != x.ndim or x.ndim == 1 or shape != x.shape[:-1] or arrays[-1].shape != shape:
        return False
    places = np.ogrid[tuple(slice(n) for n in shape)]
    rows = zip(arrays[:-1], places, strict=True)
    return all(i.is_constant and bool(np.all(np.asarray(i.params) == place)) for i, place in rows)


def flat_index(arrays: list[Node], sizes: list[int]) -> Node:
    """One index into the axes flattened. Traced ones out of range become -1, lest they land in a neighbour."""
    flat = arrays[0]
    if len(arrays) == 1:
        return flat
    valid: Node | None = None
    for k, (index, size) in enumerate(zip(arrays, sizes, strict=True)):
        flat = index if k == 0 else flat * size + index
        if not index.is_constant and not (index.op == "broadcast" and index.inputs[0].is_constant):
            inside = (index >= 0) & (index < size)
            valid = inside if valid is None else valid & inside
    return flat if valid is None else where(valid, flat, -1)


def normal_index(index: Any, size: int, axis: int) -> Node:
    """An integer index, negative ones counted from the end. Known ones are checked now, traced ones by the kernel."""
    i = as_node(index)
    if i.dtype.kind not in "iu":
        raise _bad_index(f"an array used as an index must be of integers, got {i.dtype}. Use x.astype(np.int64).")
    if i.is_constant:
        array = i.params.astype(np.int64)
        if array.size and not (-size <= array.min() and array.max() < size):
            bad = array.min() if array.min() < -size else array.max()
            raise _bad_index(f"index {bad} is out of bounds for axis {axis} of size {size}.")
        return constant(np.where(array < 0, array + size, array), INT64)
    i = as_dtype(i, INT64) if i.dtype.kind == "u" or i.itemsize < 4 else i  # which have room for the size
    return where(i < 0, i + size, i)


def take(a: ArrayLike, indices: ArrayLike, axis: int | None = None, out: None = None, mode: str = "raise") -> Node:
    """np.take along an axis, or of the ravelled array."""
    if out is not None or mode not in ("raise", "wrap", "clip"):
        raise fault(f"np.take(out=..., mode={shown(mode)}) of a traced array", "mode raise, wrap or clip, and no out")
    x = as_node(a)
    if axis is None:
        x, axis = reshape(x, (x.size,)), 0
    k = normal_axis(axis, x.ndim)
    if mode == "wrap":
        indices = UFUNCS["remainder"](indices, x.shape[k])
    elif mode == "clip":
        indices = minimum(maximum(indices, 0), x.shape[k] - 1)
    return take_at(x, {k: indices})


def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: int | None = -1) -> Node:
    """np.take_along_axis: one gather whose batch axes are all the others."""
    x, i = as_node(arr), as_node(indices)
    if axis is None:
        x, axis = reshape(x, (x.size,)), 0
    if i.ndim != x.ndim:
        raise ShapeError(
            f"{location()}take_along_axis needs indices with {x.ndim} axes, as the array has, got {i.ndim}."
        )
    k = normal_axis(axis, x.ndim)
    i = normal_index(i, x.shape[k], k)
    last = (*(a for a in range(x.ndim) if a != k), k)
    table, rows = transpose(x, last), transpose(i, last)
    lead = np.broadcast_shapes(table.shape[:-1], rows.shape[:-1])
    table, rows = (broadcast(z, (*lead, z.shape[-1])) for z in (table, rows))
    if rows.shape[-1] == 1:
        y = reshape(one_of_each_row(table, reshape(rows, lead)), rows.shape)
    else:
        y = gather(table, rows, batch=len(lead))
    return transpose(y, tuple(int(a) for a in np.argsort(last)))


@as_plain
class IndexedArray(np.ndarray[Any, Any]):
    """A NumPy array that a traced integer may index: the result of `asarray`."""

    def __getitem__(self, key: Index) -> Any:
        if any(isinstance(part, Node) for part in several(key)):
            return getitem(constant(np.asarray(self)), key)
        return super().__getitem__(key)


def asarray(a: ArrayLike) -> Any:
    """An array that traced integers can index; a plain NumPy array would request their values.

    >>> import burlab as bl, numpy as np
    >>> table = bl.asarray(np.array([10.0, 20.0, 30.0]))
    >>> float(bl.jit(lambda i: table[i])(np.array(2)))
    30.0
    """
    return a if isinstance(a, Node) else as_array(a, "a").view(IndexedArray)


def unravel_index(indices: ArrayLike, shape: ShapeLike, order: str = "C") -> tuple[Node, ...]:
    """np.unravel_index in row-major order: of each place among all elements, its index along each axis."""
    if order != "C":
        raise fault(f"np.unravel_index(order={shown(order)}) of a traced index", "row-major order")
    rest, found = _place(indices), list[Node]()
    for size in reversed(several(shape)):
        found.append(UFUNCS["remainder"](rest, int(size)))
        rest = UFUNCS["floor_divide"](rest, int(size))
    return tuple(found[::-1])


def _place(index: ArrayLike) -> Node:
    """Integers that count elements, in int64. Raises DTypeError, a TypeError as NumPy's, for what int64 cannot hold."""
    i = as_node(index)
    if i.dtype.kind not in "iub" or i.dtype == np.uint64:
        raise DTypeError(f"{location()}places are integers of int64 or smaller, got {i.dtype}. Use x.astype(np.int64).")
    return as_dtype(i, INT64)


METHODS.update({"__getitem__": getitem, "take": take})
FUNCTIONS.update({np.take: take, np.take_along_axis: take_along_axis, np.unravel_index: unravel_index})
