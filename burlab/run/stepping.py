"""Orders that move a run: step, start, pause, wait, seek, stop."""

import math
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import closing, nullcontext

from burlab.errors import StatusError
from burlab.graph.origin import user_line
from burlab.optim import Optimizer, SciPy
from burlab.problems.finite_sum import FiniteSum
from burlab.problems.point import Point
from burlab.problems.trainable import Trainable
from burlab.run.record.engine import Engine, check_can_seek
from burlab.run.record.stop import ENDLESS
from burlab.runtime.checks.numbers import MAX_STEPS, real, whole

from .predicate import Observer
from .progress import ProgressBar, open_bar
from .readings import Readings
from .run_breakpoints import Breakpoints, BreakpointTable

MOMENT = 1.0  # seconds that a line of text waits for a value
_REDRAW = 0.1  # seconds between two updates of the progress bar


class Stepping(Readings):
    """The part of a `Run` that moves it. Of calls from several threads one after the other moves it."""

    def __init__(
        self,
        engine: Engine,
        start: Point | Trainable,
        problem: FiniteSum | Callable[..., object] | None,
        optimizer: Optimizer | SciPy | None,
    ) -> None:
        super().__init__(engine, start, problem, optimizer)
        self._blocking = threading.Lock()  # held while the run is moved
        self._ended = False
        self._pauses = 0
        self._observer = Observer(engine) if engine.stop.when else None
        self._breakpoints = BreakpointTable()

    @property
    def running(self) -> bool:
        """Return True if it is doing steps now."""
        return not self._engine.view().rests or (self._observer is not None and self._observer.behind)

    @property
    def ended(self) -> bool:
        """Return True after `stop`."""
        return self._ended

    @property
    def breakpoints(self) -> Breakpoints:
        """The breakpoints by number: add, remove, enable and disable them, also while it runs.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(1.25))
        >>> number = run.breakpoints.add(rises=1.0)
        >>> run.step(99); run.t, run.stopped.message
        (1, 'Stopped at step 1 by breakpoint 1: the value has risen by more than 1 of its size, to 2.25.')
        """
        # Not stored: a run must end with its last reference.
        return Breakpoints(self._breakpoints, self._arm, self._note, self._engine)

    def step(self, n: int = 1, *, progress: bool | None = False) -> None:
        """Do n steps and wait for them; a run in the background is paused first.

        Args:
            n: Steps; fewer if `stop` ends them, or an interrupt, whose unfinished step does not count.
            progress: True for a bar, False for none, None for a bar in a notebook or terminal.

        Raises:
            BurlabError: The error of a kernel, such as an index out of range; the steps before it are done.
        """
        n = whole(n, "n", 0, MAX_STEPS)
        with self._stepping():
            self._rest()
            first = self.t
            bar, patience = open_bar(n, progress, name=self._name()), 0.0
            with nullcontext() if bar is None else closing(bar):
                try:
                    self._go(lambda: self._engine.aim(min(first + n, ENDLESS)), bar, first)
                    patience = MOMENT
                finally:
                    if bar is not None:
                        value = self.row_value(patience)
                        bar.update(self.t - first, self._engine.last_value() if math.isnan(value) else value)
            self._warn()

    def start(self, steps: int | None = None) -> None:
        """Continue in the background and return at once.

        Args:
            steps: Steps to do; None: until it is paused or `stop` ends it.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(1e-3))
        >>> run.start(steps=100_000); run.wait(), run.t
        (True, 100000)
        """
        steps = None if steps is None else whole(steps, "steps", 0, MAX_STEPS)
        with self._stepping():
            if steps is not None or self._observer is not None:
                self._rest()
            self._engine.aim(ENDLESS if steps is None else min(self.t + steps, ENDLESS))
            if self._observer is not None:
                self._observer.attend()

    def pause(self) -> None:
        """Rest at the step reached. An unfinished step is abandoned, and done again when the run continues."""
        self._pauses += 1
        self._rest()

    @property
    def pauses(self) -> int:
        """Number of orders to pause so far, by `pause`, `seek` or an interrupt; a panel that plays the run polls it."""
        return self._pauses

    def _rest(self) -> None:
        if not self.running:
            return
        self._engine.pause()
        while not self._pulse(1.0):
            pass  # an interrupt is raised here

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the run rests. An interrupt (KeyboardInterrupt) pauses it.

        Args:
            timeout: Seconds to wait at most; None: without limit.

        Returns:
            True if the run rests.

        Raises:
            BurlabError: The error that stopped the run.
        """
        deadline = None if timeout is None else time.monotonic() + real(timeout, "timeout", 0.0)
        try:
            rests = self._wait(deadline)
        except BaseException:
            self._pauses += 1
            self._engine.pause()
            raise
        if rests:
            self._warn()
        return rests

    def rests(self, timeout: float = 0.0) -> bool:
        """Wait until the run rests, at most `timeout` seconds and at most 50 ms, and raise nothing; True if it does."""
        return self._pulse(timeout)

    def seek(self, step: int) -> None:
        """Go to a step of the record and rest there: x, state, hyperparameters and `t` are restored, bit for bit.

        Args:
            step: From 0 to `length`; an interrupted seek rests at the step it has reached. Going on from there does the
                same steps again, then new ones. A change of a hyperparameter there begins a new record, see `parent`.

        Raises:
            StatusError: The run stores no keyframes (`keyframe_bytes=0`).

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.25), steps=4)
        >>> run.seek(2); run.t, run.x, run.length
        (2, array([0.25]), 4)
        """
        with self._stepping():
            self.pause()
            step = whole(step, "step", 0, self.length)
            if step != self.t:
                check_can_seek(self._engine, "seek")
            self._go(lambda: self._engine.seek(step))
            self._warn()

    def stop(self) -> None:
        """End the run's thread for good. The run can still be read, but cannot step any more."""
        self._rest()
        self._ended = True
        self._engine.end()

    def _stepping(self) -> "threading.Lock":
        """Return the lock of calls that change the step."""
        if self._ended:
            raise StatusError("this run was stopped for good. What it computed can be read; start another one to step.")
        self._note()
        return self._blocking

    def _note(self) -> None:
        """Store the hit of a breakpoint at which the run rests, before it continues."""
        self._breakpoints.note(self._engine.view().stopped, self.at)

    def _arm(self) -> None:
        points = self._breakpoints.enabled()
        self._engine.arm(points)
        whens = {number: point.when for number, point in points.items() if point.when is not None}
        if whens and self._observer is None:
            self._observer = Observer(self._engine)
        if self._observer is not None:
            self._observer.arm(whens)
            if not self._engine.view().rests:
                self._observer.attend()

    def _go(self, order: Callable[[], None], bar: ProgressBar | None = None, first: int = 0) -> None:
        try:
            order()
            self._wait(None, bar, first)
        except BaseException:
            self._engine.pause()
            self._engine.rests(1.0)  # at most 50 ms: a single kernel call cannot be cut short
            raise

    def _pulse(self, seconds: float) -> bool:
        """Wait a moment; return True if the run rests and no predicate can set it back."""
        return self._engine.rests(seconds) if self._observer is None else self._observer.pulse(seconds)

    def _wait(self, deadline: float | None, bar: ProgressBar | None = None, first: int = 0) -> bool:
        shown = time.monotonic()
        while not self._pulse(1.0 if deadline is None else max(deadline - time.monotonic(), 0.0)):
            now = time.monotonic()
            if deadline is not None and now >= deadline:
                return False
            if bar is not None and now - shown > _REDRAW:
                shown = now
                bar.update(self.t - first, self._engine.last_value())
        if self._observer is not None:
            self._observer.check()
        self._engine.check()
        return True

    def _warn(self) -> None:
        """Warn of a run that ended with inf or nan, after its bar is closed."""
        stopped = self.stopped
        if stopped is not None and stopped.reason == "non_finite":
            file, line = user_line() or ("burlab", 0)
            warnings.warn_explicit(stopped.message, RuntimeWarning, file, line)
