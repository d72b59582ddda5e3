"""The `f` of an update: queries about the problem at this step, at any point."""

from collections.abc import Callable
from typing import Any, NoReturn

from burlab.errors import DTypeError, ShapeError, TraceError
from burlab.graph import Node
from burlab.graph.linear import concatenate
from burlab.graph.node import as_node
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.origin import location
from burlab.graph.query import QUERIES, query

Vector = Any  # shape (d,), x's dtype


class Queries:
    """The problem as an update sees it: f(y) = the mean of the loss over this step's batch, plus the regularizer.

    Points and vectors are flat, shape (d,), of x's dtype; so are gradients, and values are numbers of that dtype. A
    loss that takes a key gets the same ones for every query of a step. `f.value(x)` and `f.grad(x)` at the x of this
    step are known and cost nothing; every other query is one pass over the batch. Queries may stand inside of
    `bl.while_loop`, and `bl.vmap` makes them at many points.

    >>> from dataclasses import dataclass
    >>> import numpy as np, burlab as bl
    >>> @dataclass(frozen=True)
    ... class Extragradient(bl.optim.Optimizer):  # Korpelevich 1976
    ...     lr: bl.optim.Hyper = 0.1
    ...     def update(self, g, state, x, t, *, f):
    ...         return x - self.lr * f.grad(x - self.lr * g), state
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), Extragradient(0.25), steps=1).x
    array([0.75])
    """

    def __init__(self, x: Node, gradient: Node, value: Node, key: Node, oracle: Node, batch: int) -> None:
        self._x, self._gradient, self._value, self._key, self._oracle = x, gradient, value, key, oracle
        self._batch = batch
        self._used: set[str] = set()

    def value(self, y: Vector) -> Any:
        """f(y)."""
        return self._value if y is self._x else self._query("value", (), y)

    def grad(self, y: Vector) -> Any:
        """The gradient of f at y."""
        return self._gradient if y is self._x else self._query("grad", self._x.shape, y)

    def value_and_grad(self, y: Vector) -> tuple[Any, Any]:
        """f(y) and its gradient, for the price of the gradient."""
        if y is self._x:
            return self._value, self._gradient
        both: Any = self._query("value_and_grad", (self._x.size + 1,), y)
        return both[0], both[1:]

    def hvp(self, y: Vector, v: Vector) -> Any:
        """The Hessian of f at y times v."""
        return self._query("hvp", self._x.shape, y, v)

    def full_value(self, y: Vector) -> Any:
        """f(y) over all samples."""
        return self._query("full_value", (), y)

    def full_grad(self, y: Vector) -> Any:
        """The gradient over all samples."""
        return self._query("full_grad", self._x.shape, y)

    def per_sample_grads(self, y: Vector) -> Any:
        """The gradient of the loss of every sample of the batch, shape (b, d), without the regularizer."""
        return self._query("per_sample_grads", (self._batch, self._x.size), y)

    @property
    def key(self) -> Any:
        """The key of this step, uint64 of shape (2,): what `bl.random` draws from."""
        self._used.add("key")
        return self._key

    @property
    def used(self) -> tuple[str, ...]:
        """The queries so far, in a fixed order, then "key" if it was used."""
        return tuple(name for name in (*QUERIES, "key") if name in self._used)

    def _query(self, name: str, shape: tuple[int, ...], *points: Vector) -> Node:
        self._used.add(name)
        nodes = [self._vector(name, y) for y in points]
        return query(name, self._oracle, concatenate(nodes, 0), shape)

    def _vector(self, name: str, y: Vector) -> Node:
        node = as_node(y)
        if node.shape != self._x.shape:
            raise ShapeError(
                f"{location()}f.{name} is about vectors of shape {self._x.shape}, as x is, got {node.shape}. "
                "An update sees all parameters as one flat vector."
            )
        if node.dtype != self._x.dtype and not node.is_constant:
            raise DTypeError(
                f"{location()}f.{name} is about vectors of {self._x.dtype}, as x is, got {node.dtype}. "
                "Convert with .astype(x.dtype)."
            )
        return as_dtype(node, self._x.dtype)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise TraceError(f"{location()}f.{name} is nothing that an update can ask. It can: {', '.join(_known())}.")


class LeafQueries:
    """The same queries at trees of leaves. Gradients and the like are such trees too."""

    def __init__(
        self, f: Any, flat_x: Vector, x: Any, to_tree: Callable[[Any], Any], to_flat: Callable[..., Any]
    ) -> None:
        self._f, self._flat_x, self._x, self._to_tree, self._to_flat = f, flat_x, x, to_tree, to_flat

    def _flat(self, y: Any) -> Vector:
        return self._flat_x if y is self._x else self._to_flat(y, "update asked about a point")

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._f, name)  # raises for what is no query
        if name == "key":
            return method

        def answer(*points: Any) -> Any:
            result = method(*map(self._flat, points))
            if name == "value_and_grad":
                return result[0], self._to_tree(result[1])
            return result if name.endswith("value") else self._to_tree(result)

        return answer


def _known() -> list[str]:
    forms = {"hvp": "(y, v)"}
    return [*(f"f.{name}{forms.get(name, '(y)')}" for name in QUERIES), "f.key"]
