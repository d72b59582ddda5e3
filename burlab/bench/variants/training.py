"""Steps of gradient descent as a user of burlab takes them: `bl.FiniteSum` and `bl.minimize`."""

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

import burlab as bl
from burlab.bench.namespace import BURLAB
from burlab.bench.problem import Answer, Array, Training

from .task import timed


class Minimize:
    """`run.step(n)` of a run whose batches are taken in the order of the samples."""

    def __init__(self, problem: Training, threads: int) -> None:
        self._problem = problem
        self._start = {n: a.astype(problem.dtype) for n, a in problem.parameters.items()}
        self._run: Any = None

        def loss(x: Array, inputs: Array, targets: Array) -> Any:
            return problem.loss(BURLAB, x, inputs, targets)

        self._sum = bl.FiniteSum(loss, (problem.inputs, problem.targets), threads=threads)
        self._jit = timed(self._open)

    def _open(self) -> None:
        """A run that has done its first step."""
        rule = bl.optim.GD(self._problem.lr)
        options: dict[str, Any] = {"batch": self._problem.batch, "sampler": "sequential"}
        self._run = bl.minimize(self._sum, self._start, rule, **options)
        self._run.step(1)

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        batch = self._problem.batch_of(point)
        x = {name: a.astype(dtype) for name, a in self._problem.parameters.items()}
        value, gradient = self._sum.value_and_grad(x, np.arange(int(batch.start), int(batch.stop)))
        return Answer(float(value), gradient)

    def displacements(self) -> Mapping[str, Array] | None:
        """See Task."""
        self._open()
        self._run.step(1)
        return {name: np.asarray(a, np.float64) - self._start[name] for name, a in self._run.x.items()}

    def repeat(self, count: int) -> float:
        """See Task."""
        start = perf_counter()
        self._run.step(count)
        return perf_counter() - start

    def facts(self) -> Mapping[str, float]:
        """See Task."""
        memory = dict(self._run.memory)
        recorded = ("history", "events", "keyframes", "path")  # not memory of the steps
        return {"jit": self._jit, "arrays": float(memory["total"] - sum(memory[kind] for kind in recorded))}
