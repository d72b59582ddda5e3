"""The `f` of an optimizer's `init`: queries before the first step, with numbers in place of traced values."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from burlab.errors import ArgumentError, TraceError
from burlab.graph import tree
from burlab.graph.query import PartForm, is_whole
from burlab.optim.part_loss import PartLoss
from burlab.optim.part_places import PartPlace, part_places
from burlab.problems.point import Point, coordinates_of
from burlab.problems.sampling import Stream, as_indices, full, is_full, listed
from burlab.runtime.coerce import Array
from burlab.transforms import random
from burlab.typing import ArrayLike, Tree

from .oracle import Oracle
from .query_kernels import counter_of, kernel_of

_NO_STEP = -1  # what stands for the step in the key


class StartQueries:
    """Queries of `init`: over all samples, or over those that it chooses.

    Points, vectors and answers are flat, shape (d,), as in an update. key: `fold_in(key(seed), -1)`, that of step -1.
    """

    def __init__(self, oracle: Oracle, point: Point, stream: Stream, threads: int, batch: int | None = None) -> None:
        """batch: samples of the first step, if not the stream's."""
        self._oracle, self._start, self._point, self._threads = oracle, point, point.computed, threads
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
        """Number of clients."""
        return len(self._sizes_for("clients"))

    @property
    def client_sizes(self) -> tuple[int, ...]:
        """Number of samples of each client."""
        return self._sizes_for("client_sizes")

    def _sizes_for(self, name: str) -> tuple[int, ...]:
        if not self._sizes:
            raise ArgumentError(f"f.{name} needs a problem with clients: bl.problems.federated(loss, clients).")
        return self._sizes

    def client_grads(
        self, y: Array, *, clients: ArrayLike | None = None, indices: Sequence[ArrayLike] | None = None
    ) -> Array:
        """Return the gradients of clients, shape (clients, d). indices: for each client, of its samples; None: all."""
        sizes = self._sizes_for("client_grads")
        label = "clients of f.client_grads"
        chosen = np.arange(len(sizes)) if clients is None else as_indices(clients, len(sizes), label, "clients")
        points = np.broadcast_to(y, (len(chosen), self._dimension))
        some = [None] * len(chosen) if indices is None else list(indices)
        rows = [self._of_client(int(c), self.grad, (z,), i) for c, z, i in zip(chosen, points, some, strict=True)]
        return np.stack(rows)

    def client_hessians(self, y: Array) -> Array:
        """Return the Hessian of every client, shape (clients, d, d)."""
        clients = range(len(self._sizes_for("client_hessians")))
        if is_whole(self._dimension):
            return np.stack([self._of_client(c, self.hessian, (y,), None) for c in clients])
        axes = np.eye(self._dimension, dtype=np.asarray(y).dtype)
        return np.stack([np.stack([self._of_client(c, self.hvp, (y, axis), None) for axis in axes]) for c in clients])

    def _of_client(
        self, c: int, question: Callable[..., Array], about: tuple[Array, ...], some: ArrayLike | None
    ) -> Array:
        """Return an answer over samples of a client, weighted so that clients count alike in the mean."""
        size, first = self._sizes[c], sum(self._sizes[:c])
        own = np.arange(size) if some is None else as_indices(some, size, f"indices of client {c}")
        answer = question(*about, indices=first + own)
        return answer * answer.dtype.type(len(self._sizes) * size / sum(self._sizes))

    @property
    def _dimension(self) -> int:
        return sum(leaf.size for leaf in self._point.leaves)

    def value(self, y: Array, *, indices: ArrayLike | None = None) -> Any:
        """Return f(y)."""
        return self._mean("value_like", (y,), indices)[0][()]

    def grad(self, y: Array, *, indices: ArrayLike | None = None) -> Array:
        """Return the gradient of f at y, shape (d,)."""
        return self._flat(self._mean("grad", (y,), indices)[0])

    def value_and_grad(self, y: Array, *, indices: ArrayLike | None = None) -> tuple[Any, Array]:
        """Return value and gradient of f at y."""
        value, gradient = self._mean("training", (y,), indices)
        return value[()], self._flat(gradient)

    @cached_property
    def part_places(self) -> tuple[PartPlace, ...]:
        """The parts of x that have losses of their own."""
        return part_places(self._oracle.part_names, self._point.tree)

    @property
    def parts(self) -> tuple[str, ...]:
        """Their names."""
        return self._oracle.part_names

    def part(self, name: str | None = None) -> PartLoss:
        """Return the loss of a part of x, for questions about it."""
        return PartLoss(self, name, self._flat(self._start.tree).astype(self._point.leaves[0].dtype))

    def part_query(self, query: str, form: PartForm, *points: Array, indices: ArrayLike | None = None) -> Any:
        """Return the answer about the loss of a part: see `burlab.optim.queries.Queries.part_query`."""
        stream, _list = self._stream(indices, query)
        self._count(counter_of(query), stream)
        kernel = kernel_of(query, form.number(len(self.parts)))
        found = self._oracle.mean(kernel, [self._at(y) for y in points], stream, self._known_key, self._threads)
        if query == "part_value":
            return found[0][()]
        return (found[0][()], self._flat(found[1])) if query == "part_value_and_grad" else self._flat(found[0])

    def part_value_and_grad(self, y: Array, part: int, *, indices: ArrayLike | None = None) -> tuple[Any, Array]:
        """Return value and gradient at y of the loss of a part, by its number."""
        return self.part_query("part_value_and_grad", PartForm(part, (part,)), y, indices=indices)

    def hvp(self, y: Array, v: Array, *, indices: ArrayLike | None = None) -> Array:
        """Return the Hessian of f at y times v, shape (d,)."""
        return self._flat(self._mean("hvp", (y, v), indices)[0])

    def hessian(self, y: Array, *, indices: ArrayLike | None = None) -> Array:
        """Return the Hessian of f at y, shape (d, d)."""
        return self._answer("hessian", [self._at(y)], indices, self._dimension)[0]

    def jvp(self, y: Array, v: Array, *, indices: ArrayLike | None = None) -> Any:
        """Return the derivative of f at y along v."""
        return self._mean("jvp", (y, v), indices)[0][()]

    def partial_grad(self, y: Array, coordinates: ArrayLike, *, indices: ArrayLike | None = None) -> Any:
        """Return the entries of the gradient at `coordinates`, in their shape."""
        known = as_indices(
            np.reshape(coordinates, -1), self._dimension, "coordinates of f.partial_grad", "entries of x"
        )
        found = self._answer("partial_grad", [self._at(y), coordinates_of(known)], indices, len(known))[0]
        return found.reshape(np.shape(coordinates))

    def per_sample_grads(self, y: Array, *, indices: ArrayLike | None = None) -> Array:
        """Return the gradient of the loss of samples, shape (b, d), without the regularizer."""
        point = self._at(y)
        stream, _list = self._stream(indices, "per_sample_grads")
        self._count("samples", stream)
        rows = self._oracle.kernels("grad", [point]).samples.rows(point.leaves, stream, self._known_key)[0]
        return np.concatenate([leaf.reshape(len(leaf), -1) for leaf in _leaves(rows)], axis=1)

    def per_sample_values(self, y: Array, *, indices: ArrayLike | None = None) -> Array:
        """Return the loss of every sample, or of those chosen, shape (b,), without the regularizer."""
        point = self._at(y)
        stream, _list = self._stream(indices, "per_sample_values")
        self._count("values", stream)
        rows = self._oracle.kernels("value_like", [point]).samples.rows(point.leaves, stream, self._known_key)
        return tree.flatten(rows)[0][0]

    def row_factors(self, y: Array) -> Array:
        """Return the numbers that multiply the rows of sparse data in the gradients of all samples, shape (n,)."""
        point, stream = self._at(y), full(self.samples)
        self._count("samples", stream)
        return tree.flatten(self._oracle.factors([point]).rows(point.leaves, stream, self._known_key))[0][0]

    def mean_row(self, y: Array) -> Array:
        """Return the mean of the gradients of all samples without the regularizer, shape (d,): not counted again."""
        point = self._at(y)
        samples = self._oracle.kernels("grad", [point]).samples
        return self._flat(samples.mean(point.leaves, full(self.samples), self._known_key, self._threads)[0])

    full_value = value
    full_grad = grad

    def _mean(self, query: str, about: tuple[Array, ...], indices: ArrayLike | None) -> Any:
        return self._answer(query, [self._at(y) for y in about], indices)

    def _answer(self, query: str, about: list[Point], indices: ArrayLike | None, entries: int = 1) -> Any:
        stream, _list = self._stream(indices, query)
        self._count(counter_of("value" if query == "value_like" else query), stream, entries)
        return self._oracle.mean(query, about, stream, self._known_key, self._threads)

    def _at(self, y: Array) -> Point:
        return self._point.with_numbers(np.asarray(y))

    @property
    def _known_key(self) -> Any:
        """The key, computed only if the loss takes one."""
        return self.key if self._oracle.keyed else (0, 0)

    def _stream(self, indices: ArrayLike | None, query: str) -> tuple[Stream, Any]:
        """Return the batch, and the array that it refers to."""
        if self._oracle.batch is not None:
            raise ArgumentError(
                f"the optimizer begins with f.{query} over other samples than a batch of {self.batch}, where a loss of "
                "a whole batch is another one. Use a rule that reads the gradient of its batch: bl.optim.Adam."
            )
        if indices is None:
            return full(self.samples), None
        chosen = as_indices(indices, self.samples, f"indices of f.{query}")
        return listed(self.samples, chosen), chosen

    def _count(self, counter: str, stream: Stream, entries: int = 1) -> None:
        self.spent[counter] = self.spent.get(counter, 0) + int(stream.batch) * entries

    def _flat(self, gradient: Tree) -> Array:
        return np.concatenate([leaf.reshape(-1) for leaf in _leaves(gradient)])

    def __getattr__(self, name: str) -> NoReturn:
        if name == "indices":
            raise ArgumentError("f.indices are the samples of a step, and init comes before the first. Use f.samples.")
        if name.startswith("__"):
            raise AttributeError(name)
        raise TraceError(f"f.{name} is not available in init; see bl.optim.Optimizer.init.")


def _leaves(value: Tree) -> list[Array]:
    return tree.flatten(value)[0]
