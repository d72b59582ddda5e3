"""np.linalg's factorizations, and functions of singular values: eigh, svd, qr, pinv, lstsq, matrix_rank.

Signs of vectors are those of the kernel that computes them. Where NumPy raises LinAlgError for numbers (nan, or no
convergence), a compiled function gives nan.
"""

from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.faults import fault
from burlab.graph.linear_nodes import reshape, zeros
from burlab.graph.node import FUNCTIONS, Node, as_node, constant
from burlab.graph.numpy_api.arguments import NOT_GIVEN, LinAlgError
from burlab.graph.numpy_api.elementwise import square, where
from burlab.graph.numpy_api.extremes import extreme
from burlab.graph.numpy_api.reduction import count_nonzero, sum_
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.typing import ArrayLike

from . import orthogonal, singular, spectral
from .matrices import as_matrix, as_square, column, mT, pair
from .numpy_systems import right_sides


def eigh(a: ArrayLike, UPLO: str = "L") -> Any:
    """Return eigenvalues, the lowest first, and eigenvectors as columns, as np.linalg.eigh."""
    return _EIGH(*spectral.eigh(_triangle(a, UPLO, "np.linalg.eigh")))


def eigvalsh(a: ArrayLike, UPLO: str = "L") -> Node:
    """Return eigenvalues, as np.linalg.eigvalsh. Symmetric functions of them are smooth also where some are equal."""
    return spectral.eigenvalues(_triangle(a, UPLO, "np.linalg.eigvalsh"))


def _triangle(a: ArrayLike, triangle: str, name: str) -> Node:
    if triangle not in ("L", "U", "l", "u"):
        raise ArgumentError(f"{location()}UPLO of {name} must be one of 'L', 'U'; got {shown(triangle)}.")
    x = as_square(a, name)
    return mT(x) if triangle in "Uu" else x


def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True,
        hermitian: bool = False) -> Any:  # fmt: skip  # noqa: ARG001
    """Return left vectors as columns, singular values, right vectors as rows, as np.linalg.svd."""
    x = as_matrix(a, "np.linalg.svd")
    return _SVD(*singular.svd(x, bool(full_matrices))) if compute_uv else singular.singular_values(x)


def svdvals(x: ArrayLike, /) -> Node:
    """Return singular values, the largest first, as np.linalg.svdvals."""
    return singular.singular_values(as_matrix(x, "np.linalg.svdvals"))


def qr(a: ArrayLike, mode: str = "reduced") -> Any:
    """Return Q and R, as np.linalg.qr in the modes reduced, complete and r."""
    x = as_matrix(a, "np.linalg.qr")
    if mode == "r":
        return orthogonal.qr(x, False)[1]
    if mode not in ("reduced", "complete"):
        raise fault(f"np.linalg.qr(mode={shown(mode)})", "the modes 'reduced', 'complete' or 'r'")
    return _QR(*orthogonal.qr(x, mode == "complete"))


def pinv(a: ArrayLike, rcond: float | Node | None = None, hermitian: bool = False, *,  # noqa: ARG001
         rtol: float | Node | None = NOT_GIVEN) -> Node:  # fmt: skip
    """Return pseudoinverses, as np.linalg.pinv. The derivative is that of matrices of constant rank."""
    x = as_matrix(a, "np.linalg.pinv")
    if rcond is not None and rtol is not NOT_GIVEN:
        raise ArgumentError(f"{location()}np.linalg.pinv takes either rcond or rtol, which mean the same; got both.")
    cutoff = 1e-15 if rcond is None and rtol is NOT_GIVEN else rtol if rcond is None else rcond
    if not all(x.shape[-2:]):
        return zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    return singular.pinv(x, _relative_rounding(x) if cutoff is None else cutoff)


def lstsq(a: ArrayLike, b: ArrayLike, rcond: float | Node | None = None) -> tuple[Node, Node, Node, Node]:
    """Return solutions, sums of squared residuals, rank, singular values of one matrix, as np.linalg.lstsq.

    Where the rank is not full, the residuals are nan. NumPy omits them, but the rank is not known while tracing.
    """
    x, y = pair(a, b)
    if x.ndim != 2 or y.ndim > 2:
        raise LinAlgError(f"{location()}np.linalg.lstsq needs one matrix, got {x.shape} and {y.shape}. Use bl.vmap.")
    sides, vector = right_sides(x, y, "np.linalg.lstsq")
    m, n = x.shape
    if not m or not n:
        solution, s, rank = zeros((n, sides.shape[-1]), x.dtype), zeros((0,), x.dtype), zeros((), np.int64)
    else:
        cutoff = _relative_rounding(x) if rcond is None else rcond
        solution, s = singular.pinv(x, cutoff) @ sides, singular.singular_values(x)
        rank = count_nonzero(singular.is_counted(s, cutoff), -1)
    if m > n:
        squares = sum_(square(x @ solution - sides), 0)
        nan = constant(np.nan, x.dtype)
        residuals = where(rank == n, squares, nan)
    else:
        residuals = zeros((0,), x.dtype)
    return reshape(solution, (n,)) if vector else solution, residuals, rank, s


def _relative_rounding(x: Node) -> float:
    """Return the rounding error of a singular value of 0, relative to the largest."""
    return max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)


def matrix_rank(A: ArrayLike, tol: ArrayLike | None = None, hermitian: bool = False, *,  # noqa: ARG001
                rtol: float | Node | None = None) -> Node:  # fmt: skip
    """Return the number of singular values that are not 0, as np.linalg.matrix_rank."""
    x = as_node(A)
    if x.ndim < 2:
        return extreme("reduce_max", x != 0.0, None, False).astype(np.int64)
    x = as_matrix(x, "np.linalg.matrix_rank")
    if not all(x.shape[-2:]):
        return zeros(x.shape[:-2], np.int64)
    s = singular.singular_values(x)
    if tol is not None:
        return count_nonzero(s > column(as_node(tol)), -1)
    cutoff = _relative_rounding(x) if rtol is None else column(as_node(rtol))
    return count_nonzero(singular.is_counted(s, cutoff), -1)


_EIGH: Any = type(np.linalg.eigh(np.eye(1)))
_SVD: Any = type(np.linalg.svd(np.eye(1)))
_QR: Any = type(np.linalg.qr(np.eye(1)))

FUNCTIONS.update({
    np.linalg.eigh: eigh, np.linalg.eigvalsh: eigvalsh, np.linalg.svd: svd, np.linalg.svdvals: svdvals,
    np.linalg.qr: qr, np.linalg.pinv: pinv, np.linalg.lstsq: lstsq, np.linalg.matrix_rank: matrix_rank,
})  # fmt: skip
