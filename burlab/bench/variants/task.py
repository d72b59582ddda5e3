"""Base class of most tasks."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from burlab.bench.problem import Answer, Array, BatchObjective

Tree = Mapping[str, Any]
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


class CastTask(Gradient):
    """Gradients of a loss of a whole batch: judged in the dtype that is asked for, timed in the problem's.

    build: builds the gradient function, (parameters, data) -> (value, gradients), from arrays of the dtype it gets.
    array: makes an array of the engine. wait: for a result of an engine that works while Python goes on.
    """

    def __init__(
        self,
        problem: BatchObjective,
        build: Callable[[Tree, Tree], Callable[[Tree, Tree], tuple[Any, Tree]]],
        array: Callable[[Array], Any] = np.asarray,
        wait: Callable[[Any], object] = lambda result: result,
    ) -> None:
        self._problem, self._build, self._array, self._wait = problem, build, array, wait
        self._points, self._data = self._cast(problem.dtype)
        self.jit = timed(self._open)

    def _open(self) -> None:
        self._gradient = self._build(self._points[0], self._data)
        self._wait(self._gradient(self._points[0], self._data))

    def _cast(self, dtype: str) -> tuple[Sequence[Tree], Tree]:
        *points, data = (
            {name: self._array(x.astype(dtype)) for name, x in arrays.items()}
            for arrays in (*self._problem.points, self._problem.data)
        )
        return points, data

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        timed_too = dtype == self._problem.dtype
        points, data = (self._points, self._data) if timed_too else self._cast(dtype)
        gradient = self._gradient if timed_too else self._build(points[point], data)
        value, gradients = gradient(points[point], data)
        return Answer(float(value), {name: np.asarray(g).copy() for name, g in gradients.items()})

    def repeat(self, count: int) -> float:
        """See Task."""
        start = perf_counter()
        last: Any = None
        for k in range(count):
            last = self._gradient(self._points[k % 2], self._data)
        self._wait(last)
        return perf_counter() - start


def answer_of(names: tuple[str, ...], row: Array, visited: tuple[int, int] | None = None) -> Answer:
    """An answer from one row: the value, then the derivative by each name.

    >>> answer_of(("a",), np.array([1.0, 2.0])).gradients
    {'a': array(2.)}
    """
    return Answer(float(row[0]), {name: np.asarray(row[1 + k]) for k, name in enumerate(map(str, names))}, visited)
