"""The step loop of `cpp/burlab/run/abi/loop.hpp`, owned by Python: opened, steered, read, closed."""

import ctypes
import math
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from burlab.errors import StatusError
from burlab.graph import Graph, tree
from burlab.optim.lazy_rule import restarted
from burlab.problems.sampling import Sampling, full, listed
from burlab.run.record.breakpoints import Breakpoint, as_struct
from burlab.run.record.flop_model import FlopModel
from burlab.run.record.stop import REASONS, Stopped, explain
from burlab.run.record.tables import RecordPath, RecordTable, nbytes
from burlab.run.record.traces import SAMPLED
from burlab.run.record.view import EngineState
from burlab.runtime.coerce import Array
from burlab.runtime.structs import CBreakpoint, CEvent, COutcome, CPlan, CView
from burlab.runtime.wait import SLICE

from .lifetime import Handle, check_awake
from .loop_abi import fork_exports, loop_exports
from .loop_feed import LoopFeed
from .run_plan import FEED, Start, plan_of
from .setup import Setup
from .snapshot import Saved, Tables, clone, contents_of, path_contents, put, take
from .step_flops import flop_rates

_PATIENCE = int(SLICE * 1e3)  # milliseconds
Change = Callable[[CPlan], None]
"""Changes the plan for C++."""


class RunLoop:
    """A step loop. Its thread ends and its memory is freed with the last reference to this."""

    def __init__(self, setup: Setup, handle: Handle) -> None:
        """handle: holds the loop that C++ has created from the setup, or nothing on failure."""
        if not handle.place:
            raise StatusError("no memory or no thread is left for a run. Close other runs, or use a smaller problem.")
        self._handle = handle
        self._setup = setup
        self._breakpoints: dict[int, Breakpoint] = {}  # all that there ever were
        self.hypers = tuple(setup.rule.hyper)
        self.queries = setup.rule.queries
        self.stop = setup.stop
        self.has_gradient = setup.knows_norm
        self.columns = setup.columns
        self.start_hypers = setup.rule.hyper
        self.batch = int(setup.stream.batch)
        self.dimension = setup.dimension
        self.flops = FlopModel(partial(flop_rates, setup))
        self.can_seek = setup.budgets[1] > 0
        self.is_exact, self.takes_all, self.averages = setup.is_exact, setup.takes_all, setup.output is not None
        self.value_at = setup.rule.value_at
        self.formats = setup.formats
        self.formats_from = {0: setup.formats}

    @staticmethod
    def open(setup: Setup, buffers: Start, change: Change | None = None) -> "RunLoop":
        """A loop at rest at step 0. buffers: x and the leaves of the state, which are copied; None are zeros.

        change: see `fork`.
        """
        return RunLoop(setup, _opened(setup, buffers, change))

    @property
    def setup(self) -> Setup:
        """The setup that it was opened from."""
        return self._setup

    @property
    def place(self) -> int | None:
        """The address of the loop in C++, valid as long as this object."""
        return self._handle.place.value

    @staticmethod
    def restored(setup: Setup, saved: Saved) -> "RunLoop":
        """Return a loop at rest with the saved contents."""
        handle = _opened(setup, None)
        loop = RunLoop(setup, handle)
        if _until(lambda: put(handle.place, saved, _PATIENCE)) != 1:
            raise StatusError("no memory is left for this run. Close other runs.")
        _until(lambda: loop.rests(1.0))
        return loop

    def saved(self, most: int) -> Saved:
        """Return the contents of this loop, besides its setup. most: bytes of keyframes between first and last."""
        self.settle()
        plan = plan_of(self._setup)
        handle = Handle((plan, *self._setup.used))
        _until(lambda: clone(self._handle.place, plan, handle.back, _PATIENCE))
        other = RunLoop(self._setup, handle)
        _until(lambda: other.rests(1.0))
        record, stamps = contents_of(other.record, len(self.columns)), contents_of(other.record.stamps, 2)
        tables = Tables(record, stamps, path_contents(other), contents_of(other.traces, len(SAMPLED)))
        return take(handle.place, self._setup.buffers, tables, other.event_rows(), most)

    def view(self) -> EngineState:
        """Return the state of the loop."""
        view = self._view()
        stopped = None
        if view.outcome.status:
            stopped = Stopped("error", view.step, str(self._setup.error(view.outcome)))
        elif REASONS[int(view.reason)] == "breakpoint":
            number = int(view.breakpoint)
            stopped = self._breakpoints[number].stopped(number, view.step, view.value, view.norm)
        elif view.reason:
            stopped = explain(self.stop, REASONS[int(view.reason)], view.step, view.value, view.norm)
        return EngineState(view.step, view.length, bool(view.rests), stopped, view.elapsed)

    def aim(self, target: int) -> None:
        """Order: run until `target` steps are done."""
        check_awake()
        self.call("loop_aim", target)

    def pause(self) -> None:
        """Order: rest as soon as possible."""
        self.call("loop_pause")

    def seek(self, step: int) -> None:
        """Order: go to a step of the record."""
        self.call("loop_seek", step)

    def rests(self, seconds: float) -> bool:
        """Wait until the loop rests, at most 50 ms."""
        return bool(self.call("loop_rests", int(min(seconds, SLICE) * 1e3)))

    def check(self) -> None:
        """Raise the error of the last step, if it failed."""
        view = self._view()
        if view.outcome.status:
            raise self._setup.error(view.outcome)

    def end(self) -> None:
        """End the thread; computed results stay readable."""
        self.call("loop_quit")
        self._wait("loop_ended")
        self.call("loop_stop")

    def settle(self) -> None:
        """Wait until the loop has taken over all changes."""
        self._wait("loop_settles")

    def read(self, buffer: int = 0) -> Array:
        """A copy of x (buffer 0) or of a leaf of a state, as it is between two steps; no entry of x lags."""
        if buffer == 0 and self._setup.rule.lazy is not None:
            return self.output()
        out = np.empty(*self._setup.buffers[buffer])
        self._wait("loop_read", buffer, out.ctypes.data)
        return out

    def buffers(self) -> list[Array]:
        """Return copies of x and the leaves of both states, from which another loop can start."""
        x, *leaves = (self.read(k) for k in range(len(self._setup.buffers)))
        lazy = self._setup.rule.lazy
        return [x, *(leaves if lazy is None else restarted(lazy, x, leaves))]

    def output(self) -> Array:
        """A copy of the optimizer's output point."""
        out, outcome = np.empty(*self._setup.buffers[0]), COutcome()
        self._wait("loop_give", out.ctypes.data, ctypes.byref(outcome))
        if outcome.status:
            raise self._setup.error(outcome)
        return out

    def state(self) -> tree.Tree:
        """A copy of the state of the optimizer, at rest."""
        return tree.unflatten(self._setup.rule.structure, map(self.read, range(1, 1 + len(self._setup.rule.state))))

    def loss_state_leaves(self) -> list[Array]:
        """Copies of the leaves of the state of the loss."""
        first = 1 + len(self._setup.rule.state)
        return [self.read(k) for k in range(first, first + len(self._setup.loss_state_forms))]

    def loss_state(self) -> tree.Tree:
        """A copy of the state of the loss, at rest; None of a loss without."""
        numbers = self._setup.numbers
        if numbers is None or numbers.state is None:
            return None
        return tree.unflatten(numbers.state.structure, self.loss_state_leaves())

    def hyper(self, index: int) -> float:
        """A hyperparameter, as the next step will use it."""
        return float(self.call("loop_hyper", index))

    def size(self) -> float:
        """Return the number of samples of the next step."""
        graph, executable = self._setup.rule.size, self._setup.size
        if graph is None or executable is None:
            return float(self.batch)
        read = {id(node) for n in (*graph.nodes, Graph((), graph.outputs)) for node in getattr(n, "inputs", ())}
        hypers, at = [self.hyper(k) for k in range(len(self.hypers))], 1 + len(self.hypers)
        state = [
            self.read(k + 1) if id(node) in read else np.zeros(node.shape, node.dtype)
            for k, node in enumerate(graph.inputs[at:])
        ]
        return float(executable(np.int64(self.view().step), *map(np.float64, hypers), *state)[0])

    def set(self, index: int, value: float) -> "RunLoop | None":
        """Order: give a hyperparameter a value, from the next step on; in the past, a new line begins there."""
        if self.call("loop_set", index, value):
            return None
        plan = plan_of(self._setup)
        old = Handle((plan, *self._setup.used))
        done = self._wait("loop_branch", plan, index, value, old.back, exports=fork_exports)
        return RunLoop(self._setup, old) if old.place or done != 1 else None

    def fork(self, change: Change | None = None) -> "RunLoop":
        """A copy of this loop, at rest at its step, without later rows.

        change: changes the plan for C++; it is stored for as long as the loop.
        """
        plan = plan_of(self._setup)
        if change is not None:
            change(plan)
        other = Handle((plan, *self._setup.used, change))
        self._wait("loop_fork", plan, other.back, exports=fork_exports)
        return RunLoop(self._setup, other)

    @property
    def record(self) -> RecordTable:
        """A row per step."""
        return RecordTable("record", self.call("loop_record"), self)

    @property
    def path(self) -> RecordPath | None:
        """Steps and points, if x has one or two entries."""
        address = self.call("loop_path")
        return RecordPath(address, self) if address else None

    @property
    def traces(self) -> RecordTable:
        """Samples of the cost of steps: the columns `traces.SAMPLED`."""
        return RecordTable("trail", self.call("loop_traces"), self)

    def event_rows(self) -> tuple[Array, Array, Array]:
        """The changes so far: steps, positions among the hyperparameters, values."""
        rows = (CEvent * 0)()
        while len(rows) < (total := self.call("loop_events", 0, len(rows), rows)):
            rows = (CEvent * total)()
        columns = [[row.step for row in rows], [row.hyper for row in rows], [row.value for row in rows]]
        return np.array(columns[0], np.int64), np.array(columns[1], np.int64), np.array(columns[2], np.float64)

    def feed(self) -> LoopFeed:
        """Return the feed of rows that were not taken; a new feed begins with the next row."""
        if self._wait("loop_feed_open", FEED) != 1:
            raise StatusError("no memory is left for the rows that a predicate is to see. Close other runs.")
        return LoopFeed(self.call, len(self.columns))

    def arm(self, points: Mapping[int, Breakpoint]) -> None:
        """Order: have these breakpoints, by number, and no others."""
        self._breakpoints |= points
        chosen = [(number, point) for number, point in points.items() if point.when is None]
        rows = [as_struct(number, point, self.norm_column(point.of)) for number, point in chosen]
        if not self.call("loop_arm", (CBreakpoint * len(rows))(*rows), len(rows)):
            raise StatusError("no memory is left for breakpoints. Close other runs.")

    def norm_column(self, of: str) -> int:
        """The column of the record that holds this norm. Raises ArgumentError if there is none."""
        return self._setup.norm_column(of)

    def last_value(self) -> float:
        """The value in the last row of the record; NaN if there is none."""
        while True:
            extent = self.record.extent()
            if not extent.slots:
                return float("nan")
            column = self.record.copy(extent, 0, extent.slots - 1, 1)
            if column is not None:
                return float(column[0])

    def measured(self, seconds: float = math.inf) -> float | None:
        """The value that the row of the step at hand holds, or will hold; None while it runs, or with remote clients.

        It is evaluated once, by the kernels of a step, and counts nowhere. seconds: to wait for it; None after that.
        """
        value, end = ctypes.c_double(), time.monotonic() + seconds
        while not self._setup.needs_remote:
            answer = self.call("loop_measure", ctypes.byref(value), int(1e3 * min(seconds, SLICE)))
            if answer or time.monotonic() > end:
                return value.value if answer == 1 else None
        return None

    def evaluated(self) -> float | None:
        """The value over all samples at the point that the optimizer gives; None where its kernels have it weighted."""
        setup = self._setup
        if setup.stream.sampling == Sampling.weighted:
            return None
        n, point = int(setup.stream.samples), setup.start.with_numbers(self.output())
        numbers = [] if setup.numbers is None else [setup.numbers.point(self.numbers(), self.loss_state_leaves())]
        loss = setup.loss.reading
        size = loss.samples.program.batch or n  # a loss of whole batches: the mean over those that follow another
        values: list[float] = []
        for rows in np.arange(n // size * size).reshape(-1, size):
            stream = full(n) if size == n else listed(n, rows)
            answer = loss.mean([point, *numbers], stream, full(n).key, setup.threads)
            values.append(float(tree.flatten(answer)[0][0]))
        return float(np.mean(values))

    def numbers(self) -> tuple[float, ...]:
        """Return what the loss reads at this step: hyperparameters, NaN where scheduled, and t; () for nothing."""
        read = self._setup.numbers
        if read is None:
            return ()
        return *(self.hyper(read.first + k) for k in range(read.named)), self.view().step

    def nbytes(self) -> dict[str, int]:
        """Bytes by purpose, their total, and the largest total so far."""
        return nbytes(self.call("loop_ledger"))

    def call(self, name: str, *args: Any, exports: Callable[[], dict[str, Callable[..., Any]]] = loop_exports) -> Any:
        """One call of the C++ interface, by name."""
        if self._handle.forked:
            raise StatusError(
                "this run was created before the process forked, and its thread is in the parent. Create the run "
                "in the process that steps it."
            )
        return exports()[name](self._handle.place, *args)

    def _wait(self, name: str, *args: Any, **options: Any) -> int:
        """Call a function that waits for the loop until it answers."""
        return _until(lambda: self.call(name, *args, _PATIENCE, **options))

    def _view(self) -> CView:
        view = CView()
        self.call("loop_view", ctypes.byref(view))
        return view


def _until(attempt: Callable[[], int]) -> int:
    """Repeat an attempt, which takes 50 ms at most, until its answer is not 0. Interrupts are raised in between."""
    while not (answer := attempt()):
        pass
    return answer


def _opened(setup: Setup, buffers: Start | None, change: Change | None = None) -> Handle:
    plan = plan_of(setup, buffers)
    if change is not None:
        change(plan)
    handle = Handle((plan, *setup.used, change))
    loop_exports()["loop_open"](plan, handle.back)
    return handle
