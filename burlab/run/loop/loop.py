"""The step loop of `cpp/burlab/run/abi/loop.hpp`, owned by Python: opened, steered, read, closed."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.errors import StatusError
from burlab.graph import tree
from burlab.run.record.stop import REASONS, Stopped, explain
from burlab.run.record.tables import Path, Table, nbytes
from burlab.run.record.view import View
from burlab.runtime.coerce import Array
from burlab.runtime.wait import SLICE

from .abi import CView, Event, Plan, fork_exports, loop_exports
from .feed import LoopFeed
from .lifetime import Handle, check_awake
from .plan import plan_of
from .setup import Setup
from .snapshot import Saved, contents_of, path_contents, put, take, twin

_PATIENCE = int(SLICE * 1e3)  # milliseconds


class Loop:
    """A step loop. Its thread ends and its memory is freed with the last reference to this."""

    def __init__(self, setup: Setup, handle: Handle) -> None:
        """handle: holds the loop that C++ has made from the setup, or nothing where it could not."""
        if not handle.place:
            raise StatusError("no memory or no thread is left for a run. Close other runs, or use a smaller problem.")
        self._handle = handle
        self._setup = setup
        self.hypers = tuple(setup.rule.hyper)
        self.stop = setup.stop
        self.columns = setup.columns
        self.start_hypers = setup.rule.hyper
        self.batch = int(setup.stream.batch)
        self.dimension = setup.dimension

    @staticmethod
    def open(setup: Setup, cells: list[Array]) -> "Loop":
        """A loop at rest at step 0. cells: x and the leaves of the state, which are copied."""
        return Loop(setup, _opened(setup, cells))

    @property
    def setup(self) -> Setup:
        """What it opened from."""
        return self._setup

    @staticmethod
    def restored(setup: Setup, saved: Saved) -> "Loop":
        """A loop at rest that is what was saved."""
        handle = _opened(setup, None)
        loop = Loop(setup, handle)
        while not (done := put(handle.place, saved, _PATIENCE)):
            pass  # an interrupt is raised here
        if done != 1:
            raise StatusError("no memory is left for this run. Close other runs.")
        while not loop.rests(1.0):
            pass
        return loop

    def saved(self, most: int) -> Saved:
        """All that this loop is, besides its setup. most: bytes of keyframes, besides the first and the last one."""
        self.settle()
        plan = plan_of(self._setup)
        handle = Handle((plan, *self._setup.used))
        while not twin(self._handle.place, plan, handle.back, _PATIENCE):
            pass
        other = Loop(self._setup, handle)
        while not other.rests(1.0):
            pass
        path = path_contents(other)
        tables = contents_of(other.record, len(self.columns)), contents_of(other.record.stamps, 2), path
        return take(handle.place, self._setup.cells, tables, other.event_rows(), most)

    def view(self) -> View:
        """What the loop is doing."""
        view = self._view()
        stopped = None
        if view.outcome.status:
            stopped = Stopped("error", view.step, str(self._setup.error(view.outcome)))
        elif view.reason:
            stopped = explain(self.stop, REASONS[int(view.reason)], view.step, view.value, view.norm)
        return View(view.step, view.length, bool(view.rests), stopped, view.elapsed)

    def aim(self, target: int) -> None:
        """Order: run until `target` steps are done."""
        check_awake()
        self.call("loop_aim", target)

    def halt(self) -> None:
        """Order: rest as soon as possible."""
        self.call("loop_halt")

    def seek(self, step: int) -> None:
        """Order: go to a step of the record."""
        self.call("loop_seek", step)

    def rests(self, seconds: float) -> bool:
        """Wait until the loop rests, at most 50 ms."""
        return bool(self.call("loop_rests", int(min(seconds, SLICE) * 1e3)))

    def check(self) -> None:
        """Raise what made the last step fail, if it did."""
        view = self._view()
        if view.outcome.status:
            raise self._setup.error(view.outcome)

    def end(self) -> None:
        """End the thread; what was computed stays readable."""
        self.call("loop_quit")
        while not self.call("loop_ended", _PATIENCE):
            pass  # an interrupt is raised here
        self.call("loop_stop")

    def settle(self) -> None:
        """Wait until changes told to the loop are taken over."""
        while not self.call("loop_settles", _PATIENCE):
            pass

    def read(self, cell: int = 0) -> Array:
        """A copy of x (cell 0) or of a leaf of the state, as it is between two steps."""
        out = np.empty(*self._setup.cells[cell])
        while not self.call("loop_read", cell, out.ctypes.data, _PATIENCE):
            pass  # an interrupt is raised here
        return out

    def state(self) -> tree.Tree:
        """A copy of the state of the optimizer, at rest."""
        return tree.unflatten(self._setup.rule.structure, map(self.read, range(1, len(self._setup.cells))))

    def hyper(self, index: int) -> float:
        """A hyperparameter, as the next step will use it."""
        return float(self.call("loop_hyper", index))

    def set(self, index: int, value: float) -> "Loop | None":
        """Order: give a hyperparameter a value, from the next step on; in the past, a new line begins there."""
        if self.call("loop_set", index, value):
            return None
        plan = plan_of(self._setup)
        old = Handle((plan, *self._setup.used))
        while not (done := self.call("loop_branch", plan, index, value, old.back, _PATIENCE, exports=fork_exports)):
            pass
        return Loop(self._setup, old) if old.place or done != 1 else None

    def fork(self, change: Callable[[Plan], None] | None = None) -> "Loop":
        """Another loop, at rest where this one is, which knows nothing of what came after.

        change: changes what C++ gets to see, and is kept for as long as the loop, with what it belongs to.
        """
        plan = plan_of(self._setup)
        if change is not None:
            change(plan)
        other = Handle((plan, *self._setup.used, change))
        while not self.call("loop_fork", plan, other.back, _PATIENCE, exports=fork_exports):
            pass
        return Loop(self._setup, other)

    @property
    def record(self) -> Table:
        """A row per step."""
        return Table("record", self.call("loop_record"), self)

    @property
    def path(self) -> Path | None:
        """Steps and points, where x has one or two entries."""
        address = self.call("loop_path")
        return Path(address, self) if address else None

    def event_rows(self) -> tuple[Array, Array, Array]:
        """The changes so far: steps, positions among the hyperparameters, values."""
        rows = (Event * 0)()
        while len(rows) < (total := self.call("loop_events", 0, len(rows), rows)):
            rows = (Event * total)()
        columns = [[row.step for row in rows], [row.hyper for row in rows], [row.value for row in rows]]
        return np.array(columns[0], np.int64), np.array(columns[1], np.int64), np.array(columns[2], np.float64)

    def feed(self) -> LoopFeed:
        """The rows of which nobody said that they were seen."""
        return LoopFeed(self.call, len(self.columns))

    def last_value(self) -> float:
        """The value that the last row of the record holds; NaN where there is none."""
        while True:
            extent = self.record.extent()
            if not extent.slots:
                return float("nan")
            column = self.record.copy(extent, 0, extent.slots - 1, 1)
            if column is not None:
                return float(column[0])

    def nbytes(self) -> dict[str, int]:
        """Bytes by what they are for, and their total."""
        return nbytes(self.call("loop_ledger"))

    def call(self, name: str, *args: Any, exports: Callable[[], dict[str, Callable[..., Any]]] = loop_exports) -> Any:
        """One call of the C++ interface, by name."""
        if self._handle.forked:
            raise StatusError(
                "this run was made before the process forked, and its thread stayed behind in the parent. "
                "Make the run in the process that steps it."
            )
        return exports()[name](self._handle.place, *args)

    def _view(self) -> CView:
        view = CView()
        self.call("loop_view", ctypes.byref(view))
        return view


def _opened(setup: Setup, cells: list[Array] | None) -> Handle:
    plan = plan_of(setup, cells)
    handle = Handle((plan, *setup.used))
    loop_exports()["loop_open"](plan, handle.back)
    return handle
