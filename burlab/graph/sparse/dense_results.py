"""Products of sparse rows and matrices with dense arrays, as nodes: scalings are applied to operands and results."""

import numpy as np

from burlab.errors import ShapeError
from burlab.graph.linear_nodes import broadcast, transpose
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.promotion import as_dtype, common_dtype, node
from burlab.graph.signatures import DTYPES, FLOATS

from .row_operations import RowParams, row_products, spread_rows
from .sparse_array import SparseArray


def times(a: SparseArray, x: Node) -> Node:
    """Return the product of a row or a matrix that is not flipped with an array of shape (d, *w)."""
    _check_rows(a, x, (a.size_of_row,))
    if a.weights is not None:
        x = scaled_along(x, a.weights, 0)
    values, x = _promoted(as_floats(a.values), x)
    product = row_products(_params(a), values, x, a.columns, a.starts, a.ends)
    return product if a.factor is None else scaled_along(product, a.factor, 0)


def spread(a: SparseArray, y: Node) -> Node:
    """Return the product of the transpose of a row or a matrix with an array of shape (*rows, *w)."""
    _check_rows(a, y, a.starts.shape)
    if a.factor is not None:
        y = scaled_along(y, a.factor, 0)
    values, y = _promoted(as_floats(a.values), y)
    product = spread_rows(_params(a), values, y, a.columns, a.starts, a.ends)
    return product if a.weights is None else scaled_along(product, a.weights, 0)


def dense(a: SparseArray) -> Node:
    """Return all of its elements, as an array of shape (n, d) or (d,)."""
    lead = a.starts.shape
    values = as_floats(a.values)
    ones = broadcast(constant(np.ones((), values.dtype)), lead, ())
    full = spread_rows(_params(a)._replace(apart=True), values, ones, a.columns, a.starts, a.ends)
    if a.weights is not None:
        full = scaled_along(full, a.weights, len(lead))
    if a.factor is not None:
        full = scaled_along(full, a.factor, 0)
    return transpose(full, (1, 0)) if a.flipped else full


def scaled_along(x: Node, numbers: Node, axis: int) -> Node:
    """Return x times a number, or times numbers along the axes from one on."""
    x, numbers = _promoted(x, numbers)
    axes = tuple(range(axis, axis + numbers.ndim))
    return node("mul", x, broadcast(numbers, x.shape, axes))


def as_floats(values: Node) -> Node:
    """Return entries as floats: whole numbers become float64."""
    return values if values.dtype in FLOATS else as_dtype(values, DTYPES["float64"])


def ones_of(a: SparseArray) -> Node:
    """Return ones, one for each column."""
    return broadcast(constant(np.ones((), as_floats(a.values).dtype)), (a.size_of_row,), ())


def _params(a: SparseArray) -> RowParams:
    return RowParams(a.size_of_row, a.entries)


def _check_rows(a: SparseArray, x: Node, rows: tuple[int, ...]) -> None:
    if x.shape[: len(rows)] != rows:
        raise ShapeError(
            f"a product of a sparse array of shape {a.shape} with an array of shape {x.shape} is not defined: "
            f"the array needs {rows[0]} rows."
        )


def _promoted(x: Node, y: Node) -> tuple[Node, Node]:
    dtype = common_dtype([x, y])
    return as_dtype(x, dtype), as_dtype(y, dtype)
