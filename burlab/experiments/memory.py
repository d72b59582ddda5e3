"""The runs of a sweep that has no folder: they stay in memory."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from burlab.run import Run

from .rows import Outcome, Row
from .setting import Setting
from .trials import Trial


class Memory:
    """Keeps runs as they are."""

    def __init__(self) -> None:
        self._runs: dict[int, Run] = {}

    @contextmanager
    def held(self, setting: Setting, trials: Sequence[Trial]) -> Generator[None]:  # noqa: ARG002 - as a folder
        """Nobody else knows of it."""
        yield

    def row(self, trial: Trial) -> Row | None:  # noqa: ARG002 - as a folder
        """None: a sweep has all rows that there are."""
        return None

    def keep(self, outcome: Outcome) -> None:
        """Keep what has come of a run."""
        if isinstance(outcome.run, Run):
            self._runs[outcome.row.number] = outcome.run

    def has(self, number: int) -> bool:
        """Whether there is a run of this number."""
        return number in self._runs

    def load(self, trial: Trial, setting: Setting) -> Run:  # noqa: ARG002 - as a folder
        """The run of a trial."""
        return self._runs[trial.number]
