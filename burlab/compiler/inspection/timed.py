"""The timed twin of an executable: the same plan, but it reads a clock after each step (`kernels/clock.hpp`)."""

import ctypes
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from burlab.compiler.executable import Executable
from burlab.compiler.ir import library
from burlab.compiler.ir.library import LibraryKernel
from burlab.compiler.passes import make_runnable
from burlab.compiler.replay.program import runner
from burlab.runtime.coerce import Array
from burlab.runtime.gate import NativeFunction, Workspace
from burlab.runtime.kernel_structs import CTimed

_RUN = runner("burlab_run_timed", "run_timed", "clock")
_COST = LibraryKernel(
    "burlab_clock_read_cost",
    'extern "C" std::int64_t burlab_clock_read_cost() noexcept { return burlab::kernels::clock_read_cost(); }\n',
    "burlab/kernels/clock.hpp",
)
_HEAD_LENGTH = 3  # numbers in front of the steps: see `StepClock`
_MAX_NANOSECONDS = 1_000_000_000  # nanoseconds of repeating, after which the fastest call so far has to do
_MAX_CALLS_WITHOUT_GAIN = 64  # calls without a faster one
_MIN_NANOSECONDS = 20_000_000  # nanoseconds of repeating, for processors that wake up slowly


class StepTimes(NamedTuple):
    """Measured nanoseconds: the whole, then a number per step; steps do not include looking at the clock.

    starts: when each step began, counted from the start of the call. calls: how many these are the sums of.
    """

    total: int
    steps: tuple[int, ...]
    starts: tuple[int, ...]
    calls: int = 1


class TimedExecutable:
    """A function that runs an executable, and records the time of the call and of each step.

    Times add up from call to call, until they are taken. One thread at a time. laps: whether it looks at the clock
    between steps; else only the whole is measured, of the executable's own function.
    """

    def __init__(self, executable: Executable, laps: bool = True) -> None:
        plan = executable.plan
        self._ticks: Array = np.zeros(_HEAD_LENGTH + 1 + laps * len(plan.steps), np.int64)
        if not laps:
            inner = executable.function
        else:
            inner = make_runnable(replace(plan, options=replace(plan.options, ticks=self._ticks))).function
        library.require([_RUN], by_name=False)
        known: dict[int | None, CTimed] = {}

        def contexts(samples: int | None) -> int:
            if samples not in known:
                known[samples] = CTimed(inner.address, inner.contexts(samples), self._ticks.ctypes.data)
            return ctypes.addressof(known[samples])

        address = library.address(_RUN.symbol)
        self.function = NativeFunction(address, contexts, inner.workspace_bytes, (inner, known), inner.loops)

    def take(self) -> StepTimes:
        """The times since they were last taken, which begin at 0 again."""
        _, total, calls, *laps = map(int, self._ticks)
        self._ticks[:] = 0
        look = calls * clock_cost()
        starts = tuple(int(at) for at in np.cumsum(laps)[:-1])
        return StepTimes(total, tuple(max(lap - look, 0) for lap in laps[1:]), starts, calls)


@cache
def clock_cost() -> int:
    """Nanoseconds between two successive clock reads."""
    library.require([_COST], by_name=False)
    return int(ctypes.CFUNCTYPE(ctypes.c_int64)(library.address(_COST.symbol))())


def fastest(twin: TimedExecutable, arrays: Sequence[Array], buffers: Sequence[Array]) -> StepTimes:
    """Repeat calls until none is faster, and take the fastest. The caller has checked that such calls succeed."""
    workspace = Workspace(twin.function.workspace_bytes)
    start = time.perf_counter_ns()
    best, calm = StepTimes(1 << 62, (), ()), 0
    while True:
        twin.function(arrays, buffers, workspace)
        laps = twin.take()
        calm = 0 if laps.total < best.total - best.total // 100 else calm + 1
        best = min(best, laps)
        spent = time.perf_counter_ns() - start
        if (calm >= _MAX_CALLS_WITHOUT_GAIN and spent > _MIN_NANOSECONDS) or spent > _MAX_NANOSECONDS:
            return best
