"""Sparse matrices in traced functions: rows in CSR form, which meet linear words only."""

from . import sparse_words as sparse_words
from .scipy_matrices import of_scipy
from .sparse_array import SparseArray

__all__ = ["SparseArray", "of_scipy"]
