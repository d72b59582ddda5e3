"""Runs of a sweep on the workers of a Dask cluster: sent as what they are made of, returned as bytes of run files.

Imports Dask.
"""

from collections.abc import Generator
from typing import Any
from uuid import uuid4

from burlab.runtime import cluster

from . import dask_plugin
from .dask_reports import PERIOD, ReportReader
from .dependents import TrialSettings
from .sweep_rows import TrialOutcome, failed
from .trial_source import TrialSource
from .trials import Trial


class DaskExecutor:
    """Lets runs step on the workers of a Dask cluster."""

    def __init__(self, settings: TrialSettings, client: Any) -> None:
        self._settings = settings
        self._client = client

    def carry_out(self, source: TrialSource) -> Generator[TrialOutcome]:
        """Let trials run, and give each as it ends. Dask gives the run of a lost worker to another one.

        Raises ConfigurationError where there is no worker, or one whose bits would differ.
        """
        if not source.refill():
            return
        cluster.check_workers(self._client, "this sweep")
        name = f"burlab-sweep-{uuid4().hex}"
        self._client.register_plugin(dask_plugin.SettingPlugin.of(self._settings.setting, source.reports), name=name)
        futures: dict[Any, Trial] = {}
        try:
            yield from self._searched(source, futures, name) if source.reports else self._listed(source, futures, name)
        finally:
            self._client.cancel(list(futures))
            self._client.unregister_worker_plugin(name)

    def _listed(self, source: TrialSource, futures: dict[Any, Trial], name: str) -> Generator[TrialOutcome]:
        """All trials at once."""
        while source.refill():
            self._submit(source, futures, name)
        for future in dask_plugin.distributed.as_completed(list(futures)):
            yield _outcome(future, futures)

    def _searched(self, source: TrialSource, futures: dict[Any, Trial], name: str) -> Generator[TrialOutcome]:
        """As many trials at once as the workers have threads, each with what is known when it begins."""
        reports = ReportReader(self._client, name)
        try:
            while futures or source.refill():
                while len(futures) < max(sum(self._client.nthreads().values()), 1) and source.refill():
                    self._submit(source, futures, name)
                if (report := reports.next(PERIOD)) is not None:
                    trial = next((one for one in futures.values() if one.number == report.number), None)
                    if trial is not None:
                        reports.answer(report, source.is_hopeless(trial, report.step, report.value))
                for future in [one for one in futures if one.done()]:
                    yield _outcome(future, futures)
        finally:
            reports.close()

    def _submit(self, source: TrialSource, futures: dict[Any, Trial], name: str) -> None:
        trial = source.due.popleft()
        future = self._client.submit(dask_plugin.do, name, trial, key=f"{name}-{trial.number}")
        futures[future] = trial


def _outcome(future: Any, futures: dict[Any, Trial]) -> TrialOutcome:
    trial = futures.pop(future)
    try:
        return future.result()
    except (dask_plugin.distributed.KilledWorker, dask_plugin.distributed.CancelledError) as error:
        return TrialOutcome(failed(trial, error), None, error)
