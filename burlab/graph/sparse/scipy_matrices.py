"""Sparse arrays as trees: their leaves are the arrays or nodes that they consist of."""

from typing import Any, cast

import numpy as np
import optree

from burlab.errors import DTypeError, ShapeError
from burlab.graph.signatures import DTYPES, FLOATS
from burlab.graph.tree import NAMESPACE
from burlab.runtime.extras import late

from .sparse_array import SparseArray

sparse: Any = late("scipy.sparse")
_PARTS = ("values", "columns", "starts", "ends", "factor", "weights")
_Form = tuple[int, int, bool]


def of_scipy(matrix: Any) -> SparseArray:
    """Return one of SciPy's sparse matrices; its arrays are read in place if it is in CSR or CSC form, of floats.

    Entries of one place are added up, in a copy.

    Raises:
        DTypeError: Its entries are no real numbers.
        ShapeError: It has no two axes.
    """
    if matrix.ndim != 2:
        raise ShapeError(f"a sparse array has the shape {matrix.shape}, expected a matrix: reshape it to (1, d).")
    if matrix.dtype.kind not in "fiub" or matrix.dtype.itemsize > 8:
        raise DTypeError(f"a sparse matrix has the dtype {matrix.dtype}, expected real numbers, as float64.")
    flipped = matrix.format == "csc"
    rows = matrix if flipped else matrix.tocsr()
    if not rows.has_canonical_format:  # functions of entries need one for each place
        rows = rows.copy()
        rows.sum_duplicates()
    n, d = rows.shape[::-1] if flipped else rows.shape
    values = rows.data if rows.dtype in FLOATS else rows.data.astype(np.float64)
    columns, places = (
        np.ascontiguousarray(a if a.dtype == DTYPES["int32"] else a.astype(np.int64, copy=False))
        for a in (rows.indices, rows.indptr)
    )
    entries = -(-int(rows.nnz) // max(int(n), 1))
    parts = np.ascontiguousarray(values), columns, places[:-1], places[1:]
    return SparseArray(*parts, int(d), entries, flipped=flipped)


def _to_scipy(a: SparseArray) -> Any:
    """Return a matrix of plain arrays as SciPy's."""
    values: Any = a.values
    rows = np.repeat(np.arange(len(a.starts)), a.ends - a.starts)
    if a.factor is not None:
        values = values * np.broadcast_to(a.factor, a.starts.shape)[rows]
    if a.weights is not None:
        values = values * a.weights[a.columns]
    pointers = np.concatenate([a.starts[:1], a.ends]) if len(a.starts) else np.zeros(1, a.starts.dtype)
    matrix = sparse.csr_array((values, a.columns, pointers), shape=(len(a.starts), a.size_of_row))
    return matrix.T if a.flipped else matrix


def _parts(a: SparseArray) -> tuple[tuple[Any, ...], _Form, tuple[str, ...]]:
    return tuple(getattr(a, part) for part in _PARTS), (a.size_of_row, a.entries, a.flipped), _PARTS


def _whole(form: _Form, parts: tuple[Any, ...]) -> Any:
    """Return a matrix of SciPy's if all parts are arrays, else a `SparseArray` of what they are."""
    size, entries, flipped = form
    values, columns, starts, ends, factor, weights = parts
    a = SparseArray(values, columns, starts, ends, size, entries, factor, weights, flipped)
    arrays = all(isinstance(part, (np.ndarray, np.generic, float, int)) for part in parts if part is not None)
    is_matrix = arrays and starts.ndim == 1 and np.array_equal(starts[1:], ends[:-1])
    return _to_scipy(a) if is_matrix else a


cast("Any", optree).register_pytree_node(SparseArray, _parts, _whole, namespace=NAMESPACE)
