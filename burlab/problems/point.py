"""Points of the space that is optimized over: trees of float arrays, checked and laid out for C++.

Narrow floats, float16 and bfloat16, stay so in memory; what is computed from them is float32.
"""

from typing import Any, NamedTuple

import numpy as np

from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.graph import tree
from burlab.graph.node import Node, native_dtype
from burlab.graph.signatures import FLOATS
from burlab.runtime.coerce import Array
from burlab.runtime.dtypes import computed_in, is_narrow_float
from burlab.runtime.plain import as_array
from burlab.typing import Vector


class Point(NamedTuple):
    """A tree of arrays in two parts: its leaves, in C order and native byte order, and its structure."""

    leaves: list[Array]
    structure: tree.TreeDef

    @property
    def tree(self) -> tree.Tree:
        """The tree of arrays."""
        return tree.unflatten(self.structure, self.leaves)

    def with_numbers(self, flat: Vector | Node) -> "Point":
        """Return a point of the same form with the numbers of a vector, shape (d,). It may share the vector's memory.

        The parts of a traced vector are traced leaves, in the vector's dtype.
        """
        leaves: list[Any] = []
        for leaf in self.leaves:
            part = flat[: leaf.size].reshape(leaf.shape)
            leaves.append(part.astype(leaf.dtype, copy=False) if isinstance(part, np.ndarray) else part)
            flat = flat[leaf.size :]
        return Point(leaves, self.structure)

    @property
    def computed(self) -> "Point":
        """The form of points that are computed: float32 zeros for a narrow leaf, others as they are."""
        return Point([_computed(leaf) for leaf in self.leaves], self.structure)


def is_float(dtype: "np.dtype[Any]") -> bool:
    """Return True for the dtypes of floats that x may have.

    >>> is_float(np.dtype(np.float16)), is_float(np.dtype(np.int8))
    (True, False)
    """
    return computed_in(dtype) in FLOATS


def _computed(leaf: Array) -> Array:
    return np.zeros(leaf.shape, computed_in(leaf.dtype)) if is_narrow_float(leaf.dtype) else leaf


def as_point(value: tree.Tree, name: str) -> Point:
    """Return a tree of arrays of floats as a point. Raises DTypeError for other leaves."""
    leaves, structure = tree.flatten(value)
    if not leaves:
        raise ArgumentError(f"{name} holds no array. Pass a float array, or a tree (tuple, list, dict) of them.")
    return Point([_floats(as_array(leaf, name), name, value, k) for k, leaf in enumerate(leaves)], structure)


def leaves_of(*points: Point) -> list[Array]:
    """Return the leaves of several points, one after another."""
    return [leaf for point in points for leaf in point.leaves]


def coordinates_of(index: Array) -> Point:
    """Return coordinates of x, int64 of shape (k,), as an argument of a query."""
    return Point([index], tree.flatten(index)[1])


def scale_of(point: Point) -> Point:
    """Return a number of a point's dtype, as an argument of a query."""
    one = np.ones((), computed_in(point.leaves[0].dtype))
    return Point([one], tree.flatten(one)[1])


def as_start(value: tree.Tree, name: str) -> Point:
    """Return the start of a run as a point; Python numbers, and integers without a float array, become floats.

    Beside a float array other arrays of integers and masks stay what they are: state of the run. A Python int becomes
    of the dtype of the first float array.
    """
    leaves, structure = tree.flatten(value)
    arrays: list[Array] = [as_array(leaf, name) for leaf in leaves]
    kind = next((native_dtype(array.dtype) for array in arrays if is_float(native_dtype(array.dtype))), None)
    wide = kind or np.dtype(np.float64)
    floats = [x.astype(wide) if x.dtype.kind in "iu" and (kind is None or type(leaf) is int) else x
              for x, leaf in zip(arrays, leaves, strict=True)]  # fmt: skip
    if kind is None or all(is_float(native_dtype(array.dtype)) for array in floats):
        return as_point(tree.unflatten(structure, floats), name)
    return Point([_whole_or_floats(x, name, value, k) for k, x in enumerate(floats)], structure)


def _check_dense(name: str, value: tree.Tree, k: int) -> None:
    """Raise DTypeError if leaf k of a tree says where a sparse matrix has its entries."""
    if tree.are_indices(value)[k]:
        raise DTypeError(f"{name} is a sparse matrix, or holds one, expected arrays of floats. Use {name}.toarray().")


def _whole_or_floats(array: Array, name: str, value: tree.Tree, k: int) -> Array:
    if array.dtype.kind in "iub":
        _check_dense(name, value, k)
        return np.ascontiguousarray(array, native_dtype(array.dtype)).reshape(array.shape)
    return _floats(array, name, value, k)


def like_point(value: tree.Tree, point: Point, name: str) -> Point:
    """Return a tree with the structure and shapes of a point, in the dtypes of its gradient. Raises ShapeError."""
    vector = as_point(value, name)
    if vector.structure != point.structure:
        raise ShapeError(
            f"{name} has the structure {vector.structure}, but x has {point.structure}. Pass the same tree of arrays."
        )
    for k, (leaf, x) in enumerate(zip(vector.leaves, point.leaves, strict=True)):
        if leaf.shape != x.shape:
            where = name + tree.leaf_names(value)[k]
            raise ShapeError(f"{where} has shape {leaf.shape}, but x has {x.shape} there. Pass arrays of x's shapes.")
    leaves = [
        np.asarray(leaf, computed_in(x.dtype), order="C") for leaf, x in zip(vector.leaves, point.leaves, strict=True)
    ]
    return Point(leaves, point.structure)


def _floats(array: Array, name: str, value: tree.Tree, k: int) -> Array:
    dtype = native_dtype(array.dtype)
    if not is_float(dtype):
        _check_dense(name, value, k)
        where = name + tree.leaf_names(value)[k]
        raise DTypeError(f"{where} has dtype {array.dtype}, expected float32 or float64. Use x.astype(float) or 3.0.")
    return np.asarray(array, dtype, order="C")
