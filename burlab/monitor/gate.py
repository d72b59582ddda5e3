"""Where a loop waits while it is paused."""

import threading
from collections.abc import Callable
from time import perf_counter_ns

from burlab.runtime.flag import Flag

SLICE = 0.05  # seconds: so often a loop that rests looks for interrupts and messages


class LoopEnd(BaseException):
    """Leaves a loop that was told to stop; no `except Exception` of the loop's own catches it. gate: that told it."""

    def __init__(self, gate: "Gate") -> None:
        self.gate = gate


class Gate:
    """Lets the steps of a loop through, or so many, or none. Any thread may turn it; the loop's own `passes` it.

    shut: whether it counts, or lets none through: while it is False the loop need not ask. holding: whether the loop
    waits at it.
    """

    def __init__(self) -> None:
        self.shut = False
        self.holding = False
        self.ending = False
        self._left = 0  # steps that may still be done, where it is shut
        self._lock = threading.Lock()
        self._free = Flag()  # set while a step may be done
        self._free.set()

    def turn(self, steps: int | None) -> None:
        """Let so many more steps through, None for all. One that is being done is the first of them."""
        with self._lock:
            self.shut, self._left = steps is not None, steps or 0
            (self._free.clear if steps == 0 else self._free.set)()

    def end(self) -> None:
        """Have the loop leave."""
        with self._lock:
            self.shut = self.ending = True
            self._free.set()

    @property
    def free(self) -> bool:
        """Whether a step may be done."""
        return self._free.is_set()

    @property
    def resting(self) -> bool:
        """Whether the loop waits, and nobody has let it go on."""
        return self.holding and not self._free.is_set()

    def passes(self, look: Callable[[], object]) -> int:
        """A step is done: wait until another one may be. Gives the nanoseconds of waiting; raises LoopEnd at the end.

        look: called about 20 times a second meanwhile. An interrupt is raised here.
        """
        with self._lock:
            if self.shut and not self.ending:
                self._left = max(self._left - 1, 0)
                if not self._left:
                    self._free.clear()
        start = perf_counter_ns()
        self.holding = not self._free.is_set()
        try:
            while not self._free.wait(0.0 if not self.holding else SLICE):
                look()
        finally:
            self.holding = False
        if self.ending:
            raise LoopEnd(self)
        return perf_counter_ns() - start
