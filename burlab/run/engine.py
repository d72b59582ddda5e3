"""The step loop of `cpp/burlab/run/loop_abi.hpp`, owned by Python: opened, steered, read, closed.

The ctypes structures mirror the C++ structs of the same names, field by field; a test compares them with the compiler.
"""

import atexit
import ctypes
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager
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

Array = np.ndarray[Any, Any]
COLUMNS = ("step", "value", "gradient_norm", "step_norm", "samples", "time")  # then the hyperparameters

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
    )


class View(ctypes.Structure):
    """What the loop is doing."""

    _fields_ = (("step", _INT), ("rests", _INT), ("status", _INT), ("sample", _INT), ("elapsed", ctypes.c_double))


@cache
def _doors() -> dict[str, Callable[..., Any]]:
    loop, number = _POINTER, ctypes.c_double
    return doors(
        "burlab/run/loop_abi.hpp",
        "burlab::run",
        {
            "loop_open": (loop, ctypes.POINTER(Plan)),
            "loop_stop": (None, loop),
            "loop_close": (None, loop),
            "loop_aim": (None, loop, _INT),
            "loop_halt": (None, loop),
            "loop_hold": (None, loop),
            "loop_release": (None, loop),
            "loop_held": (_INT, loop, _INT),
            "loop_rests": (_INT, loop, _INT),
            "loop_set": (None, loop, _INT, number),
            "loop_hyper": (number, loop, _INT),
            "loop_view": (None, loop, ctypes.POINTER(View)),
            "loop_read": (None, loop, _INT, _POINTER),
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
    ) -> None:
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
            sizes.ctypes.data,
        )  # fmt: skip
        self._handle = _doors()["loop_open"](ctypes.byref(plan))
        if not self._handle:
            raise StatusError("no memory or no thread is left for a run. Close other runs, or use a smaller problem.")
        # What C++ points to outlives its thread. At exit nothing is freed: another thread may be waiting for this loop.
        weakref.finalize(self, _close, self._handle, (kernels, update)).atexit = False
        _alive.add(self)

    def call(self, door: str, *args: Any) -> Any:
        """One call of the C++ interface, by name."""
        return _doors()[f"loop_{door}"](self._handle, *args)

    def view(self) -> View:
        """Steps done, whether the loop rests, how the last step ended."""
        view = View()
        self.call("view", ctypes.byref(view))
        return view

    def rests(self) -> bool:
        """Wait a short while for the loop to have nothing left to do."""
        return bool(self.call("rests", _PATIENCE))

    def check(self) -> None:
        """Raise what stopped the last step, if it failed."""
        view = self.view()
        if not view.status:
            return
        raise self._update.error(view.status) if view.sample < 0 else self._samples.error(view.status, view.sample)

    @contextmanager
    def held(self) -> Generator[None]:
        """Between two steps: what the loop owns may be read inside."""
        self.call("hold")
        try:
            while not self.call("held", _PATIENCE):
                pass  # an interrupt is raised here
            yield
        finally:
            self.call("release")

    def read(self, cell: int) -> Array:
        """A copy of x (cell 0) or of a leaf of the state, as it is between two steps."""
        out = np.empty(*self._like[cell])
        with self.held():
            self.call("read", cell, out.ctypes.data)
        return out

    def nbytes(self) -> dict[str, int]:
        """Bytes by what they are for."""
        return {"loop": self.call("bytes"), "history": sum(_doors()["record_bytes"](self._handle, k) for k in (0, 1))}

    def length(self, table: int) -> int:
        """Rows of the table of steps (0) or of events (1)."""
        return int(_doors()["record_length"](self._handle, table))

    def column(self, table: int, column: int, first: int, rows: int) -> Array:
        """Rows of a column, float64."""
        out = np.empty(rows)
        _doors()["record_copy"](self._handle, table, column, first, rows, out.ctypes.data)
        return out

    def last_value(self) -> float:
        """The value that the last step saw; NaN before the first."""
        rows = self.length(0)
        return float(self.column(0, COLUMNS.index("value"), rows - 1, 1)[0]) if rows else float("nan")


_alive: "weakref.WeakSet[Loop]" = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    for loop in list(_alive):
        loop.call("stop")


def _close(handle: int, _keep: object) -> None:
    _doors()["loop_close"](handle)
