"""Training of a part of x: its other leaves are constants of the loss."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph import Node, tree
from burlab.graph.node import constant
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import shown
from burlab.runtime.coerce import Array
from burlab.typing import Tree, Vector

from .point import Point


class Trainable(NamedTuple):
    """The trained and the constant part of x.

    whole: the structure of x. chosen: for each array, a complex one counting once, True if it is trained. point: the
    trained part at the start, None in place of other arrays. rest: the constant arrays, as nodes that kernels share.
    """

    whole: tree.TreeDef
    chosen: tuple[bool, ...]
    point: Point
    rest: tuple[Node, ...]

    @staticmethod
    def split(x: Point, chosen: Sequence[bool]) -> "Trainable":
        """Split x; constant arrays are copied."""
        pairs = list(zip(x.leaves, _flags(x.structure, chosen), strict=True))
        return Trainable.of(x.structure, chosen, [x for x, flag in pairs if flag], [x for x, flag in pairs if not flag])

    @staticmethod
    def of(whole: tree.TreeDef, chosen: Sequence[bool], trained: list[Array], others: Sequence[Array]) -> "Trainable":
        """Combine two parts. Raises ValueError for a wrong number of arrays."""
        if _flags(whole, chosen).count(True) != len(trained) or whole.num_leaves != len(trained) + len(others):
            raise ValueError(f"{len(trained)} trained arrays and {len(others)} others do not make {whole}")
        arrays, structure = _arrays(whole)
        parts = tree.unflatten(structure, [x if flag else None for x, flag in zip(arrays, chosen, strict=True)])
        return Trainable(whole, tuple(chosen), Point(trained, tree.flatten(parts)[1]), tuple(map(constant, others)))

    @property
    def others(self) -> list[Any]:
        """The constant arrays."""
        return [n.params for n in self.rest]

    def has_constants_of(self, other: "Trainable") -> bool:
        """Return True if both have the same constant arrays, bit for bit."""
        pairs = zip(map(_bits, self.others), map(_bits, other.others), strict=False)
        return (self.whole, self.chosen) == (other.whole, other.chosen) and all(
            a[1:] == b[1:] and np.array_equal(a[0], b[0]) for a, b in pairs
        )

    def with_numbers(self, flat: Vector) -> Point:
        """Return all of x from the numbers of the trained part; constants are copied."""
        return self._merged(self.point.with_numbers(flat).leaves, [array.copy() for array in self.others])

    def bound(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of x as a function of the trained part."""

        @functools.wraps(f, updated=())
        def of_trained(x: tree.Tree, *sample: Any, **key: Any) -> Any:
            return f(self._merged(tree.flatten(x)[0], self.rest).tree, *sample, **key)

        # not the numbers of the trained part, which the function does not read
        cast("Any", of_trained).__burlab_structure__ = f, self.whole, self.chosen, *self.others
        return of_trained

    def _merged(self, trained: Sequence[Any], others: Sequence[Any]) -> Point:
        parts = {True: iter(trained), False: iter(others)}
        return Point([next(parts[flag]) for flag in _flags(self.whole, self.chosen)], self.whole)


def _bits(array: Array) -> tuple[Array, Any, Any]:
    """Return an array as bytes, with its shape and its dtype."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8), array.shape, array.dtype


def _arrays(structure: tree.TreeDef) -> tuple[list[Any], tree.TreeDef]:
    """Return the arrays of a structure, complex ones whole, and their structure."""
    return tree.flatten_whole(tree.unflatten(structure, [np.zeros(())] * structure.num_leaves))


def _flags(structure: tree.TreeDef, chosen: Sequence[bool]) -> list[bool]:
    """Return for each leaf True if it is trained; a complex array has two leaves."""
    arrays = _arrays(structure)[0]
    return [flag for x, flag in zip(arrays, chosen, strict=True) for _ in range(1 + tree.is_complex_leaf(x))]


def chosen_of(trainable: Tree, x: Point) -> list[bool]:
    """Return for each array of x True if it is trained. trainable: a tree of bools, or a predicate on paths."""
    whole = x.tree
    structure = tree.flatten_whole(whole)[1]
    names = tree.dotted(structure)
    if callable(trainable) and tree.flatten(trainable)[1].is_leaf():
        check_takes(trainable, "trainable", "a path", "Take one, such as 'blocks.0.weight', and return True or False.")
        flags = [trainable(name) for name in names]
    else:
        try:
            flags = tree.spread(trainable, whole)
        except ValueError as error:
            given, wanted = (tree.describe(form) for form in (tree.flatten(trainable)[1], structure))
            raise ArgumentError(
                f"trainable is {given}, but x0 is {wanted}. Pass a bool for each array of x0, or for a "
                "part of it; or a function of paths such as 'blocks.0.weight'."
            ) from error
    for name, flag in zip(names, flags, strict=True):
        if not isinstance(flag, (bool, np.bool_)):
            raise ArgumentError(f"trainable gave {shown(flag)} for {name}, expected True or False.")
    if not any(flags):
        every = f"{', '.join(names):.200}"
        raise ArgumentError(f"trainable is False for all of {every}, expected True for at least one.")
    return [bool(flag) for flag in flags]
