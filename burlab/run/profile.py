"""Where the time of a step goes: a fork of a loop whose kernels look at a clock."""

import ctypes
import time
from typing import Any

from burlab.compiler.executable import Executable
from burlab.compiler.inspection.account import Phase, accounts
from burlab.compiler.inspection.profile import Profile, Row, residual
from burlab.compiler.inspection.timed import StepTimes, TimedExecutable
from burlab.errors import StatusError
from burlab.graph import Node
from burlab.run.loop.abi import Plan
from burlab.run.loop.fused import FusedStep
from burlab.run.loop.loop import Loop
from burlab.run.record.stop import Stop

_LEAST, _MOST = 10, 1000  # steps that are measured
_ENOUGH = 0.5  # seconds of measuring


def profile(loop: object) -> Profile:
    """The fastest of some steps of a fork, one after another, and of a fork that looks at no clock in between."""
    if not isinstance(loop, Loop):
        raise StatusError("a run of SciPy's has no step of its own to measure. Profile its function: bl.compile(f, x).")
    timed = _Timed(loop)
    fork = loop.fork(timed.put)
    best, rows = 1 << 62, list[Row]()
    for took in _steps(fork):
        laps = timed.take()
        if took < best:
            best, rows = took, timed.rows(laps)
    fork.end()
    plain = loop.fork(_endless)
    alone = min(_steps(plain))
    plain.end()
    tiling = loop.setup.loss.samples.tilings.get(loop.batch)
    name = f"a step on {loop.batch} samples, {tiling}" if tiling else "a step"
    return Profile(name, loop.setup.update.executable.gear, (*rows, residual(best, rows)), alone)


def _steps(loop: Loop) -> Any:
    """Do steps, and give the nanoseconds of each."""
    end = time.monotonic() + _ENOUGH
    while not loop.rests(1.0):  # a fork that has just been made may have to settle
        pass
    for count in range(_MOST):
        if count >= _LEAST and time.monotonic() > end:
            return
        before = loop.view()
        loop.aim(before.step + 1)
        while not loop.rests(1.0):
            pass
        loop.check()
        yield round(loop.view().elapsed - before.elapsed)


def _endless(plan: Plan) -> None:
    plan.criteria, plan.feed_rows, plan.threads = Stop().criteria, 0, 1


_PHASES: dict[str, Phase] = {"prepare": "forward", "finish": "backward"}  # what needs no sample; sums of gradients


class _Timed:
    """The kernels of a loop as twins, in the order in which a step calls them, with the phase of those of one phase."""

    def __init__(self, loop: Loop) -> None:
        setup = loop.setup
        self.fused = setup.update if isinstance(setup.update, FusedStep) else None
        loss = None if self.fused else setup.loss
        samples = loss.samples.kernels(int(setup.stream.batch)) if loss else {}
        self.samples = {name: _Kernel(exe, _PHASES.get(name)) for name, exe in samples.items()}
        self.regularizer = [_Kernel(loss.regularizer.executable)] if loss and loss.regularizer else []
        self.update = _Kernel(setup.update.executable, None if self.fused else "update")
        self.kernels = [*self.samples.values(), *self.regularizer, self.update]

    def put(self, plan: Plan) -> None:
        """Have C++ call the twins."""
        _endless(plan)
        self.update.put(plan.fused.kernel if self.fused else plan.update)
        for kernel in self.regularizer:
            kernel.put(plan.loss.regularizer.kernel)
        samples = plan.loss.samples
        for name, kernel in self.samples.items():
            kernel.put(getattr(samples, name))
        if samples.tile:
            self._contexts = self.samples["kernel"].contexts(samples.contexts, samples.tile)
            samples.contexts = ctypes.addressof(self._contexts)

    def take(self) -> list[StepTimes]:
        return [kernel.twin.take() for kernel in self.kernels]

    def rows(self, laps: list[StepTimes]) -> list[Row]:
        """One after another: `start` leaves no gaps, since tiles of one kernel come in turn."""
        rows: list[Row] = []
        start, updates = 0, self.fused.updates if self.fused else set[Node]()
        for kernel, times in zip(self.kernels, laps, strict=True):
            for entry, took in zip(accounts(kernel.executable.plan, updates), times.steps, strict=True):
                if not entry.name:
                    continue
                phase = kernel.phase or entry.phase
                nbytes = entry.nbytes * times.calls
                rows.append(Row(phase, entry.name, entry.shape, took, nbytes, entry.lines, entry.scope, start))
                start += took
        return rows


class _Kernel:
    def __init__(self, executable: Executable, phase: Phase | None = None) -> None:
        self.executable = executable
        self.twin = TimedExecutable(executable)
        self.phase: Phase | None = phase

    def put(self, kernel: Any) -> None:
        """Into a `CKernel`."""
        function = self.twin.function
        kernel.function, kernel.context, kernel.workspace = function.address, function.context, function.workspace_bytes

    def contexts(self, place: int, size: int) -> Any:
        """A table of contexts for those numbers of samples for which there is one at `place`."""
        given = (ctypes.c_void_p * size).from_address(place)
        return (ctypes.c_void_p * size)(*(at and self.twin.function.contexts(k + 1) for k, at in enumerate(given)))
