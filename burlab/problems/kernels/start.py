"""The `f` of an optimizer's `init`: the problem before the first step, for numbers and not for traced values."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from burlab.errors import ArgumentError, TraceError
from burlab.graph import tree
from burlab.graph.query import is_whole
from burlab.problems.point import Point, coordinates_of
from burlab.problems.sampling import Stream, as_indices, full, is_full, listed
from burlab.runtime.coerce import Array
from burlab.transforms import random

from .oracle import Oracle
from .queries import counter_of

_NO_STEP = -1  # what stands for the step in the key


class StartQueries:
    """The problem as `init` sees it: over all samples, as there is no step yet, or over those that it chooses.

    Points, vectors and answers are flat, shape (d,), as in an update. key: `fold_in(key(seed), -1)`, that of no step.
    """

    def __init__(self, oracle: Oracle, point: Point, stream: Stream, threads: int, batch: int | None = None) -> None:
        """batch: samples of the first step, where that is not the stream's."""
        self._oracle, self._point, self._threads = oracle, point, threads
        self.batch, self.samples = int(stream.batch) if batch is None else batch, int(stream.samples)
        self.full = is_full(stream)
        self._sizes = oracle.clients
        self.spent: dict[str, int] = {}  # samples that were evaluated, by the columns of a history
        self._seed = np.array(list(stream.key), np.uint64)

    @cached_property
    def key(self) -> Any:
        """uint64 of shape (2,)."""
        return random.fold_in(self._seed, _NO_STEP)

    @property
    def clients(self) -> int:
        """How many clients there are."""
        return len(self._held("clients"))

    @property
    def client_sizes(self) -> tuple[int, ...]:
        """How many samples each client holds."""
        return self._held("client_sizes")

    def _held(self, name: str) -> tuple[int, ...]:
        if not self._sizes:
            raise ArgumentError(
                f"f.{name} is about a federation, and this problem has no clients. Make one: "
                "bl.problems.federated(loss, clients)."
            )
        return self._sizes

    def client_grads(self, y: Array, *, clients: Any = None, indices: Any = None) -> Array:
        """The gradient of every client, or of those chosen, shape (clients, d), over all or some of its samples."""
        sizes = self._held("client_grads")
        what = "clients of f.client_grads"
        chosen = np.arange(len(sizes)) if clients is None else as_indices(clients, len(sizes), what, "clients")
        points = np.broadcast_to(y, (len(chosen), self._dimension))
        some = [None] * len(chosen) if indices is None else list(indices)
        rows = [self._of_client(int(c), self.grad, (z,), i) for c, z, i in zip(chosen, points, some, strict=True)]
        return np.stack(rows)

    def client_hessians(self, y: Array) -> Array:
        """The Hessian of every client, shape (clients, d, d)."""
        clients = range(len(self._held("client_hessians")))
        if is_whole(self._dimension):
            return np.stack([self._of_client(c, self.hessian, (y,), None) for c in clients])
        axes = np.eye(self._dimension, dtype=np.asarray(y).dtype)
        return np.stack([np.stack([self._of_client(c, self.hvp, (y, axis), None) for axis in axes]) for c in clients])

    def _of_client(self, c: int, question: Callable[..., Array], about: tuple[Array, ...], some: Any) -> Array:
        """An answer over samples of a client, which are weighted so that clients count alike in the whole mean."""
        size, first = self._sizes[c], sum(self._sizes[:c])
        own = np.arange(size) if some is None else as_indices(some, size, f"indices of client {c}")
        answer = question(*about, indices=first + own)
        return answer * answer.dtype.type(len(self._sizes) * size / sum(self._sizes))

    @property
    def _dimension(self) -> int:
        return sum(leaf.size for leaf in self._point.leaves)

    def value(self, y: Array, *, indices: Any = None) -> Any:
        """f(y)."""
        return self._mean("value_like", (y,), indices)[0][()]

    def grad(self, y: Array, *, indices: Any = None) -> Array:
        """The gradient of f at y."""
        return self._flat(self._mean("grad", (y,), indices)[0])

    def value_and_grad(self, y: Array, *, indices: Any = None) -> tuple[Any, Array]:
        """Both."""
        value, gradient = self._mean("training", (y,), indices)
        return value[()], self._flat(gradient)

    def hvp(self, y: Array, v: Array, *, indices: Any = None) -> Array:
        """The Hessian of f at y times v."""
        return self._flat(self._mean("hvp", (y, v), indices)[0])

    def hessian(self, y: Array, *, indices: Any = None) -> Array:
        """The Hessian of f at y, shape (d, d)."""
        return self._answer("hessian", [self._at(y)], indices, self._dimension)[0]

    def jvp(self, y: Array, v: Array, *, indices: Any = None) -> Any:
        """The derivative of f at y along v."""
        return self._mean("jvp", (y, v), indices)[0][()]

    def partial_grad(self, y: Array, coordinates: Any, *, indices: Any = None) -> Any:
        """Entries of the gradient."""
        known = as_indices(
            np.reshape(coordinates, -1), self._dimension, "coordinates of f.partial_grad", "entries of x"
        )
        found = self._answer("partial_grad", [self._at(y), coordinates_of(known)], indices, len(known))[0]
        return found.reshape(np.shape(coordinates))

    def per_sample_grads(self, y: Array, *, indices: Any = None) -> Array:
        """The gradient of the loss of every sample, or of those chosen, shape (b, d), without the regularizer."""
        point = self._at(y)
        stream, _list = self._stream(indices, "per_sample_grads")
        self._count("samples", stream)
        rows = self._oracle.kernels("grad", [point]).samples.rows(point.leaves, stream, self._words)[0]
        return np.concatenate([leaf.reshape(len(leaf), -1) for leaf in _leaves(rows)], axis=1)

    def per_sample_values(self, y: Array, *, indices: Any = None) -> Array:
        """The loss of every sample, or of those chosen, shape (b,), without the regularizer."""
        point = self._at(y)
        stream, _list = self._stream(indices, "per_sample_values")
        self._count("values", stream)
        rows = self._oracle.kernels("value_like", [point]).samples.rows(point.leaves, stream, self._words)
        return tree.flatten(rows)[0][0]

    full_value = value
    full_grad = grad

    def _mean(self, query: str, about: tuple[Array, ...], indices: Any) -> Any:
        return self._answer(query, [self._at(y) for y in about], indices)

    def _answer(self, query: str, about: list[Point], indices: Any, entries: int = 1) -> Any:
        stream, _list = self._stream(indices, query)
        self._count(counter_of("value" if query == "value_like" else query), stream, entries)
        return self._oracle.mean(query, about, stream, self._words, self._threads)

    def _at(self, y: Array) -> Point:
        return self._point.with_numbers(np.asarray(y))

    @property
    def _words(self) -> Any:
        """The key, where the loss takes one: it takes a moment to make."""
        return self.key if self._oracle.keyed else (0, 0)

    def _stream(self, indices: Any, query: str) -> tuple[Stream, Any]:
        """The samples, and the array that must live as long."""
        if indices is None:
            return full(self.samples), None
        chosen = as_indices(indices, self.samples, f"indices of f.{query}")
        return listed(self.samples, chosen), chosen

    def _count(self, counter: str, stream: Stream, entries: int = 1) -> None:
        self.spent[counter] = self.spent.get(counter, 0) + int(stream.batch) * entries

    def _flat(self, gradient: Any) -> Array:
        return np.concatenate([leaf.reshape(-1) for leaf in _leaves(gradient)])

    def __getattr__(self, name: str) -> NoReturn:
        if name == "indices":
            raise ArgumentError("f.indices are the samples of a step, and init comes before the first. Use f.samples.")
        if name.startswith("__"):
            raise AttributeError(name)
        raise TraceError(f"f.{name} is nothing that init can ask; see bl.optim.Optimizer.init.")


def _leaves(value: Any) -> list[Array]:
    return tree.flatten(value)[0]
