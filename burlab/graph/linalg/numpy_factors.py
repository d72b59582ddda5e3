"""np.linalg's functions of factors: eigh, svd, qr, pinv, lstsq, and what singular values tell.

Signs of vectors are those of the kernel that computes them. Where NumPy raises LinAlgError for numbers (nan, or no
convergence), a compiled function gives nan.
"""

from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.faults import fault
from burlab.graph.linear import reshape, zeros
from burlab.graph.node import FUNCTIONS, Node, as_node, constant
from burlab.graph.numpy_api.arguments import NOT_GIVEN
from burlab.graph.numpy_api.extremes import extreme
from burlab.graph.numpy_api.products import matmul
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.numpy_api.reduction import count_nonzero, sum_
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown

from . import orthogonal, singular, spectral
from .matrices import LinAlgError, column, matrix, pair, square, turned
from .numpy_systems import right_sides


def eigh(a: Any, UPLO: str = "L") -> Any:
    """np.linalg.eigh: eigenvalues from the lowest on, and eigenvectors as columns, as NumPy's named tuple."""
    return _EIGH(*spectral.eigh(_triangle(a, UPLO, "np.linalg.eigh")))


def eigvalsh(a: Any, UPLO: str = "L") -> Node:
    """np.linalg.eigvalsh: differentiable also where eigenvalues are repeated, as long as their functions are."""
    return spectral.eigenvalues(_triangle(a, UPLO, "np.linalg.eigvalsh"))


def _triangle(a: Any, triangle: str, name: str) -> Node:
    if triangle not in ("L", "U", "l", "u"):
        raise ArgumentError(f"{location()}UPLO of {name} is {shown(triangle)}, expected 'L' or 'U'.")
    x = square(a, name)
    return turned(x) if triangle in "Uu" else x


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:  # noqa: ARG001
    """np.linalg.svd: left vectors as columns, values, right vectors as rows, as NumPy's named tuple."""
    x = matrix(a, "np.linalg.svd")
    return _SVD(*singular.svd(x, bool(full_matrices))) if compute_uv else singular.singular_values(x)


def svdvals(x: Any, /) -> Node:
    """np.linalg.svdvals."""
    return singular.singular_values(matrix(x, "np.linalg.svdvals"))


def qr(a: Any, mode: str = "reduced") -> Any:
    """np.linalg.qr in the modes reduced, complete and r."""
    x = matrix(a, "np.linalg.qr")
    if mode == "r":
        return orthogonal.qr(x, False)[1]
    if mode not in ("reduced", "complete"):
        raise fault(f"np.linalg.qr(mode={shown(mode)})", "the modes 'reduced', 'complete' or 'r'")
    return _QR(*orthogonal.qr(x, mode == "complete"))


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NOT_GIVEN) -> Node:  # noqa: ARG001
    """np.linalg.pinv, whose derivative is that of matrices of the same rank."""
    x = matrix(a, "np.linalg.pinv")
    if rcond is not None and rtol is not NOT_GIVEN:
        raise ArgumentError(f"{location()}np.linalg.pinv got rcond and rtol, which mean the same. Pass one of them.")
    cutoff = 1e-15 if rcond is None and rtol is NOT_GIVEN else rtol if rcond is None else rcond
    if not all(x.shape[-2:]):
        return zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    return singular.pinv(x, _rounding(x) if cutoff is None else cutoff)


def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Node, Node, Node, Node]:
    """np.linalg.lstsq of one matrix: solutions, sums of squared residuals, rank, singular values.

    The residuals, which NumPy leaves out where the rank is not full, are nan there: a rank is not known while tracing.
    """
    x, y = pair(a, b)
    if x.ndim != 2 or y.ndim > 2:
        raise LinAlgError(f"{location()}np.linalg.lstsq needs one matrix, got {x.shape} and {y.shape}. Use bl.vmap.")
    sides, vector = right_sides(x, y, "np.linalg.lstsq")
    m, n = x.shape
    if not m or not n:
        solution, s, rank = zeros((n, sides.shape[-1]), x.dtype), zeros((0,), x.dtype), zeros((), np.int64)
    else:
        cutoff = _rounding(x) if rcond is None else rcond
        solution, s = matmul(singular.pinv(x, cutoff), sides), singular.singular_values(x)
        rank = count_nonzero(singular.counted(s, cutoff), -1)
    if m > n:
        squares = sum_(apply("square", apply("sub", matmul(x, solution), sides)), 0)
        nan = constant(np.nan, x.dtype)
        residuals = apply("where", apply("equal", rank, n), squares, nan)
    else:
        residuals = zeros((0,), x.dtype)
    return reshape(solution, (n,)) if vector else solution, residuals, rank, s


def _rounding(x: Node) -> float:
    """What rounding leaves of a singular value that is 0, compared with the largest."""
    return max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Node:  # noqa: ARG001
    """np.linalg.matrix_rank: how many singular values are not 0, an integer."""
    x = as_node(A)
    if x.ndim < 2:
        return extreme("reduce_max", apply("not_equal", x, 0.0), None, False).astype(np.int64)
    x = matrix(x, "np.linalg.matrix_rank")
    if not all(x.shape[-2:]):
        return zeros(x.shape[:-2], np.int64)
    s = singular.singular_values(x)
    if tol is not None:
        return count_nonzero(apply("greater", s, column(as_node(tol))), -1)
    cutoff = _rounding(x) if rtol is None else column(as_node(rtol))
    return count_nonzero(singular.counted(s, cutoff), -1)


_EIGH: Any = type(np.linalg.eigh(np.eye(1)))
_SVD: Any = type(np.linalg.svd(np.eye(1)))
_QR: Any = type(np.linalg.qr(np.eye(1)))

FUNCTIONS.update({
    np.linalg.eigh: eigh, np.linalg.eigvalsh: eigvalsh, np.linalg.svd: svd, np.linalg.svdvals: svdvals,
    np.linalg.qr: qr, np.linalg.pinv: pinv, np.linalg.lstsq: lstsq, np.linalg.matrix_rank: matrix_rank,
})  # fmt: skip
