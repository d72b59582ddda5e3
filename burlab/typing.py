"""Types in the signatures of functions."""

from collections.abc import Sequence
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy import typing as npt
from numpy.typing import ArrayLike

__all__ = [
    "Array", "ArrayLike", "Axis", "DTypeLike", "Index", "Indices", "Key", "Numbers", "Operand", "Params", "Shape",
    "ShapeLike", "Tree", "Vector",
]  # fmt: skip

Array: TypeAlias = npt.NDArray[Any]
"""An array of any dtype; in a formula that burlab traces, the node that stands for one."""
Numbers: TypeAlias = npt.NDArray[np.float64]
"""Numbers of any shape, float64."""
Indices: TypeAlias = npt.NDArray[np.integer[Any]]
"""Positions of entries of an array, shape (n,)."""
Vector: TypeAlias = npt.NDArray[np.floating[Any]]
"""Numbers of shape (d,), float32 or float64."""
Operand: TypeAlias = Any
"""What is computed with: a number or an array, a traced value, a `Value` on a tape, or nested lists of these."""
Tree: TypeAlias = Any
"""Arrays and numbers, traced or not, in nested tuples, lists, dicts and registered dataclasses; or one of them."""
Key: TypeAlias = ArrayLike
"""A key of random numbers, shape (2,), uint64, or a batch of them: `bl.random.key`."""
Shape: TypeAlias = tuple[int, ...]
"""Sizes of axes."""
ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
"""Sizes of axes as NumPy's functions take them: a number for one axis, or one for each."""
Axis: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | None
"""The axes of a reduction: one, several, or None for all of them."""
Index: TypeAlias = Any
"""What may stand in the brackets of an array: ints, slices, `...`, None, integer arrays, masks; or a tuple of these."""
DTypeLike: TypeAlias = npt.DTypeLike | None
"""A dtype as NumPy's functions take it, or None for the default of a function."""
Params: TypeAlias = Any
"""What an operation needs besides its inputs: of which type, the operation's row in the table knows."""
