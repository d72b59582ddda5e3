"""Matrices in the last two axes of nodes: checks, transposes, triangles and diagonals."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from burlab.errors import DTypeError
from burlab.graph.linear_nodes import broadcast, reshape, slice_, transpose
from burlab.graph.node import Node, as_node, constant
from burlab.graph.numpy_api.arguments import LinAlgError
from burlab.graph.numpy_api.elementwise import where
from burlab.graph.numpy_api.promotion import promote
from burlab.graph.numpy_api.reduction import as_floats
from burlab.graph.origin import location
from burlab.graph.signatures import FLOATS, require
from burlab.typing import ArrayLike

Shape = tuple[int, ...]
Indices = npt.NDArray[np.int64]


def as_matrix(a: ArrayLike, name: str) -> Node:
    """Return one or many matrices of floats. Raises LinAlgError."""
    x = as_floats(as_node(a))
    if x.dtype not in FLOATS:
        raise DTypeError(f"{location()}{name} needs float32 or float64, got {x.dtype}.")
    if x.ndim < 2:
        raise LinAlgError(f"{location()}{name} needs an array of two axes or more, got shape {x.shape}.")
    return x


def as_square(a: ArrayLike, name: str) -> Node:
    """Return one or many square matrices of floats. Raises LinAlgError."""
    x = as_matrix(a, name)
    if x.shape[-1] != x.shape[-2]:
        raise LinAlgError(f"{location()}{name} needs as many rows as columns, got shape {x.shape}.")
    return x


def pair(a: ArrayLike, b: ArrayLike) -> tuple[Node, Node]:
    """Return two arrays of floats in their common dtype."""
    x, y = promote([as_floats(as_node(a)), as_floats(as_node(b))])
    return x, y


def require_matrices(*inputs: Node, square: bool = False) -> None:
    """Raise GraphError, unless inputs are matrices of one floating dtype, as many of each."""
    first = inputs[0]
    require(first.dtype in FLOATS and all(x.dtype == first.dtype for x in inputs), "its matrices are of one dtype")
    require(all(x.ndim >= 2 and x.shape[:-2] == first.shape[:-2] for x in inputs), "its inputs are as many matrices")
    require(not square or inputs[-1].shape[-1] == inputs[-1].shape[-2], "its matrix is not square")


def mT(x: Node) -> Node:
    """Return the transposed matrices."""
    return transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def symmetric(x: Node) -> Node:
    """Return half the sum of matrices and their transposes."""
    return (x + mT(x)) * 0.5


def eye(n: int, like: Node) -> Node:
    """Return the identity matrix in the dtype of a node."""
    return constant(np.eye(n), like.dtype)


def masked(x: Node, keep: Callable[[Indices, Indices], Any]) -> Node:
    """Return matrices with zeros where `keep(row, column)` is false, also in place of inf and nan."""
    rows, columns = x.shape[-2:]
    mask = keep(np.arange(rows)[:, None], np.arange(columns)[None, :])
    return where(constant(mask), x, constant(0.0, x.dtype))


def lower(x: Node) -> Node:
    """Return the lower triangles."""
    return masked(x, operator.ge)


def strictly_lower(x: Node) -> Node:
    """Return the lower triangles without the diagonals."""
    return masked(x, operator.gt)


def off_diagonal(x: Node) -> Node:
    """Return the matrices with zeros on their diagonals."""
    return masked(x, operator.ne)


def half_lower(x: Node) -> Node:
    """Return the lower triangles with halved diagonals, whose sum with their transposes is a symmetric matrix."""
    return (lower(x) + strictly_lower(x)) * 0.5


def column(x: Node) -> Node:
    """Return vectors as matrices of one column."""
    return reshape(x, (*x.shape, 1))


def row(x: Node) -> Node:
    """Return vectors as matrices of one row."""
    return reshape(x, (*x.shape[:-1], 1, x.shape[-1]))


def diagonal(x: Node) -> Node:
    """Return the diagonals of matrices as vectors."""
    m, n = x.shape[-2:]
    k = min(m, n)
    flat = reshape(x, (*x.shape[:-2], m * n))
    return part(flat, 0, (k,), n + 1)


def on_diagonal(x: Node) -> Node:
    """Return matrices with vectors on their diagonals, zeros elsewhere."""
    n = x.shape[-1]
    return masked(broadcast(column(x), (*x.shape, n)), operator.eq)


def zero_or_nan(x: Node) -> Node:
    """Return 0 where x is 0, and nan elsewhere."""
    return where(x == 0.0, 0.0, constant(np.nan, x.dtype))


def part(packed: Node, start: int, shape: Shape, step: int = 1) -> Node:
    """Return a part of the last axis, on which arrays lie side by side, in a shape of its own."""
    lead = packed.shape[:-1]
    size = int(np.prod(shape, dtype=int))
    first = (*(0 for _ in lead), start)
    steps = (*(1 for _ in lead), step)
    return reshape(slice_(packed, first, steps, (*lead, size)), (*lead, *shape))
