"""A step loop whose first steps another loop did, with other kernels: in other formats of numbers."""

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from burlab.graph import tree
from burlab.run.record.breakpoints import Breakpoint
from burlab.run.record.tables import RecordPath, RecordTable
from burlab.run.record.view import EngineState
from burlab.runtime.coerce import Array
from burlab.runtime.flag import Thread

from .loop import Change, RunLoop
from .loop_feed import LoopFeed
from .setup import Setup

if TYPE_CHECKING:
    from burlab.optim.number_formats import Formats

_WAIT_SECONDS = 1e3  # a wait ends after 50 ms anyhow


class ContinuedLoop:
    """An `Engine` of two loops: `before` did the steps up to `first`, `now` does those from there on.

    The record of `now` holds the rows of both. A seek to an earlier step than `first` is done by `before`, and whoever
    goes on from there passes `first`, where `now` takes over: so recorded steps have their own kernels.
    """

    def __init__(self, before: "RunLoop | ContinuedLoop", now: RunLoop, first: int) -> None:
        self.before = before
        self.now = now
        self.first = first
        self._back = False  # whether it stands at an earlier step than `first`
        self._goal: int | None = None  # the step to reach, beyond `first`, once `before` has arrived there
        self._lock = threading.RLock()
        self.hypers, self.queries, self.stop = now.hypers, now.queries, now.stop
        self.has_gradient, self.columns, self.start_hypers = now.has_gradient, now.columns, now.start_hypers
        self.batch, self.dimension, self.flops = now.batch, now.dimension, now.flops
        self.can_seek, self.is_exact, self.takes_all = now.can_seek, now.is_exact, now.takes_all
        self.averages, self.value_at = now.averages, now.value_at

    @property
    def part(self) -> "RunLoop | ContinuedLoop":
        """The loop whose kernels are those of the present step."""
        with self._lock:
            if self._back and self.before.rests(0.0):
                goal, self._goal = self._goal, None
                self._back = self.before.view().step < self.first
                if goal is not None and not self._back:
                    self.now.aim(goal)
            return self.before if self._back else self.now

    @property
    def is_back(self) -> bool:
        """Return True if the present step is one that `before` did."""
        return self.part is self.before

    @property
    def setup(self) -> Setup:
        """The setup of the present step."""
        return self.part.setup

    @property
    def formats(self) -> "Formats | None":
        """The formats of numbers of the present step."""
        return self.part.formats

    @property
    def formats_from(self) -> "dict[int, Formats | None]":
        """The formats of numbers by the step from which on they hold."""
        return {**self.before.formats_from, self.first: self.now.formats}

    def view(self) -> EngineState:
        """Return the state of the loops: the step of one, the record of both."""
        part, own = self.part, self.now.view()
        if part is self.now:
            return own
        seen = part.view()
        return EngineState(seen.step, own.length, seen.rests and self._goal is None, seen.stopped, own.elapsed)

    def aim(self, target: int) -> None:
        """Order: run until `target` steps are done."""
        with self._lock:
            if not self.is_back:
                return self.now.aim(target)
            self._goal = target if target >= self.first else None
            self.before.aim(min(target, self.first))
        if self._goal is not None:
            Thread(self._pass_over, "burlab passes from formats to formats").start()
        return None

    def pause(self) -> None:
        """Order: rest as soon as possible."""
        with self._lock:
            self._goal = None
            self.before.pause()
            self.now.pause()

    def seek(self, step: int) -> None:
        """Order: go to a step of the record."""
        with self._lock:
            self._goal, self._back = None, step < self.first
            self.before.seek(min(step, self.first))
            self.now.seek(max(step, self.first))

    def rests(self, seconds: float) -> bool:
        """Wait until the loops rest, at most 50 ms."""
        return self.part.rests(seconds) and self.view().rests

    def check(self) -> None:
        """Raise the error of the last step, if it failed."""
        self.part.check()

    def end(self) -> None:
        """End both threads; computed results stay readable."""
        self.pause()
        self.before.end()
        self.now.end()

    def settle(self) -> None:
        """Wait until the loop has taken over all changes."""
        self.part.settle()

    def read(self, buffer: int = 0) -> Array:
        """See `RunLoop.read`."""
        return self.part.read(buffer)

    def buffers(self) -> list[Array]:
        """See `RunLoop.buffers`."""
        return self.part.buffers()

    def output(self) -> Array:
        """See `RunLoop.output`."""
        return self.part.output()

    def state(self) -> tree.Tree:
        """See `RunLoop.state`."""
        return self.part.state()

    def loss_state(self) -> tree.Tree:
        """See `RunLoop.loss_state`."""
        return self.part.loss_state()

    def hyper(self, index: int) -> float:
        """See `RunLoop.hyper`."""
        return self.part.hyper(index)

    def size(self) -> float:
        """See `RunLoop.size`."""
        return self.part.size()

    def numbers(self) -> tuple[float, ...]:
        """See `RunLoop.numbers`."""
        return self.part.numbers()

    def measured(self, seconds: float = _WAIT_SECONDS) -> float | None:
        """See `RunLoop.measured`."""
        return self.part.measured(seconds)

    def evaluated(self) -> float | None:
        """See `RunLoop.evaluated`."""
        return self.part.evaluated()

    def last_value(self) -> float:
        """The value in the last row of the record; NaN if there is none."""
        return self.now.last_value()

    def set(self, index: int, value: float) -> "ContinuedLoop | None":
        """Order: give a hyperparameter a value, from the next step on; see `RunLoop.set`.

        Where `is_back`, the steps after the present one are those of other kernels: change a fork, see `fork`.
        """
        old = self.now.set(index, value)
        return None if old is None else ContinuedLoop(self.earlier(), old, self.first)

    def fork(self, change: Change | None = None) -> "RunLoop | ContinuedLoop":
        """A copy at rest at its step, without later rows: of one loop, where the other one did none of them."""
        if change is not None or self.is_back:
            return self.part.fork(change)
        return ContinuedLoop(self.earlier(), self.now.fork(), self.first)

    @property
    def record(self) -> RecordTable:
        """A row per step."""
        return self.now.record

    @property
    def path(self) -> RecordPath | None:
        """Steps and points, if x has one or two entries."""
        return self.now.path

    @property
    def traces(self) -> RecordTable:
        """Samples of the cost of steps: the columns `traces.SAMPLED`."""
        return self.now.traces

    def event_rows(self) -> tuple[Array, Array, Array]:
        """The changes so far: steps, positions among the hyperparameters, values."""
        return self.now.event_rows()

    def feed(self) -> LoopFeed:
        """Return the feed of new rows."""
        return self.now.feed()

    def arm(self, points: Mapping[int, Breakpoint]) -> None:
        """Order: have these breakpoints, by number, and no others."""
        self.before.arm(points)
        self.now.arm(points)

    def norm_column(self, of: str) -> int:
        """The column of the record that holds this norm. Raises ArgumentError if there is none."""
        return self.now.norm_column(of)

    def nbytes(self) -> dict[str, int]:
        """Bytes by purpose, their total, and the largest total so far: of both loops."""
        earlier: dict[str, Any] = self.before.nbytes()
        return {name: count + earlier[name] for name, count in self.now.nbytes().items()}

    def earlier(self) -> "RunLoop | ContinuedLoop":
        """A copy of the loop of the first steps, at rest behind them; itself where this one is back at one of them."""
        if self.is_back:
            return self.before
        while not self.before.rests(_WAIT_SECONDS):
            pass
        if self.before.view().step != self.first:  # an order to rest had cut short its way there
            self.before.seek(self.first)
            return self.earlier()
        return self.before.fork()

    def _pass_over(self) -> None:
        """Wait until `before` arrives, also where nobody looks."""
        while self._goal is not None:
            self.before.rests(_WAIT_SECONDS)
            _ = self.part
