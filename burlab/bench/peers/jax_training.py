"""Steps of training in JAX: one jitted call each, or many in one scan."""

from collections.abc import Mapping
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np

from burlab.bench.namespace import Namespace
from burlab.bench.problem import Answer, Array, Training, Unavailable
from burlab.bench.variants.task import Gradient, timed


class JaxTraining(Gradient):
    """A jitted step of gradient descent that cuts its batch out of the data and reuses the parameters' memory.

    steps: that a timed call does.
    """

    steps = 1

    def __init__(self, problem: Training, jax: ModuleType, namespace: Namespace) -> None:
        np_ = jax.numpy
        self._problem, self._jax = problem, jax
        self._device = jax.devices("cpu")[0] if problem.device == "cpu" else _gpu(jax)
        inputs, targets = (jax.device_put(np_.asarray(a), self._device) for a in (problem.inputs, problem.targets))

        def mean(p: dict[str, Any], k: int) -> Any:
            x, y = (jax.lax.dynamic_slice_in_dim(a, k, problem.batch) for a in (inputs, targets))
            return np_.mean(problem.loss(namespace, p, x, y))

        def step(p: dict[str, Any], k: int) -> Any:
            gradient = jax.grad(mean)(p, k)
            return {name: a - problem.lr * gradient[name] for name, a in p.items()}

        self._gradient = jax.jit(jax.value_and_grad(mean))
        self._step = jax.jit(self._several(step), donate_argnums=0)
        self.jit = timed(self._start)

    def _several(self, step: Any) -> Any:
        """The function that is called again and again, made of one that does a step."""
        return step

    def _starts(self, steps: int) -> Any:
        """Start of the batches of the next call."""
        del steps
        return self._problem.batch_of(self._t).start

    def _call(self, steps: int) -> None:
        self._x = self._step(self._x, self._starts(steps))
        self._t += steps

    def _start(self) -> None:
        """Parameters after the first step."""
        self._x, self._t = self._parameters(self._problem.dtype), 0
        self._call(1)
        self._jax.block_until_ready(self._x)

    def _parameters(self, dtype: str) -> dict[str, Any]:
        parameters = self._problem.parameters.items()
        return {name: self._jax.device_put(a.astype(dtype), self._device) for name, a in parameters}

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        value, gradient = self._gradient(self._parameters(dtype), self._problem.batch_of(point).start)
        return Answer(float(value), {name: np.asarray(g) for name, g in gradient.items()})

    def displacements(self) -> Mapping[str, Array] | None:
        """See Task."""
        before = {name: a.astype(self._problem.dtype) for name, a in self._problem.parameters.items()}
        self._start()
        self._call(1)
        return {name: np.asarray(a, np.float64) - before[name] for name, a in self._x.items()}

    def repeat(self, count: int) -> float:
        """See Task; whole calls, in proportion."""
        calls = -(-count // self.steps)
        start = perf_counter()
        for _ in range(calls):
            self._call(self.steps)
        self._jax.block_until_ready(self._x)
        return (perf_counter() - start) * count / (calls * self.steps)


class ScanTraining(JaxTraining):
    """Twenty steps in one `jax.lax.scan`, and so in one call from Python. Steps that are looked at are scans of one."""

    steps = 20

    def _several(self, step: Any) -> Any:
        def next_(p: dict[str, Any], start: Any) -> tuple[dict[str, Any], None]:
            return step(p, start), None

        def scan(p: dict[str, Any], starts: Any) -> Any:
            return self._jax.lax.scan(next_, p, starts)[0]

        return scan

    def _starts(self, steps: int) -> Any:
        return np.array([self._problem.batch_of(self._t + k).start for k in range(steps)], np.int32)


def _gpu(jax: ModuleType) -> Any:
    try:
        return jax.devices("gpu")[0]
    except RuntimeError:
        raise Unavailable(f"JAX {jax.__version__} sees no GPU") from None
