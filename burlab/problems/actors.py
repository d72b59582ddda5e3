"""The clients of a federation on Dask actors, one per worker; the clients of a lost worker go to another."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

import numpy as np

from burlab.errors import ArgumentError, ConfigurationError, StatusError
from burlab.problems.kernels.client_queries import ClientQuery
from burlab.problems.kernels.oracle import Oracle
from burlab.runtime.cluster import check_client, check_workers, machine
from burlab.runtime.coerce import Array
from burlab.runtime.extras import require
from burlab.runtime.flag import Flag

from .data import Data
from .keeper import ClientKeeper
from .point import Point

POLL_SECONDS = 0.02  # between two polls of a future
WORKER_SECONDS = 1.0  # between two checks that the worker exists
MAX_LOST_ACTORS = 8  # while one query is answered


class _ActorGoneError(Exception):
    """An actor whose worker is gone."""


@dataclass
class _Actor:
    """An actor and its clients. ended: set once its future has ended. forms: those that it was sent."""

    clients: tuple[int, ...]
    worker: str
    future: Any
    ended: Flag
    proxy: Any = None
    forms: set[str] = field(default_factory=set[str])

    def connect(self, timeout: float) -> Any:
        """Return its Dask proxy. Raises TimeoutError; the future's own timeout may cancel the future."""
        if not self.ended.wait(timeout):
            raise TimeoutError
        return self.future.result()


class ClientActors:
    """The clients of a problem on the workers of a cluster, one actor on each.

    Actors hold samples and kernels. The variables of clients are part of the optimizer's state, in this process, so a
    lost actor loses no state: its samples are sent to another worker, which answers its query.
    """

    def __init__(self, client: Any, arrays: Sequence[Array], sizes: Sequence[int], threads: int) -> None:
        """arrays: the samples, one client after another. threads: of a worker, for one sum.

        Raises ConfigurationError without workers, or for one whose bits would differ.
        """
        check_client(client)
        self._client, self._arrays, self._sizes, self._threads = client, arrays, tuple(sizes), threads
        self._firsts = np.cumsum([0, *sizes]).tolist()
        self._placing = threading.Lock()
        self._sessions: WeakKeyDictionary[Oracle, dict[Any, ActorSession]] = WeakKeyDictionary()
        self._actors = [self._placed(group, worker) for worker, group in self._assigned(check_workers(client, _OF))]
        self._home = {c: number for number, actor in enumerate(self._actors) for c in actor.clients}

    def __reduce__(self) -> Any:
        raise ArgumentError(
            "a problem whose clients are on a cluster cannot be sent. Create it without cluster=, and send that."
        )

    def __deepcopy__(self, _memo: object) -> "ClientActors":
        return self

    def session(self, oracle: Oracle, point: Point) -> "ActorSession":
        """Return the session of a loss at points of one form, which runs share. point: x."""
        form = point.structure, *((leaf.shape, leaf.dtype) for leaf in point.leaves)
        known = self._sessions.setdefault(oracle, {})
        if form not in known:
            known[form] = ActorSession(self, self._packed(oracle.over(Data.none()), point))
        return known[form]

    def _packed(self, oracle: Oracle, point: Point) -> bytes:
        pickler = require("cloudpickle", "cluster")
        try:
            return pickler.dumps((oracle, point.tree, self._threads))
        except Exception as error:  # whatever an object of the user's raises
            raise ArgumentError(
                f"the loss cannot be sent to a cluster: {type(error).__name__}: {error}. What it uses must be "
                "picklable: make open files, locks and threads inside of it."
            ) from error

    def request(self, form: str, content: bytes, query: ClientQuery, cancelled: Callable[[], bool]) -> Array | None:
        """Return the answer to a query, a row per client; None if cancelled."""
        found: list[Any] = [None] * len(query.clients)
        missing, losses = list(range(len(found))), 0
        while missing:
            sent = [(actor, rows, self._send(actor, form, content, query.of(rows), cancelled))
                    for actor, rows in self._by_actor(query, missing)]  # fmt: skip
            for actor, rows, answer in sent:
                if answer is None and cancelled():
                    return None
                try:
                    got = self._received(actor, answer, cancelled)
                except _ActorGoneError:
                    losses += 1
                    self._replace(actor, losses)
                    continue
                if got is None:
                    return None
                actor.forms.add(form)
                for k, row in zip(rows, got, strict=True):
                    found[k] = row
            missing = [k for k in missing if found[k] is None]
        return np.stack(found)

    def _by_actor(self, query: ClientQuery, rows: Sequence[int]) -> list[tuple[_Actor, list[int]]]:
        """Return the rows of a query by the actors that hold their clients."""
        with self._placing:
            homes = [self._home[c] for c in query.clients[list(rows)].tolist()]
            return [
                (actor, own)
                for number, actor in enumerate(self._actors)
                if (own := [k for k, home in zip(rows, homes, strict=True) if home == number])
            ]

    def _send(self, actor: _Actor, form: str, content: bytes, query: ClientQuery, cancelled: Callable[[], bool]) -> Any:
        """Send a query and return Dask's future; None if the actor is lost, or the query cancelled."""
        try:
            if actor.proxy is None:
                actor.proxy = self._wait(actor, actor.connect, cancelled)
            if actor.proxy is None:
                return None
            return actor.proxy.rows(form, query, None if form in actor.forms else content)
        except (_ActorGoneError, RuntimeError):  # Dask raises it for an actor known to be lost
            return None

    def _received(self, actor: _Actor, answer: Any, cancelled: Callable[[], bool]) -> Array | None:
        if answer is None:
            raise _ActorGoneError
        got = self._wait(actor, answer.result, cancelled)
        if isinstance(got, Exception):
            raise got
        return got

    def _wait(self, actor: _Actor, result: Callable[..., Any], cancelled: Callable[[], bool]) -> Any:
        """Return the result of a Dask future; None if cancelled."""
        distributed = require("distributed", "cluster")
        waited = 0.0
        while True:
            try:
                return result(timeout=POLL_SECONDS)
            except (TimeoutError, distributed.TimeoutError):
                waited += POLL_SECONDS
            except (ConfigurationError, ArgumentError):  # of an actor that was refused by its worker
                raise
            except (OSError, RuntimeError, distributed.KilledWorker, distributed.CancelledError) as error:
                self._check_open()
                raise _ActorGoneError from error
            if cancelled():
                return None
            if actor.future.status in ("error", "lost", "cancelled") and actor.proxy is not None:
                raise _ActorGoneError
            if waited >= WORKER_SECONDS:
                waited = 0.0
                if actor.worker not in self._workers():
                    raise _ActorGoneError

    def _check_open(self) -> None:
        if self._client.status != "running":
            raise StatusError(
                "the Dask client of this problem is closed. Open one, and create the problem again with cluster=; "
                "bl.load_run goes on with a run that was saved."
            )

    def _workers(self) -> list[str]:
        self._check_open()
        return sorted(self._client.nthreads())

    def _replace(self, gone: _Actor, losses: int) -> None:
        """Move the clients of a gone actor to the worker with the fewest samples."""
        with self._placing:
            if gone not in self._actors:
                return  # another run was first
            others = [worker for worker in self._workers() if worker != gone.worker]
            if not others or losses > MAX_LOST_ACTORS:
                raise StatusError(
                    f"the cluster lost the worker {gone.worker}, and {'others' if others else 'has no other'}. Start "
                    "workers: the run then continues from this step."
                )
            load = dict.fromkeys(others, 0)
            for actor in self._actors:
                if actor.worker in load:
                    load[actor.worker] += self._samples(actor.clients)
            self._actors[self._actors.index(gone)] = self._placed(gone.clients, min(others, key=lambda w: load[w]))

    def _assigned(self, workers: Sequence[str]) -> list[tuple[str, tuple[int, ...]]]:
        """Assign clients to workers: the largest first, each to the worker with the fewest samples."""
        groups: list[list[int]] = [[] for _ in workers]
        for c in sorted(range(len(self._sizes)), key=lambda c: -self._sizes[c]):
            min(groups, key=self._samples).append(c)
        return [(worker, tuple(sorted(group))) for worker, group in zip(workers, groups, strict=True) if group]

    def _placed(self, clients: tuple[int, ...], worker: str) -> _Actor:
        spans = [slice(self._firsts[c], self._firsts[c + 1]) for c in clients]
        arrays = [np.concatenate([array[span] for span in spans]) for array in self._arrays]
        sizes = [self._sizes[c] for c in clients]
        sent = self._client.scatter(arrays, workers=[worker], hash=False)
        future: Any = self._client.submit(
            ClientKeeper,
            clients,
            sizes,
            machine(),
            *sent,
            actor=True,
            workers=[worker],
            key=f"burlab-clients-{uuid4().hex}",
        )
        done = Flag()

        def ended(_: object) -> None:
            done.set()

        future.add_done_callback(ended)
        return _Actor(clients, worker, future, done)

    def _samples(self, clients: Sequence[int]) -> int:
        return sum(self._sizes[c] for c in clients)


_OF = "this problem"


class ActorSession:
    """Queries of runs that share the kernels which workers compile."""

    def __init__(self, actors: ClientActors, content: bytes) -> None:
        """content: the form, sent to an actor once."""
        self._actors, self._content, self._form = actors, content, uuid4().hex

    def answer(self, query: ClientQuery, cancelled: Callable[[], bool]) -> Array | None:
        """Return a row for each client; None if cancelled."""
        return self._actors.request(self._form, self._content, query, cancelled)
