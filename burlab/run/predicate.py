"""Predicates on new rows of the record: a run rests at the first row for which one is true."""

import threading
import weakref
from collections.abc import Iterator, Mapping

import numpy as np

from burlab.errors import ArgumentError
from burlab.run.loop.lifetime import at_end
from burlab.run.record.derived import live
from burlab.run.record.engine import Engine
from burlab.run.record.feed import Fresh
from burlab.run.record.recorder import FIRST, FLOPS, SAMPLES, Recorder
from burlab.run.record.stop import Predicate
from burlab.run.record.tables import Column
from burlab.runtime.checks.numbers import shown

EXIT_SECONDS = 2.0  # for a predicate to end when Python exits


class Observer:
    """Calls predicates with every new row: while a call waits for the run, else on a thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._feed = engine.feed()
        self._points: dict[int, Predicate] = {}
        self._held: dict[int, bool] = {}  # whether they held at the last row
        self._showing = threading.Lock()
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None

    @property
    def behind(self) -> bool:
        """Return True if there are rows that were not tested."""
        return self._error is None and self._feed.pending()

    def pulse(self, seconds: float) -> bool:
        """Wait for rows and test them; return True if the run rests and all rows are tested."""
        self._feed.wait(seconds)
        rests = self._engine.rests(0.0)  # first, so that no row comes after those shown
        return self._show_new() and rests

    def arm(self, points: Mapping[int, Predicate]) -> None:
        """Set the predicates of breakpoints, by number, besides `Stop.when`."""
        self._points = dict(points)  # without the lock, which is held while a predicate may call this
        self._error = None  # of one that may be gone

    def check(self) -> None:
        """Raise the exception of a predicate, once."""
        with self._showing:
            error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # this frame, which holds the run, is in its traceback

    def attend(self) -> None:
        """Start a thread that tests rows until the run rests. It holds no reference to this."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(
                target=_attend, args=(weakref.ref(self),), name="burlab-observer", daemon=True
            )
            _threads.add(self._thread)
            self._thread.start()

    def _show_new(self) -> bool:
        """Call the predicates with the new rows. If one raises, the run pauses.

        Return True if there were no new rows, or if an error waits for `check`: until then no row is tested.
        """
        with self._showing:
            if self._error is not None:
                return True
            rows = self._feed.fresh()
            if not len(rows):
                return True
            points = self._points
            try:
                hit, number = self._first(_Window(self._engine, rows), len(rows))
            except Exception as error:
                self._engine.pause()
                self._error = error
                if points is not self._points:
                    self._error = None
                return False
            self._feed.take(rows, hit, number)
            return False

    def _first(self, rows: "_Window", count: int) -> tuple[int | None, int]:
        """Return the first row at which the run rests, and the number of the breakpoint, 0 for `Stop.when`."""
        flags: dict[int, Column] = {}
        hits: dict[int, int] = {}
        when = self._engine.stop.when
        if when is not None and (holds := _flags(when, rows, count, "Stop")).any():
            hits[0] = int(np.argmax(holds))
        for number, predicate in list(self._points.items()):
            flags[number] = holds = _flags(predicate, rows, count, "Breakpoint")
            begins = holds & ~np.concatenate([[self._held.get(number, False)], holds[:-1]])
            if begins.any():
                hits[number] = int(np.argmax(begins))
        number = min(hits, key=lambda k: (hits[k], k), default=0)
        hit = hits.get(number)
        self._held = {k: bool(column[-1 if hit is None else hit]) for k, column in flags.items()}
        return hit, number


def _attend(reference: "weakref.ref[Observer]") -> None:
    while (observer := reference()) is not None and not observer.pulse(1.0):
        del observer


class _Window(Mapping[str, Column]):
    """Consecutive rows of the record: the columns of `History` except time, each computed at its first use."""

    def __init__(self, recorder: Recorder, rows: Fresh) -> None:
        self._recorder = recorder
        self._rows = rows
        stored = dict.fromkeys((FIRST, *recorder.columns, SAMPLES, FLOPS))
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
        if name == FLOPS:
            return recorder.flops.totals(steps, lambda counter: self.get(counter, 0))
        if name not in recorder.start_hypers:
            raise KeyError(f"the column must be one of {', '.join(self._names)}; got {shown(name)}.")
        moments, which, values = recorder.event_rows()
        own = which == list(recorder.start_hypers).index(name)
        return live(recorder.start_hypers[name], (moments[own], values[own]), steps, 2)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _flags(predicate: Predicate, rows: _Window, count: int, whose: str) -> Column:
    """Return the result of a predicate, bool of shape (count,)."""
    try:
        flags: Column = np.asarray(predicate(rows))
    except ValueError as error:
        if "truth value" not in str(error):
            raise
        raise ArgumentError(
            f"the predicate of {whose}(when=...) uses a column of {count} rows as one truth value. Columns are "
            "arrays: write & | ~ for and, or, not, with parentheses around comparisons, and np.where for if."
        ) from error
    if flags.dtype != np.bool_ or flags.shape != (count,):
        raise ArgumentError(
            f"the predicate of {whose}(when=...) returned {flags.dtype} of shape {flags.shape} for {count} rows, "
            f'expected bool of shape ({count},). Compare a column, as in lambda rows: rows["value"] < 1e-3.'
        )
    return flags


_threads: "weakref.WeakSet[threading.Thread]" = weakref.WeakSet()


@at_end
def _join_all() -> None:
    """Join the threads, which end once all runs rest."""
    for thread in list(_threads):
        if thread.is_alive():
            thread.join(EXIT_SECONDS)
