"""Rules that need the shapes of x's leaves, put behind the flat face that a run knows."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.graph import tree
from burlab.graph.digits import digits_shape, from_digits, to_digits
from burlab.graph.node import as_node
from burlab.graph.query import CLIENT_QUERIES, QUERIES, TARGET_QUERIES
from burlab.transforms import vmap
from burlab.typing import Tree

from .optimizer import Optimizer, State, Vector, advance, start
from .queries import Queries


class LeafQueries:
    """The same queries at trees of leaves. Gradients and the like are such trees too."""

    def __init__(
        self, f: Queries, flat_x: Vector, x: Tree, to_tree: Callable[[Any], Any], to_flat: Callable[..., Any]
    ) -> None:
        self._f, self._flat_x, self._x, self._to_tree, self._to_flat = f, flat_x, x, to_tree, to_flat

    def _flat(self, y: Tree) -> Vector:
        return self._flat_x if y is self._x else self._to_flat(y, "update asked about a point")

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._f, name)  # raises for what is no query
        if name in CLIENT_QUERIES:
            return self._about_clients(method)
        if name not in QUERIES:
            return method

        def answer(*points: Any, **chosen: Any) -> Any:
            if name == "partial_grad":
                return method(self._flat(points[0]), *points[1:], **chosen)
            if name in TARGET_QUERIES:  # a Jacobian is by all numbers of x
                result = method(self._flat(points[0]), *points[1:], **chosen)
                return (result[0], self._to_tree(result[1])) if name == "surrogate" else result
            result = method(*map(self._flat, points), **chosen)
            if name == "value_and_grad":
                return result[0], self._to_tree(result[1])
            return result if name.endswith(("value", "values")) or name in ("jvp", "hessian") else self._to_tree(result)

        return answer

    def _about_clients(self, method: Callable[..., Any]) -> Any:
        """A question about clients, at one tree or, of gradients, at one whose leaves have a row for each client."""

        def answer(y: Tree, **chosen: Any) -> Any:
            leaves, like = tree.flatten(y)[0], tree.flatten(self._x)[0]
            rows = [np.ndim(a) - np.ndim(b) for a, b in zip(leaves, like, strict=False)]
            each = bool(leaves) and set(rows) == {1} and {np.shape(leaf)[0] for leaf in leaves}
            if each and len(each) == 1:
                flat: Any = vmap(self._flat)(y)
            else:
                flat = self._flat(y)
            found = method(flat, **chosen)
            return self._to_tree(found) if len(found.shape) == 2 else found  # Hessians are of flat vectors

        return answer


def flat_face(optimizer: Optimizer, like: tree.Tree) -> Optimizer:
    """The optimizer, where it or one inside of it has `per_leaf = True`, as a rule on flat vectors.

    like: a tree with the structure and the shapes of x.
    """
    inside = {f.name: getattr(optimizer, f.name) for f in fields(optimizer)} if is_dataclass(optimizer) else {}
    for name, part in inside.items():
        if isinstance(part, Optimizer) and (flat := flat_face(part, like)) is not part:
            optimizer = copy.copy(optimizer)
            object.__setattr__(optimizer, name, flat)
    if not (optimizer.per_leaf or optimizer.all_leaves):
        return optimizer
    leaves, structure = tree.flatten(like)
    dtypes = [np.asarray(leaf).dtype for leaf in leaves]
    kinds = tuple(None if dtype.kind == "f" else dtype for dtype in dtypes)
    floats = next(dtype for dtype in dtypes if dtype.kind == "f")
    return _Leaves(optimizer, tuple(np.shape(leaf) for leaf in leaves), structure, kinds, floats)


@dataclass(frozen=True)
class _Leaves(Optimizer):
    """Flat vectors outside, trees inside."""

    inner: Optimizer
    shapes: tuple[tuple[int, ...], ...]
    structure: tree.TreeDef
    kinds: "tuple[np.dtype[Any] | None, ...]"  # of integers and masks, which are digits outside; None for floats
    floats: "np.dtype[Any]"

    @property
    def lr(self) -> Any:
        """The learning rate of the inner optimizer, for wrappers."""
        return getattr(self.inner, "lr", None)

    def init(self, x: Vector, *, f: Any = None) -> State:
        seen = self._tree(x)
        queries: Any = None if f is None else LeafQueries(f, x, seen, self._tree, self._flat)
        return start(self.inner, seen, queries)

    def output(self, x: Vector, state: State) -> Vector:
        seen = self._tree(x)
        given = self.inner.output(seen, state)
        return x if given is seen else self._flat(given, "output returned an x")

    def batch_size(self, state: State) -> Any:
        return self.inner.batch_size(state)

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        seen = self._tree(x)
        queries: Any = LeafQueries(f, x, seen, self._tree, self._flat)
        result: Any = advance(self.inner, self._tree(g), state, seen, t, queries)
        if not isinstance(result, tuple) or len(cast("tuple[Any, ...]", result)) != 2:
            return cast("Any", result)  # which trace_rule refuses
        after, state = cast("tuple[Any, Any]", result)
        return self._flat(after), state

    def _tree(self, flat: Vector) -> Any:
        outside = [shape if kind is None else digits_shape(shape, kind, flat.dtype)
                   for shape, kind in zip(self.shapes, self.kinds, strict=True)]  # fmt: skip
        ends = np.cumsum([int(np.prod(shape)) for shape in outside])
        many = flat.shape[:-1]  # of samples, where there is a row for each
        leaves: list[Any] = []
        for begin, end, shape, kind in zip([0, *ends], ends, outside, self.kinds, strict=False):
            part = np.reshape(flat[..., int(begin) : int(end)], (*many, *shape))
            leaves.append(part if kind is None else from_digits(part, kind, len(many)))
        return tree.unflatten(self.structure, leaves)

    def _flat(self, x: tree.Tree, what: str = "update returned an x") -> Vector:
        leaves, structure = tree.flatten(x)
        kind, shapes = type(self.inner).__name__, tuple(getattr(leaf, "shape", ()) for leaf in leaves)
        if structure != self.structure:
            raise ArgumentError(f"{kind}.{what} of structure {structure}, expected {self.structure}.")
        if shapes != self.shapes:
            raise ShapeError(f"{kind}.{what} with leaves of shapes {shapes}, expected {self.shapes}.")
        parts: list[Any] = []
        for leaf, wanted in zip(leaves, self.kinds, strict=True):
            if wanted is not None and leaf.dtype != wanted:
                raise DTypeError(f"{kind}.{what} with a leaf of {leaf.dtype}, expected {wanted}. Use .astype.")
            parts.append(leaf if wanted is None else to_digits(as_node(leaf), wanted, self.floats))
        return np.concatenate([np.reshape(part, (-1,)) for part in parts])
