"""NumPy's functions that write into an array, on arrays that take traced entries."""

from typing import Any, cast

import numpy as np

from burlab.errors import DTypeError
from burlab.graph.faults import fault
from burlab.graph.handles import present
from burlab.graph.node import FUNCTIONS, METHODS, Node, as_node
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.typing import Array, ArrayLike

from .buffer import WRITERS, Buffer


def copyto(dst: Array, src: ArrayLike, casting: str = "same_kind", where: ArrayLike = True) -> None:
    """np.copyto."""
    src, where = present(src), present(where)
    if not isinstance(dst, Buffer) or not (isinstance(src, Node) or isinstance(where, Node) or dst.is_traced):
        np.copyto(dst.numbers if isinstance(dst, Buffer) else dst, src, cast("Any", casting), where)
        return
    held = src if isinstance(src, Node) else np.asarray(src)
    if not np.can_cast(held.dtype, dst.dtype, cast("Any", casting)):
        raise DTypeError(
            f"{location()}np.copyto puts {held.dtype} into an array of {dst.dtype}, which NumPy's casting rule "
            f"{shown(casting)} forbids. Make the array with dtype=float, or pass casting='unsafe'."
        )
    if where is True:
        dst[...] = src
    elif isinstance(where, Node):
        dst[...] = FUNCTIONS[np.where](where, src, dst)
    else:
        mask = np.broadcast_to(where, dst.shape)
        dst[mask] = METHODS["__getitem__"](FUNCTIONS[np.broadcast_to](as_node(src), dst.shape), mask)


def fill_diagonal(a: Array, val: ArrayLike, wrap: bool = False) -> None:
    """np.fill_diagonal."""
    places = np.zeros(a.shape, bool)
    np.fill_diagonal(places, True, wrap)
    a[places] = repeated(val, int(places.sum()))


def repeated(values: ArrayLike, count: int) -> Node:
    """So many values, the given ones again and again."""
    flat = METHODS["ravel"](as_node(values))
    return METHODS["take"](flat, np.arange(count) % max(flat.size, 1))


def put(a: Array, ind: ArrayLike, v: ArrayLike, mode: str = "raise") -> None:
    """np.put."""
    if mode != "raise":
        raise fault("np.put(mode=...) with traced values", "indices inside the array")
    index = np.ravel(present(ind))
    places = np.unravel_index(np.where(index < 0, index + a.size, index), a.shape)
    a[places] = repeated(v, index.size)


def putmask(a: Array, mask: ArrayLike, values: ArrayLike) -> None:
    """np.putmask: entry k of the values, which repeat, goes to entry k of the array."""
    copyto(a, METHODS["reshape"](repeated(values, a.size), a.shape), "unsafe", mask)


def place(arr: Array, mask: ArrayLike, vals: ArrayLike) -> None:
    """np.place: the values, which repeat, go to where the mask is true."""
    known = np.asarray(present(mask), bool)
    arr[known] = repeated(vals, int(known.sum()))


def put_along_axis(arr: Array, indices: ArrayLike, values: ArrayLike, axis: int | None) -> None:
    """np.put_along_axis."""
    indices = present(indices)
    target = arr.reshape(-1) if axis is None else arr
    k = 0 if axis is None else axis % arr.ndim
    grid: list[Any] = list(np.ogrid[tuple(slice(size) for size in target.shape)])
    grid[k] = indices
    target[tuple(grid)] = values


def fill(self: Buffer, value: ArrayLike) -> None:
    """ndarray.fill."""
    self[...] = value


def sort(self: Buffer, axis: int = -1, kind: Any = None, order: str | None = None, **options: Any) -> None:
    """ndarray.sort."""
    self[...] = np.sort(present(self), axis, kind, order, **options)


WRITERS.update({
    np.copyto: copyto, np.fill_diagonal: fill_diagonal, np.put: put, np.putmask: putmask, np.place: place,
    np.put_along_axis: put_along_axis,
})  # fmt: skip
for _method in (put, fill, sort):
    setattr(Buffer, _method.__name__, _method)
