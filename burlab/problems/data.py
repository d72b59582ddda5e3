"""The samples of a finite sum: arrays with a leading sample axis, checked once and then read in place.

A sparse matrix is two arrays that samples share, its values and columns, and two with a number for each sample: where
its entries start and end. So a batch of rows is drawn without copying an entry.
"""

from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.graph.node import native_dtype
from burlab.graph.signatures import ALL, DTYPES
from burlab.runtime.coerce import Array
from burlab.runtime.dtypes import is_narrow_float
from burlab.runtime.plain import as_array, is_sparse
from burlab.runtime.sharded import ShardedArray
from burlab.typing import ArrayLike

from .sparse_data import CompressedRows, SparseForm, sparse_rows

Rows = Array | ShardedArray
"""An array with a row for each sample, in one place or in several."""


@dataclass(frozen=True, slots=True)
class Data:
    """Arrays of equal length. C++ reads samples in place; arrays that are not C-contiguous were copied once.

    arrays: with a leading axis of samples. wholes: that all samples share. forms: of each argument of a loss, its form
    as a sparse row, which takes two of each, or None for an array; () if all are arrays. derived: by structure, what
    kernels computed once from whole arrays.
    """

    arrays: tuple[Rows, ...]
    samples: int
    wholes: tuple[Array, ...] = ()
    forms: tuple[SparseForm | None, ...] = ()
    derived: dict[str, Array] = field(default_factory=dict[str, Array], compare=False)

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
        given = [sparse_rows(p, n) if is_sparse(p) else _array(p, n) for p, n in zip(parts, names, strict=True)]
        arrays = tuple(a for part in given for a in (part.arrays if isinstance(part, CompressedRows) else (part,)))
        lengths = [len(part.arrays[0] if isinstance(part, CompressedRows) else part) for part in given]
        if len(set(lengths)) > 1:
            raise ShapeError(
                f"{name} holds arrays of {', '.join(map(str, lengths))} samples; all need the same leading size. "
                "Axis 0 counts the samples."
            )
        if lengths[0] == 0:
            raise ShapeError(f"{name} holds no sample: the mean over nothing is not defined. Pass at least one row.")
        matrices = [part for part in given if isinstance(part, CompressedRows)]
        if not matrices:
            return Data(arrays, lengths[0])
        forms = tuple(part.form if isinstance(part, CompressedRows) else None for part in given)
        return Data(arrays, lengths[0], tuple(a for matrix in matrices for a in matrix.wholes), forms)

    def with_array(self, array: Array) -> "Data":
        """Return the data with one more array, of shape (n, ...)."""
        return replace(self, arrays=(*self.arrays, array), forms=(*self.forms, None) if self.forms else ())

    @property
    def parts(self) -> int:
        """The number of arguments of a loss that a sample is."""
        return len(self.forms) or len(self.arrays)

    def rows(self, indices: Array) -> "Data":
        """Return some of the samples, in place where they lie at equal distances. indices: int64, shape (b,)."""
        steps = np.diff(indices)
        step = int(steps[0]) if steps.size else 1
        regular = step > 0 and bool((steps == step).all())
        chosen = slice(int(indices[0]), int(indices[-1]) + 1, step) if regular else indices
        return replace(self, arrays=tuple(array[chosen] for array in self.arrays), samples=len(indices))

    def sample(self, k: int) -> tuple[Any, ...]:
        """Return sample k, as the loss takes it: a sparse row as the tree of what it consists of."""
        arrays, wholes = iter([a[k] for a in self.arrays]), iter(self.wholes)
        return tuple(next(arrays) if form is None else form.row(wholes, arrays) for form in self._forms)

    @property
    def _forms(self) -> tuple[SparseForm | None, ...]:
        """The form of each argument of a loss."""
        return self.forms or (None,) * len(self.arrays)

    @property
    def all_arrays(self) -> tuple[Rows, ...]:
        """Whole arrays, and those of samples."""
        return *self.wholes, *self.arrays

    @property
    def texts(self) -> list[str]:
        """The arrays in words, as `float64[200, 3]`."""
        arrays, wholes, found = iter(self.arrays), iter(self.wholes), list[str]()
        for form in self._forms:
            array = next(arrays)
            if form is None:
                found.append(f"{array.dtype}{list(array.shape)}")
                continue
            values, _, _ = next(wholes), next(wholes), next(arrays)
            found.append(f"{values.dtype}{[self.samples, form.size]} with {len(values)} stored entries")
        return found

    @property
    def order(self) -> list[int]:
        """The places of whole arrays, and then of the others, among the leaves of a sample."""
        kinds = [is_whole for form in self._forms for is_whole in ((False,) if form is None else _WHOLES)]
        places = range(len(kinds))
        return [*(k for k in places if kinds[k]), *(k for k in places if not kinds[k])]

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays; numbers that samples share count once."""
        own = sum((len(a) - 1) * a.strides[0] + a[0].nbytes for a in self.arrays)
        return own + sum(a.nbytes for a in self.wholes)


_SUPPORTED = ALL - {DTYPES["uint64"]}  # which is for keys
_WHOLES = True, True, False, False  # of the leaves of a sparse row: values, columns; start, end


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
