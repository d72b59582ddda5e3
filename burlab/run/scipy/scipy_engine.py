"""The engine of runs of SciPy's minimizers: orders and readings, while a `ScipySession` does the work."""

import math
import os
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NoReturn

import numpy as np

from burlab.errors import ArgumentError, BurlabError, StatusError
from burlab.optim.scipy_minimizer import SciPy, limits
from burlab.problems.kernels.oracle import Oracle
from burlab.problems.point import Point
from burlab.problems.sampling import Sampling, Stream
from burlab.run.record.breakpoints import Breakpoint
from burlab.run.record.feed import RecordFeed
from burlab.run.record.flop_model import FlopModel
from burlab.run.record.gradient_norms import column_of
from burlab.run.record.stop import Predicate, Rows, Stop, Stopped, explain
from burlab.run.record.view import EngineState
from burlab.runtime.coerce import Array
from burlab.runtime.wait import SLICE

from .log import COLUMNS, Log
from .rows import GrowingTable, ScipyPath, ScipyRows
from .scipy_objective import ScipyObjective
from .scipy_session import ScipySession


class ScipyEngine:
    """A minimizer of SciPy on a problem, at rest at step 0. Its thread ends with the last reference to this."""

    columns: tuple[str, ...] = COLUMNS
    hypers: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()  # its column "samples" counts all
    takes_all = is_exact = True
    averages = False
    value_at = ""
    formats = None
    formats_from: Mapping[int, None] = {0: None}
    has_gradient = True  # of points that a minimizer without gradients moves to, it is computed all the same

    def __init__(self, minimizer: SciPy, objective: ScipyObjective, stop: Stop, log: Log, head: int) -> None:
        """log: holds the points up to step `head`, and the rows before it."""
        self.stop = stop
        self.start_hypers: dict[str, float] = {}
        self.batch = objective.samples
        self.dimension = objective.dimension
        self.flops = FlopModel(objective.flop_rates)
        self.forked = False  # in a forked child: the thread stayed behind
        self._past: int | None = None  # the step shown, where that is not the newest
        self._points: dict[int, Breakpoint] = {}  # all that there ever were
        self._whens: dict[int, Predicate] = {}  # of those that are armed; and whether they held at the last row
        self._held: dict[int, bool] = {}
        self._cut: Stopped | None = None  # why that step is shown, where a predicate stopped there
        self.can_seek = log.points.budget > 0
        start = log.points.at(head)
        assert start is not None
        own = replace(stop, when=None)  # a predicate may lead back here, and the thread of a session must not hold it
        self._session = ScipySession(minimizer, objective, own, _weakly(self), log, start, head)
        weakref.finalize(self, self._session.end).atexit = False
        _alive.add(self)

    @staticmethod
    def open(
        minimizer: SciPy, oracle: Oracle, point: Point, stream: Stream, threads: int, stop: Stop, budget: int
    ) -> "ScipyEngine":
        """An engine at rest at step 0. point: the start. stream: all samples. budget: bytes of points kept for seek."""
        if stream.sampling != Sampling.sequential or stream.batch != stream.samples:
            raise ArgumentError(
                f"SciPy's minimizers need the same function at every step, but batch={stream.batch} draws other "
                "samples each time. Leave batch= out: the full sum is used."
            )
        traits, entries = minimizer.traits, sum(leaf.size for leaf in point.leaves)
        if minimizer.bounds is not None and (given := limits(minimizer.bounds)[0].size) not in (1, entries):
            raise ArgumentError(f"bounds of SciPy hold {given} pairs, but x has {entries} entries. Pass one for each.")
        column_of(stop.of, COLUMNS, True)
        queries = {"value": not traits.gradient, "value_and_grad": True, "hvp": bool(traits.curvature)}
        objective = ScipyObjective(oracle, point, stream, threads, [name for name, wanted in queries.items() if wanted])
        log = Log.empty(objective.dimension, budget)
        log.points.append(np.concatenate([np.reshape(leaf, -1) for leaf in point.leaves]).astype(np.float64))
        return ScipyEngine(minimizer, objective, stop, log, 0)

    def view(self) -> EngineState:
        """Return its state."""
        session = self._usable()
        with session.lock:
            step = session.head if self._past is None else self._past
            stopped = session.stopped if self._past is None else self._cut
            return EngineState(step, session.log.steps, session.rests, stopped, session.elapsed)

    def aim(self, target: int) -> None:
        """Order: run until `target` steps are done. Raises StatusError in the past."""
        session = self._usable()
        with session.lock:
            if self._cut is not None and self._past == session.head - 1:
                self._past = self._cut = None  # SciPy waits one step later
            if self._past is not None:
                raise StatusError(
                    f"this run shows step {self._past} of {session.head}, and {session.minimizer.method} of SciPy "
                    f"cannot go on from there: its state was not recorded. run.fork() starts it anew from this "
                    f"point; run.seek({session.head}) goes back to the newest one, from where it can go on."
                )
            session.go(target)

    def pause(self) -> None:
        """Order: rest as soon as possible: at the next evaluation, or within 50 ms of a long one."""
        self._usable().pause()

    def seek(self, step: int) -> None:
        """Order: show a step of the record. Raises ArgumentError if its point was dropped."""
        session = self._usable()
        with session.lock:
            self._show(min(step, session.head))
            self._cut = None

    def arm(self, points: Mapping[int, Breakpoint]) -> None:
        """Have these breakpoints, by number, and no others."""
        session = self._usable()
        with session.lock:
            self._points |= points
            self._whens = {number: point.when for number, point in points.items() if point.when is not None}
            session.breakpoints.points = {number: point for number, point in points.items() if point.when is None}

    def halts(self, row: Rows) -> bool:
        """Return True if a predicate begins to hold at a row, or raises there."""
        held, self._held = self._held, {number: _holds(when, row) for number, when in self._whens.items()}
        begins = any(holds and not held.get(number, False) for number, holds in self._held.items())
        return begins or (self.stop.when is not None and _holds(self.stop.when, row))

    def cut(self, step: int, number: int) -> None:
        """Show the point of row `step`, which becomes the last one, and store the predicate that holds there."""
        session = self._usable()
        with session.lock:
            self._show(min(step, session.head))
            session.log.cut(step + 1)
            if number:
                self._cut = self._points[number].stopped(number, step, np.nan, np.nan)
            else:
                self._cut = explain(self.stop, "when", step, np.nan, np.nan)

    def rests(self, seconds: float) -> bool:
        """Wait until it rests, at most 50 ms."""
        session = self._usable()
        if not session.rests:
            session.rested.wait(min(max(seconds, 0.0), SLICE))
        with session.lock:
            return session.rests

    def check(self) -> None:
        """Raise the error of the last step, once: its traceback holds the caller, which the thread must not."""
        session = self._usable()
        with session.lock:
            failure, session.failure = session.failure, None
        if failure is not None:
            try:
                raise failure
            finally:
                del failure  # this frame is in its traceback

    def end(self) -> None:
        """Stop for good and wait for it."""
        self._usable().end()
        while not self._session.join(SLICE):
            pass  # an interrupt is raised here

    def feed(self) -> RecordFeed:
        """The rows that come from now on."""
        return RecordFeed(self, self.rests, self.cut)

    def settle(self) -> None:
        """There are no hyperparameters to wait for."""

    def output(self) -> Array:
        """A copy of the flat x, which is SciPy's result."""
        return self.read()

    def read(self) -> Array:
        """A copy of the flat x."""
        session = self._usable()
        with session.lock:
            x = session.log.points.at(session.head if self._past is None else self._past)
        assert x is not None
        return x.astype(session.objective.dtype)

    def state(self) -> NoReturn:
        """SciPy keeps it to itself."""
        raise StatusError("SciPy's minimizers do not show what they keep between two steps.")

    def loss_state(self) -> None:
        """Return None: such a run is of a loss without a state."""

    def hyper(self, index: int) -> NoReturn:
        """There is none."""
        raise ArgumentError(f"SciPy's minimizers have no live hyperparameters; number {index} was asked for.")

    def size(self) -> float:
        """Return the number of samples of a step."""
        return float(self.batch)

    def set(self, index: int, value: float) -> NoReturn:  # noqa: ARG002 - as of every engine
        """There is none."""
        self.hyper(index)

    def fork(self) -> "ScipyEngine":
        """Another engine, which starts SciPy's method anew from the point shown."""
        session = self._usable()
        with session.lock:
            step = session.head if self._past is None else self._past
            log = session.log.copy(step)
        return ScipyEngine(session.minimizer, session.objective, self.stop, log, step)

    @property
    def record(self) -> ScipyRows:
        """A row per step."""
        return self._session.log.rows

    @property
    def path(self) -> ScipyPath | None:
        """The points themselves, if x has one or two entries."""
        return self._session.log.path

    @property
    def traces(self) -> GrowingTable:
        """Samples of the cost of steps: the columns `traces.SAMPLED`."""
        return self._session.log.traces

    def event_rows(self) -> tuple[Array, Array, Array]:
        """No changes: there is nothing to change."""
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)

    def norm_column(self, of: str) -> int:
        """The column of the record that holds this norm. Raises ArgumentError if there is none."""
        return column_of(of, self.columns, True)

    def last_value(self) -> float:
        """The value in the last row; NaN if there is none."""
        session = self._usable()
        with session.lock:
            extent = self.record.extent()
            column = self.record.copy(extent, 0, extent.rows - 1, 1) if extent.rows else None
        return float("nan") if column is None else float(column[0])

    def measured(self, seconds: float = math.inf) -> float | None:
        """The value at the point shown; None while it runs, or after a timeout."""
        session = self._usable()
        with session.lock:
            if not session.rests:
                return None
            step = session.head if self._past is None else self._past
            x, newest = session.log.points.at(step), session.measured
            if newest is not None and self._past is None:
                return newest.value
        if x is None:
            return None
        end = time.monotonic() + seconds

        def between() -> None:
            if time.monotonic() > end:
                raise TimeoutError

        try:
            return session.objective.value_and_grad(x, between)[0]
        except TimeoutError:
            return None
        except BurlabError:
            return math.nan

    def evaluated(self) -> float | None:
        """The same."""
        return self.measured()

    def numbers(self) -> tuple[float, ...]:
        """Return (): such a run is of a loss that reads no numbers."""
        return ()

    def nbytes(self) -> dict[str, int]:
        """Bytes of the record, by purpose; SciPy's own memory is not counted."""
        return self._session.log.nbytes

    def _show(self, step: int) -> None:
        points, head = self._session.log.points, self._session.head
        if points.at(step) is None:
            raise ArgumentError(
                f"the point of step {step} was not kept: keyframe_bytes holds every {points.stride}-th one and the "
                f"newest. Seek one of those, or give bl.minimize more keyframe_bytes."
            )
        self._past = None if step == head else step

    def _usable(self) -> ScipySession:
        if self.forked:
            raise StatusError(
                "this run was created before the process forked, and its thread is in the parent. Create the run "
                "in the process that steps it."
            )
        return self._session


def _weakly(engine: ScipyEngine) -> Callable[[Rows], bool]:
    """Its predicates, for a thread, which must not hold them: a user's own may lead to the run."""
    reference = weakref.ref(engine)

    def halts(row: Rows) -> bool:
        engine = reference()
        return engine is None or engine.halts(row)

    return halts


def _holds(when: Predicate, row: Rows) -> bool:
    """Return True if a predicate holds for a row or raises; the run tests the row again and raises it there."""
    try:
        return bool(np.any(when(row)))
    except Exception:
        return True


_alive: "weakref.WeakSet[ScipyEngine]" = weakref.WeakSet()


def _after_fork() -> None:
    for engine in list(_alive):
        engine.forked = True


os.register_at_fork(after_in_child=_after_fork)
