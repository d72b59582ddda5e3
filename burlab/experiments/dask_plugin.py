"""The setting of a sweep as a plugin of every Dask worker, also of one that joins later. Imports Dask."""

import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from burlab.errors import ArgumentError, StatusError
from burlab.run import Run
from burlab.runtime.cluster import Machine, check_machine, machine
from burlab.runtime.extras import require
from burlab.runtime.flag import Flag

from .dask_reports import Reporter
from .dependents import TrialSettings
from .setting import Setting
from .sweep_rows import TrialOutcome, ended, failed, pruned, value_of
from .trials import Trial

cloudpickle: Any = require("cloudpickle", "cluster")
distributed: Any = require("distributed", "cluster")


class SettingPlugin(distributed.WorkerPlugin):
    """A setting as bytes. It is sent to a worker once, unpacked once, and all runs use its kernels."""

    def __init__(self, content: bytes, machine: Machine, reports: bool) -> None:
        """content: a pickled Setting. machine: that of the client. reports: True for a search, which hears of runs."""
        self._content, self._machine, self._reports = content, machine, reports
        self._unpacking = threading.Lock()
        self._unpacked: TrialSettings | None = None
        self._halted = Flag()

    def __reduce__(self) -> Any:
        """Pickle the bytes alone."""
        return SettingPlugin, (self._content, self._machine, self._reports)

    @staticmethod
    def of(setting: Setting, reports: bool = False) -> "SettingPlugin":
        """Pickle a setting. Raises ArgumentError if that is not possible."""
        try:
            return SettingPlugin(cloudpickle.dumps(setting), machine(), reports)
        except Exception as error:  # whatever an object of the user's raises
            raise ArgumentError(
                f"the problem cannot be sent to a cluster: {type(error).__name__}: {error}. What its functions use "
                "must be picklable: make open files, locks and threads inside of them."
            ) from error

    def teardown(self, worker: Any) -> None:  # noqa: ARG002 - as Dask calls it
        """End the runs that are under way."""
        self._halted.set()

    def do(self, trial: Trial, name: str = "") -> TrialOutcome:
        """Do a run, on a worker. Its row has the error as text, as not every exception can be pickled.

        name: of this plugin, under which a search has its queues.
        """
        check_machine("which came later", machine(), self._machine, "this sweep")
        run = None
        try:
            settings = self._settings()
            run, validating = settings.open(trial), settings.validating(trial)
            if self._reports:
                stops = self._searched(settings.of(trial), run, validating, Reporter(name, trial.number))
            else:
                stops = False
                settings.of(trial).begin(run)
                self._wait(run)
            row = ended(trial, run, validating)
            row = pruned(row) if stops else row
            with TemporaryDirectory() as folder:
                place = Path(folder) / "run.burlab"
                run.save(place)
                return TrialOutcome(row, place.read_bytes())
        except Exception as error:  # also what functions of the user's raise
            return TrialOutcome(failed(trial, error, run), None)

    def _searched(self, setting: Setting, run: Run, validating: Any, reporter: Reporter) -> bool:
        """Let a run go to its end, block by block; True if the search has stopped it before."""
        while True:
            setting.begin_block(run)
            self._wait(run)
            if not setting.is_between_blocks(run):
                return False
            if reporter.is_hopeless(run.t, value_of(run, validating), self._check):
                return True

    def _wait(self, run: Run) -> None:
        while not run.rests(1.0):
            self._check()

    def _check(self) -> None:
        """Raise StatusError after the sweep was interrupted."""
        if self._halted.is_set():
            raise StatusError("the sweep was interrupted.")

    def _settings(self) -> TrialSettings:
        with self._unpacking:
            if self._unpacked is None:
                self._unpacked = TrialSettings(cloudpickle.loads(self._content))
            return self._unpacked


def do(name: str, trial: Trial) -> TrialOutcome:
    """Do a run, in a task of a worker. name: of the plugin."""
    return distributed.get_worker().plugins[name].do(trial, name)
