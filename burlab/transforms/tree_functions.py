"""Trees of arrays: nested tuples, lists, dicts and dataclasses that `bl.pytree` has registered. None is structure.

A complex array is one leaf. In a vector it is its real numbers, then its imaginary ones.

>>> import numpy as np, burlab as bl
>>> weights = {"w": np.ones((2, 2)), "b": np.zeros(2)}
>>> bl.tree.map(np.shape, weights)
{'w': (2, 2), 'b': (2,)}
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph import tree as trees
from burlab.graph.node import Node
from burlab.runtime.checks.callable import check_function
from burlab.runtime.checks.numbers import shown
from burlab.runtime.plain import as_array, check_numbers
from burlab.typing import Array, ArrayLike, Tree

__all__ = [
    "flatten", "flatten_with_path", "leaves", "map", "map_with_path", "ravel", "structure", "transpose", "unflatten",
    "unravel",
]  # fmt: skip
Path = tuple[Any, ...]


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
    rows, form = _rows("map", tree, others)
    return trees.unflatten(form, [f(*row) for row in rows])


def map_with_path(f: Callable[..., Any], tree: Tree, *others: Tree) -> Tree:
    """Return the tree of f(path, leaf, *leaves of the others at the same place).

    Args:
        f: a function of a path and as many leaves as there are trees. A path is a tuple: keys of dicts, numbers in
            lists and tuples, names of fields.
        tree: the first tree.
        others: trees of the same structure.

    Returns:
        a tree of the structure of the first one.

    Raises:
        ArgumentError: if structures differ.

    >>> map_with_path(lambda path, x: 0.0 if path[-1] == "b" else x, {"w": [1.0, 2.0], "b": 3.0})
    {'w': [1.0, 2.0], 'b': 0.0}
    """
    check_function(f)
    rows, form = _rows("map_with_path", tree, others)
    return trees.unflatten(form, [f(path, *row) for path, row in zip(trees.paths(form), rows, strict=True)])


def _rows(name: str, tree: Tree, others: tuple[Tree, ...]) -> tuple[list[tuple[Any, ...]], trees.TreeDef]:
    """Return the leaves of several trees by place, and their structure. Raises ArgumentError if structures differ."""
    first, form = trees.flatten_whole(tree)
    columns = [first]
    for k, other in enumerate(others):
        found, other_form = trees.flatten_whole(other)
        if other_form != form:
            raise ArgumentError(
                f"tree.{name} got {trees.describe(form)} and, as argument {k + 2}, {trees.describe(other_form)}. "
                "Pass trees of one structure."
            )
        columns.append(found)
    return list(zip(*columns, strict=True)), form


def flatten(tree: Tree) -> tuple[list[Any], trees.TreeDef]:
    """Return the leaves in order, and the structure, from which `unflatten` makes the tree again.

    >>> found, form = flatten({"b": (1.0, 2.0), "a": None})
    >>> found, unflatten(form, [3.0, 4.0])
    ([1.0, 2.0], {'b': (3.0, 4.0), 'a': None})
    """
    return trees.flatten_whole(tree)


def unflatten(structure: trees.TreeDef, leaves: Iterable[Any]) -> Tree:
    """Return the tree of a structure with these leaves.

    Args:
        structure: what `flatten` or `structure` returned.
        leaves: as many objects as the structure has leaves, in order.

    Raises:
        ArgumentError: if their number differs, or for anything else than a structure.

    >>> unflatten(structure([0.0, {"a": 0.0}]), [1.0, "x"])
    [1.0, {'a': 'x'}]
    """
    _check_structure(structure, "structure of tree.unflatten")
    if not isinstance(leaves, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"tree.unflatten expects a list of leaves after the structure, got {shown(leaves)}.")
    found = list(leaves)
    if len(found) != structure.num_leaves:
        raise ArgumentError(
            f"tree.unflatten got {len(found)} leaves, but {trees.describe(structure)} has {structure.num_leaves}. "
            "Pass one for each."
        )
    return trees.unflatten(structure, found)


def flatten_with_path(tree: Tree) -> tuple[list[tuple[Path, Any]], trees.TreeDef]:
    """Return pairs of a path and a leaf in order, and the structure.

    A path is a tuple: keys of dicts, numbers in lists and tuples, names of fields.

    >>> flatten_with_path({"w": [1.0, 2.0]})[0]
    [(('w', 0), 1.0), (('w', 1), 2.0)]
    """
    found, form = trees.flatten_whole(tree)
    return list(zip(trees.paths(form), found, strict=True)), form


def transpose(outer: trees.TreeDef, inner: trees.TreeDef, tree: Tree) -> Tree:
    """Return the tree like `inner` of trees like `outer`, from the tree like `outer` of trees like `inner`.

    Args:
        outer: the structure of the tree, down to the trees like `inner`.
        inner: the structure of these.
        tree: a tree like `outer` whose leaves are trees like `inner`.

    Raises:
        ArgumentError: if the tree has another structure.

    >>> samples = [{"x": 1.0, "y": 2.0}, {"x": 3.0, "y": 4.0}]
    >>> transpose(structure([0, 0]), structure({"x": 0, "y": 0}), samples)
    {'x': [1.0, 3.0], 'y': [2.0, 4.0]}
    """
    for given, name in ((outer, "outer"), (inner, "inner")):
        _check_structure(given, f"{name} of tree.transpose")
    found, form = trees.flatten_whole(tree)
    wanted = trees.composed(outer, inner)
    if form != wanted:
        raise ArgumentError(
            f"tree.transpose expects {trees.describe(wanted)}, outer around inner, got {trees.describe(form)}."
        )
    count = inner.num_leaves
    return trees.unflatten(inner, [trees.unflatten(outer, found[k::count]) for k in range(count)])


def _check_structure(given: object, name: str) -> None:
    if not isinstance(given, trees.TreeDef):
        raise ArgumentError(f"{name} must be what bl.tree.structure returns, got {shown(given)}.")


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
