"""Rules that need the shapes of x's leaves, put behind the flat face that a run knows."""

import copy
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.graph.origin import location
from burlab.graph.query import CLIENT_QUERIES, QUERIES, TARGET_QUERIES
from burlab.transforms import vmap
from burlab.typing import Tree

from .layout import Layout
from .missing_links import block_rows, first_rows, sparse_layers
from .optimizer import Optimizer, State, Vector, advance, start
from .part_loss import PartLoss
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
        if name == "part":
            return self._part
        if name in CLIENT_QUERIES:
            return self._about_clients(method)
        if name not in QUERIES:
            return method

        def answer(*points: Any, **chosen: Any) -> Any:
            if name == "part_value_and_grad":
                value, slope = method(self._flat(points[0]), *points[1:], **chosen)
                return value, self._to_tree(slope)
            if name == "link_grads":
                return self._link_grads(*points)
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

    def _part(self, name: str | None = None) -> PartLoss:
        return self._f.part(name).as_trees()

    def _link_grads(self, y: Tree, block: Any) -> list[Any]:
        """The gradients by a block of rows of each sparse layer of y."""
        layers = sparse_layers(y)
        if not layers:
            raise ArgumentError(f"{location()}f.link_grads is about bl.nn.SparseLinear, and x has none.")
        shapes = [(block_rows(layer), layer.outputs) for layer in layers]
        ends = np.cumsum([rows * width for rows, width in shapes])
        flat: Any = self._f.link_grads(self._flat(y), first_rows(layers, block), int(ends[-1]))
        pieces: list[Any] = np.split(flat, ends[:-1])
        return [np.reshape(piece, shape) for piece, shape in zip(pieces, shapes, strict=True)]

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


class OnLeaves(Optimizer):
    """A rule on flat vectors that also works with the leaves of x. Abstract."""

    @abstractmethod
    def on_leaves(self, layout: Layout) -> Optimizer:
        """Return the same rule for an x of this form."""


def flat_face(optimizer: Optimizer, like: tree.Tree) -> Optimizer:
    """The optimizer, where it or one inside of it has `per_leaf = True`, as a rule on flat vectors.

    like: a tree with the structure and the shapes of x.
    """
    inside = {f.name: getattr(optimizer, f.name) for f in fields(optimizer)} if is_dataclass(optimizer) else {}
    for name, part in inside.items():
        if isinstance(part, Optimizer) and (flat := flat_face(part, like)) is not part:
            optimizer = copy.copy(optimizer)
            object.__setattr__(optimizer, name, flat)
    if isinstance(optimizer, OnLeaves):
        return optimizer.on_leaves(Layout.of(like))
    if not (optimizer.per_leaf or optimizer.all_leaves):
        return optimizer
    return _Leaves(optimizer, Layout.of(like))


@dataclass(frozen=True)
class _Leaves(Optimizer):
    """Flat vectors outside, trees inside."""

    inner: Optimizer
    layout: Layout

    @property
    def lr(self) -> Any:
        """The learning rate of the inner optimizer, for wrappers."""
        return getattr(self.inner, "lr", None)

    def init(self, x: Vector, *, f: Any = None) -> State:
        seen = self.layout.tree(x)
        queries: Any = None if f is None else LeafQueries(f, x, seen, self.layout.tree, self._flat)
        return start(self.inner, seen, queries)

    def output(self, x: Vector, state: State) -> Vector:
        seen = self.layout.tree(x)
        given = self.inner.output(seen, state)
        return x if given is seen else self._flat(given, "output returned an x")

    def batch_size(self, state: State) -> Any:
        return self.inner.batch_size(state)

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        seen = self.layout.tree(x)
        queries: Any = LeafQueries(f, x, seen, self.layout.tree, self._flat)
        result: Any = advance(self.inner, self.layout.tree(g), state, seen, t, queries)
        if not isinstance(result, tuple) or len(cast("tuple[Any, ...]", result)) != 2:
            return cast("Any", result)  # which trace_rule refuses
        after, state = cast("tuple[Any, Any]", result)
        return self._flat(after), state

    def _flat(self, x: Tree, what: str = "update returned an x") -> Vector:
        return self.layout.flat(x, f"{type(self.inner).__name__}.{what}")
