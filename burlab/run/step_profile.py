"""The time of each part of a step: measured on another loop, whose kernels read a clock."""

import ctypes
import time
from collections.abc import Sequence
from typing import Any

from burlab.compiler.executable import Executable
from burlab.compiler.inspection.account import Phase, accounts
from burlab.compiler.inspection.live_bytes import KINDS, LiveBytes
from burlab.compiler.inspection.profile import Profile, ProfileRow, live_of, residual
from burlab.compiler.inspection.timed import StepTimes, TimedExecutable
from burlab.compiler.ir.plan import nodes_of
from burlab.errors import StatusError
from burlab.graph import Node
from burlab.run.loop.fused import FusedStep
from burlab.run.loop.lazy_step import LazyStep
from burlab.run.loop.loop import RunLoop
from burlab.run.loop.update import Update
from burlab.run.record.stop import Stop
from burlab.run.record.traces import Shares
from burlab.runtime.structs import CPlan

MIN_STEPS, MAX_STEPS = 10, 1000  # that are measured
PROFILE_SECONDS = 0.5  # of measuring
SHARES_SECONDS = 0.05  # of measuring, for shares alone


def profile(loop: object) -> Profile:
    """Return the fastest of some steps of a fork, and the time of the fastest step without clocks."""
    if not isinstance(loop, RunLoop):
        raise StatusError("a run of SciPy's has no step of its own to measure. Profile its function: bl.compile(f, x).")
    timed = _Timed(loop)
    fork = loop.fork(timed.put)
    best, rows = 1 << 62, list[ProfileRow]()
    for took in _steps(fork, MIN_STEPS, PROFILE_SECONDS):
        times = timed.take()
        if took < best:
            best, rows = took, timed.rows(times)
    fork.end()
    plain = loop.fork(_endless)
    alone = min(_steps(plain, MIN_STEPS, PROFILE_SECONDS))
    plain.end()
    tiling = loop.setup.loss.samples.tilings.get(loop.batch)
    name = f"a step on {loop.batch} samples, {tiling}" if tiling else "a step"
    live = _joined([live_of(kernel.executable.plan) for kernel in timed.kernels])
    return Profile(name, loop.setup.update.executable.gear, (*rows, residual(best, rows)), alone, live)


def _joined(parts: Sequence[LiveBytes]) -> LiveBytes:
    """Return the live bytes of kernels that run one after another, each with memory of its own."""
    return {kind: tuple(count for part in parts for count in part[kind]) for kind in KINDS}


def shares(loop: object) -> Shares | None:
    """Return the shares of forward, backward and update in the time of a step's function; None if unknown.

    They are measured on another loop from the same point; this one may run meanwhile.
    """
    if not isinstance(loop, RunLoop):
        return None
    timed = _Timed(loop)
    twin = RunLoop.open(loop.setup, [*loop.buffers()], timed.put)
    best, spent, total = 1 << 62, [0] * len(Shares._fields), [0] * len(Shares._fields)
    for took in _steps(twin, 2, SHARES_SECONDS):
        now = timed.spent(timed.take())
        total = [a + b for a, b in zip(total, now, strict=True)]
        if took < best:
            best, spent = took, now
    twin.end()
    spent = spent if sum(spent) else total  # a step may take less than a tick of the clock
    return Shares(*(part / sum(spent) for part in spent)) if sum(spent) else None


def _steps(loop: RunLoop, least: int, seconds: float) -> Any:
    """Do steps and yield the nanoseconds of each."""
    end = time.monotonic() + seconds
    _wait(loop)  # a new fork may still have to settle
    loop.aim(loop.view().length)  # the clock stands in a step whose row is there, as after a stop by a measurement
    _wait(loop)
    for count in range(MAX_STEPS):
        if count >= least and time.monotonic() > end:
            return
        before = loop.view()
        loop.aim(before.step + 1)
        _wait(loop)
        yield round(loop.view().elapsed - before.elapsed)


def _wait(loop: RunLoop) -> None:
    """Wait until a loop rests. Raises the error of its last step, if that failed."""
    while not loop.rests(1.0):
        pass
    loop.check()


def _endless(plan: CPlan) -> None:
    plan.criteria, plan.feed_rows, plan.threads = Stop(non_finite=False).criteria(), 0, 1


_PHASES: dict[str, Phase] = {"prepare": "forward", "finish": "backward"}  # what needs no sample; sums of gradients


class _Timed:
    """The timed kernels of a loop, in the order in which a step calls them, with the phase of those that have one."""

    def __init__(self, loop: RunLoop) -> None:
        setup = loop.setup
        self.fused = setup.update if isinstance(setup.update, FusedStep) else None
        lazy = setup.update if isinstance(setup.update, LazyStep) else None
        loss = setup.step_loss if isinstance(setup.update, Update) else None
        samples = loss.samples.kernels(setup.batch_of_kernels) if loss else {}
        samples = {"kernel": lazy.executable} if lazy else samples
        self.samples = {name: _Kernel(exe, _PHASES.get(name)) for name, exe in samples.items()}
        self.regularizer = [_Kernel(loss.regularizer.executable)] if loss and loss.regularizer else []
        self.update = [] if lazy else [_Kernel(setup.update.executable, None if self.fused else "update")]
        halves = self.fused.halves if self.fused else None
        self.second = [_Kernel(halves.second, "update")] if halves else []
        self.kernels = [*self.samples.values(), *self.regularizer, *self.update, *self.second]

    def put(self, plan: CPlan) -> None:
        """Let C++ call the timed kernels."""
        _endless(plan)
        for kernel in self.update:
            kernel.put(plan.fused.kernel if self.fused else plan.update)
        for kernel in self.second:
            kernel.put(plan.fused.second)
        for kernel in self.regularizer:
            kernel.put(plan.loss.regularizer.kernel)
        samples = plan.each if plan.each.kernel.function else plan.loss.samples
        for name, kernel in self.samples.items():
            kernel.put(getattr(samples, name))
        if samples.tile:
            self._contexts = self.samples["kernel"].contexts(samples.contexts, samples.tile)
            samples.contexts = ctypes.addressof(self._contexts)

    def take(self) -> list[StepTimes]:
        return [kernel.timed.take() for kernel in self.kernels]

    def rows(self, step_times: list[StepTimes]) -> list[ProfileRow]:
        """One after another: `start` leaves no gaps, since tiles of one kernel come in turn."""
        rows: list[ProfileRow] = []
        start, updates = 0, self.fused.updates if self.fused else set[Node]()
        for kernel, times in zip(self.kernels, step_times, strict=True):
            for entry, took in zip(accounts(kernel.executable.plan, updates), times.steps, strict=True):
                if not entry.name:
                    continue
                phase = kernel.phase or entry.phase
                nbytes = entry.nbytes * times.calls
                rows.append(ProfileRow(phase, entry.name, entry.shape, took, nbytes, entry.lines, entry.scope, start))
                start += took
        return rows

    def spent(self, step_times: list[StepTimes]) -> list[int]:
        """Nanoseconds of the function by the fields of `Shares`."""
        spent = dict.fromkeys(Shares._fields, 0)
        updates = self.fused.updates if self.fused else set[Node]()
        for kernel, times in zip(self.kernels, step_times, strict=True):
            if kernel.phase == "update":
                continue
            plan = kernel.executable.plan
            for entry, step, took in zip(accounts(plan, updates), plan.steps, times.steps, strict=True):
                joined = entry.phase == "update" and not updates.issuperset(nodes_of(step))
                spent["fused" if joined else kernel.phase or entry.phase] += took
        return list(spent.values())


class _Kernel:
    def __init__(self, executable: Executable, phase: Phase | None = None) -> None:
        self.executable = executable
        self.timed = TimedExecutable(executable)
        self.phase: Phase | None = phase

    def put(self, kernel: Any) -> None:
        """Into a `CKernel`."""
        function = self.timed.function
        kernel.function, kernel.context, kernel.workspace = function.address, function.context, function.workspace_bytes

    def contexts(self, place: int, size: int) -> Any:
        """A table of contexts for those numbers of samples for which there is one at `place`."""
        given = (ctypes.c_void_p * size).from_address(place)
        return (ctypes.c_void_p * size)(*(at and self.timed.function.contexts(k + 1) for k, at in enumerate(given)))
