"""Arrays that lie in several files, one below the other, and are read where they lie."""

import ctypes
import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, DTypeError, FileError, LayoutError, ShapeError

from .checks.numbers import shown
from .coerce import Array
from .files import opened
from .structs import CShards


class ShardedArray:
    """Arrays of one dtype and form of a row, as one array whose rows are all of theirs; nothing is copied.

    A `bl.FiniteSum` takes it as data. An integer index gives a row, a slice with a positive step a `ShardedArray`, an
    array of integers a copy of these rows; `np.asarray` copies everything into memory.

    Args:
        parts: The shards, in order, C-contiguous, with one row at least.

    Raises:
        ArgumentError: For anything but a list of arrays.
        ShapeError: For no shard, or shards whose rows differ in shape.
        DTypeError: For shards of several dtypes.

    >>> import numpy as np
    >>> X = ShardedArray([np.arange(4.0).reshape(2, 2), np.ones((1, 2))])
    >>> X.shape, X[2], X[np.array([2, 0])].tolist()
    ((3, 2), array([1., 1.]), [[1.0, 1.0], [0.0, 1.0]])
    """

    def __init__(self, parts: Sequence[Array]) -> None:
        given: Any = parts
        if not isinstance(given, (list, tuple)) or not all(
            isinstance(part, np.ndarray) for part in cast("list[Any]", given)
        ):
            raise ArgumentError(f"the shards are {shown(given)}, expected a list of arrays. See also bl.data.shards.")
        if not parts:
            raise ShapeError("there are no shards. Give at least one array with at least one row.")
        first = parts[0]
        for k, part in enumerate(parts):
            if part.ndim == 0 or part.shape[1:] != first.shape[1:] or not len(part):
                raise ShapeError(
                    f"shard {k} has shape {part.shape}, expected one row at least, of shape {first.shape[1:]} as in "
                    "shard 0."
                )
            if part.dtype != first.dtype:
                raise DTypeError(f"shard {k} has dtype {part.dtype}, expected {first.dtype} as in shard 0. Convert it.")
        self.parts = tuple(parts)
        self.starts = np.cumsum([0, *(len(part) for part in parts)], dtype=np.int64)
        self.shape: tuple[int, ...] = (int(self.starts[-1]), *first.shape[1:])
        self.dtype, self.itemsize, self.ndim = first.dtype, first.itemsize, first.ndim
        self.strides = first.strides
        self._places = (ctypes.c_void_p * len(parts))(*(part.ctypes.data for part in parts))

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """Bytes of all shards."""
        return sum(part.nbytes for part in self.parts)

    @property
    def struct(self) -> CShards:
        """The addresses of the shards, for C++; valid as long as this."""
        return CShards(len(self.parts), self.starts.ctypes.data, ctypes.addressof(self._places))

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, slice):
            return self._sliced(*cast("slice[Any, Any, Any]", rows).indices(len(self)))
        chosen = np.asarray(rows)
        if chosen.dtype.kind not in "iu" or chosen.ndim > 1:
            raise DTypeError("a ShardedArray takes an integer, a slice, or integers of shape (b,). Pass one of them.")
        places = np.where(chosen < 0, chosen + len(self), chosen)
        if chosen.size and not (places.min() >= 0 and places.max() < len(self)):
            raise IndexError(f"index {rows} is outside of the {len(self)} rows")
        shards = np.searchsorted(self.starts, places, side="right") - 1
        if chosen.ndim == 0:
            return self.parts[int(shards)][int(places - self.starts[shards])]
        copy = np.empty((len(places), *self.shape[1:]), self.dtype)
        for shard in np.unique(shards):
            here = shards == shard
            copy[here] = self.parts[shard][places[here] - self.starts[shard]]
        return copy

    def _sliced(self, start: int, stop: int, step: int) -> "ShardedArray":
        if step < 1:
            raise ShapeError(
                f"a ShardedArray takes slices with a positive step, got {step}. Pass an array of integers."
            )
        views: list[Array] = []
        for part, begin in zip(self.parts, self.starts.tolist(), strict=False):
            first = start - begin if begin <= start else (start - begin) % step
            view = part[first : max(stop - begin, 0) : step]
            views += [view] if len(view) else []
        return ShardedArray(views)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("the rows of a ShardedArray lie in several places: an array of them is a copy")
        return np.concatenate(self.parts, dtype=dtype)

    def __repr__(self) -> str:
        return f"<ShardedArray of {len(self.parts)} shards: {self.dtype}{list(self.shape)}>"


def mapped_file(place: Path) -> Array:
    """Return the array of a `.npy` file, read-only, which is read from the disk when it is used."""
    try:
        with opened(place) as stream:
            shape, is_fortran, dtype = _header(stream)
            offset = stream.tell()
            memory = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except ValueError as error:
        raise FileError(f"{place} is not an .npy file: {error}. Write it by np.save.") from error
    except OSError as error:
        raise FileError(f"{place} cannot be mapped: {error.strerror}. Check the path and its permissions.") from error
    if dtype.hasobject or not dtype.isnative or dtype.names:
        raise DTypeError(f"{place} has dtype {dtype}, expected numbers of this machine's byte order. Convert it.")
    if is_fortran and len(shape) > 1:
        raise LayoutError(f"{place} is in Fortran's order: its rows are scattered. Save np.ascontiguousarray(array).")
    if len(memory) < offset + int(np.prod(shape)) * dtype.itemsize:
        raise FileError(f"{place} is shorter than the array {dtype}{list(shape)} that it begins. Write it again.")
    return np.ndarray(shape, dtype, memory, offset)


def _header(stream: Any) -> tuple[tuple[int, ...], bool, "np.dtype[Any]"]:
    version = np.lib.format.read_magic(stream)
    readers: Any = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"its format {version} is for names that numbers do not have")
    return cast("tuple[tuple[int, ...], bool, np.dtype[Any]]", readers[version](stream))
