"""Sparse matrices as data: SciPy's in CSR form, whose rows are samples and whose arrays are read in place."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from burlab.errors import DTypeError, ShapeError
from burlab.runtime.coerce import Array

if TYPE_CHECKING:
    from burlab.graph.sparse import SparseArray


class SparseForm(NamedTuple):
    """The form of a sparse row: its size d, and about how many entries it has."""

    size: int
    entries: int

    def row(self, wholes: Iterator[Any], arrays: Iterator[Any]) -> "SparseArray":
        """Return a row of values and columns, the next two of `wholes`, from a start to an end, two of `arrays`."""
        from burlab.graph.sparse import SparseArray

        return SparseArray(next(wholes), next(wholes), next(arrays), next(arrays), *self)


class CompressedRows(NamedTuple):
    """A matrix of n rows. wholes: values and columns of all entries. arrays: starts and ends of rows, shape (n,)."""

    wholes: tuple[Array, Array]
    arrays: tuple[Array, Array]
    form: SparseForm


def sparse_rows(matrix: Any, name: str) -> CompressedRows:
    """Return the rows of one of SciPy's sparse matrices: without a copy if it is in CSR form, of floats.

    Raises:
        DTypeError: Its entries are no real numbers.
        ShapeError: It has no two axes.
    """
    from burlab.graph.sparse import of_scipy

    if matrix.ndim != 2:
        raise ShapeError(f"{name} is sparse with the shape {matrix.shape}, expected (n, d): a row for each sample.")
    try:
        rows = of_scipy(matrix.tocsr())
    except DTypeError as error:
        raise DTypeError(f"{name}: {error}") from None
    wholes, places = (rows.values, rows.columns), (rows.starts, rows.ends)
    return CompressedRows(wholes, places, SparseForm(rows.size_of_row, rows.entries))
