"""Numbers of samples, clients or entries of x that a query names."""

from typing import Any

import numpy as np

from burlab.errors import DTypeError, IndexRangeError, ShapeError
from burlab.graph import Node
from burlab.graph.node import as_node
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.origin import location


def chosen_numbers(numbers: Any, name: str, of: str, size: int) -> Node:
    """Traced or known numbers of samples or entries, shape (b,), as int64."""
    node, what = as_node(numbers), f"{location()}{name}"
    if node.dtype.kind not in "iu":
        raise DTypeError(f"{what} has dtype {node.dtype}, expected integers from 0 to {size - 1}.")
    if node.ndim != 1 or not node.size:
        raise ShapeError(f"{what} has shape {node.shape}, expected (b,) with at least one of the {of}.")
    if node.is_constant:
        known = np.asarray(node.params)
        outside = known[(known < 0) | (known >= size)]
        if outside.size:
            raise IndexRangeError(f"{what} holds {outside[0]}, but there are {size} {of}: use 0 to {size - 1}.")
    return as_dtype(node, np.dtype(np.int64))
