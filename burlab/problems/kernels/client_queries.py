"""Queries about clients: the ctypes mirrors of `cpp/burlab/run/step/clients.hpp` and of `kernels/oracle_query.hpp`."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from burlab.errors import IndexRangeError
from burlab.graph.query import CLIENT_QUERIES, QUERIES
from burlab.problems.point import Point
from burlab.runtime.coerce import Array
from burlab.runtime.kernel_structs import CQuestion
from burlab.runtime.status import Status
from burlab.runtime.structs import CClients, COutcome

from .sum_abi import Part

_INT, _POINTER = ctypes.c_int64, ctypes.c_void_p


_CALLBACK = ctypes.CFUNCTYPE(_INT, ctypes.POINTER(CQuestion), _POINTER, _POINTER, _POINTER, _INT)


class ClientQuery(NamedTuple):
    """A query about clients. query: its name. clients: by number, shape (r,), int64.

    samples: of each, by their numbers within it, shape (r, b); b is 0 for all of them. points: shape (d,),
    or (r, d). key: of the step.
    """

    query: str
    clients: Array
    samples: Array
    points: Array
    key: tuple[int, int]

    def of(self, rows: Sequence[int]) -> "ClientQuery":
        """Return the query about some of the clients, by their positions in this one."""
        points = self.points if self.points.ndim == 1 else self.points[list(rows)]
        return ClientQuery(self.query, self.clients[list(rows)], self.samples[list(rows)], points, self.key)


class RemoteClients(Protocol):
    """Clients on other machines."""

    def answer(self, query: ClientQuery, cancelled: Callable[[], bool]) -> Array | None:
        """Return a row for each client, (r, d), (r, 1 + d) or (r, d, d), before weights are undone, or None."""
        ...


class ClientKeepers(Protocol):
    """The remote clients of a problem."""

    def session(self, oracle: Any, point: Point) -> RemoteClients:
        """Return the remote clients of a run. oracle: of the problem. point: x."""
        ...


class ClientTable:
    """The clients of a federation, for C++. address: of the struct, which lives as long as this.

    sizes: number of samples of each client; samples lie one client after another. remote: clients that are not in this
    process. failure: the last exception that they raised.
    """

    def __init__(self, sizes: tuple[int, ...], point: Point, remote: RemoteClients | None) -> None:
        self.remote = remote
        self.failure: Exception | None = None
        self._sizes = np.array(sizes, np.int64)
        self._first = np.cumsum(self._sizes) - self._sizes
        self._scale = len(sizes) * self._sizes / self._sizes.sum()  # undoes the weights: all clients count alike
        self._dtype, self._dimension = point.leaves[0].dtype, sum(leaf.size for leaf in point.leaves)
        self._callback = None if remote is None else _CALLBACK(self._answer)
        self._all = CClients(
            count=len(sizes),
            first=self._first.ctypes.data,
            sizes=self._sizes.ctypes.data,
            scale=self._scale.ctypes.data,
            elsewhere=self._callback and ctypes.cast(self._callback, _POINTER),
        )
        self.address = ctypes.addressof(self._all)

    def error(self, outcome: COutcome) -> Exception | None:
        """Return the exception for a failed query about clients."""
        sample, m = int(outcome.sample), len(self._sizes)
        if outcome.part == Part.CLIENTS:
            return IndexRangeError(
                f"clients of f.client_grads held {sample}, but there are {m} clients: use 0 to {m - 1}."
            )
        if outcome.part == Part.WITHIN:
            c = int(outcome.node)
            return IndexRangeError(
                f"indices of f.client_grads held {sample} for client {c}, which has {self._sizes[c]} samples: they are "
                f"numbered within the client, from 0 to {self._sizes[c] - 1}."
            )
        return self.failure if outcome.part == Part.ELSEWHERE else None

    def _answer(self, question: Any, key: int, cancel: int, out: int, results: int) -> int:
        """Called by the thread of a run, which has no GIL until here."""
        try:
            query = self._query(question.contents, key, results)
            flag = ctypes.c_bool.from_address(cancel)
            assert self.remote is not None
            rows = self.remote.answer(query, lambda: flag.value)
            if rows is None:
                return Status.STOPPED
            rows = np.ascontiguousarray(rows, self._dtype)
            if rows.size != results:
                raise IndexRangeError(f"the answer about clients has {rows.size} numbers, expected {results}.")
            ctypes.memmove(out, rows.ctypes.data, rows.nbytes)
        except Exception as error:  # nothing may leave a callback
            self.failure = error
            return Status.UNANSWERED
        return Status.OK

    def _query(self, question: CQuestion, key: int, results: int) -> ClientQuery:
        d = self._dimension
        query: str = (*QUERIES, *CLIENT_QUERIES)[int(question.query)]
        rows = results // {"client_grads": d, "client_values_and_grads": d + 1}.get(query, d * d)
        listed = _copied(question.chosen, int(question.count), np.dtype(np.int64))
        points = _copied(question.about, int(question.numbers), self._dtype)
        words = _copied(key, 2, np.dtype(np.uint64)).tolist()
        return ClientQuery(
            query,
            listed[:rows],
            listed[rows:].reshape(rows, -1),
            points if points.size == d else points.reshape(rows, d),
            (words[0], words[1]),
        )


def _copied(place: int, count: int, dtype: "np.dtype[Any]") -> Array:
    return np.frombuffer(ctypes.string_at(place, count * dtype.itemsize), dtype)
