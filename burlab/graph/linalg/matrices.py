"""Matrices in the last two axes of nodes: what rules and functions of this room are written with."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.errors import DTypeError, ShapeError
from burlab.graph.linear import broadcast, reshape, slice_, transpose
from burlab.graph.node import Node, as_node, constant
from burlab.graph.numpy_api.promotion import apply, promote
from burlab.graph.numpy_api.reduction import as_floats
from burlab.graph.origin import location
from burlab.graph.signatures import FLOATS, require

Shape = tuple[int, ...]


class LinAlgError(ShapeError, np.linalg.LinAlgError):
    """Matrices of shapes for which nothing is defined: of our errors, and NumPy's for who catches that."""


def matrix(a: Any, name: str) -> Node:
    """One or many matrices of floats. Raises LinAlgError."""
    x = as_floats(as_node(a))
    if x.dtype not in FLOATS:
        raise DTypeError(f"{location()}{name} of dtype {x.dtype}, expected float32 or float64.")
    if x.ndim < 2:
        raise LinAlgError(f"{location()}{name} needs a matrix, got shape {x.shape}. Pass one of two axes or more.")
    return x


def square(a: Any, name: str) -> Node:
    """One or many square matrices of floats. Raises LinAlgError."""
    x = matrix(a, name)
    if x.shape[-1] != x.shape[-2]:
        raise LinAlgError(
            f"{location()}{name} needs square matrices, got shape {x.shape}. Pass as many rows as columns."
        )
    return x


def pair(a: Any, b: Any) -> tuple[Node, Node]:
    """Two arrays of floats in their common dtype."""
    x, y = promote([as_floats(as_node(a)), as_floats(as_node(b))])
    return x, y


def require_matrices(*inputs: Node, square_: bool = False) -> None:
    """Raise GraphError, unless inputs are matrices of one floating dtype, as many of each."""
    first = inputs[0]
    require(first.dtype in FLOATS and all(x.dtype == first.dtype for x in inputs), "its matrices are of one dtype")
    require(all(x.ndim >= 2 and x.shape[:-2] == first.shape[:-2] for x in inputs), "its inputs are as many matrices")
    require(not square_ or inputs[-1].shape[-1] == inputs[-1].shape[-2], "its matrix is not square")


def turned(x: Node) -> Node:
    """The transposed matrices."""
    return transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def symmetric(x: Node) -> Node:
    """Half the sum of matrices and their transposes."""
    return apply("mul", apply("add", x, turned(x)), 0.5)


def eye(n: int, like: Node) -> Node:
    """The identity matrix in the dtype of a node."""
    return constant(np.eye(n), like.dtype)


def masked(x: Node, keep: Callable[[Any, Any], Any]) -> Node:
    """Matrices with zeros where `keep(row, column)` says no: whatever was there, also inf and nan."""
    rows, columns = x.shape[-2:]
    mask = keep(np.arange(rows)[:, None], np.arange(columns)[None, :])
    return apply("where", constant(mask), x, constant(0.0, x.dtype))


def lower(x: Node) -> Node:
    """The lower triangles."""
    return masked(x, operator.ge)


def strictly_lower(x: Node) -> Node:
    """The lower triangles without the diagonals."""
    return masked(x, operator.gt)


def off_diagonal(x: Node) -> Node:
    """The matrices with zeros on their diagonals."""
    return masked(x, operator.ne)


def half_lower(x: Node) -> Node:
    """The lower triangles, the diagonals halved: what added to its transpose gives a symmetric matrix again."""
    return apply("mul", apply("add", lower(x), strictly_lower(x)), 0.5)


def column(x: Node) -> Node:
    """Vectors as matrices of one column."""
    return reshape(x, (*x.shape, 1))


def row(x: Node) -> Node:
    """Vectors as matrices of one row."""
    return reshape(x, (*x.shape[:-1], 1, x.shape[-1]))


def diagonal(x: Node) -> Node:
    """The diagonals of matrices, as vectors."""
    m, n = x.shape[-2:]
    k = min(m, n)
    flat = reshape(x, (*x.shape[:-2], m * n))
    return part(flat, 0, (k,), n + 1)


def on_diagonal(x: Node) -> Node:
    """Vectors on the diagonals of matrices."""
    n = x.shape[-1]
    return masked(broadcast(column(x), (*x.shape, n)), operator.eq)


def part(packed: Node, start: int, shape: Shape, step: int = 1) -> Node:
    """A part of what lies side by side on the last axis, under a shape of its own."""
    lead = packed.shape[:-1]
    size = int(np.prod(shape, dtype=int))
    first = (*(0 for _ in lead), start)
    steps = (*(1 for _ in lead), step)
    return reshape(slice_(packed, first, steps, (*lead, size)), (*lead, *shape))
