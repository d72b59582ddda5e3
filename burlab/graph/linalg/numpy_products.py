"""np.linalg's norms, condition numbers, powers and products of matrices, and its names for what NumPy has elsewhere."""

import math
from functools import cache
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.linear import broadcast, reshape, sum_over, transpose
from burlab.graph.node import FUNCTIONS, Node, as_node
from burlab.graph.numpy_api import norms, products
from burlab.graph.numpy_api.arguments import normal_axes, normal_axis, only_defaults, several, whole
from burlab.graph.numpy_api.extremes import extreme
from burlab.graph.numpy_api.products import matmul
from burlab.graph.numpy_api.promotion import apply, as_dtype
from burlab.graph.numpy_api.reduction import as_floats, size_along, sum_
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown

from . import singular
from .matrices import LinAlgError, eye, matrix, square, turned
from .numpy_systems import inv


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Node:  # noqa: A002 - NumPy's own word
    """np.linalg.norm of vectors and matrices, of every order; the derivative of a root at 0 is 0."""
    a = as_floats(as_node(x))
    axes = tuple(range(a.ndim)) if axis is None else several(axis)
    if len(axes) != 2 or ord in (None, "fro"):
        return norms.norm(a, ord, axis, keepdims)
    rows, columns = (normal_axis(k, a.ndim) for k in axes)
    if rows == columns:
        raise LinAlgError(f"{location()}np.linalg.norm got axis {axis}, which names an axis twice.")
    rest = [k for k in range(a.ndim) if k not in (rows, columns)]
    value = _matrix_norm(transpose(a, (*rest, rows, columns)), ord)
    return reshape(value, tuple(1 if k in (rows, columns) else d for k, d in enumerate(a.shape))) if keepdims else value


def _matrix_norm(a: Node, order: Any) -> Node:
    """Of the last two axes."""
    if order in (2, -2, "nuc"):
        s = singular.singular_values(a)
        return sum_(s, -1) if order == "nuc" else s[..., 0 if order > 0 else -1]
    if order not in (1, -1, math.inf, -math.inf):
        known = "None, 'fro', 'nuc', 1, -1, 2, -2, np.inf or -np.inf"
        raise ArgumentError(f"{location()}ord of the norm of a matrix is {shown(order)}, expected {known}.")
    totals = sum_(apply("abs", a), -2 if abs(order) == 1 else -1)
    return extreme("reduce_max" if order > 0 else "reduce_min", totals, -1, False)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Node:  # noqa: A002
    """np.linalg.vector_norm: over one axis, several, or all, as of one vector."""
    a = as_floats(as_node(x))
    axes = normal_axes(axis, a.ndim)
    rest = [k for k in range(a.ndim) if k not in axes]
    flat = reshape(transpose(a, (*rest, *axes)), (*(a.shape[k] for k in rest), size_along(a, axes)))
    value = norms.norm(flat, ord, -1)
    return reshape(value, tuple(1 if k in axes else d for k, d in enumerate(a.shape))) if keepdims else value


def matrix_norm(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Node:  # noqa: A002
    """np.linalg.matrix_norm: of the last two axes."""
    return norm(matrix(x, "np.linalg.matrix_norm"), ord, (-2, -1), keepdims)


def cond(x: Any, p: Any = None) -> Node:
    """np.linalg.cond: inf where a matrix is singular."""
    a = matrix(x, "np.linalg.cond")
    if not all(a.shape[-2:]):
        raise LinAlgError(f"{location()}np.linalg.cond needs matrices that are not empty, got shape {a.shape}.")
    if p in (None, 2, -2):
        s = singular.singular_values(a)
        first, last = s[..., 0], s[..., -1]
        value = apply("div", last, first) if p == -2 else apply("div", first, last)
    else:
        a = square(a, "np.linalg.cond")
        value = apply("mul", norm(a, p, (-2, -1)), norm(inv(a), p, (-2, -1)))
    known = apply("equal", sum_(apply("isnan", a), (-2, -1)), 0)
    return apply("where", apply("logical_and", apply("isnan", value), known), math.inf, value)


def matrix_power(a: Any, n: Any) -> Node:
    """np.linalg.matrix_power by repeated squaring; of the inverse where n is negative."""
    x, power, given = square(a, "np.linalg.matrix_power"), whole(n, "n"), as_node(a)
    if power < 0:
        x, power = inv(x), -power
    elif given.dtype.kind in "iu":  # whole numbers stay so
        x = given
    if power == 0:
        return broadcast(eye(x.shape[-1], x), x.shape)
    result: Node | None = None
    while True:
        if power % 2:
            result = x if result is None else matmul(result, x)
        power //= 2
        if not power:
            return cast("Node", result)
        x = matmul(x, x)


def multi_dot(arrays: Any, *, out: None = None) -> Node:
    """np.linalg.multi_dot: in the cheapest order, by dynamic programming (Cormen et al., section 15.2)."""
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
    """The product of matrices in the cheapest order."""
    sizes = [xs[0].shape[0], *(x.shape[1] for x in xs)]

    @cache
    def best(i: int, j: int) -> tuple[int, int]:
        """The fewest products for matrices i to j, and the last one of the left factor."""
        if i == j:
            return 0, i
        last = sizes[i] * sizes[j + 1]
        return min((best(i, k)[0] + best(k + 1, j)[0] + last * sizes[k + 1], k) for k in range(i, j))

    def product(i: int, j: int) -> Node:
        k = best(i, j)[1]
        return xs[i] if i == j else matmul(product(i, k), product(k + 1, j))

    return product(0, len(xs) - 1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Node:
    """np.linalg.trace: of the last two axes."""
    only_defaults("np.linalg.trace", {"dtype": dtype})
    a = as_node(x)
    return products.trace(a if a.ndim >= 2 else matrix(a, "np.linalg.trace"), offset, -2, -1)


def diagonal(x: Any, /, *, offset: int = 0) -> Node:
    """np.linalg.diagonal: of the last two axes."""
    return products.diagonal(as_node(x), offset, -2, -1)


def matrix_transpose(x: Any, /) -> Node:
    """np.linalg.matrix_transpose: the last two axes exchanged."""
    a = as_node(x)
    if a.ndim < 2:
        raise LinAlgError(f"{location()}np.linalg.matrix_transpose needs a matrix, got shape {a.shape}.")
    return turned(a)


def outer(x1: Any, x2: Any, /) -> Node:
    """np.linalg.outer of two vectors."""
    x, y = as_node(x1), as_node(x2)
    if x.ndim != 1 or y.ndim != 1:
        raise LinAlgError(f"{location()}np.linalg.outer needs vectors, got {x.shape} and {y.shape}. Use np.outer.")
    return products.outer(x, y)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Node:
    """np.linalg.tensordot."""
    return products.tensordot(x1, x2, axes)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Node:
    """np.linalg.cross of vectors of three entries along an axis."""
    x, y = as_node(x1), as_node(x2)
    if any(not z.ndim or z.shape[normal_axis(axis, z.ndim)] != 3 for z in (x, y)):
        what = f"np.linalg.cross needs vectors of 3 entries along axis {axis}"
        raise LinAlgError(f"{location()}{what}, got shapes {x.shape} and {y.shape}.")
    return FUNCTIONS[np.cross](x, y, axis=axis)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Node:
    """np.linalg.vecdot: sums of products along an axis."""
    product = apply("mul", x1, x2)
    return as_dtype(sum_over(product, normal_axes(axis, product.ndim)), product.dtype)


FUNCTIONS.update({
    np.linalg.norm: norm, np.linalg.vector_norm: vector_norm, np.linalg.matrix_norm: matrix_norm,
    np.linalg.cond: cond, np.linalg.matrix_power: matrix_power, np.linalg.multi_dot: multi_dot,
    np.linalg.trace: trace, np.linalg.diagonal: diagonal, np.linalg.matrix_transpose: matrix_transpose,
    np.matrix_transpose: matrix_transpose, np.linalg.outer: outer, np.linalg.tensordot: tensordot,
    np.linalg.matmul: matmul, np.linalg.cross: cross, np.linalg.vecdot: vecdot,
})  # fmt: skip
