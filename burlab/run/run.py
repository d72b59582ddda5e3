"""A run: one optimizer on one problem, paused at step 0 until it is told to step."""

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from burlab.errors import ArgumentError, StatusError
from burlab.graph import tree
from burlab.optim.live import hyper_value
from burlab.problems.numbers import whole
from burlab.problems.point import Point

from .engine import Array, Loop
from .history import Event, History, events
from .progress import open_bar

_REDRAW = 0.1  # seconds between two looks at the progress bar


class Hypers:
    """The live hyperparameters of a run, by name: `run.hyper["lr"] = 0.01` counts from the next step on.

    A number takes over from a schedule; `run.hyper["lr"] = None` gives back to it. Reading gives the value of the next
    step.
    """

    def __init__(self, loop: Loop, names: tuple[str, ...], schedules: Mapping[str, Callable[[Any], Any]]) -> None:
        self._loop = loop
        self._names = names
        self._schedules = schedules

    def __getitem__(self, name: str) -> float:
        value = float(self._loop.call("hyper", self._index(name)))
        if math.isnan(value) and name in self._schedules:
            return float(self._schedules[name](self._loop.view().step))
        return value

    def __setitem__(self, name: str, value: float | None) -> None:
        index = self._index(name)
        if value is None and name not in self._schedules:
            raise ArgumentError(
                f"{name} has no schedule to follow. Give it one where the optimizer is made, or a number."
            )
        self._loop.call("set", index, math.nan if value is None else hyper_value(name, value))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def keys(self) -> tuple[str, ...]:
        """The names, in the order of the optimizer's fields."""
        return self._names

    def __repr__(self) -> str:
        return ", ".join(f"{name}={self[name]:g}" for name in self._names)

    def _index(self, name: str) -> int:
        if name not in self._names:
            raise ArgumentError(f"the optimizer has no live field {name!r}; it has {', '.join(self._names) or 'none'}.")
        return self._names.index(name)


class Run:
    """What `burlab.minimize` gives. Steps run in a C++ thread; the same seed gives the same bits.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum((x - 1.0) ** 2), np.zeros(2), bl.optim.GD(0.25))
    >>> run.step(2); run.hyper["lr"] = 0.5; run.step(1)
    >>> run.t, run.x, run.events
    (3, array([1., 1.]), [Event(step=2, name='lr', value=0.5)])
    """

    def __init__(
        self,
        loop: Loop,
        start: Point,
        hypers: tuple[str, ...],
        schedules: Mapping[str, Callable[[Any], Any]],
    ) -> None:
        self._loop = loop
        self._structure = start.structure
        self._shapes = [leaf.shape for leaf in start.leaves]
        self._stepping = threading.Lock()
        self._process = os.getpid()
        self.hyper = Hypers(loop, hypers, schedules)

    @property
    def t(self) -> int:
        """Steps done."""
        return int(self._loop.view().step)

    @property
    def x(self) -> tree.Tree:
        """The point after `t` steps: a copy, with the start's structure, shapes and dtype."""
        flat = self._loop.read(0)
        leaves: list[Array] = []
        for shape in self._shapes:
            size = math.prod(shape)
            leaves.append(flat[:size].reshape(shape))
            flat = flat[size:]
        return tree.unflatten(self._structure, leaves)

    @property
    def history(self) -> History:
        """Value, norms, hyperparameters and times of every step so far."""
        return History(self._loop, self.hyper.keys())

    @property
    def events(self) -> list[Event]:
        """The changes of hyperparameters so far, in order."""
        return events(self._loop, self.hyper.keys())

    @property
    def memory(self) -> dict[str, int]:
        """Bytes that the run holds: of the loop with x, state and sums, and of the history."""
        return self._loop.nbytes()

    def step(self, n: int = 1, *, progress: bool | None = False) -> None:
        """Do n steps and wait for them. progress: True for a bar, None for one where someone sees it.

        An interrupt (KeyboardInterrupt) ends the wait at once; the steps done so far count, the one in flight does not,
        and the run can go on. Raises what a kernel reports, such as an index out of range, before the step that failed.
        """
        n = whole(n, "n", 0)
        if os.getpid() != self._process:
            raise StatusError(
                "this run was made before the process forked, and its thread stayed behind in the parent. "
                "Make the run in the process that steps it."
            )
        with self._stepping:
            first = self.t
            bar = open_bar(n, progress)
            try:
                self._loop.call("aim", first + n)
                self._wait(bar, first)
            except BaseException:
                self._loop.call("halt")
                self._loop.rests()  # at most 50 ms: a single kernel call cannot be cut short
                raise
            finally:
                if bar is not None:
                    bar.update(self.t - first, self._loop.last_value())
                    bar.close()
            self._loop.check()

    def _wait(self, bar: Any, first: int) -> None:
        shown = time.monotonic()
        while not self._loop.rests():
            if bar is not None and time.monotonic() - shown > _REDRAW:
                shown = time.monotonic()
                bar.update(self.t - first, self._loop.last_value())

    def __repr__(self) -> str:
        return f"<Run at step {self.t}, value {self._loop.last_value():.6g}, {self.hyper}>"
