"""Linear algebra that NumPy lacks, differentiable to any order: inside of traced functions, and on arrays.

Matrices are the last two axes; leading axes broadcast. Integers become float64. Where SciPy raises LinAlgError for
numbers, these give inf or nan.
"""

from typing import Any

from burlab.errors import ArgumentError
from burlab.graph.linalg import scipy_names as rules
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import flag, shown
from burlab.typing import ArrayLike

from .dispatch import choose

__all__ = ["cho_factor", "cho_solve", "expm", "solve_triangular"]


_solve_triangular, _cholesky, _cho_solve, _expm = (
    choose(rule, rule.__name__) for rule in (rules.solve_triangular, rules.cholesky, rules.cho_solve, rules.expm)
)


def solve_triangular(
    a: ArrayLike, b: ArrayLike, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False
) -> Any:
    """Solve a x = b for triangular a, of which the other triangle is not read.

    a: (..., n, n); b: (n,) or (..., n, k). trans: 1 or "T" for a' x = b. unit_diagonal: the diagonal counts as ones.
    Raises ShapeError, which is a LinAlgError here, for shapes that do not fit. As scipy.linalg.solve_triangular.

    >>> solve_triangular([[2.0, 0.0], [1.0, 4.0]], [2.0, 9.0], lower=True)
    array([1., 2.])
    """
    return _solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit_diagonal)


def cho_factor(a: ArrayLike, lower: bool = False) -> tuple[Any, bool]:
    """The Cholesky factor of symmetric positive definite matrices, for `cho_solve`; nan where one is not.

    a: (..., n, n), of which one triangle is read. The other triangle of the factor is zero, in SciPy it is arbitrary.

    >>> factor, lower = cho_factor([[4.0, 2.0], [2.0, 5.0]], lower=True)
    >>> factor
    array([[2., 0.],
           [1., 2.]])
    """
    return _cholesky(a, lower=flag(lower, "lower")), bool(lower)


def cho_solve(c_and_lower: tuple[Any, bool], b: ArrayLike) -> Any:
    """Solve a x = b with what `cho_factor` gave for a. b: (n,) or (..., n, k).

    >>> cho_solve(cho_factor([[4.0, 2.0], [2.0, 5.0]]), [8.0, 12.0])
    array([1., 2.])
    """
    if not isinstance(c_and_lower, tuple) or len(c_and_lower) != 2:  # pyright: ignore[reportUnnecessaryIsInstance] - users
        raise ArgumentError(f"{location()}cho_solve takes what cho_factor gave, (c, lower), got {shown(c_and_lower)}.")
    factor, lower = c_and_lower
    return _cho_solve(factor, b, lower=flag(lower, "lower"))


def expm(A: ArrayLike) -> Any:
    """The exponential of square matrices, (..., n, n): Higham 2005, scaling and squaring. nan for inf and nan.

    >>> expm([[0.0, 1.0], [0.0, 0.0]])
    array([[1., 1.],
           [0., 1.]])
    """
    return _expm(A)
