"""The samples of a finite sum: arrays with a leading sample axis, checked once and then read in place."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.graph.node import native_dtype
from burlab.graph.signatures import ALL, DTYPES
from burlab.runtime.coerce import Array
from burlab.runtime.dtypes import is_narrow_float
from burlab.runtime.plain import as_array
from burlab.runtime.sharded import ShardedArray
from burlab.typing import ArrayLike

Rows = Array | ShardedArray
"""An array with a row for each sample, in one place or in several."""


@dataclass(frozen=True, slots=True)
class Data:
    """Arrays of equal length. C++ reads samples in place; arrays that are not C-contiguous were copied once."""

    arrays: tuple[Rows, ...]
    samples: int

    @staticmethod
    def none() -> "Data":
        """Return no arrays and one sample: the data of a plain function."""
        return Data((), 1)

    @staticmethod
    def of(data: tuple[ArrayLike | ShardedArray, ...] | ArrayLike | ShardedArray, name: str = "data") -> "Data":
        """Return the data of an array or a tuple of arrays of equal length. name: of the argument, for errors."""
        parts = cast("tuple[Any, ...]", data) if isinstance(data, tuple) else (data,)
        if not parts:
            raise ArgumentError(
                f"{name} is an empty tuple. Pass an array, or a tuple of arrays, with one row per sample."
            )
        names = [f"{name}[{k}]" for k in range(len(parts))] if isinstance(data, tuple) else [name]
        arrays = tuple(_array(part, name) for part, name in zip(parts, names, strict=True))
        lengths = [len(a) for a in arrays]
        if len(set(lengths)) > 1:
            raise ShapeError(
                f"{name} holds arrays of {', '.join(map(str, lengths))} samples; all need the same leading size. "
                "Axis 0 counts the samples."
            )
        if lengths[0] == 0:
            raise ShapeError(f"{name} holds no sample: the mean over nothing is not defined. Pass at least one row.")
        return Data(arrays, lengths[0])

    def with_weights(self, weights: Array) -> "Data":
        """Return the data with one more array, shape (n,)."""
        return Data((*self.arrays, weights), self.samples)

    def rows(self, indices: Array) -> "Data":
        """Return some of the samples, in place where they lie at equal distances. indices: int64, shape (b,)."""
        steps = np.diff(indices)
        step = int(steps[0]) if steps.size else 1
        regular = step > 0 and bool((steps == step).all())
        chosen = slice(int(indices[0]), int(indices[-1]) + 1, step) if regular else indices
        return Data(tuple(array[chosen] for array in self.arrays), len(indices))

    @property
    def example(self) -> tuple[Any, ...]:
        """The first sample, as the loss takes it."""
        return tuple(a[0] for a in self.arrays)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays; numbers that samples share count once."""
        return sum((len(a) - 1) * a.strides[0] + a[0].nbytes for a in self.arrays)


_SUPPORTED = ALL - {DTYPES["uint64"]}  # which is for keys


def _lists_arrays(part: object) -> bool:
    return isinstance(part, list) and any(isinstance(item, np.ndarray) for item in cast("list[Any]", part))


def _array(part: ArrayLike | ShardedArray, name: str) -> Rows:
    if _lists_arrays(part):
        raise ArgumentError(f"{name} is a list of arrays. Pass a tuple for several arrays, or np.stack(list) for one.")
    if isinstance(part, dict):
        raise ArgumentError(f"{name} is a dict. Pass a tuple of its arrays: the loss gets them in that order.")
    try:
        array: Rows = part if isinstance(part, ShardedArray) else as_array(part, name)
    except ValueError:  # rows of different lengths
        raise ShapeError(
            f"{name} is a {type(part).__name__} whose parts have different shapes, expected an array. Pass a "
            "tuple of arrays, each with one row per sample."
        ) from None
    if array.ndim == 0:
        raise ShapeError(f"{name} has shape (): it needs a leading sample axis. Pass an array with one row per sample.")
    dtype = native_dtype(array.dtype)
    if dtype not in _SUPPORTED and not is_narrow_float(dtype):
        raise DTypeError(
            f"{name} has dtype {array.dtype}; samples are float16, bfloat16, float32, float64, integers or bool. "
            "Convert it with .astype."
        )
    if isinstance(array, ShardedArray):
        return array
    return array if _overlaps(array, dtype) else np.ascontiguousarray(array, dtype)


def _overlaps(array: Array, dtype: "np.dtype[Any]") -> bool:
    """Return True if samples overlap in memory, as windows onto a text do: a copy would be many times larger."""
    if array.dtype != dtype or not array.flags.aligned or not len(array):
        return False
    return bool(array[0].flags.c_contiguous and 0 < array.strides[0] < array[0].nbytes)
