"""np.linalg's functions of linear systems: solve, inv, det, slogdet, cholesky.

Where NumPy raises LinAlgError for numbers (a singular matrix, one that is not positive definite), a compiled function
gives inf or nan instead, as JAX does.
"""

import math
from typing import Any

import numpy as np

from burlab.graph.linear_nodes import broadcast, reshape, transpose
from burlab.graph.node import FUNCTIONS, Node, as_node
from burlab.graph.numpy_api.arguments import LinAlgError, normal_axis, several, whole
from burlab.graph.operation import make_node
from burlab.graph.origin import location
from burlab.typing import ArrayLike, Axis

from . import determinants
from .matrices import as_square, column, eye, mT, pair
from .systems import factored, solve_by_factors


def solve(a: ArrayLike, b: ArrayLike) -> Node:
    """Solve a x = b, as np.linalg.solve. b is one vector, or matrices in its last two axes."""
    x, y = pair(a, b)
    x = as_square(x, "np.linalg.solve")
    y, vector = right_sides(x, y, "np.linalg.solve")
    solution = solve_by_factors(y, x, factored(x))
    return reshape(solution, solution.shape[:-1]) if vector else solution


def right_sides(a: Node, b: Node, name: str) -> tuple[Node, bool]:
    """Return right-hand sides as matrices, and True for one vector. Raises LinAlgError where rows differ."""
    vector = b.ndim == 1
    y = column(b) if vector else b
    if y.ndim < 2 or y.shape[-2] != a.shape[-2]:
        remedy = "b needs as many rows as a: one vector, or matrices in its last two axes"
        raise LinAlgError(f"{location()}{name} of shapes {a.shape} and {b.shape}: {remedy}.")
    return y, vector


def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Axis = None) -> Node:
    """Solve tensordot(a, x, x.ndim) = b, as np.linalg.tensorsolve."""
    x, y = pair(a, b)
    if axes is not None:
        others = [k for k in range(x.ndim) if k not in {normal_axis(axis, x.ndim) for axis in several(axes)}]
        x = transpose(x, (*others, *(normal_axis(axis, x.ndim) for axis in several(axes))))
    shape = x.shape[y.ndim :]
    if x.shape[: y.ndim] != y.shape or math.prod(shape) != y.size:
        what = f"np.linalg.tensorsolve of shapes {x.shape} and {y.shape}"
        raise LinAlgError(f"{location()}{what}: a begins with b's axes, and has as many entries in the others.")
    return reshape(solve(reshape(x, (y.size, y.size)), reshape(y, (y.size,))), shape)


def tensorinv(a: ArrayLike, ind: int = 2) -> Node:
    """Return the inverse for tensordot over the first `ind` axes, as np.linalg.tensorinv."""
    x, k = as_node(a), whole(ind, "ind of np.linalg.tensorinv")
    rows, columns = x.shape[:k], x.shape[k:]
    if k <= 0 or math.prod(rows) != math.prod(columns):
        what = f"np.linalg.tensorinv of shape {x.shape} and ind={k}"
        raise LinAlgError(f"{location()}{what}: the first ind axes need as many entries as the others.")
    return reshape(inv(reshape(x, (math.prod(rows), math.prod(columns)))), (*columns, *rows))


def inv(a: ArrayLike) -> Node:
    """Return inverses, as np.linalg.inv. For A^-1 b, `np.linalg.solve` is faster and more accurate."""
    x = as_square(a, "np.linalg.inv")
    return solve_by_factors(broadcast(eye(x.shape[-1], x), x.shape), x, factored(x))


def det(a: ArrayLike) -> Node:
    """Return determinants, as np.linalg.det."""
    return determinants.det(as_square(a, "np.linalg.det"))


def slogdet(a: ArrayLike) -> Any:
    """Return signs and logarithms of determinants, as np.linalg.slogdet."""
    return _SLOGDET(*determinants.sign_and_log(as_square(a, "np.linalg.slogdet")))


def cholesky(a: ArrayLike, /, *, upper: bool = False) -> Node:
    """Return Cholesky factors of the lower or the upper triangles, as np.linalg.cholesky; nan where none exists."""
    x = as_square(a, "np.linalg.cholesky")
    return mT(make_node("cholesky", None, mT(x))) if upper else make_node("cholesky", None, x)


_SLOGDET: Any = type(np.linalg.slogdet(np.eye(1)))

FUNCTIONS.update({
    np.linalg.solve: solve, np.linalg.inv: inv, np.linalg.det: det, np.linalg.slogdet: slogdet,
    np.linalg.cholesky: cholesky, np.linalg.tensorsolve: tensorsolve, np.linalg.tensorinv: tensorinv,
})  # fmt: skip
