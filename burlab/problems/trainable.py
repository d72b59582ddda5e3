"""What of x is trained: its other leaves are constants of the loss."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph import Node, tree
from burlab.graph.node import constant
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import shown
from burlab.runtime.coerce import Array

from .point import Point


class Trainable(NamedTuple):
    """x in two parts.

    whole: its structure. chosen: of each of its arrays, complex ones counting once, whether it is trained. point: x at
    the start, with None for what is not, as a run sees it. rest: the other arrays, as nodes that all kernels share.
    """

    whole: tree.TreeDef
    chosen: tuple[bool, ...]
    point: Point
    rest: tuple[Node, ...]

    @staticmethod
    def split(x: Point, chosen: Sequence[bool]) -> "Trainable":
        """x in two parts. What is not trained is copied."""
        pairs = list(zip(x.leaves, _flags(x.structure, chosen), strict=True))
        return Trainable.of(x.structure, chosen, [x for x, flag in pairs if flag], [x for x, flag in pairs if not flag])

    @staticmethod
    def of(whole: tree.TreeDef, chosen: Sequence[bool], trained: list[Array], others: Sequence[Array]) -> "Trainable":
        """The parts themselves. Raises ValueError where they are not as many as there must be."""
        if _flags(whole, chosen).count(True) != len(trained) or whole.num_leaves != len(trained) + len(others):
            raise ValueError(f"{len(trained)} trained arrays and {len(others)} others do not make {whole}")
        arrays, structure = _arrays(whole)
        parts = tree.unflatten(structure, [x if flag else None for x, flag in zip(arrays, chosen, strict=True)])
        return Trainable(whole, tuple(chosen), Point(trained, tree.flatten(parts)[1]), tuple(map(constant, others)))

    @property
    def others(self) -> list[Any]:
        """The numbers of what is not trained."""
        return [n.params for n in self.rest]

    def rests_as(self, other: "Trainable") -> bool:
        """Whether what is not trained has the same bits, in the same places."""
        pairs = zip(map(_bits, self.others), map(_bits, other.others), strict=False)
        return (self.whole, self.chosen) == (other.whole, other.chosen) and all(
            a[1:] == b[1:] and np.array_equal(a[0], b[0]) for a, b in pairs
        )

    def with_numbers(self, flat: Any) -> Point:
        """All of x, from the numbers of what is trained; the rest is copied."""
        return self._merged(self.point.with_numbers(flat).leaves, [array.copy() for array in self.others])

    def bound(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """A function of x as one of what is trained."""

        @functools.wraps(f, updated=())
        def of_trained(x: tree.Tree, *sample: Any, **key: Any) -> Any:
            return f(self._merged(tree.flatten(x)[0], self.rest).tree, *sample, **key)

        return of_trained

    def _merged(self, trained: Sequence[Any], others: Sequence[Any]) -> Point:
        parts = {True: iter(trained), False: iter(others)}
        return Point([next(parts[flag]) for flag in _flags(self.whole, self.chosen)], self.whole)


def _bits(array: Array) -> tuple[Array, Any, Any]:
    """An array as bytes, with its shape and its dtype."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8), array.shape, array.dtype


def _arrays(structure: tree.TreeDef) -> tuple[list[Any], tree.TreeDef]:
    """Arrays of a structure, complex ones whole, and how they lie in it."""
    return tree.flatten_whole(tree.unflatten(structure, [np.zeros(())] * structure.num_leaves))


def _flags(structure: tree.TreeDef, chosen: Sequence[bool]) -> list[bool]:
    """Of each leaf, whether it is trained: a complex array has two."""
    arrays = _arrays(structure)[0]
    return [flag for x, flag in zip(arrays, chosen, strict=True) for _ in range(1 + tree.is_complex_leaf(x))]


def chosen_of(trainable: Any, x: Point) -> list[bool]:
    """Of each array of x, whether it is trained. trainable: a tree of bools, or a predicate on paths."""
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
            raise ArgumentError(f"trainable says {shown(flag)} of {name}, expected True or False.")
    if not any(flags):
        every = f"{', '.join(names):.200}"
        raise ArgumentError(f"trainable leaves nothing to train: it is False for all of {every}. Say True of one.")
    return [bool(flag) for flag in flags]
