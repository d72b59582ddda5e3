"""Values, intervals and jets of a function of rows, one call from Python each."""

from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

import burlab as bl
from burlab.bench.namespace import BURLAB
from burlab.bench.problem import Answer, Array, OtherNumbers
from burlab.transforms.numbers.shadow import with_errors

from .task import Gradient


class NumbersTask(Gradient):
    """Calls of a function of rows. call: (rows) -> name -> array. wait: for the result of an engine that runs on."""

    def __init__(
        self,
        problem: OtherNumbers,
        call: Callable[[Any], Mapping[str, Any]],
        wait: Callable[[Any], object] = lambda result: result,
    ) -> None:
        self._points, self._call, self._wait = problem.points, call, wait

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task. What is judged like gradients are the results."""
        del dtype
        found = {name: np.asarray(x) for name, x in self._call(self._points[point]).items()}
        return Answer(float(sum(np.sum(x) for x in found.values())), found)

    def repeat(self, count: int) -> float:
        """See Task."""
        start, last = perf_counter(), None
        for k in range(count):
            last = self._call(self._points[k % 2])
        self._wait(last)
        return perf_counter() - start


def burlab_task(problem: OtherNumbers) -> NumbersTask:
    """The task of one kind of numbers, by a kernel."""
    f = partial(problem.function, BURLAB)
    x = problem.points[0]

    def bounds(x: Array) -> Any:
        return bl.interval(f)(x - problem.radius, x + problem.radius)

    def jets(x: Array) -> Any:
        return bl.taylor(f, x, problem.direction, problem.order)

    def errors(x: Array) -> Any:
        return with_errors(f, x)

    narrow = bl.precision(f, "bfloat16")
    functions = {"values": f, "intervals": bounds, "jets": jets, "rounded": narrow, "digits": errors}
    kernel: Any = bl.compile(functions[problem.kind], x)

    def call(x: Array) -> Mapping[str, Array]:
        found = kernel(x)
        return named(problem.kind, found)

    return NumbersTask(problem, call)


def named(kind: str, found: Any) -> Mapping[str, Any]:
    """Results by name. Of a value with its error, the nearest double, and 2^53 times the rest."""
    if kind == "digits":
        value, error = (np.asarray(part) for part in found)
        nearest = value + error
        return {"nearest": nearest, "rest": ((value - nearest) + error) * 2.0**53}
    return dict(zip(("low", "high"), found, strict=True)) if kind == "intervals" else {kind: found}
