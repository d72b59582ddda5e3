"""A minimizer of SciPy at work: its thread, which can wait at any evaluation, and its log."""

import os
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from burlab.optim.scipy_minimizer import SciPy, limits
from burlab.run.loop.lifetime import at_end
from burlab.run.record.breakpoints import BreakpointTester
from burlab.run.record.stop import Rows, Stop, Stopped, explain
from burlab.runtime.blas_threads import OneBlasThread
from burlab.runtime.coerce import Array
from burlab.runtime.extras import late
from burlab.runtime.flag import Flag, Thread

from .callbacks import Callbacks, StepCosts
from .log import Log, Measured
from .scipy_objective import ScipyObjective

optimize: Any = late("scipy.optimize")
EXIT_SECONDS = 5.0  # for threads to end when Python exits


class _SessionEnded(BaseException):
    """Unwinds SciPy's frames when a session ends. Not an Exception, so that no frame on the way catches it."""


class ScipySession:
    """The thread and the state that it shares with callers; `lock` guards all of it.

    log: the rows and points. head: steps done. target: steps to do. stopped: why it rests by itself. failure: what the
    last step raised, until it was reported. finished: whether SciPy has ended. elapsed: nanoseconds of running.
    measured: the newest point, once it was.

    The thread rests by waiting in the middle of SciPy's call: at an evaluation, between two slices of a long one, or
    after an iteration. It refers to nothing but this session, so it ends when the engine is gone.
    """

    def __init__(
        self,
        minimizer: SciPy,
        objective: ScipyObjective,
        stop: Stop,
        halts: Callable[[Rows], bool],
        log: Log,
        x: Array,
        head: int,
    ) -> None:
        """halts: whether a predicate requires that no row follows this one."""
        self.lock = threading.RLock()  # C, not a Condition: an interrupt would leave that held
        self.rested = Flag()
        self._woken = Flag()
        self.rested.set()
        self.minimizer, self.objective, self.stop, self.log = minimizer, objective, stop, log
        self.head = self.target = head
        self.breakpoints = BreakpointTester()
        self._halts = halts
        self.rests = True
        self.stopped: Stopped | None = None
        self.failure: BaseException | None = None
        self.finished = False
        self._x = x
        self.measured: Measured | None = None  # the newest point, once it was measured
        self._ending = False
        self._thread: Thread | None = None
        samples, self._ran = log.spent
        self._since = 0
        self._callbacks = Callbacks(objective, self._pass, self._fail, lambda: self.elapsed, samples)
        self._costs = StepCosts(log.traces, head, self._ran)

    @property
    def elapsed(self) -> int:
        """Nanoseconds of running."""
        return self._ran + (0 if self.rests else time.perf_counter_ns() - self._since)

    def go(self, target: int) -> None:
        """Do steps until `target` of them are done. The caller holds the lock."""
        if self.finished or self._ending:
            return
        self.failure = self.stopped = None
        if self.stop.steps is not None and target > self.stop.steps:
            target = self.stop.steps
            if self.head >= target:
                self._stop_for("steps")
        if self.head >= target:
            self.target = target
            return
        if self._thread is None or self._thread.ident is None:  # an interrupt may have come before it was started
            self._thread = Thread(self._work, "burlab-scipy")
            self._thread.start()
        now = time.perf_counter_ns()
        self.target, self.rests, self._since = target, False, now
        self.rested.clear()
        self._woken.set()

    def pause(self) -> None:
        """Have it rest as soon as possible."""
        with self.lock:
            self.target = self.head
            self._woken.set()  # where an interrupt came between an order and this

    def end(self) -> None:
        """Tell the thread to leave SciPy; `join` waits for it."""
        self._ending = True
        self._woken.set()

    def join(self, seconds: float) -> bool:
        """Wait for the thread to be gone; whether it is."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return thread is None or not thread.is_alive()

    def _work(self) -> None:
        _at_work.add(self)
        failure: BaseException | None = None
        try:
            self._pass()
            if self.measured is None:
                start = self._measure(self._x)
                with self.lock:
                    self._settle(start)
            with OneBlasThread() as one:
                result = self._minimize(one)
            self._finish(result)
        except _SessionEnded:
            pass
        except BaseException as error:  # whatever SciPy, a constraint or an option raises
            failure = error
        with self.lock:
            if failure is not None:
                self._fail(failure)
            self._thread = None
            self._rest()
        del failure  # this frame is in its traceback, which goes on to the caller
        _at_work.discard(self)

    def _minimize(self, one: OneBlasThread) -> Any:
        """SciPy's result. Its own linear algebra takes one thread: others would go on to wait where kernels compute."""
        chosen, traits, calls = self.minimizer, self.minimizer.traits, self._callbacks
        derivatives: dict[str, Any] = {"jac": True} if traits.gradient else {}
        if traits.curvature:
            derivatives[traits.curvature] = one.outside(calls.hvp if traits.curvature == "hessp" else calls.hessian)

        fixed = None if chosen.bounds is None else _fixed(chosen.bounds, self._x.size)
        if fixed is not None and not np.isnan(fixed).any() and chosen.method == "COBYLA":  # which fails there
            return SimpleNamespace(x=fixed, message="All variables are fixed by bounds.")

        def seen(x: Array, *_: Any) -> None:
            x = np.array(x, np.float64)
            if fixed is not None and x.size < fixed.size:  # COBYLA's callback is shown those alone that may move
                whole = fixed.copy()
                whole[np.isnan(fixed)] = x
                x = whole
            self._step(x)

        return optimize.minimize(
            one.outside(calls.value_and_grad if traits.gradient else calls.value),
            self._x.copy(),
            method=chosen.method,
            bounds=chosen.bounds,
            constraints=chosen.constraints,
            tol=chosen.tol,
            callback=one.outside(seen),
            options=dict(chosen.options),
            **derivatives,
        )

    def _pass(self) -> None:
        """Wait until there is a step to do. Leaves SciPy when the session ends."""
        limit = self.stop.seconds
        with self.lock:
            if limit is not None and not self.rests and self.elapsed >= limit * 1e9:
                self._stop_for("seconds")
        while True:
            with self.lock:
                if self._ending:
                    raise _SessionEnded
                if self.target > self.head:
                    return
                self._rest()
                self._woken.clear()
                if self._ending:
                    self._woken.set()  # it was set before it was cleared
            self._woken.wait()

    def _rest(self) -> None:
        if not self.rests:
            self._ran, self.rests = self.elapsed, True
        self.rested.set()

    def _step(self, x: Array) -> None:
        """SciPy has moved to x."""
        after = self._measure(x)
        with self.lock:
            before = self.measured
            assert before is not None
            self.log.cut(self.head)  # a row that waited for its step
            row = self.log.write(before, x, self._callbacks.samples, self.elapsed)
            self.log.points.append(x)
            self._costs.add(self.head, self.elapsed, self._callbacks.spent, self.log.nbytes)
            self.head += 1
            self._settle(after)
            if self._halts(row):
                self.target = self.head  # the watch of the record reports it; no row may follow this one
        self._pass()

    def _measure(self, x: Array) -> Measured:
        newest = self.measured
        return newest if newest is not None and np.array_equal(x, newest.x) else self._callbacks.measure(x)

    def _settle(self, point: Measured) -> None:
        """Move to a new point, and stop there if a criterion holds."""
        self.measured, self._x = point, point.x
        stop, value, norm = self.stop, point.value, point.gradient_norm
        if stop.non_finite and not (np.isfinite(value) and np.isfinite(norm)):
            reason = "non_finite"
        elif stop.value is not None and value <= stop.value:
            reason = "value"
        elif stop.grad_norm is not None and norm <= stop.grad_norm:
            reason = "grad_norm"
        elif stop.steps is not None and self.head >= stop.steps:
            reason = "steps"
        else:
            reason = ""
        number = self.breakpoints.hit(self.head, value, norm)
        if not reason and not number:
            return
        if reason != "steps":
            self.log.write(point, None, self._callbacks.samples, self.elapsed)
        if reason:
            self._stop_for(reason)
        else:
            self.stopped = self.breakpoints.points[number].stopped(number, self.head, value, norm)
            self.target = self.head

    def _stop_for(self, reason: str) -> None:
        newest = self.measured
        value, norm = (np.nan, np.nan) if newest is None else (newest.value, newest.gradient_norm)
        self.stopped = explain(self.stop, reason, self.head, value, norm)
        self.target = self.head

    def _finish(self, result: Any) -> None:
        x = np.array(result.x, np.float64)
        if self.measured is None or not np.array_equal(x, self.measured.x):
            self._step(x)
        with self.lock:
            if self.log.steps == self.head and self.measured is not None:
                self.log.write(self.measured, None, self._callbacks.samples, self.elapsed)
            text = f"Stopped at step {self.head}: {self.minimizer.method} has ended: {result.message}"
            self.stopped, self.finished, self.target = Stopped("finished", self.head, text), True, self.head

    def _fail(self, error: BaseException) -> None:
        with self.lock:
            self.failure, self.stopped, self.target = error, Stopped("error", self.head, str(error)), self.head


def _fixed(bounds: Any, d: int) -> Array:
    """The values of variables whose bounds are equal, nan for others. Shape (d,)."""
    low, high = (np.broadcast_to(limit, (d,)) for limit in limits(bounds))
    return np.where(low == high, low, np.nan)


_at_work: set[ScipySession] = set()  # a thread in a kernel may outlive its run


def _leave_all() -> None:
    """End all threads, before the interpreter that they run in is torn down; not one that a user's function keeps."""
    sessions, end = list(_at_work), time.monotonic() + EXIT_SECONDS
    for session in sessions:
        session.end()
    for session in sessions:
        session.join(max(end - time.monotonic(), 0.0))


at_end(_leave_all)
os.register_at_fork(after_in_child=_at_work.clear)
