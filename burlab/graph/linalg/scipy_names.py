"""scipy.linalg's functions on nodes: triangular systems, systems by Cholesky factors, the exponential."""

from burlab.errors import ArgumentError
from burlab.graph.linear_nodes import reshape
from burlab.graph.node import Node
from burlab.graph.operation import make_node
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.typing import ArrayLike

from .matrices import as_square, mT, pair
from .numpy_systems import right_sides
from .systems import solve_triangular as solved

_TRANSPOSED: dict[int | str, bool] = {0: False, "N": False, 1: True, "T": True, 2: True, "C": True}


def solve_triangular(
    a: ArrayLike, b: ArrayLike, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False
) -> Node:
    """Solve a x = b, or a' x = b, for triangular matrices."""
    x, y = pair(a, b)
    x = as_square(x, "solve_triangular")
    if trans not in _TRANSPOSED:
        options = "one of 0, 1, 2, 'N', 'T', 'C'"
        raise ArgumentError(f"{location()}trans of solve_triangular must be {options}; got {shown(trans)}.")
    y, vector = right_sides(x, y, "solve_triangular")
    z = solved(x, y, is_lower=bool(lower), transposed=_TRANSPOSED[trans], unit=bool(unit_diagonal))
    return reshape(z, z.shape[:-1]) if vector else z


def cholesky(a: ArrayLike, lower: bool = False) -> Node:
    """Return the lower or upper Cholesky factor, with zeros in the other triangle."""
    x = as_square(a, "cho_factor")
    return make_node("cholesky", None, x) if lower else mT(make_node("cholesky", None, mT(x)))


def cho_solve(factor: ArrayLike, b: ArrayLike, lower: bool = False) -> Node:
    """Solve systems by a Cholesky factor."""
    half = solve_triangular(factor, b, trans=0 if lower else 1, lower=lower)
    return solve_triangular(factor, half, trans=1 if lower else 0, lower=lower)


def expm(a: ArrayLike) -> Node:
    """Return the exponential of square matrices."""
    return make_node("expm", None, as_square(a, "expm"))
