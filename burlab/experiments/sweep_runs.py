"""The runs of a sweep, by the numbers of their rows."""

from collections.abc import Iterator, Sequence
from typing import overload

from burlab.errors import StatusError
from burlab.run import Run

from .dependents import TrialSettings
from .folder import Folder, MemoryStore
from .sweep_rows import SweepRow
from .trials import Trial


class Runs(Sequence[Run]):
    """The runs of a sweep by number. `k in runs`: True if that row has a run."""

    def __init__(
        self, settings: TrialSettings, trials: Sequence[Trial], rows: Sequence[SweepRow], store: MemoryStore | Folder
    ) -> None:
        self._settings, self._trials, self._rows, self._store = settings, trials, rows, store

    @overload
    def __getitem__(self, k: int) -> Run: ...
    @overload
    def __getitem__(self, k: slice) -> list[Run]: ...
    def __getitem__(self, k: int | slice) -> Run | list[Run]:
        """The run of a row. Raises StatusError where it never began, or has not ended."""
        if isinstance(k, slice):
            return [self[number] for number in range(len(self))[k]]
        number = range(len(self))[k]
        if number not in self:
            row = self._rows[number]
            why = f"failed. {row.message}" if row.failed else "has not ended. Call sweep.go() first."
            raise StatusError(f"run {number} of the sweep {why}")
        return self._store.load(self._trials[number], self._settings)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self._rows[number].done and self._store.has(number)

    def __iter__(self) -> Iterator[Run]:
        """Iterate over the runs that have ended, in order."""
        return (self[number] for number in range(len(self)) if number in self)
