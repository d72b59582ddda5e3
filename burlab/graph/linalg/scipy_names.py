"""scipy.linalg's functions on nodes: triangular systems, Cholesky factors with systems, the exponential."""

from typing import Any

from burlab.errors import ArgumentError
from burlab.graph.linear import reshape
from burlab.graph.node import Node
from burlab.graph.operation import made
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown

from .matrices import pair, square, turned
from .numpy_systems import right_sides
from .systems import solve_triangular as solved

_TRANSPOSED = {0: False, "N": False, 1: True, "T": True, 2: True, "C": True}


def solve_triangular(a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False) -> Node:
    """Solutions of a x = b, or of its transpose, for triangular matrices."""
    x, y = pair(a, b)
    x = square(x, "solve_triangular")
    if trans not in _TRANSPOSED:
        raise ArgumentError(
            f"{location()}trans of solve_triangular is {shown(trans)}, expected 0, 1, 2, 'N', 'T' or 'C'."
        )
    y, vector = right_sides(x, y, "solve_triangular")
    z = solved(x, y, is_lower=bool(lower), transposed=_TRANSPOSED[trans], unit=bool(unit_diagonal))
    return reshape(z, z.shape[:-1]) if vector else z


def cholesky(a: Any, lower: bool = False) -> Node:
    """The lower or upper Cholesky factor, with zeros in the other triangle."""
    x = square(a, "cho_factor")
    return made("cholesky", None, x) if lower else turned(made("cholesky", None, turned(x)))


def cho_solve(factor: Any, b: Any, lower: bool = False) -> Node:
    """Solutions by a Cholesky factor."""
    half = solve_triangular(factor, b, trans=0 if lower else 1, lower=lower)
    return solve_triangular(factor, half, trans=1 if lower else 0, lower=lower)


def expm(a: Any) -> Node:
    """The exponential of square matrices."""
    return made("expm", None, square(a, "expm"))
