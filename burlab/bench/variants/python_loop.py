"""Steps of a method in a loop of Python."""

from collections.abc import Callable
from time import perf_counter
from typing import Any


class PythonLoop:
    """A task whose steps are calls from Python. A subclass opens it, and says what it has computed."""

    def start(self, x: Any, step: Callable[[Any, int], Any]) -> None:
        """Begin at a point; step: (x, t) -> x."""
        self.x, self._t, self._step = x, 0, step

    def repeat(self, count: int) -> float:
        """See Task."""
        step, x, first = self._step, self.x, self._t
        begin = perf_counter()
        for t in range(first, first + count):
            x = step(x, t)
        seconds = perf_counter() - begin
        self.x, self._t = x, first + count
        return seconds
