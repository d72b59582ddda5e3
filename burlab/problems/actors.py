"""The clients of a federation on Dask actors: each worker keeps some of them; those of a lost one go to another."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

import numpy as np

from burlab.errors import ArgumentError, ConfigurationError, StatusError
from burlab.problems.kernels.clients import Asked
from burlab.problems.kernels.oracle import Oracle
from burlab.runtime.cluster import check_client, check_workers, machine
from burlab.runtime.coerce import Array
from burlab.runtime.extras import require
from burlab.runtime.flag import Flag

from .data import Data
from .keeper import Keeper
from .point import Point

_SLICE, _LOOK = 0.02, 1.0  # seconds between two looks at whether to go on, and at whether the worker is there
_MOST = 8  # actors that may be lost while one question is answered


class _LostError(Exception):
    """An actor whose worker is gone."""


@dataclass
class _Actor:
    """Where some clients are. made: whether the future has ended. known: the forms that it was sent."""

    clients: tuple[int, ...]
    worker: str
    future: Any
    made: Flag
    proxy: Any = None
    known: set[str] = field(default_factory=set[str])

    def there(self, timeout: float) -> Any:
        """Who can be asked. Raises TimeoutError. Not by the future's own timeout, which may take the future with it."""
        if not self.made.wait(timeout):
            raise TimeoutError
        return self.future.result()


class Actors:
    """Keeps the clients of a problem on the workers of a cluster, one actor on each.

    Actors hold samples and kernels, and nothing of a run: what a rule keeps for clients is part of its state, here. So
    the state before a round is the snapshot from which lost clients go on: their samples are sent to another worker,
    which answers what the lost one was asked.
    """

    def __init__(self, client: Any, arrays: Sequence[Array], sizes: Sequence[int], threads: int) -> None:
        """arrays: the samples, one client after another. threads: of a worker, for one sum.

        Raises ConfigurationError where there is no worker, or one whose bits would differ.
        """
        check_client(client)
        self._client, self._arrays, self._sizes, self._threads = client, arrays, tuple(sizes), threads
        self._firsts = np.cumsum([0, *sizes]).tolist()
        self._placing = threading.Lock()
        self._sessions: WeakKeyDictionary[Oracle, dict[Any, Session]] = WeakKeyDictionary()
        self._actors = [self._placed(group, worker) for worker, group in self._shared_out(check_workers(client, _OF))]
        self._home = {c: number for number, actor in enumerate(self._actors) for c in actor.clients}

    def __reduce__(self) -> Any:
        raise ArgumentError(
            "a problem whose clients are on a cluster cannot be sent. Make it without cluster=, and send that."
        )

    def __deepcopy__(self, _memo: Any) -> "Actors":
        return self

    def session(self, oracle: Oracle, point: Point) -> "Session":
        """Who answers for runs: the same one for all that ask about one loss at points of one form. point: x."""
        form = point.structure, *((leaf.shape, leaf.dtype) for leaf in point.leaves)
        known = self._sessions.setdefault(oracle, {})
        if form not in known:
            known[form] = Session(self, self._packed(oracle.over(Data.none()), point))
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

    def ask(self, form: str, content: bytes, asked: Asked, cancelled: Callable[[], bool]) -> Array | None:
        """The answer to a question; None where it was cancelled."""
        found: list[Any] = [None] * len(asked.clients)
        missing, losses = list(range(len(found))), 0
        while missing:
            sent = [(actor, rows, self._send(actor, form, content, asked.of(rows), cancelled))
                    for actor, rows in self._by_actor(asked, missing)]  # fmt: skip
            for actor, rows, answer in sent:
                if answer is None and cancelled():
                    return None
                try:
                    got = self._received(actor, answer, cancelled)
                except _LostError:
                    losses += 1
                    self._replace(actor, losses)
                    continue
                if got is None:
                    return None
                actor.known.add(form)
                for k, row in zip(rows, got, strict=True):
                    found[k] = row
            missing = [k for k in missing if found[k] is None]
        return np.stack(found)

    def _by_actor(self, asked: Asked, rows: Sequence[int]) -> list[tuple[_Actor, list[int]]]:
        """The rows of a question by the actors that have their clients."""
        with self._placing:
            homes = [self._home[c] for c in asked.clients[list(rows)].tolist()]
            return [
                (actor, here)
                for number, actor in enumerate(self._actors)
                if (here := [k for k, home in zip(rows, homes, strict=True) if home == number])
            ]

    def _send(self, actor: _Actor, form: str, content: bytes, asked: Asked, cancelled: Callable[[], bool]) -> Any:
        """The answer to come; None where the actor is lost, or the question cancelled."""
        try:
            if actor.proxy is None:
                actor.proxy = self._wait(actor, actor.there, cancelled)
            if actor.proxy is None:
                return None
            return actor.proxy.rows(form, asked, None if form in actor.known else content)
        except (_LostError, RuntimeError):  # Dask's own word for an actor that is known to be lost
            return None

    def _received(self, actor: _Actor, answer: Any, cancelled: Callable[[], bool]) -> Array | None:
        if answer is None:
            raise _LostError
        got = self._wait(actor, answer.result, cancelled)
        if isinstance(got, Exception):
            raise got
        return got

    def _wait(self, actor: _Actor, result: Callable[..., Any], cancelled: Callable[[], bool]) -> Any:
        """What a future of Dask gives; None where it was cancelled."""
        distributed = require("distributed", "cluster")
        waited = 0.0
        while True:
            try:
                return result(timeout=_SLICE)
            except (TimeoutError, distributed.TimeoutError):
                waited += _SLICE
            except (ConfigurationError, ArgumentError):  # of an actor that was refused by its worker
                raise
            except (OSError, RuntimeError, distributed.KilledWorker, distributed.CancelledError) as error:
                self._check_open()
                raise _LostError from error
            if cancelled():
                return None
            if actor.future.status in ("error", "lost", "cancelled") and actor.proxy is not None:
                raise _LostError
            if waited >= _LOOK:
                waited = 0.0
                if actor.worker not in self._workers():
                    raise _LostError

    def _check_open(self) -> None:
        if self._client.status != "running":
            raise StatusError(
                "the Dask client of this problem is closed. Open one, and make the problem again with cluster=; "
                "bl.load_run goes on with a run that was saved."
            )

    def _workers(self) -> list[str]:
        self._check_open()
        return sorted(self._client.nthreads())

    def _replace(self, lost: _Actor, losses: int) -> None:
        """Have the clients of a lost actor on the worker that has least to do."""
        with self._placing:
            if lost not in self._actors:
                return  # another run was first
            there = [worker for worker in self._workers() if worker != lost.worker]
            if not there or losses > _MOST:
                raise StatusError(
                    f"the cluster lost the worker {lost.worker}, and {'others' if there else 'has no other'}. Start "
                    "workers: the run then goes on from this step."
                )
            load = dict.fromkeys(there, 0)
            for actor in self._actors:
                if actor.worker in load:
                    load[actor.worker] += self._samples(actor.clients)
            self._actors[self._actors.index(lost)] = self._placed(lost.clients, min(there, key=lambda w: load[w]))

    def _shared_out(self, workers: Sequence[str]) -> list[tuple[str, tuple[int, ...]]]:
        """Clients by workers: the largest first, each to who has least."""
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
            Keeper, clients, sizes, machine(), *sent, actor=True, workers=[worker], key=f"burlab-clients-{uuid4().hex}"
        )
        made = Flag()

        def ended(_: Any) -> None:
            made.set()

        future.add_done_callback(ended)
        return _Actor(clients, worker, future, made)

    def _samples(self, clients: Sequence[int]) -> int:
        return sum(self._sizes[c] for c in clients)


_OF = "this problem"


class Session:
    """Answers for runs, which share what workers compile for them."""

    def __init__(self, actors: Actors, content: bytes) -> None:
        """content: the form, for actors to whom it is new."""
        self._actors, self._content, self._form = actors, content, uuid4().hex

    def answer(self, asked: Asked, cancelled: Callable[[], bool]) -> Array | None:
        """A row for each client; None where it was cancelled."""
        return self._actors.ask(self._form, self._content, asked, cancelled)
