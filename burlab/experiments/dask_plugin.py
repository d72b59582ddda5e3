"""The setting of a sweep as a plugin of every Dask worker, also of one that joins later. Imports Dask."""

import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from burlab.errors import ArgumentError, StatusError
from burlab.runtime.cluster import Machine, check_machine, machine
from burlab.runtime.extras import require
from burlab.runtime.flag import Flag

from .setting import Setting
from .sweep_rows import TrialOutcome, ended, failed
from .trials import Trial

cloudpickle: Any = require("cloudpickle", "cluster")
distributed: Any = require("distributed", "cluster")


class SettingPlugin(distributed.WorkerPlugin):
    """A setting as bytes. It is sent to a worker once, unpacked once, and all runs use its kernels."""

    def __init__(self, content: bytes, machine: Machine) -> None:
        """content: a pickled Setting. machine: that of the client."""
        self._given = content, machine
        self._unpacking = threading.Lock()
        self._unpacked: tuple[Setting, Any, Any] | None = None
        self._halted = Flag()

    def __reduce__(self) -> Any:
        """Pickle the bytes alone."""
        return SettingPlugin, self._given

    @staticmethod
    def of(setting: Setting) -> "SettingPlugin":
        """Pickle a setting. Raises ArgumentError if that is not possible."""
        try:
            return SettingPlugin(cloudpickle.dumps(setting), machine())
        except Exception as error:  # whatever an object of the user's raises
            raise ArgumentError(
                f"the problem cannot be sent to a cluster: {type(error).__name__}: {error}. What its functions use "
                "must be picklable: make open files, locks and threads inside of them."
            ) from error

    def teardown(self, worker: Any) -> None:  # noqa: ARG002 - as Dask calls it
        """End the runs that are under way."""
        self._halted.set()

    def do(self, trial: Trial) -> TrialOutcome:
        """Do a run, on a worker. Its row has the error as text, as not every exception can be pickled."""
        check_machine("which came later", machine(), self._given[1], "this sweep")
        run = None
        try:
            setting, opened, validating = self._content()
            run = opened(trial)
            setting.begin(run)
            while not run.rests(1.0):
                if self._halted.is_set():
                    raise StatusError("the sweep was interrupted.")
            row = ended(trial, run, validating)
            with TemporaryDirectory() as folder:
                place = Path(folder) / "run.burlab"
                run.save(place)
                return TrialOutcome(row, place.read_bytes())
        except Exception as error:  # also what functions of the user's raise
            return TrialOutcome(failed(trial, error, run), None)

    def _content(self) -> tuple[Setting, Any, Any]:
        with self._unpacking:
            if self._unpacked is None:
                setting: Setting = cloudpickle.loads(self._given[0])
                self._unpacked = setting, setting.opening(), setting.validating()
            return self._unpacked


def do(name: str, trial: Trial) -> TrialOutcome:
    """Do a run, in a task of a worker. name: of the plugin."""
    return distributed.get_worker().plugins[name].do(trial)
