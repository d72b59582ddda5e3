"""A run: one optimizer on one problem, paused at step 0 until it is told to step."""

import math
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, cast

from burlab.errors import StatusError
from burlab.graph import tree
from burlab.problems.numbers import whole
from burlab.problems.point import Point

from .engine import Array, Engine
from .history import Event, History, events
from .hypers import Hypers
from .progress import Bar, open_bar
from .stop import ENDLESS, Stopped

_REDRAW = 0.1  # seconds between two looks at the progress bar


class Run:
    """What `burlab.minimize` gives. Steps run in a C++ thread; the same seed gives the same bits.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum((x - 1.0) ** 2), np.zeros(2), bl.optim.GD(0.25))
    >>> run.step(2); run.hyper["lr"] = 0.5; run.step(1)
    >>> run.t, run.x, run.events
    (3, array([1., 1.]), [Event(step=2, name='lr', value=0.5)])
    """

    def __init__(self, engine: Engine, start: Point, schedules: Mapping[str, Callable[[Any], Any]]) -> None:
        self._engine = engine
        self._structure = start.structure
        self._shapes = [leaf.shape for leaf in start.leaves]
        self._blocking = threading.Lock()  # held by who moves the run, one at a time
        self._ended = False
        self.hyper = Hypers(lambda: self._engine, self._change, schedules)

    @property
    def t(self) -> int:
        """Steps done at the current point."""
        return self._engine.view().step

    @property
    def length(self) -> int:
        """Rows of the record: the steps that were ever done, and a last one where a criterion stopped the run."""
        return self._engine.view().length

    @property
    def running(self) -> bool:
        """Whether it is doing steps now."""
        return not self._engine.view().rests

    @property
    def stopped(self) -> Stopped | None:
        """Why it last came to rest by itself; None where it was told to, and while it runs.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.25), stop=bl.Stop(value=0.1), steps=9)
        >>> run.stopped.message
        'Stopped at step 2: the value 0.0625 is at most 0.1.'
        """
        return self._engine.view().stopped

    @property
    def x(self) -> tree.Tree:
        """The point after `t` steps: a copy, with the start's structure, shapes and dtype."""
        flat = self._engine.read()
        leaves: list[Array] = []
        for shape in self._shapes:
            size = math.prod(shape)
            leaves.append(flat[:size].reshape(shape))
            flat = flat[size:]
        return tree.unflatten(self._structure, leaves)

    @property
    def history(self) -> History:
        """Value, norms, hyperparameters and times of every step so far."""
        return History(cast("Any", self._engine), self.hyper.keys())

    @property
    def events(self) -> list[Event]:
        """The changes of hyperparameters so far, in order."""
        return events(cast("Any", self._engine), self.hyper.keys())

    @property
    def memory(self) -> dict[str, int]:
        """Bytes that the run holds: of the loop with x, state and sums, and of the history."""
        return self._engine.nbytes()

    def step(self, n: int = 1, *, progress: bool | None = False) -> None:
        """Do n steps and wait for them; fewer where `stop` ends them. A run in the background is paused before.

        progress: True for a bar, None for one where someone sees it. An interrupt (KeyboardInterrupt) ends the wait at
        once; the steps done so far count, the one in flight does not, and the run can go on. Raises what a kernel
        reports, such as an index out of range, before the step that failed.
        """
        n = whole(n, "n", 0)
        with self._moving():
            self.pause()
            first = self.t
            bar = open_bar(n, progress)
            try:
                self._engine.aim(first + n)
                self._wait(None, bar, first)
            except BaseException:
                self._engine.halt()
                self._engine.rests(1.0)  # at most 50 ms: a single kernel call cannot be cut short
                raise
            finally:
                if bar is not None:
                    bar.update(self.t - first, self._engine.last_value())
                    bar.close()

    def start(self, steps: int | None = None) -> None:
        """Go on in the background and return at once: for so many steps, or until it is paused or `stop` ends it.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(1e-3))
        >>> run.start(steps=100_000)
        >>> run.wait(), run.t
        (True, 100000)
        """
        steps = None if steps is None else whole(steps, "steps", 0)
        with self._moving():
            if steps is not None:
                self.pause()
            self._engine.aim(ENDLESS if steps is None else self.t + steps)

    def pause(self) -> None:
        """Rest at the step reached: a step in flight is left, and done anew when the run goes on."""
        self._engine.halt()
        while not self._engine.rests(1.0):
            pass  # an interrupt is raised here

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the run rests, at most `timeout` seconds; whether it does. Raises what made it fail.

        An interrupt (KeyboardInterrupt) pauses the run.
        """
        try:
            return self._wait(None if timeout is None else time.monotonic() + timeout)
        except BaseException:
            self._engine.halt()
            raise

    def stop(self) -> None:
        """End the run's thread for good. It can still be read; it cannot step any more.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(0.25), steps=3)
        >>> run.stop(); run.t, run.x
        (3, array([0.125, 0.125]))
        """
        self._ended = True
        self._engine.end()

    def _moving(self) -> "threading.Lock":
        """What is held while the run is moved."""
        if self._ended:
            raise StatusError("this run was stopped for good. What it computed can be read; start another one to step.")
        return self._blocking

    def _change(self, index: int, value: float) -> None:
        self._moving()
        self._engine.set(index, value)

    def _wait(self, deadline: float | None, bar: Bar | None = None, first: int = 0) -> bool:
        shown = time.monotonic()
        while not self._engine.rests(1.0 if deadline is None else max(deadline - time.monotonic(), 0.0)):
            now = time.monotonic()
            if deadline is not None and now >= deadline:
                return False
            if bar is not None and now - shown > _REDRAW:
                shown = now
                bar.update(self.t - first, self._engine.last_value())
        self._engine.check()
        stopped = self.stopped
        if stopped is not None and stopped.reason == "non_finite":
            warnings.warn(stopped.message, RuntimeWarning, stacklevel=3)
        return True

    def __repr__(self) -> str:
        return f"<Run at step {self.t}, value {self._engine.last_value():.6g}, {self.hyper}>"
