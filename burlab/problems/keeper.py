"""Clients on a worker of a Dask cluster: an actor, which holds their samples and answers queries about them."""

import pickle
from collections.abc import Sequence

import numpy as np

from burlab.errors import StatusError
from burlab.graph import tree
from burlab.graph.query import is_whole
from burlab.problems.kernels.client_queries import ClientQuery
from burlab.problems.kernels.oracle import Oracle
from burlab.runtime.cluster import Machine, check_machine, machine
from burlab.runtime.coerce import Array

from .data import Data
from .point import Point, as_point
from .sampling import listed

Form = tuple[Oracle, tree.Tree, int]
"""The subject of queries: the loss without samples, a tree like x, the number of threads of a sum."""


class ClientKeeper:
    """The samples of clients. No query changes it: another one with the same samples answers alike."""

    def __init__(self, clients: Sequence[int], sizes: Sequence[int], own: Machine, *arrays: Array) -> None:
        """clients: their numbers. sizes: how many of the samples, one client after another, each of them holds.

        own: the machine of the process that sends queries.
        """
        check_machine("which came later", machine(), own, "this problem")
        firsts = np.cumsum([0, *sizes]).tolist()
        self._places = dict(zip(clients, zip(firsts, sizes, strict=False), strict=True))
        self._data = Data(tuple(np.require(a, requirements=["C", "A"]) for a in arrays), firsts[-1])
        self._forms: dict[str, tuple[Oracle, Point, int]] = {}

    def rows(self, form: str, query: ClientQuery, content: bytes | None) -> Array | Exception:
        """Return a row for each client, or the exception that was raised. content: the form, if it is new."""
        try:
            if content is not None:
                oracle, like, threads = pickle.loads(content)
                self._forms[form] = oracle.over(self._data), as_point(like, "x"), threads
            return np.stack([self._row(form, query, k) for k in range(len(query.clients))])
        except Exception as error:  # also what functions of the user's raise
            return _able_to_travel(error)

    def _row(self, form: str, query: ClientQuery, k: int) -> Array:
        oracle, like, threads = self._forms[form]
        first, size = self._places[int(query.clients[k])]
        samples = first + (query.samples[k] if query.samples.size else np.arange(size))
        batch = listed(self._data.samples, samples)
        y = query.points if query.points.ndim == 1 else query.points[k]

        def answer(name: str, *about: Array) -> Array:
            found = oracle.mean(name, [like.with_numbers(v) for v in about], batch, query.key, threads)
            return np.concatenate([np.reshape(leaf, -1) for leaf in tree.flatten(found)[0]])

        if query.query == "client_grads":
            return answer("grad", y)
        if query.query == "client_values_and_grads":
            return answer("training", y)
        if is_whole(y.size):
            return answer("hessian", y).reshape(y.size, y.size)
        return np.stack([answer("hvp", y, unit) for unit in np.eye(y.size, dtype=y.dtype)])


def _able_to_travel(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return StatusError(f"{type(error).__name__}: {error}")
    return error
