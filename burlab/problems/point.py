"""Points of the space that is optimized over: trees of float arrays, checked and laid out for C++."""

from typing import Any

import numpy as np

from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.graph import tree
from burlab.graph.node import native_dtype

Array = np.ndarray[Any, Any]


def float_leaves(point: tree.Tree, name: str) -> tuple[list[Array], tree.TreeDef]:
    """The leaves of a point as float32 or float64 arrays in C order, and its structure."""
    leaves, structure = tree.flatten(point)
    if not leaves:
        raise ArgumentError(f"{name} holds no array. Pass a float array, or a tree (tuple, list, dict) of them.")
    return [_floats(leaf, name, point, k) for k, leaf in enumerate(leaves)], structure


_SUPPORTED = {np.dtype(np.float32), np.dtype(np.float64)}


def _floats(leaf: Any, name: str, point: tree.Tree, k: int) -> Array:
    array: Array = np.asarray(leaf)
    dtype = native_dtype(array.dtype)
    if dtype not in _SUPPORTED:
        where = name + tree.leaf_names(point)[k]
        raise DTypeError(f"{where} has dtype {array.dtype}, expected float32 or float64. Use x.astype(float) or 3.0.")
    return np.asarray(array, dtype, order="C")


def like_leaves(vector: tree.Tree, point: list[Array], structure: tree.TreeDef, name: str) -> list[Array]:
    """The leaves of a vector that must have the structure and shapes of a point, in the point's dtypes."""
    leaves, found = float_leaves(vector, name)
    if found != structure:
        raise ShapeError(f"{name} has the structure {found}, but x has {structure}. Pass the same tree of arrays.")
    for k, (leaf, x) in enumerate(zip(leaves, point, strict=True)):
        if leaf.shape != x.shape:
            where = name + tree.leaf_names(vector)[k]
            raise ShapeError(f"{where} has shape {leaf.shape}, but x has {x.shape} there. Pass arrays of x's shapes.")
    return [np.asarray(leaf, x.dtype, order="C") for leaf, x in zip(leaves, point, strict=True)]
