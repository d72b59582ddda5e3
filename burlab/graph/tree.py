"""Pytrees: arguments and results as nested tuples, lists, dicts and registered dataclasses of leaves (by optree)."""

import atexit
import dataclasses
import os
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

import numpy as np
import optree

from burlab.errors import ArgumentError, DTypeError
from burlab.runtime.checks.numbers import shown
from burlab.runtime.plain import is_complex, is_sparse

from . import hooks
from .complex.array import Complex
from .complex.leaves import joined, split
from .handles import present
from .operators import STRONGER

NAMESPACE = "burlab"
Tree = Any
TreeDef = optree.PyTreeSpec
_Class = TypeVar("_Class")

_lock = threading.RLock()
"""Held in every call of optree, and by the main thread from the interpreter's end on.

optree lets go of Python's lock in destructors. A daemon thread that takes it back while the interpreter ends is unwound
by Python, which C++ forbids there: the process would abort. So such threads wait here, until they are gone.
"""


def _close() -> None:
    _lock.acquire(timeout=1.0)  # a thread that is inside comes out first


atexit.register(_close)
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def flatten(tree: Tree) -> tuple[list[Any], TreeDef]:
    """The leaves in order, and the structure. None is structure, not a leaf; the leaf of a buffer is its contents.

    A complex number or array is a tree of two leaves, its real and its imaginary part; one of SciPy's sparse matrices
    is a tree of its arrays.
    """
    leaves, treedef = _flatten(tree, None)
    if all(type(leaf) is np.ndarray and leaf.dtype.kind != "c" for leaf in leaves):  # the usual arguments
        return leaves, treedef
    held = [present(leaf) for leaf in leaves]
    if any(is_complex(leaf) or is_sparse(leaf) for leaf in held):
        return flatten(unflatten(treedef, map(_parts, held)))
    return held, treedef


def _parts(leaf: Tree) -> Any:
    """Return a complex number or a sparse matrix as the tree of what it consists of; any other leaf as it is."""
    if is_complex(leaf):
        return split(leaf)
    return hooks.sparse_array(leaf) if is_sparse(leaf) else leaf


def _flatten(tree: Tree, is_leaf: Callable[[Any], bool] | None) -> tuple[list[Any], TreeDef]:
    try:
        with _lock:
            return optree.tree_flatten(tree, is_leaf=is_leaf, namespace=NAMESPACE)
    except RecursionError:
        raise ArgumentError(
            f"a {type(tree).__name__} is nested too deep for a tree of arrays, or holds itself. "
            "Pass arrays in tuples, lists and dicts, none of them inside of itself."
        ) from None


def unflatten(treedef: TreeDef, leaves: Iterable[Any]) -> Tree:
    """The tree of a structure with these leaves."""
    with _lock:
        return optree.tree_unflatten(treedef, leaves)


_SPELLED = "CustomTreeNode(Complex[None], [*, *])"


def flatten_whole(tree: Tree) -> tuple[list[Any], TreeDef]:
    """Flatten a tree in which a complex number or array is one leaf.

    >>> flatten_whole({"a": 1.0 + 2.0j, "b": 3.0})[0]
    [(1+2j), 3.0]
    """
    leaves, treedef = _flatten(tree, is_complex_leaf)
    return [present(leaf) for leaf in leaves], treedef


def flatten_to(tree: Tree, is_part: Callable[[Any], bool]) -> tuple[list[Any], TreeDef]:
    """Flatten a tree down to parts of it, which count as leaves.

    >>> flatten_to({"a": [1.0, 2.0], "b": 3.0}, lambda part: isinstance(part, list))[0]
    [[1.0, 2.0], 3.0]
    """
    return _flatten(tree, is_part)


def are_indices(tree: Tree) -> list[bool]:
    """For each leaf of a tree, whether it says where a sparse array has its entries: no derivative is by it."""
    leaves, _ = _flatten(tree, lambda leaf: is_sparse(leaf) or is_traced_sparse(leaf))
    flags: list[bool] = []
    for leaf in leaves:
        if is_sparse(leaf) or is_traced_sparse(leaf):
            flags += [not k for k in (True, *(False,) * 3, *(True,) * (len(flatten(leaf)[0]) - 4))]
        else:
            flags += [False] * len(flatten(leaf)[0])
    return flags


def is_traced_sparse(value: object) -> bool:
    """Return True for a sparse array as traced functions see it."""
    return type(value) in STRONGER


def spread(part: Tree, tree: Tree) -> list[Any]:
    """For each leaf of a tree, complex ones whole, the leaf of `part` above it. Raises ValueError where there is none.

    >>> spread({"a": True, "b": False}, {"a": [1.0, 2.0], "b": 3.0})
    [True, True, False]
    """
    flatten_whole(part)  # which refuses what holds itself
    with _lock:
        return optree.broadcast_prefix(part, tree, is_leaf=is_complex_leaf, namespace=NAMESPACE)


def conjugated(tree: Tree) -> Tree:
    """The tree with the conjugates of its complex numbers and arrays.

    >>> conjugated({"a": 1.0 + 2.0j, "b": 3.0})
    {'a': (1-2j), 'b': 3.0}
    """
    leaves, treedef = flatten_whole(tree)
    return unflatten(treedef, [leaf.conjugate() if is_complex_leaf(leaf) else leaf for leaf in leaves])


def has_complex(tree: Tree) -> bool:
    """Return True if a leaf of a tree is complex."""
    return any(map(is_complex_leaf, flatten_whole(tree)[0]))


def is_complex_leaf(value: object) -> bool:
    """Return True for a complex number or array, traced or not, and not for lists of such."""
    return not isinstance(value, (list, tuple)) and is_complex(value)


def describe(treedef: TreeDef) -> str:
    """A structure as a message names it.

    >>> describe(flatten(1.0)[1]), describe(flatten([1.0, 2.0])[1])
    ('an array or number', 'the tree [*, *]')
    """
    if treedef.is_leaf():
        return "an array or number"
    if treedef.type is Complex:
        return "a complex array or number"
    text = str(treedef).removeprefix("PyTreeSpec(").removesuffix(")").replace(_SPELLED, "complex")
    return f"the tree {text.removesuffix(f', namespace={NAMESPACE!r}')}"


def leaf_names(tree: Tree) -> list[str]:
    """Return the path of each leaf, such as `[0]['w']`."""
    return [
        "".join(part if part in _PARTS else f"[{shown(part)}]" for part in path) for path in paths(flatten(tree)[1])
    ]


def dotted_names(tree: Tree) -> list[str]:
    """Return the path of each leaf, such as `blocks.0.norm1.weight`; a tree that is one leaf is called `value`."""
    return dotted(flatten(tree)[1])


def dotted(treedef: TreeDef) -> list[str]:
    """Return the paths of a structure."""
    return [".".join(str(part).lstrip(".") for part in path) or "value" for path in paths(treedef)]


def paths(treedef: TreeDef) -> list[tuple[Any, ...]]:
    """Return for each leaf of a structure the keys, numbers and names of fields that lead to it.

    >>> paths(flatten({"a": [1.0, 2.0]})[1])
    [('a', 0), ('a', 1)]
    """
    with _lock:
        return treedef.paths()


def composed(outer: TreeDef, inner: TreeDef) -> TreeDef:
    """Return the structure of trees like `outer` whose leaves are trees like `inner`."""
    with _lock:
        return outer.compose(inner)


_PARTS = (".real", ".imag")


def _halves(z: Complex) -> tuple[tuple[Any, Any], None, tuple[str, str]]:
    return (z.real, z.imag), None, _PARTS


def _whole(_: None, halves: tuple[Any, Any]) -> Any:
    return joined(*halves)


cast("Any", optree).register_pytree_node(Complex, _halves, _whole, namespace=NAMESPACE)


def pytree(cls: type[_Class]) -> type[_Class]:
    """Register a dataclass as a pytree: its fields are children, those with `metadata={"static": True}` are structure.

    Static fields must be hashable: they are part of what a compiled kernel is for.

    >>> from dataclasses import dataclass, field
    >>> import numpy as np, burlab as bl
    >>> @bl.pytree
    ... @dataclass(frozen=True)
    ... class Line:
    ...     slope: np.ndarray
    ...     name: str = field(default="line", metadata={"static": True})
    >>> bl.grad(lambda line, x: line.slope @ x)(Line(np.ones(2)), np.array([3.0, 4.0]))
    Line(slope=array([3., 4.]), name='line')
    """
    if not isinstance(cls, type) or not dataclasses.is_dataclass(cls):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise DTypeError(f"pytree needs a dataclass, got {shown(cls)}. Put @dataclass(frozen=True) below @bl.pytree.")
    fields = dataclasses.fields(cls)
    static = tuple(f.name for f in fields if f.metadata.get("static"))
    children_names = tuple(f.name for f in fields if not f.metadata.get("static"))

    def to_leaves(value: object) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[str, ...]]:
        return (
            tuple(getattr(value, k) for k in children_names),
            tuple(getattr(value, k) for k in static),
            children_names,
        )

    def from_leaves(fixed: tuple[Any, ...], children: tuple[Any, ...]) -> Any:
        value = object.__new__(cls)  # no __init__: leaves may be nodes, which a __post_init__ would not know
        for name, child in zip((*children_names, *static), (*children, *fixed), strict=True):
            object.__setattr__(value, name, child)
        return value

    register = cast("Any", optree).register_pytree_node  # typed for collections only
    register(cls, to_leaves, from_leaves, namespace=NAMESPACE)
    return cls
