"""micrograd (Karpathy 2020): one Python object per number."""

from time import perf_counter
from typing import Any

import numpy as np

from burlab.bench.namespace import Namespace
from burlab.bench.problem import Answer, Problem, Scalar, Start, Task, Unavailable
from burlab.bench.variants.first_gradient import Process
from burlab.bench.variants.task import Gradient

from .optional_import import load


def open_task(problem: Problem, variant: str) -> Task:
    """The task of a scalar problem; there is one variant."""
    if isinstance(problem, Start):
        load("micrograd.engine")
        return Process(problem, "micrograd eager")
    if not isinstance(problem, Scalar):
        raise Unavailable("micrograd has no arrays")
    del variant
    return MicrogradScalar(problem)


def _relu(x: Any) -> Any:
    return x.relu()


class MicrogradScalar(Gradient):
    """Each gradient records its graph, and sweeps it by recursion."""

    def __init__(self, problem: Scalar) -> None:
        self._value = load("micrograd.engine", "micrograd").Value
        self._problem, self._points = problem, problem.points.tolist()
        self._namespace = Namespace(np, relu=_relu)

    def _sweep(self, point: list[float]) -> tuple[list[Any], Any]:
        leaves = [self._value(x) for x in point]
        root = self._problem.function(self._namespace, *leaves)
        root.backward()
        return leaves, root

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        leaves, root = self._sweep(self._points[point])
        pairs = zip(self._problem.names, leaves, strict=True)
        return Answer(float(root.data), {name: np.asarray(x.grad, np.float64) for name, x in pairs})

    def repeat(self, count: int) -> float:
        """See Task."""
        points, size = self._points, len(self._points)
        start = perf_counter()
        for k in range(count):
            self._sweep(points[k % size])
        return perf_counter() - start
