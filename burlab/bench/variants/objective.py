"""Gradients of functions of arrays, one call from Python each: what all engines do, and burlab's gears."""

from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

import burlab as bl
from burlab.bench.namespace import BURLAB
from burlab.bench.problem import Answer, Array, ArrayObjective

from .task import Gradient, timed

Tree = Mapping[str, Any]


class ObjectiveTask(Gradient):
    """One call from Python for each gradient.

    build: builds the gradient function, (parameters, data) -> (value, gradients). array: makes an array of
    the engine. wait: for a result of an engine that works while Python goes on.
    """

    def __init__(
        self,
        problem: ArrayObjective,
        build: Callable[[Tree, Tree], Callable[[Tree, Tree], tuple[Any, Tree]]],
        array: Callable[[Array], Any] = np.asarray,
        wait: Callable[[Any], object] = lambda result: result,
    ) -> None:
        self._points = [{name: array(x) for name, x in point.items()} for point in problem.points]
        self._data = {name: array(x) for name, x in problem.data.items()}
        self._wait = wait
        self.jit = timed(lambda: self._open(build))

    def _open(self, build: Callable[..., Any]) -> None:
        self._gradient = build(self._points[0], self._data)
        self.answer(0, "float64")

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        value, gradients = self._gradient(self._points[point], self._data)
        return Answer(float(value), {name: np.asarray(g).copy() for name, g in gradients.items()})

    def repeat(self, count: int) -> float:
        """See Task."""
        call, points, data = self._gradient, self._points, self._data
        start = perf_counter()
        last: Any = None
        for k in range(count):
            last = call(points[k % 2], data)
        self._wait(last)
        return perf_counter() - start


class ObjectiveCalls(ObjectiveTask):
    """`kernel.value_and_grad(p, data)`."""

    def __init__(self, problem: ArrayObjective, variant: str) -> None:
        gear: Any = variant.partition(",")[0]

        def build(p: Tree, data: Tree) -> Any:
            return bl.compile(partial(problem.function, BURLAB), p, data, gear=gear).value_and_grad

        super().__init__(problem, build)
