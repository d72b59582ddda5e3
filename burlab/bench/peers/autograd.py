"""HIPS autograd (Maclaurin et al. 2015): NumPy, traced anew at every call."""

from collections.abc import Mapping
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from burlab.bench.namespace import Namespace
from burlab.bench.problem import Answer, Array, ArrayObjective, Problem, Scalar, Start, Task, Training, Unavailable
from burlab.bench.variants.first_gradient import Process
from burlab.bench.variants.objective import ObjectiveTask
from burlab.bench.variants.task import Gradient, answer_of

from .optional_import import load


def open_task(problem: Problem, variant: str) -> Task:
    """The task of a problem; there is one variant."""
    del variant
    if isinstance(problem, Start):
        load("autograd")
        return Process(problem, "autograd eager")
    if isinstance(problem, Scalar):
        return AutogradScalar(problem)
    if isinstance(problem, Training):
        return AutogradTraining(problem)
    if isinstance(problem, ArrayObjective):
        gradient = load("autograd").value_and_grad(partial(problem.function, namespace()))
        return ObjectiveTask(problem, lambda _p, _data: gradient)
    raise Unavailable("autograd does nothing of this kind")


def namespace() -> Namespace:
    """autograd's NumPy."""
    anp = load("autograd.numpy", "autograd")
    special = load("autograd.scipy.special", "autograd")

    def relu(x: Any) -> Any:
        return anp.maximum(x, 0)

    def logsumexp(x: Any) -> Any:
        return special.logsumexp(x, axis=-1)

    def softmax(x: Any) -> Any:
        return anp.exp(x - special.logsumexp(x, axis=-1, keepdims=True))

    def take(x: Any, indices: Array, axis: int) -> Any:
        """Take along the last axis, which autograd's NumPy differentiates only as an index."""
        flat = anp.reshape(x, (-1, x.shape[axis]))
        return anp.reshape(flat[np.arange(len(flat)), indices.ravel()], indices.shape)

    return Namespace(
        anp, relu=relu, logsumexp=logsumexp, softmax=softmax, take_along_axis=take, grad=load("autograd").grad
    )


class AutogradScalar(Gradient):
    """`autograd.value_and_grad`, one call each."""

    def __init__(self, problem: Scalar) -> None:
        spoken, autograd = namespace(), load("autograd")
        self._problem, self._points = problem, problem.points.tolist()

        def function(*x: Any) -> Any:
            return problem.function(spoken, *x)

        self._gradient = autograd.value_and_grad(function, argnum=tuple(range(len(problem.names))))

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        value, gradients = self._gradient(*self._points[point])
        return answer_of(self._problem.names, np.array([value, *gradients], np.float64))

    def repeat(self, count: int) -> float:
        """See Task."""
        points, size, call = self._points, len(self._points), self._gradient
        start = perf_counter()
        for k in range(count):
            call(*points[k % size])
        return perf_counter() - start


class AutogradTraining(Gradient):
    """Gradient descent on a dictionary of arrays."""

    def __init__(self, problem: Training) -> None:
        spoken, autograd = namespace(), load("autograd")
        self._problem = problem

        def mean(p: dict[str, Any], inputs: Array, targets: Array) -> Any:
            return spoken.mean(problem.loss(spoken, p, inputs, targets))

        self._gradient = autograd.value_and_grad(mean)
        self._start(problem.dtype)

    def _start(self, dtype: str) -> None:
        self._x = {name: a.astype(dtype) for name, a in self._problem.parameters.items()}
        self._t = 0

    def _batch(self, step: int) -> tuple[Array, Array]:
        batch = self._problem.batch_of(step)
        return self._problem.inputs[batch], self._problem.targets[batch]

    def _step(self) -> None:
        lr = np.asarray(self._problem.lr, self._problem.dtype)
        gradient = self._gradient(self._x, *self._batch(self._t))[1]
        self._x = {name: x - lr * gradient[name] for name, x in self._x.items()}
        self._t += 1

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        x = {name: a.astype(dtype) for name, a in self._problem.parameters.items()}
        value, gradient = self._gradient(x, *self._batch(point))
        return Answer(float(value), {name: np.asarray(g) for name, g in gradient.items()})

    def displacements(self) -> Mapping[str, Array] | None:
        """See Task."""
        self._start(self._problem.dtype)
        before = self._x
        self._step()
        self._step()
        return {name: np.asarray(x, np.float64) - before[name] for name, x in self._x.items()}

    def repeat(self, count: int) -> float:
        """See Task."""
        start = perf_counter()
        for _ in range(count):
            self._step()
        return perf_counter() - start
