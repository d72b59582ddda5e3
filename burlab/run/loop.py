"""The step loop of `cpp/burlab/run/loop_abi.hpp`, owned by Python: opened, steered, read, closed.

The ctypes structures mirror the C++ structs of the same names, field by field; a test compares them with the compiler.
"""

import atexit
import ctypes
import os
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from burlab.compiler.executable import Executable
from burlab.errors import StatusError
from burlab.optim.rule import Rule
from burlab.problems.engine import SampleKernel
from burlab.problems.point import Point
from burlab.problems.sampling import Stream
from burlab.problems.summand import CKernel, Summand
from burlab.runtime.doors import doors
from burlab.runtime.wait import SLICE

from .engine import COLUMNS, Array, View
from .stop import REASONS, Criteria, Stop, Stopped, explain

_INT, _POINTER = ctypes.c_int64, ctypes.c_void_p
_PATIENCE = int(SLICE * 1e3)  # milliseconds


class Plan(ctypes.Structure):
    """All that a run consists of."""

    _fields_ = (
        ("samples", Summand),
        ("once", Summand),
        ("stream", Stream),
        ("threads", _INT),
        ("wide", _INT),
        ("dimension", _INT),
        ("leaves", _INT),
        ("places", _POINTER),
        ("gradient", _INT),
        ("update", CKernel),
        ("hypers", _INT),
        ("cells", _INT),
        ("hyper", _POINTER),
        ("schedules", _INT),
        ("scheduled", _POINTER),
        ("start", _POINTER),
        ("bytes", _POINTER),
        ("criteria", Criteria),
    )


class CView(ctypes.Structure):
    """What the loop is doing."""

    _fields_ = (
        ("step", _INT),
        ("length", _INT),
        ("rests", _INT),
        ("reason", _INT),
        ("status", _INT),
        ("sample", _INT),
        ("elapsed", ctypes.c_double),
        ("value", ctypes.c_double),
        ("norm", ctypes.c_double),
    )


@cache
def _doors() -> dict[str, Callable[..., Any]]:
    loop, number = _POINTER, ctypes.c_double
    return doors(
        "burlab/run/loop_abi.hpp",
        "burlab::run",
        {
            "loop_open": (loop, ctypes.POINTER(Plan)),
            "loop_stop": (None, loop),
            "loop_quit": (None, loop),
            "loop_ended": (_INT, loop, _INT),
            "loop_close": (None, loop),
            "loop_aim": (None, loop, _INT),
            "loop_halt": (None, loop),
            "loop_settles": (_INT, loop, _INT),
            "loop_rests": (_INT, loop, _INT),
            "loop_set": (None, loop, _INT, number),
            "loop_hyper": (number, loop, _INT),
            "loop_view": (None, loop, ctypes.POINTER(CView)),
            "loop_read": (_INT, loop, _INT, _POINTER, _INT),
            "loop_bytes": (_INT, loop),
            "record_length": (_INT, loop, _INT),
            "record_bytes": (_INT, loop, _INT),
            "record_copy": (None, loop, _INT, _INT, _INT, _INT, _POINTER),
        },
    )


class Loop:
    """A step loop, at rest at step 0. Its thread ends and its memory is freed with the last reference to this."""

    def __init__(
        self,
        kernels: tuple[SampleKernel, SampleKernel | None],
        update: Executable,
        rule: Rule,
        start: Point,
        x: Array,
        stream: Stream,
        threads: int,
        stop: Stop,
    ) -> None:
        self.hypers = tuple(rule.hyper)
        self.stop = stop
        self.lost = False  # in a forked child: the thread stayed behind
        samples, once = kernels
        self._update = update
        self._samples = samples
        cells = (x, *rule.state)
        self._like = [(cell.shape, cell.dtype) for cell in cells]
        ends = np.cumsum([0, *(leaf.nbytes for leaf in start.leaves)]).astype(np.int64)
        hyper = np.array(list(rule.hyper.values()), np.float64)
        scheduled = np.array([k for k, name in enumerate(rule.hyper) if name in rule.schedules], np.int64)
        addresses = np.array([cell.ctypes.data for cell in cells], np.uint64)
        sizes = np.array([cell.nbytes for cell in cells], np.int64)
        plan = Plan(
            samples.summand, once.summand if once else Summand(), stream, threads, x.dtype == np.float64, x.size,
            len(start.leaves), ends.ctypes.data, samples.layout.offsets[1], CKernel.of(update), len(hyper),
            len(cells), hyper.ctypes.data, len(scheduled), scheduled.ctypes.data, addresses.ctypes.data,
            sizes.ctypes.data, stop.criteria,
        )  # fmt: skip
        self.handle = _doors()["loop_open"](ctypes.byref(plan))
        if not self.handle:
            raise StatusError("no memory or no thread is left for a run. Close other runs, or use a smaller problem.")
        # What C++ points to outlives its thread. At exit nothing is freed: another thread may be waiting for this loop.
        weakref.finalize(self, _close, self.handle, os.getpid(), (kernels, update)).atexit = False
        _alive.add(self)

    def _call(self, door: str, *args: Any) -> Any:
        """One call of the C++ interface, by name."""
        if self.lost:
            raise StatusError(
                "this run was made before the process forked, and its thread stayed behind in the parent. "
                "Make the run in the process that steps it."
            )
        return _doors()[door](self.handle, *args)

    def _view(self) -> CView:
        view = CView()
        self._call("loop_view", ctypes.byref(view))
        return view

    def view(self) -> View:
        """What the loop is doing."""
        view = self._view()
        stopped = None
        if view.status:
            stopped = Stopped("error", view.step, str(self._error(view)))
        elif view.reason:
            stopped = explain(self.stop, REASONS[int(view.reason)], view.step, view.value, view.norm)
        return View(view.step, view.length, bool(view.rests), stopped, view.elapsed)

    def aim(self, target: int) -> None:
        """Order: run until `target` steps are done."""
        self._call("loop_aim", target)

    def halt(self) -> None:
        """Order: rest as soon as possible."""
        self._call("loop_halt")

    def rests(self, seconds: float) -> bool:
        """Wait until the loop rests, at most 50 ms."""
        return bool(self._call("loop_rests", int(min(seconds, SLICE) * 1e3)))

    def check(self) -> None:
        """Raise what made the last step fail, if it did."""
        view = self._view()
        if view.status:
            raise self._error(view)

    def _error(self, view: CView) -> Exception:
        return self._update.error(view.status) if view.sample < 0 else self._samples.error(view.status, view.sample)

    def end(self) -> None:
        """End the thread; what was computed stays readable."""
        self._call("loop_quit")
        while not self._call("loop_ended", _PATIENCE):
            pass  # an interrupt is raised here
        self._call("loop_stop")

    def settle(self) -> None:
        """Wait until changes told to the loop are taken over."""
        while not self._call("loop_settles", _PATIENCE):
            pass

    def read(self, cell: int = 0) -> Array:
        """A copy of x (cell 0) or of a leaf of the state, as it is between two steps."""
        out = np.empty(*self._like[cell])
        while not self._call("loop_read", cell, out.ctypes.data, _PATIENCE):
            pass  # an interrupt is raised here
        return out

    def hyper(self, index: int) -> float:
        """A hyperparameter, as the next step will use it."""
        return float(self._call("loop_hyper", index))

    def set(self, index: int, value: float) -> None:
        """Order: give a hyperparameter a value, from the next step on."""
        self._call("loop_set", index, value)

    def nbytes(self) -> dict[str, int]:
        """Bytes by what they are for."""
        return {"loop": self._call("loop_bytes"), "history": sum(self._call("record_bytes", k) for k in (0, 1))}

    def length(self, table: int) -> int:
        """Rows of the table of steps (0) or of events (1)."""
        return int(self._call("record_length", table))

    def column(self, table: int, column: int, first: int, rows: int) -> Array:
        """Rows of a column, float64."""
        out = np.empty(rows)
        self._call("record_copy", table, column, first, rows, out.ctypes.data)
        return out

    def last_value(self) -> float:
        """The value that the last step saw; NaN before the first."""
        rows = self.length(0)
        return float(self.column(0, COLUMNS.index("value"), rows - 1, 1)[0]) if rows else float("nan")

    @staticmethod
    def lose_all() -> None:
        """A forked child has memory and no threads: nothing there may be waited for, nor freed."""
        for loop in _alive:
            loop.lost = True


_alive: "weakref.WeakSet[Loop]" = weakref.WeakSet()
os.register_at_fork(after_in_child=Loop.lose_all)


@atexit.register
def _stop_all() -> None:
    for loop in list(_alive):
        if not loop.lost:
            _doors()["loop_stop"](loop.handle)


def _close(handle: int, process: int, _keep: object) -> None:
    if os.getpid() == process:
        _doors()["loop_close"](handle)
