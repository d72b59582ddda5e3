"""Base class of most tasks."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter

import numpy as np

from burlab.bench.problem import Answer, Array

HERE = Path(__file__).parent


def threads() -> int:
    """Return the number of threads that this process may use."""
    return int(os.environ.get("BURLAB_BENCH_THREADS", "1"))


def timed(call: Callable[[], object]) -> float:
    """The seconds that a call takes.

    >>> timed(lambda: None) >= 0.0
    True
    """
    start = perf_counter()
    call()
    return perf_counter() - start


class Gradient(ABC):
    """A task that takes gradients and has no state that moves; a subclass computes.

    jit: seconds from the function to the first gradient, in a process where the engine runs already.
    """

    jit: float | None = None
    arrays: float | None = None

    @abstractmethod
    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""

    @abstractmethod
    def repeat(self, count: int) -> float:
        """See Task."""

    def displacements(self) -> Mapping[str, Array] | None:
        """Nothing moves."""
        return None

    def facts(self) -> Mapping[str, float]:
        """See Task."""
        known = {"jit": self.jit, "arrays": self.arrays}
        return {name: number for name, number in known.items() if number is not None}


def answer_of(names: tuple[str, ...], row: Array, visited: tuple[int, int] | None = None) -> Answer:
    """An answer from one row: the value, then the derivative by each name.

    >>> answer_of(("a",), np.array([1.0, 2.0])).gradients
    {'a': array(2.)}
    """
    return Answer(float(row[0]), {name: np.asarray(row[1 + k]) for k, name in enumerate(map(str, names))}, visited)
