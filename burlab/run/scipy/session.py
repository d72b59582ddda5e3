"""A minimizer of SciPy at work: its thread, which waits wherever it is told to, and what it writes down."""

import os
import threading
import time
from typing import Any

import numpy as np

from burlab.optim.scipy_minimizer import SciPy
from burlab.run.loop.lifetime import at_end
from burlab.run.record.stop import Predicate, Rows, Stop, Stopped, explain
from burlab.runtime.coerce import Array
from burlab.runtime.extras import require
from burlab.runtime.wait import SLICE

from .answers import Answers
from .log import Log, Measured
from .objective import Objective


class _Left(BaseException):
    """Unwinds SciPy's frames when a session ends. No Exception, so nobody on the way catches it."""


class Session:
    """The thread and what it shares with those who steer and read it; `lock` guards all of that.

    log: what is written down. head: steps done. target: steps to do. stopped: why it rests by itself. failure: what the
    last step raised, until someone was told. finished: whether SciPy has ended. elapsed: nanoseconds of running.

    The thread rests by waiting in the middle of SciPy's call: at an evaluation, between two slices of a long one, or
    after an iteration. So it holds on to nothing but this session, and ends when nobody steers it any more.
    """

    def __init__(self, minimizer: SciPy, objective: Objective, stop: Stop, log: Log, x: Array, head: int) -> None:
        self.lock = threading.Condition()
        self.minimizer, self.objective, self.stop, self.log = minimizer, objective, stop, log
        self.head = self.target = head
        self.rests = True
        self.stopped: Stopped | None = None
        self.failure: BaseException | None = None
        self.finished = False
        self._scipy: Any = require("scipy.optimize", "scipy").minimize
        self._x = x
        self._here: Measured | None = None  # the newest point, once it was measured
        self._ending = False
        self._thread: threading.Thread | None = None
        samples, self._ran = log.spent
        self._since = 0
        self._answers = Answers(objective, self._pass, self._fail, samples)

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
                self._say("steps")
        if self.head >= target:
            self.target = target
            return
        if self._thread is None or self._thread.ident is None:  # an interrupt may have come before it was started
            self._thread = threading.Thread(target=self._work, name="burlab-scipy", daemon=True)
            self._thread.start()
        now = time.perf_counter_ns()
        self.target, self.rests, self._since = target, False, now
        self.lock.notify_all()

    def end(self) -> None:
        """Tell the thread to leave SciPy; `join` waits for it."""
        with self.lock:
            self._ending = True
            self.lock.notify_all()

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
            if self._here is None:
                start = self._measure(self._x)
                with self.lock:
                    self._settle(start)
            self._finish(self._minimize())
        except _Left:
            pass
        except BaseException as error:  # whatever SciPy, a constraint or an option raises
            failure = error
        with self.lock:
            if failure is not None:
                self._fail(failure)
            self._thread = None
            self._rest()
        del failure  # this frame is in its traceback, which goes on to whoever is told
        _at_work.discard(self)

    def _minimize(self) -> Any:
        chosen, traits, answers = self.minimizer, self.minimizer.traits, self._answers
        asked: dict[str, Any] = {"jac": True} if traits.gradient else {}
        if traits.curvature:
            asked[traits.curvature] = answers.hvp if traits.curvature == "hessp" else answers.hessian

        def seen(x: Array, *_: Any) -> None:
            self._step(np.array(x, np.float64))

        return self._scipy(
            answers.value_and_grad if traits.gradient else answers.value,
            self._x.copy(),
            method=chosen.method,
            bounds=chosen.bounds,
            constraints=chosen.constraints,
            tol=chosen.tol,
            callback=seen,
            options=dict(chosen.options),
            **asked,
        )

    def _pass(self) -> None:
        """Where the thread may wait: until there is a step to do. Leaves SciPy when the session ends."""
        limit = self.stop.seconds
        with self.lock:
            if limit is not None and not self.rests and self.elapsed >= limit * 1e9:
                self._say("seconds")
            while self.target <= self.head and not self._ending:
                self._rest()
                self.lock.wait()
            if self._ending:
                raise _Left

    def _rest(self) -> None:
        if not self.rests:
            self._ran, self.rests = self.elapsed, True
        self.lock.notify_all()

    def _step(self, x: Array) -> None:
        """SciPy has moved to x."""
        after = self._measure(x)
        with self.lock:
            before = self._here
            assert before is not None
            self.log.cut(self.head)  # a row that waited for its step
            row = self.log.write(before, x, self._answers.samples, self.elapsed)
            self.log.points.append(x)
            self.head += 1
            self._settle(after)
            if self.stop.when is not None and _holds(self.stop.when, row):
                self.target = self.head  # who watches the record says so; nothing may come after this row meanwhile
        self._pass()

    def _measure(self, x: Array) -> Measured:
        here = self._here
        return here if here is not None and np.array_equal(x, here.x) else self._answers.measure(x)

    def _settle(self, here: Measured) -> None:
        """Be at a new point, and see whether that is where to stop."""
        self._here, self._x = here, here.x
        stop, value, norm = self.stop, here.value, here.gradient_norm
        if stop.non_finite and not (np.isfinite(value) and np.isfinite(norm)):
            reason = "non_finite"
        elif stop.value is not None and value <= stop.value:
            reason = "value"
        elif stop.grad_norm is not None and norm <= stop.grad_norm:
            reason = "grad_norm"
        elif stop.steps is not None and self.head >= stop.steps:
            reason = "steps"
        else:
            return
        if reason != "steps":
            self.log.write(here, None, self._answers.samples, self.elapsed)
        self._say(reason)

    def _say(self, reason: str) -> None:
        here = self._here
        value, norm = (np.nan, np.nan) if here is None else (here.value, here.gradient_norm)
        self.stopped = explain(self.stop, reason, self.head, value, norm)
        self.target = self.head

    def _finish(self, result: Any) -> None:
        x = np.array(result.x, np.float64)
        if self._here is None or not np.array_equal(x, self._here.x):
            self._step(x)
        with self.lock:
            if self.log.steps == self.head and self._here is not None:
                self.log.write(self._here, None, self._answers.samples, self.elapsed)
            text = f"Stopped at step {self.head}: {self.minimizer.method} has ended: {result.message}"
            self.stopped, self.finished, self.target = Stopped("finished", self.head, text), True, self.head

    def _fail(self, error: BaseException) -> None:
        with self.lock:
            self.failure, self.stopped, self.target = error, Stopped("error", self.head, str(error)), self.head


def _holds(when: Predicate, row: Rows) -> bool:
    """Whether a predicate holds for a row, or fails there, which the run's own look at the row will raise."""
    try:
        return bool(np.any(when(row)))
    except Exception:
        return True


_at_work: set[Session] = set()  # a thread in a kernel may outlive the run that nobody holds any more


def _leave_all() -> None:
    """Threads must be gone before what they run in is torn down."""
    for session in list(_at_work):
        session.end()
        while not session.join(SLICE):
            pass  # an interrupt is raised here


at_end(_leave_all)
os.register_at_fork(after_in_child=_at_work.clear)
