"""Trees of arrays: nested tuples, lists, dicts and dataclasses that `bl.pytree` has registered. None is structure.

A complex array is one leaf. In a vector it is its real numbers, then its imaginary ones.

>>> import numpy as np, burlab as bl
>>> weights = {"w": np.ones((2, 2)), "b": np.zeros(2)}
>>> bl.tree.map(np.shape, weights)
{'w': (2, 2), 'b': (2,)}
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph import tree as trees
from burlab.graph.node import Node
from burlab.runtime.checks.callable import check_function
from burlab.runtime.plain import as_array, check_numbers
from burlab.typing import Array, ArrayLike, Tree

__all__ = ["leaves", "map", "ravel", "structure", "unravel"]


def map(f: Callable[..., Any], tree: Tree, *others: Tree) -> Tree:  # noqa: A001 - JAX's own word
    """Return the tree of f(leaf, *leaves of the others at the same place).

    Args:
        f: a function of as many leaves as there are trees.
        tree: the first tree.
        others: trees of the same structure.

    Returns:
        a tree of the structure of the first one.

    Raises:
        ArgumentError: if structures differ.

    >>> map(lambda x, g: x - 0.5 * g, {"a": 1.0, "b": [2.0]}, {"a": 4.0, "b": [2.0]})
    {'a': -1.0, 'b': [1.0]}
    """
    check_function(f)
    first, form = trees.flatten_whole(tree)
    rows = [first]
    for k, other in enumerate(others):
        found, other_form = trees.flatten_whole(other)
        if other_form != form:
            raise ArgumentError(
                f"tree.map got {trees.describe(form)} and, as argument {k + 2}, {trees.describe(other_form)}. "
                "Pass trees of one structure."
            )
        rows.append(found)
    return trees.unflatten(form, [f(*row) for row in zip(*rows, strict=True)])


def leaves(tree: Tree) -> list[Any]:
    """Return the leaves in order: dicts by their sorted keys.

    >>> leaves({"b": (1.0, 2.0), "a": None, "c": [3.0]})
    [1.0, 2.0, 3.0]
    """
    return trees.flatten_whole(tree)[0]


def structure(tree: Tree) -> trees.TreeDef:
    """Return the structure without the leaves: an object that can be compared, hashed and printed.

    >>> structure((1.0, [2.0])) == structure((np.ones(3), ["a"]))
    True
    """
    return trees.flatten_whole(tree)[1]


def ravel(tree: Tree) -> Any:
    """Return all numbers of a tree of arrays as one vector.

    Args:
        tree: arrays and numbers, which may be traced. For complex ones the vector has the real, then the imaginary
            part. A tree without leaves gives an empty vector of float64.

    Returns:
        shape (d,), of the dtype that NumPy promotes theirs to.

    >>> ravel({"w": np.ones((2, 2)), "b": np.zeros(1)})
    array([0., 1., 1., 1., 1.])
    """
    parts = [leaf if isinstance(leaf, Node) else np.asarray(leaf) for leaf in trees.flatten(tree)[0]]
    return np.concatenate([np.ravel(part) for part in parts]) if parts else np.empty(0)


def unravel(vector: ArrayLike, like: Tree) -> Tree:
    """Return the tree with the form of `like` and the numbers of a vector: the inverse of `ravel`.

    Args:
        vector: shape (d,), d the number of all elements of `like`; it may be traced.
        like: a tree of arrays and numbers, whose structure, shapes and dtypes the result has.

    Raises:
        ShapeError: if d differs.

    >>> unravel(np.arange(5.0), {"w": np.ones((2, 2)), "b": np.zeros(1)})
    {'w': array([[1., 2.],
           [3., 4.]]), 'b': array([0.])}
    """
    examples, form = trees.flatten(like)
    vector = vector if isinstance(vector, Node) else as_array(vector, "the vector of unravel")
    sizes = [math.prod(np.shape(x)) for x in examples]
    if not isinstance(vector, Node):
        check_numbers(vector, "the vector of unravel")
    if vector.shape != (sum(sizes),):
        raise ShapeError(
            f"unravel got a vector of shape {vector.shape}, but {trees.describe(form)} has {sum(sizes)} elements. "
            f"Pass one of shape ({sum(sizes)},)."
        )
    ends = list(np.cumsum(sizes))
    parts = [vector[end - size : end] for size, end in zip(sizes, ends, strict=True)]
    return trees.unflatten(form, [_like(part, x) for part, x in zip(parts, examples, strict=True)])


def _like(part: Array | Node, x: Tree) -> Any:
    """A piece of a vector in the shape and dtype of an example."""
    dtype = x.dtype if isinstance(x, Node) else np.asarray(x).dtype
    return np.reshape(part, np.shape(x)).astype(dtype)
