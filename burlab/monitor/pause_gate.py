"""The gate at which a loop waits while it is paused."""

import threading
from collections.abc import Callable
from time import perf_counter_ns

from burlab.runtime.flag import Flag

POLL_SECONDS = 0.05  # between two polls of interrupts and messages, while a loop rests


class LoopEnd(BaseException):
    """Ends a loop after `Monitor.stop`; no `except Exception` of the loop's own catches it. gate: that raised it."""

    def __init__(self, gate: "Gate") -> None:
        self.gate = gate


class Gate:
    """Lets all steps of a loop through, or a number of them, or none.

    Any thread may call `allow` and `end`; the loop's own thread calls `passes` after each step.

    shut: whether steps are counted; while it is False the loop need not call `passes`. holding: whether the loop waits.
    """

    def __init__(self) -> None:
        self.shut = False
        self.holding = False
        self.ending = False
        self._left = 0  # steps that may still be done, where it is shut
        self._lock = threading.Lock()
        self._free = Flag()  # set while a step may be done
        self._free.set()

    def allow(self, steps: int | None) -> None:
        """Let `steps` more steps through, None for all. The step in progress counts as the first."""
        with self._lock:
            self.shut, self._left = steps is not None, steps or 0
            (self._free.clear if steps == 0 else self._free.set)()

    def end(self) -> None:
        """End the loop at its next step."""
        with self._lock:
            self.shut = self.ending = True
            self._free.set()

    @property
    def free(self) -> bool:
        """Return True if a step may be done."""
        return self._free.is_set()

    @property
    def resting(self) -> bool:
        """Return True if the loop waits and no step is allowed."""
        return self.holding and not self._free.is_set()

    def passes(self, refresh: Callable[[], object]) -> int:
        """Count a finished step, wait until the next one is allowed, and return the nanoseconds of waiting.

        refresh: called about 20 times a second while it waits. Raises LoopEnd after `end`, and interrupts.
        """
        with self._lock:
            if self.shut and not self.ending:
                self._left = max(self._left - 1, 0)
                if not self._left:
                    self._free.clear()
        start = perf_counter_ns()
        self.holding = not self._free.is_set()
        try:
            while not self._free.wait(0.0 if not self.holding else POLL_SECONDS):
                refresh()
        finally:
            self.holding = False
        if self.ending:
            raise LoopEnd(self)
        return perf_counter_ns() - start
