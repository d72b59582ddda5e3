"""np.linalg's norms, condition numbers, powers and products of matrices, and its names for functions of np."""

import math
from collections.abc import Sequence
from functools import cache
from typing import cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.linear_nodes import broadcast, reshape, sum_over, transpose
from burlab.graph.node import FUNCTIONS, Node, as_node
from burlab.graph.numpy_api import norms, products
from burlab.graph.numpy_api.arguments import LinAlgError, normal_axes, normal_axis, only_defaults, several, whole
from burlab.graph.numpy_api.elementwise import isnan, where
from burlab.graph.numpy_api.extremes import extreme
from burlab.graph.numpy_api.products import matmul
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.numpy_api.reduction import as_floats, size_along, sum_
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.typing import ArrayLike, Axis, DTypeLike

from . import singular
from .matrices import as_matrix, as_square, eye, mT
from .numpy_systems import inv


def norm(x: ArrayLike, ord: float | str | None = None, axis: Axis = None, keepdims: bool = False) -> Node:  # noqa: A002 - NumPy's own word
    """Return norms of vectors and matrices, as np.linalg.norm. The derivative of a root at 0 is 0."""
    a = as_floats(as_node(x))
    axes = tuple(range(a.ndim)) if axis is None else several(axis)
    if len(axes) != 2 or ord in (None, "fro"):
        return norms.norm(a, ord, axis, keepdims)
    rows, columns = (normal_axis(k, a.ndim) for k in axes)
    if rows == columns:
        raise LinAlgError(f"{location()}np.linalg.norm needs two axes, got the same one twice: axis={axis}.")
    rest = [k for k in range(a.ndim) if k not in (rows, columns)]
    value = _matrix_norm(transpose(a, (*rest, rows, columns)), ord)
    return reshape(value, tuple(1 if k in (rows, columns) else d for k, d in enumerate(a.shape))) if keepdims else value


def _matrix_norm(a: Node, order: float | str | None) -> Node:
    """Return norms of the last two axes."""
    if order in (2, -2, "nuc"):
        s = singular.singular_values(a)
        return sum_(s, -1) if order == "nuc" else s[..., 0 if order > 0 else -1]
    if order not in (1, -1, math.inf, -math.inf):
        options = "one of None, 'fro', 'nuc', 1, -1, 2, -2, np.inf, -np.inf"
        raise ArgumentError(f"{location()}ord of the norm of a matrix must be {options}; got {shown(order)}.")
    totals = sum_(abs(a), -2 if abs(order) == 1 else -1)
    return extreme("reduce_max" if order > 0 else "reduce_min", totals, -1, False)


def vector_norm(x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False,
                ord: float | str | None = 2) -> Node:  # fmt: skip  # noqa: A002
    """Return norms over one axis, several or all, taken as one vector, as np.linalg.vector_norm."""
    a = as_floats(as_node(x))
    axes = normal_axes(axis, a.ndim)
    rest = [k for k in range(a.ndim) if k not in axes]
    flat = reshape(transpose(a, (*rest, *axes)), (*(a.shape[k] for k in rest), size_along(a, axes)))
    value = norms.norm(flat, ord, -1)
    return reshape(value, tuple(1 if k in axes else d for k, d in enumerate(a.shape))) if keepdims else value


def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: float | str | None = "fro") -> Node:  # noqa: A002
    """Return norms of the last two axes, as np.linalg.matrix_norm."""
    return norm(as_matrix(x, "np.linalg.matrix_norm"), ord, (-2, -1), keepdims)


def cond(x: ArrayLike, p: float | str | None = None) -> Node:
    """Return condition numbers, inf for singular matrices, as np.linalg.cond."""
    a = as_matrix(x, "np.linalg.cond")
    if not all(a.shape[-2:]):
        raise LinAlgError(f"{location()}np.linalg.cond needs matrices that are not empty, got shape {a.shape}.")
    if p in (None, 2, -2):
        s = singular.singular_values(a)
        largest, smallest = s[..., 0], s[..., -1]
        value = smallest / largest if p == -2 else largest / smallest
    else:
        a = as_square(a, "np.linalg.cond")
        value = norm(a, p, (-2, -1)) * norm(inv(a), p, (-2, -1))
    has_no_nan = sum_(isnan(a), (-2, -1)) == 0
    return where(isnan(value) & has_no_nan, math.inf, value)


def matrix_power(a: ArrayLike, n: int) -> Node:
    """Return powers of matrices by repeated squaring, for n < 0 of the inverse, as np.linalg.matrix_power."""
    x, power, given = as_square(a, "np.linalg.matrix_power"), whole(n, "n"), as_node(a)
    if power < 0:
        x, power = inv(x), -power
    elif given.dtype.kind in "iu":  # integers stay integers
        x = given
    if power == 0:
        return broadcast(eye(x.shape[-1], x), x.shape)
    result: Node | None = None
    while True:
        if power % 2:
            result = x if result is None else result @ x
        power //= 2
        if not power:
            return cast("Node", result)
        x = x @ x


def multi_dot(arrays: Sequence[ArrayLike], *, out: None = None) -> Node:
    """Return a product of matrices in the cheapest order, as np.linalg.multi_dot: Cormen et al., section 15.2."""
    only_defaults("np.linalg.multi_dot", {"out": out})
    xs = [as_node(x) for x in arrays]
    if len(xs) < 2:
        raise ArgumentError(f"{location()}np.linalg.multi_dot needs two arrays or more, got {len(xs)}.")
    first, last = xs[0].ndim == 1, xs[-1].ndim == 1
    if first:
        xs[0] = reshape(xs[0], (1, xs[0].size))
    if last:
        xs[-1] = reshape(xs[-1], (xs[-1].size, 1))
    for x in xs:
        if x.ndim != 2:
            raise LinAlgError(f"{location()}np.linalg.multi_dot needs matrices, got {x.shape}. Use @ for batches.")
    product = _ordered(xs)
    shape = product.shape[int(first) : 2 - int(last)]
    return reshape(product, shape)


def _ordered(xs: list[Node]) -> Node:
    """Return the product of matrices in the cheapest order."""
    sizes = [xs[0].shape[0], *(x.shape[1] for x in xs)]

    @cache
    def best(i: int, j: int) -> tuple[int, int]:
        """Return the least number of products for matrices i to j, and the last matrix of the left factor."""
        if i == j:
            return 0, i
        last = sizes[i] * sizes[j + 1]
        return min((best(i, k)[0] + best(k + 1, j)[0] + last * sizes[k + 1], k) for k in range(i, j))

    def product(i: int, j: int) -> Node:
        k = best(i, j)[1]
        return xs[i] if i == j else product(i, k) @ product(k + 1, j)

    return product(0, len(xs) - 1)


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike = None) -> Node:
    """Return traces of the last two axes, as np.linalg.trace."""
    only_defaults("np.linalg.trace", {"dtype": dtype})
    a = as_node(x)
    return products.trace(a if a.ndim >= 2 else as_matrix(a, "np.linalg.trace"), offset, -2, -1)


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Node:
    """Return diagonals of the last two axes, as np.linalg.diagonal."""
    return products.diagonal(as_node(x), offset, -2, -1)


def matrix_transpose(x: ArrayLike, /) -> Node:
    """Exchange the last two axes, as np.linalg.matrix_transpose."""
    a = as_node(x)
    if a.ndim < 2:
        raise LinAlgError(f"{location()}np.linalg.matrix_transpose needs a matrix, got shape {a.shape}.")
    return mT(a)


def outer(x1: ArrayLike, x2: ArrayLike, /) -> Node:
    """Return the outer product of two vectors, as np.linalg.outer."""
    x, y = as_node(x1), as_node(x2)
    if x.ndim != 1 or y.ndim != 1:
        raise LinAlgError(f"{location()}np.linalg.outer needs vectors, got {x.shape} and {y.shape}. Use np.outer.")
    return products.outer(x, y)


def tensordot(x1: ArrayLike, x2: ArrayLike, /, *, axes: int | Sequence[Axis] = 2) -> Node:
    """Return sums over pairs of axes, as np.linalg.tensordot."""
    return products.tensordot(x1, x2, axes)


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Node:
    """Return cross products along an axis of 3 entries, as np.linalg.cross."""
    x, y = as_node(x1), as_node(x2)
    if any(not z.ndim or z.shape[normal_axis(axis, z.ndim)] != 3 for z in (x, y)):
        what = f"np.linalg.cross needs vectors of 3 entries along axis {axis}"
        raise LinAlgError(f"{location()}{what}, got shapes {x.shape} and {y.shape}.")
    return FUNCTIONS[np.cross](x, y, axis=axis)


def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Node:
    """Return sums of products along an axis, as np.linalg.vecdot."""
    product = as_node(x1) * x2
    return as_dtype(sum_over(product, normal_axes(axis, product.ndim)), product.dtype)


FUNCTIONS.update({
    np.linalg.norm: norm, np.linalg.vector_norm: vector_norm, np.linalg.matrix_norm: matrix_norm,
    np.linalg.cond: cond, np.linalg.matrix_power: matrix_power, np.linalg.multi_dot: multi_dot,
    np.linalg.trace: trace, np.linalg.diagonal: diagonal, np.linalg.matrix_transpose: matrix_transpose,
    np.matrix_transpose: matrix_transpose, np.linalg.outer: outer, np.linalg.tensordot: tensordot,
    np.linalg.matmul: matmul, np.linalg.cross: cross, np.linalg.vecdot: vecdot,
})  # fmt: skip
