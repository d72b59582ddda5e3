"""Many runs on few cores: a round-robin scheduler gives each the same time, and none slows another."""

import os
import threading
import weakref
from collections.abc import Callable
from time import monotonic
from typing import Any

from burlab.run import Run
from burlab.run.loop.lifetime import at_end
from burlab.runtime.flag import Flag, Thread

Due = list[tuple[Run, int | None]]
"""Runs that have steps to do, and up to which step; None for no end."""
SLICE_SECONDS = 0.03
MIN_STEPS = 8  # of a time slice, unless they take longer than MAX_SECONDS
MAX_SECONDS = 2.0
EXIT_SECONDS = 2.0  # that a time slice may take when Python ends


class RoundRobin:
    """Lets runs do their steps, as many of them at once as there are cores, the one that waited longest first."""

    def __init__(self) -> None:
        self.cores = os.cpu_count() or 1
        self._halted = Flag()  # of the current `go`: each has its own, so that no halt is lost
        self._moving = threading.Lock()  # held by the one thread that lets runs step
        self._changing = threading.Lock()  # held while another thread takes over
        self._thread: Thread | None = None
        self._served: weakref.WeakKeyDictionary[Run, int] = weakref.WeakKeyDictionary()
        self._round = 0

    @property
    def running(self) -> bool:
        """Return True while runs step in the background."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, due: Callable[[], Due], failed: Callable[[Run, Exception], Any]) -> None:
        """Begin in the background, see `go`."""
        while not self._took_over(due, failed):
            self.halt()

    def _took_over(self, due: Callable[[], Due], failed: Callable[[Run, Exception], Any]) -> bool:
        """Begin, unless another thread lets runs step."""
        with self._changing:
            if self.running and self._thread is not threading.current_thread():
                return False
            self._halted.set()
            halted = Flag()
            thread = Thread(self._go, "burlab race", due, failed, halted)
            _all.add(self)
            thread.start()
            self._halted, self._thread = halted, thread
            return True

    def halt(self, timeout: float | None = None) -> bool:
        """Let all runs rest, within `timeout` seconds; True if they do."""
        with self._changing:
            thread = self._thread
            self._halted.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)
        return not self.running

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until nothing steps in the background; False after `timeout` seconds."""
        if self._thread is not None:
            self._thread.join(timeout)
        return not self.running

    def go(self, due: Callable[[], Due], failed: Callable[[Run, Exception], Any]) -> None:
        """Let runs step until none is due. failed: called with a run that cannot start."""
        with self._changing:
            self._halted.set()
            halted = self._halted = Flag()
        self._go(due, failed, halted)

    def _go(self, due: Callable[[], Due], failed: Callable[[Run, Exception], Any], halted: Flag) -> None:
        with self._moving:
            running: list[Run] = []
            try:
                while not halted.is_set() and (waiting := due()):
                    waiting.sort(key=lambda one: self._served.get(one[0], -1))
                    chosen = waiting[: self.cores]
                    for run in running:
                        if all(run is not other for other, _ in chosen):
                            run.pause()
                    running = self._begin(chosen, failed)
                    _wait(running, halted)
            finally:
                for run in running:
                    run.pause()

    def _begin(self, chosen: Due, failed: Callable[[Run, Exception], Any]) -> list[Run]:
        running: list[Run] = []
        for run, goal in chosen:
            self._round += 1  # unique to each run: no tie is broken by the order of the racers
            self._served[run] = self._round
            try:
                if not run.running:
                    run.start(None if goal is None else max(goal - run.t, 0))
                running.append(run)
            except Exception as error:  # one that cannot step is out of the race, which goes on
                failed(run, error)
        return running


def _wait(running: list[Run], halted: Flag) -> None:
    """Wait until a slice is over and each has done some steps, or all rest."""
    start = monotonic()
    first = [run.t for run in running]
    while not halted.is_set():
        rest = [run.rests(SLICE_SECONDS) for run in running]
        took = monotonic() - start
        done = [rests or run.t - t >= MIN_STEPS for run, t, rests in zip(running, first, rest, strict=True)]
        some = [rests or run.t > t for run, t, rests in zip(running, first, rest, strict=True)]
        if all(rest) or (took >= SLICE_SECONDS and all(done)) or (took >= MAX_SECONDS and all(some)):
            return


_all: "weakref.WeakSet[RoundRobin]" = weakref.WeakSet()


@at_end
def _halt_all() -> None:
    for scheduler in list(_all):
        scheduler.halt(EXIT_SECONDS)
