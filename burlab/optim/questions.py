"""What `f` is in an update: the problem at this step, which a rule may ask about any point."""

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


class Questions:
    """The problem as an update sees it: f(y) = the mean of the loss over this step's batch, plus the regularizer.

    Points and vectors are flat, shape (d,), of x's dtype; so are gradients, and values are numbers of that dtype. A
    loss that takes a key gets the same ones for every question of a step. What is asked at the very x of the step,
    `f.value(x)` and `f.grad(x)`, is known and costs nothing; everything else is one pass over the batch. Questions may
    be asked inside of `bl.while_loop`, and of many points by `bl.vmap`.

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

    def __init__(self, x: Node, gradient: Node, value: Node, key: Node, asker: Node, batch: int) -> None:
        self._x, self._gradient, self._value, self._key, self._asker = x, gradient, value, key, asker
        self._batch = batch
        self._asked: set[str] = set()

    def value(self, y: Vector) -> Any:
        """f(y)."""
        return self._value if y is self._x else self._ask("value", (), y)

    def grad(self, y: Vector) -> Any:
        """The gradient of f at y."""
        return self._gradient if y is self._x else self._ask("grad", self._x.shape, y)

    def value_and_grad(self, y: Vector) -> tuple[Any, Any]:
        """f(y) and its gradient, for the price of the gradient."""
        if y is self._x:
            return self._value, self._gradient
        both: Any = self._ask("value_and_grad", (self._x.size + 1,), y)
        return both[0], both[1:]

    def hvp(self, y: Vector, v: Vector) -> Any:
        """The Hessian of f at y times v."""
        return self._ask("hvp", self._x.shape, y, v)

    def full_value(self, y: Vector) -> Any:
        """f(y) over all samples."""
        return self._ask("full_value", (), y)

    def full_grad(self, y: Vector) -> Any:
        """The gradient over all samples."""
        return self._ask("full_grad", self._x.shape, y)

    def per_sample_grads(self, y: Vector) -> Any:
        """The gradient of the loss of every sample of the batch, shape (b, d), without the regularizer."""
        return self._ask("per_sample_grads", (self._batch, self._x.size), y)

    @property
    def key(self) -> Any:
        """The key of this step, uint64 of shape (2,): what `bl.random` draws from."""
        self._asked.add("key")
        return self._key

    @property
    def asked(self) -> tuple[str, ...]:
        """What was asked so far, in a fixed order."""
        return tuple(name for name in (*QUERIES, "key") if name in self._asked)

    def _ask(self, name: str, shape: tuple[int, ...], *about: Vector) -> Node:
        self._asked.add(name)
        nodes = [self._vector(name, y) for y in about]
        return query(name, self._asker, concatenate(nodes, 0), shape)

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


class LeafQuestions:
    """The same questions about trees of leaves, which answer with such trees."""

    def __init__(
        self, f: Any, flat_x: Vector, x: Any, to_tree: Callable[[Any], Any], to_flat: Callable[..., Any]
    ) -> None:
        self._f, self._flat_x, self._x, self._to_tree, self._to_flat = f, flat_x, x, to_tree, to_flat

    def _flat(self, y: Any) -> Vector:
        return self._flat_x if y is self._x else self._to_flat(y, "update asked about a point")

    def __getattr__(self, name: str) -> Any:
        ask = getattr(self._f, name)  # which refuses what cannot be asked
        if name == "key":
            return ask

        def answer(*about: Any) -> Any:
            result = ask(*map(self._flat, about))
            if name == "value_and_grad":
                return result[0], self._to_tree(result[1])
            return result if name.endswith("value") else self._to_tree(result)

        return answer


def _known() -> list[str]:
    forms = {"hvp": "(y, v)"}
    return [*(f"f.{name}{forms.get(name, '(y)')}" for name in QUERIES), "f.key"]
