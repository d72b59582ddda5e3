"""The folder of a sweep: a file with its identity, and of each run that has ended its row and its file."""

import fcntl
import json
import os
import shutil
import socket
import weakref
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from uuid import uuid4

from burlab.errors import ArgumentError, FileError
from burlab.optim import SciPy
from burlab.problems import FiniteSum
from burlab.run import Run, load_run
from burlab.runtime.checks.numbers import shown
from burlab.runtime.files import as_path, forget_parts, lock_file, make_folder, read_text, write_whole

from .dependents import TrialSettings
from .identity import differs, identity
from .setting import Problem
from .sweep_rows import SweepRow, TrialOutcome, from_json
from .trial_source import TrialSource
from .trials import Trial


class MemoryStore:
    """Store of the runs of a sweep without a folder: they stay in memory."""

    def __init__(self) -> None:
        self._runs: dict[int, Run] = {}
        self.name = uuid4().hex

    @contextmanager
    def locked(self, settings: TrialSettings, source: TrialSource) -> Generator[None]:  # noqa: ARG002 - as a folder
        """No lock: no other process has access."""
        yield

    def notes(self) -> Mapping[int, Any]:
        """Return no notes: the source has all that it noted."""
        return {}

    def row(self, trial: Trial) -> SweepRow | None:  # noqa: ARG002 - as a folder
        """None: the sweep has all rows itself."""
        return None

    def store(self, outcome: TrialOutcome, note: Any = None) -> None:  # noqa: ARG002 - as a folder
        """Store the result of a trial."""
        if isinstance(outcome.run, Run):
            self._runs[outcome.row.number] = outcome.run

    def has(self, number: int) -> bool:
        """Return True if there is a run of this number."""
        return number in self._runs

    def load(self, trial: Trial, settings: TrialSettings) -> Run:  # noqa: ARG002 - as a folder
        """The run of a trial."""
        return self._runs[trial.number]


_NAME, _LOCK = "sweep.json", "lock"


class Folder:
    """Stores ended runs in files: `00007.burlab` is a run, `00007.json`, which is written after it, its row."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        """path: None for a temporary folder."""
        self._own = path is None
        self._path = Path(mkdtemp(prefix="burlab-sweep-")) if path is None else as_path(path, "folder")
        if self._own:
            weakref.finalize(self, shutil.rmtree, self._path, ignore_errors=True)
        make_folder(self._path)
        self._loaded: weakref.WeakValueDictionary[int, Run] = weakref.WeakValueDictionary()
        self.name = uuid4().hex  # of a temporary folder; `locked` sets that of another one

    @contextmanager
    def locked(self, settings: TrialSettings, source: TrialSource) -> Generator[None]:
        """Lock the folder for this process, and claim it for the sweep.

        The lock ends with this process. Raises FileError if another process has it, or if it is of another sweep.
        """
        place = self._path / _LOCK
        try:
            stream = lock_file(place)
        except OSError as error:
            raise FileError(
                f"{place} cannot be opened: {error.strerror}. Give a folder that may be written to, or another."
            ) from error
        with stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                stream.seek(0)
                owner = stream.read(200).decode(errors="replace").strip() or "another process"
                raise FileError(
                    f"the folder {self._path} is in use by {owner}. Wait until that sweep has ended, end it, or give "
                    "another folder."
                ) from error
            stream.truncate(0)
            stream.write(f"process {os.getpid()} on {socket.gethostname()}".encode())
            stream.flush()
            forget_parts(self._path, 0.0)  # nobody else writes here
            if not self._own:
                self._claim(identity(settings, source))
            yield

    def row(self, trial: Trial) -> SweepRow | None:
        """Return the row of a run that has ended; None if there is none, or it cannot be read."""
        try:
            found = from_json(trial, read_text(self._file(trial.number, "json")))
        except (OSError, AttributeError, KeyError, RecursionError, TypeError, ValueError, OverflowError):
            return None
        return found if self._file(trial.number, "burlab").exists() else None

    def notes(self) -> Mapping[int, Any]:
        """Return the notes of the source about runs that are stored, by number."""
        found: dict[int, Any] = {}
        for file in sorted(self._path.glob(f"{'[0-9]' * 5}.json")):
            try:
                note = json.loads(read_text(file)).get("note")
            except (OSError, AttributeError, RecursionError, ValueError):
                continue
            if isinstance(note, dict) and self._file(int(file.stem), "burlab").exists():
                found[int(file.stem)] = note
        return found

    def store(self, outcome: TrialOutcome, note: Any = None) -> None:
        """Store the outcome of a run, unless it is an error: that is tried again. note: see `TrialSource.note`."""
        row, run, _ = outcome
        if row.reason == "error" or run is None:
            return
        place = self._file(row.number, "burlab")
        if isinstance(run, Run):
            run.save(place)
            self._loaded[row.number] = run
        else:
            write_whole(place, [run])
        write_whole(self._file(row.number, "json"), [row.as_json(note).encode()])

    def has(self, number: int) -> bool:
        """Return True if there is a run of this number."""
        return self._file(number, "json").exists()

    def load(self, trial: Trial, settings: TrialSettings) -> Run:
        """Return the run of a trial: the one in memory, else from its file."""
        run = self._loaded.get(trial.number)
        if run is None:
            setting = settings.of(trial)
            problem = setting.problem
            data, validation = _data_of(problem), _data_of(setting.validation)
            stop = setting.stop if setting.stop.when else None
            like = setting.start(trial.seed)
            run = load_run(self._file(trial.number, "burlab"), data, validation=validation, like=like, stop=stop)
            run.problem, run.optimizer = problem, trial.optimizer
            self._loaded[trial.number] = run
        return run

    def _claim(self, wanted: dict[str, Any]) -> None:
        """Make it the folder of a sweep, or check that it is."""
        place = self._path / _NAME
        if not place.exists():
            if others := sorted(file.name for file in self._path.iterdir() if file.name != _LOCK):
                raise FileError(
                    f"the folder {self._path} holds {shown(others[0])} but no sweep. Give a new folder, "
                    f"or an empty one."
                )
            write_whole(place, [json.dumps(wanted, indent=1).encode()])
            self.name = wanted["name"]
            return
        try:
            found = json.loads(read_text(place))
        except (OSError, RecursionError, ValueError) as error:
            raise FileError(f"{place} cannot be read: {error}. Give another folder.") from error
        if reason := differs(found, wanted):
            raise FileError(
                f"the folder {self._path} is of another sweep: {reason} Give another folder, or remove this one."
            )
        self.name = str(found.get("name", wanted["problem"]))  # older folders have none

    def _file(self, number: int, ending: str) -> Path:
        return self._path / f"{number:05d}.{ending}"


def _data_of(problem: Problem) -> Any:
    return problem.oracle.data.all_arrays if isinstance(problem, FiniteSum) else None


def check_saved(trials: Sequence[Trial]) -> None:
    """Raise ArgumentError where a run cannot be a file."""
    for trial in trials:
        if isinstance(trial.optimizer, SciPy):
            raise ArgumentError(
                f"{shown(trial.name)} is a minimizer of SciPy, whose runs cannot be files, and this "
                "sweep stores its runs as files. Sweep it separately, in this process and without a folder."
            )
