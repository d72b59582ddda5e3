"""Types in the signatures of public functions."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Array", "ArrayLike", "Indices", "Key", "Numbers", "Shape", "Tree", "Vector"]

Array: TypeAlias = NDArray[Any]
"""An array of any dtype."""
Numbers: TypeAlias = NDArray[np.float64]
"""Numbers of any shape, float64."""
Indices: TypeAlias = NDArray[np.intp]
"""Positions of entries of an array, shape (n,)."""
Vector: TypeAlias = NDArray[np.floating[Any]]
"""Numbers of shape (d,), float32 or float64."""
Tree: TypeAlias = Any
"""Arrays and numbers, traced or not, in nested tuples, lists, dicts and registered dataclasses; or one of them."""
Key: TypeAlias = ArrayLike
"""A key of random numbers, shape (2,), uint64, or a batch of them: `bl.random.key`."""
Shape: TypeAlias = tuple[int, ...]
"""Sizes of axes."""
