"""Executors of a sweep: its runs step in this process, or on the workers of a Dask cluster."""

from collections.abc import Generator
from typing import Any, Protocol

from burlab.errors import ArgumentError
from burlab.runtime import cluster

from .dependents import TrialSettings
from .local_executor import LocalExecutor
from .sweep_rows import TrialOutcome
from .trial_source import TrialSource


class Executor(Protocol):
    """Lets the runs of a sweep step."""

    def carry_out(self, source: TrialSource) -> Generator[TrialOutcome]:
        """Let trials run, and give each as it ends. Closing the generator pauses those that go on."""
        ...


def executor_of(settings: TrialSettings, threads: int, client: Any) -> Executor:
    """Return the executor on the workers of a Dask client; in this process, on so many threads, where it is None."""
    if client is None:
        return LocalExecutor(settings, threads)
    from .dask_executor import DaskExecutor  # which imports Dask

    return DaskExecutor(settings, client)


def check_client(client: Any, threads: int) -> None:
    """Raise ArgumentError where it is no client that can be waited for."""
    cluster.check_client(client)
    if threads != 1:
        raise ArgumentError(
            f"threads={threads} is for runs in this process; on a cluster each thread of a worker does one. Leave it "
            "out."
        )
