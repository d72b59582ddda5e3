"""Runs of a sweep on the workers of a Dask cluster: sent as what they are made of, returned as bytes of run files."""

from collections.abc import Generator, Sequence
from typing import Any
from uuid import uuid4

from burlab.errors import ArgumentError, ConfigurationError
from burlab.runtime.extras import require

from .rows import Outcome, failed
from .setting import Setting
from .trials import Trial


class There:
    """Lets runs step on the workers of a Dask cluster."""

    def __init__(self, setting: Setting, client: Any) -> None:
        self._setting = setting
        self._client = client

    def carry_out(self, trials: Sequence[Trial]) -> Generator[Outcome]:
        """Let trials run, and give each as it ends. Dask gives the run of a lost worker to another one.

        Raises ConfigurationError where there is no worker, or one whose bits would differ.
        """
        from . import parcel

        if not trials:
            return
        _check_workers(self._client.run(parcel.machine, on_error="return"))
        name, submit = f"burlab-sweep-{uuid4().hex}", self._client.submit
        self._client.register_plugin(parcel.Parcel.of(self._setting), name=name)
        futures = {submit(parcel.do, name, trial, key=f"{name}-{trial.number}"): trial for trial in trials}
        try:
            for future in parcel.distributed.as_completed(list(futures)):
                trial = futures.pop(future)
                try:
                    yield future.result()
                except (parcel.distributed.KilledWorker, parcel.distributed.CancelledError) as error:
                    yield Outcome(failed(trial, error), None, error)
        finally:
            self._client.cancel(list(futures))
            self._client.unregister_worker_plugin(name)


def check_client(client: Any, threads: int) -> None:
    """Raise ArgumentError where it is no client that can be waited for."""
    kind = require("distributed", "cluster").Client
    if not isinstance(client, kind) or client.asynchronous:
        what = "an asynchronous client" if isinstance(client, kind) else repr(client)
        raise ArgumentError(f"cluster is {what}, expected a client such as dask.distributed.Client('tcp://host:8786').")
    if threads != 1:
        raise ArgumentError(
            f"threads={threads} is for runs in this process; on a cluster each thread of a worker does one. Leave it "
            "out."
        )


def _check_workers(found: dict[str, Any]) -> None:
    """found: the machine of each worker, or why it does not answer; one that was lost just now does not count."""
    from .parcel import machine, other

    known = {name: theirs for name, theirs in found.items() if not isinstance(theirs, OSError)}
    if not known:
        raise ConfigurationError("the cluster has no worker. Start some, and call client.wait_for_workers(1).")
    for name, theirs in known.items():
        if isinstance(theirs, Exception):
            raise ConfigurationError(
                f"the worker {name} cannot use burlab: {type(theirs).__name__}: {theirs}. Install the same one there."
            ) from theirs
        if tuple(theirs) != machine():
            raise ConfigurationError(other(name, theirs, machine()))
