"""The newest rows of a run, for predicates that test every row."""

import threading
from collections.abc import Callable
from typing import NamedTuple, Protocol

from .recorder import Recorder
from .tables import Column, copy_all


class Fresh(NamedTuple):
    """Rows that were not taken. first: the step of the first one; columns: as they are stored, of equal length."""

    first: int
    generation: int
    columns: list[Column]

    def __len__(self) -> int:
        return len(self.columns[0])


class Feed(Protocol):
    """Rows that were not tested. The run waits if there are too many."""

    def wait(self, seconds: float) -> None:
        """Wait until there are many, or the run rests; at most this long and at most 50 ms."""
        ...

    def pending(self) -> bool:
        """Return True if there are new rows."""
        ...

    def fresh(self) -> Fresh:
        """Return the new rows."""
        ...

    def take(self, rows: Fresh, hit: int | None, number: int = 0) -> None:
        """Mark rows as tested. hit: the row where the run is to rest, counted from `first`.

        number: of the breakpoint that is hit there; 0 for `Stop.when`.
        """
        ...


class RecordFeed:
    """The rows of a record that is never merged."""

    def __init__(self, recorder: Recorder, rests: Callable[[float], bool], cut: Callable[[int, int], None]) -> None:
        """rests, cut: of the engine."""
        self._recorder = recorder
        self._rests = rests
        self._cut = cut
        self._taken = int(recorder.record.extent().rows)
        self._lock = threading.Lock()

    def wait(self, seconds: float) -> None:
        """Wait until the run rests, at most 50 ms."""
        self._rests(seconds)

    def pending(self) -> bool:
        """Return True if there are rows that were not taken."""
        return int(self._recorder.record.extent().rows) > self._taken

    def fresh(self) -> Fresh:
        """Return the rows that were not taken."""
        record = self._recorder.record
        while True:
            extent = record.extent()
            with self._lock:
                self._taken = first = min(self._taken, int(extent.rows))
            columns = copy_all(record, extent, range(len(self._recorder.columns)), first, int(extent.rows) - first)
            if columns is not None:
                return Fresh(first, int(extent.generation), columns)

    def take(self, rows: Fresh, hit: int | None, number: int = 0) -> None:
        """Mark rows as tested. hit: the row where the run is to rest, from `first`; number: of the breakpoint."""
        with self._lock:
            self._taken = rows.first + (len(rows) if hit is None else hit + 1)
        if hit is not None:
            self._cut(rows.first + hit, number)
