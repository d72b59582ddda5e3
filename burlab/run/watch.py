"""Predicates on the record: every new row is seen, and the run rests at the first one where the predicate holds."""

import threading
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.run.loop.lifetime import at_end
from burlab.run.record.derived import live
from burlab.run.record.engine import Engine
from burlab.run.record.feed import Fresh
from burlab.run.record.recorder import FIRST, SAMPLES, Recorder
from burlab.run.record.stop import Predicate
from burlab.run.record.tables import Column

_SOON = 2.0  # seconds that a predicate may still take when Python ends


class Watch:
    """Shows every row to a predicate: in calls that wait for the run, and on a thread while nobody waits."""

    def __init__(self, engine: Engine, when: Predicate) -> None:
        self._engine = engine
        self._feed = engine.feed()
        self._when = when
        self._looking = threading.Lock()
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None

    @property
    def behind(self) -> bool:
        """Whether there are rows that the predicate has not seen."""
        return self._error is None and self._feed.pending()

    def pulse(self, seconds: float) -> bool:
        """Wait a moment for rows and look at them; whether the run rests, with all rows seen."""
        self._feed.wait(seconds)
        rests = self._engine.rests(0.0)  # first, so that no row comes after the look
        return self._look() and rests

    def check(self) -> None:
        """Raise, once, what the predicate raised."""
        with self._looking:
            error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # this frame, which holds the run, is in its traceback

    def attend(self) -> None:
        """Have a thread look until the run rests. It does not keep this alive."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=_attend, args=(weakref.ref(self),), name="burlab-watch", daemon=True)
            _threads.add(self._thread)
            self._thread.start()

    def _look(self) -> bool:
        """Show the predicate what it has not seen; whether it asks for nothing. Where it fails, the run rests."""
        with self._looking:
            if self._error is not None:
                return True
            rows = self._feed.fresh()
            if not len(rows):
                return True
            try:
                holds = _flags(self._when(_Stretch(self._engine, rows)), len(rows))
            except Exception as error:
                self._error = error
                self._engine.halt()
                return False
            hit = int(np.argmax(holds)) if holds.any() else None
            self._feed.take(rows, hit)
            return False


def _attend(reference: "weakref.ref[Watch]") -> None:
    while (watch := reference()) is not None and not watch.pulse(1.0):
        del watch


class _Stretch(Mapping[str, Column]):
    """Consecutive rows of the record: what `History` has but time, made when it is looked up."""

    def __init__(self, recorder: Recorder, rows: Fresh) -> None:
        self._recorder = recorder
        self._rows = rows
        stored = dict.fromkeys((FIRST, *recorder.columns, SAMPLES))
        self._names = tuple(dict.fromkeys((*stored, *recorder.start_hypers)))

    def __getitem__(self, name: str) -> Column:
        recorder, rows = self._recorder, self._rows
        if name in recorder.columns:
            return rows.columns[recorder.columns.index(name)]
        steps = np.arange(rows.first, rows.first + len(rows))
        if name == FIRST:
            return steps
        if name == SAMPLES:
            return (steps + 1) * recorder.batch
        if name not in recorder.start_hypers:
            raise KeyError(f"{name!r} is no column; there are {', '.join(self._names)}.")
        moments, which, values = recorder.event_rows()
        own = which == list(recorder.start_hypers).index(name)
        return live(recorder.start_hypers[name], (moments[own], values[own]), steps, 2)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _flags(answer: Any, count: int) -> Column:
    flags: Column = np.asarray(answer)
    if flags.dtype != np.bool_ or flags.shape != (count,):
        raise ArgumentError(
            f"the predicate of Stop(when=...) answered {flags.dtype} of shape {flags.shape} for {count} rows, expected "
            f'bool of shape ({count},). Compare a column, as in lambda rows: rows["value"] < 1e-3.'
        )
    return flags


_threads: "weakref.WeakSet[threading.Thread]" = weakref.WeakSet()


@at_end
def _join_all() -> None:
    """When all runs rest, they end."""
    for thread in list(_threads):
        if thread.is_alive():
            thread.join(_SOON)
