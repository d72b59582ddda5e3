"""Training of a part of x: its other leaves are constants of the loss.

Integers and masks are constants, or state that the optimizer's rule changes: then they travel in x's vector, as digits.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from burlab.errors import ArgumentError, DTypeError
from burlab.graph import Node, tree
from burlab.graph.digits import digits_shape, from_digits, to_digits
from burlab.graph.node import constant, widened
from burlab.graph.signatures import FLOATS
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import shown
from burlab.runtime.coerce import Array
from burlab.runtime.dtypes import is_narrow_float
from burlab.typing import Tree, Vector

from .point import Point, as_start, is_float

CHANGE = "change_x"  # a keyword of functions bound by `Trainable.bound`: what is done with x before they see it
Kinds = tuple["np.dtype[Any] | None", ...]


class Trainable(NamedTuple):
    """The trained and the constant part of x.

    whole: the structure of x. chosen: for each array, a complex one counting once, True if it is trained. point: the
    trained part at the start, None in place of other arrays. rest: the constant arrays, as nodes that kernels share.
    kinds: for each leaf of the trained part the dtype of the integers or masks whose digits it holds, None for floats.
    """

    whole: tree.TreeDef
    chosen: tuple[bool, ...]
    point: Point
    rest: tuple[Node, ...]
    kinds: Kinds

    @staticmethod
    def split(x: Point, chosen: Sequence[bool], moves: bool) -> "Trainable":
        """Split x; constant arrays are copied. moves: whether integers and masks may change. Raises ArgumentError."""
        arrays = tree.flatten_whole(x.tree)[0]
        chosen = [flag and (moves or array.dtype.kind not in "iub") for flag, array in zip(chosen, arrays, strict=True)]
        pairs = list(zip(x.leaves, _flags(x.structure, chosen), strict=True))
        trained, others = [x for x, flag in pairs if flag], [x for x, flag in pairs if not flag]
        floats = next((x.dtype for x in trained if is_float(x.dtype)), None)
        if floats is None:
            raise ArgumentError("trainable is False for all floats of x0, expected True for at least one of them.")
        kinds = tuple(None if is_float(x.dtype) else x.dtype for x in trained)
        if any(kinds) and is_narrow_float(floats):
            raise DTypeError(
                f"integers and masks that a rule changes stand beside float32 or float64, and x0 has {floats}. Convert "
                "its floats with .astype(np.float32)."
            )
        encoded = [x if kind is None else to_digits(x, kind, floats) for x, kind in zip(trained, kinds, strict=True)]
        return Trainable.of(x.structure, chosen, encoded, others, kinds)

    @staticmethod
    def of(
        whole: tree.TreeDef, chosen: Sequence[bool], trained: list[Array], others: Sequence[Array], kinds: Kinds
    ) -> "Trainable":
        """Combine two parts. Raises ValueError for a wrong number of arrays, or of digits."""
        if _flags(whole, chosen).count(True) != len(trained) or whole.num_leaves != len(trained) + len(others):
            raise ValueError(f"{len(trained)} trained arrays and {len(others)} others do not make {whole}")
        for x, kind in zip(trained, kinds, strict=True):
            if kind is not None and (not x.ndim or x.shape != digits_shape(x.shape[1:], kind, x.dtype)):
                raise ValueError(f"an array of shape {x.shape} does not hold the digits of {kind}")
        arrays, structure = _arrays(whole)
        parts = tree.unflatten(structure, [x if flag else None for x, flag in zip(arrays, chosen, strict=True)])
        rest = tuple(map(_known, others))
        return Trainable(whole, tuple(chosen), Point(trained, tree.flatten(parts)[1]), rest, tuple(kinds))

    @property
    def seen(self) -> tree.Tree:
        """The trained part as a rule sees it: integers and masks in place of their digits."""
        return tree.unflatten(self.point.structure, self._decoded(self.point.computed.leaves))

    @property
    def others(self) -> list[Any]:
        """The constant arrays."""
        return [n.params for n in self.rest]

    def floats_of(self, answer: tree.Tree) -> tree.Tree:
        """Return a gradient with None in the place of those by digits; other answers as they are."""
        leaves, structure = tree.flatten(answer)
        if structure != self.point.structure:
            return answer
        return tree.unflatten(
            structure, [x if kind is None else None for x, kind in zip(leaves, self.kinds, strict=True)]
        )

    def has_constants_of(self, other: "Trainable") -> bool:
        """Return True if both have the same constant arrays, bit for bit."""
        pairs = zip(map(_bits, self.others), map(_bits, other.others), strict=False)
        return (self.whole, self.chosen, self.kinds) == (other.whole, other.chosen, other.kinds) and all(
            a[1:] == b[1:] and np.array_equal(a[0], b[0]) for a, b in pairs
        )

    def with_numbers(self, flat: Vector) -> Point:
        """Return all of x from the numbers of the trained part; constants are copied."""
        return self._merged(self.point.with_numbers(flat).leaves, [array.copy() for array in self.others])

    def bound(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of x as a function of the trained part."""

        @functools.wraps(f, updated=())
        def of_trained(x: tree.Tree, *sample: Any, **key: Any) -> Any:
            change = key.pop(CHANGE, None)
            whole = self._merged(tree.flatten(x)[0], [*map(widened, self.rest)]).tree
            return f(whole if change is None else change(whole), *sample, **key)

        # not the numbers of the trained part, which the function does not read
        cast("Any", of_trained).__burlab_structure__ = f, self.whole, self.chosen, *self.others
        return of_trained

    def _decoded(self, trained: Sequence[Any]) -> list[Any]:
        return [x if kind is None else from_digits(x, kind) for x, kind in zip(trained, self.kinds, strict=True)]

    def _merged(self, trained: Sequence[Any], others: Sequence[Any]) -> Point:
        parts = {True: iter(self._decoded(trained)), False: iter(others)}
        return Point([next(parts[flag]) for flag in _flags(self.whole, self.chosen)], self.whole)


def _known(array: Array) -> Node:
    """Return a constant array as a node, a narrow one as it is."""
    if not is_narrow_float(array.dtype):
        return constant(array)
    array = np.array(array, order="C")
    array.flags.writeable = False
    return Node("constant", (), array, array.shape, array.dtype)


def with_digits(x: Tree, name: str) -> Trainable | None:
    """Return a tree of floats and of integers or masks, as a point that holds digits of these; None for others."""
    if all(getattr(leaf, "dtype", None) in FLOATS for leaf in tree.flatten(x)[0]):
        return None
    point = as_start(x, name)
    if all(is_float(leaf.dtype) for leaf in point.leaves):
        return None
    return Trainable.split(point, [True] * len(tree.flatten_whole(point.tree)[0]), moves=True)


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
