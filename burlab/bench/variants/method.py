"""Steps of a method as a user of burlab takes them."""

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

import burlab as bl
from burlab.bench.place_rules import RULES
from burlab.bench.problem import Answer, Array, Method

from .task import timed

CHECKED = 10  # steps that are compared


class MinimizeMethod:
    """`run.step(n)` of a run whose batches are the samples in their order, or of one over clients."""

    def __init__(self, problem: Method) -> None:
        self._points, self._name = problem.points, problem.name
        self._start = np.zeros(problem.features.shape[-1])
        make = RULES[problem.name] if problem.name in RULES else getattr(bl.optim, problem.name)
        self._rule = make(**problem.options)
        self._options: dict[str, Any] = {} if problem.clients else {"batch": 1, "sampler": "sequential"}
        self._sum = _sum(problem)
        self._jit = timed(self._open)

    def _open(self) -> None:
        """A run that has done its first step."""
        self._run = bl.minimize(self._sum, self._start, self._rule, **self._options)
        self._run.step(1)

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        value, gradient = self._sum.value_and_grad(self._points[point])
        return Answer(float(value), {"x": gradient})

    def displacements(self) -> Mapping[str, Array] | None:
        """See Task."""
        self._open()
        self._run.step(CHECKED - 1)
        run = self._run
        moved = run.iterate if self._name in RULES else run.x  # a rule's T(x) may be the point of the run
        return {"x": moved - self._start}

    def repeat(self, count: int) -> float:
        """See Task."""
        start = perf_counter()
        self._run.step(count)
        return perf_counter() - start

    def facts(self) -> Mapping[str, float]:
        """See Task."""
        return {"jit": self._jit, "arrays": float(self._run.memory["optimizer_state"])}


def _sum(problem: Method) -> Any:
    if not problem.clients:
        return bl.problems.logistic_regression(problem.features, problem.labels, l2=problem.l2)

    def loss(x: Array, a: Array, b: Array) -> Any:
        return bl.softplus(-b * (a @ x))

    clients = list(zip(problem.features, problem.labels, strict=True))
    return bl.problems.federated(loss, clients, lambda x: problem.l2 / 2 * (x @ x))
