"""Runs of a sweep on the workers of a Dask cluster: sent as what they are made of, returned as bytes of run files."""

from collections.abc import Generator, Sequence
from typing import Any
from uuid import uuid4

from burlab.errors import ArgumentError
from burlab.runtime import cluster

from .setting import Setting
from .sweep_rows import TrialOutcome, failed
from .trials import Trial


class DaskExecutor:
    """Lets runs step on the workers of a Dask cluster."""

    def __init__(self, setting: Setting, client: Any) -> None:
        self._setting = setting
        self._client = client

    def carry_out(self, trials: Sequence[Trial]) -> Generator[TrialOutcome]:
        """Let trials run, and give each as it ends. Dask gives the run of a lost worker to another one.

        Raises ConfigurationError where there is no worker, or one whose bits would differ.
        """
        from . import dask_plugin

        if not trials:
            return
        cluster.check_workers(self._client, "this sweep")
        name, submit = f"burlab-sweep-{uuid4().hex}", self._client.submit
        self._client.register_plugin(dask_plugin.SettingPlugin.of(self._setting), name=name)
        futures = {submit(dask_plugin.do, name, trial, key=f"{name}-{trial.number}"): trial for trial in trials}
        try:
            for future in dask_plugin.distributed.as_completed(list(futures)):
                trial = futures.pop(future)
                try:
                    yield future.result()
                except (dask_plugin.distributed.KilledWorker, dask_plugin.distributed.CancelledError) as error:
                    yield TrialOutcome(failed(trial, error), None, error)
        finally:
            self._client.cancel(list(futures))
            self._client.unregister_worker_plugin(name)


def check_client(client: Any, threads: int) -> None:
    """Raise ArgumentError where it is no client that can be waited for."""
    cluster.check_client(client)
    if threads != 1:
        raise ArgumentError(
            f"threads={threads} is for runs in this process; on a cluster each thread of a worker does one. Leave it "
            "out."
        )
