"""Sources of the trials of a sweep: a list, or a search that learns from the runs that have ended."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .sweep_rows import SweepRow, TrialOutcome
from .trials import Trial, exact_text


class TrialStore(Protocol):
    """The store of the runs of a sweep, as far as a source of trials reads it."""

    @property
    def name(self) -> str:
        """A name that no other sweep has."""
        ...

    def notes(self) -> Mapping[int, Any]:
        """Return the notes of the source about runs that are stored, by number; see `TrialSource.note`."""
        ...

    def row(self, trial: Trial) -> SweepRow | None:
        """Return the row of a run that has ended; None if there is none, or it cannot be read."""
        ...


class TrialSource(Protocol):
    """A source of trials.

    trials: by number, as far as they are known. due: those that can begin now. reports: True if it reads the values of
    runs that go on, and may stop them.
    """

    due: deque[Trial]
    reports: bool

    @property
    def trials(self) -> Sequence[Trial]:
        """All trials by number; an empty one for a number whose trial is not known yet."""
        ...

    def examples(self) -> Sequence[Trial]:
        """Return trials that have all programs of the sweep, to tell it from others."""
        ...

    def described(self) -> Any:
        """Return all that decides the trials, as JSON."""
        ...

    def resume(self, rows: Sequence[SweepRow], store: TrialStore) -> list[SweepRow]:
        """Let those runs be due that are to be done, and return all rows. rows: those known without the store."""
        ...

    def refill(self) -> bool:
        """Add a trial to `due` if there is another one, and return True if one is due."""
        ...

    def is_hopeless(self, trial: Trial, step: int, value: float) -> bool:
        """Return True if a run is to stop at a step, where it has this value."""
        ...

    def finish(self, outcome: TrialOutcome) -> None:
        """Learn from a run that has ended."""
        ...

    def note(self, number: int) -> Any:
        """Return what the store is to hold about a run that has ended, as JSON; None for nothing."""
        ...


class TrialList:
    """Trials that are known from the start. All are due at first."""

    reports = False

    def __init__(self, trials: Sequence[Trial]) -> None:
        self.trials = tuple(trials)
        self.due = deque(trials)

    def examples(self) -> Sequence[Trial]:
        """Return all trials."""
        return self.trials

    def described(self) -> Any:
        """Return the list: name, hyperparameters and seed of each run."""
        return [
            [trial.name, {name: exact_text(value) for name, value in trial.hypers.items()}, trial.seed]
            for trial in self.trials
        ]

    def resume(self, rows: Sequence[SweepRow], store: TrialStore) -> list[SweepRow]:
        """Let those be due that have not ended, or ended with an error, and return all rows."""
        found = [store.row(trial) or row for trial, row in zip(self.trials, rows, strict=True)]
        self.due = deque(self.trials[row.number] for row in found if row.reason in ("", "error"))
        return found

    def refill(self) -> bool:
        """Return True if one is due: there are no others."""
        return bool(self.due)

    def is_hopeless(self, trial: Trial, step: int, value: float) -> bool:  # noqa: ARG002 - as a search
        """Return False: each run goes to its end."""
        return False

    def finish(self, outcome: TrialOutcome) -> None:
        """Do nothing: nobody learns."""

    def note(self, number: int) -> Any:  # noqa: ARG002 - as a search
        """Return None: the trial follows from its number."""
        return
