"""JAX (Bradbury et al. 2018): traced, and compiled by XLA."""

from functools import partial
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np

from burlab.bench.namespace import Namespace, last_axis
from burlab.bench.problem import (
    Answer,
    Array,
    ArrayObjective,
    BatchObjective,
    OtherNumbers,
    Problem,
    Scalar,
    Start,
    Task,
    Training,
    Transfer,
    Unavailable,
)
from burlab.bench.variants.file_transfer import TransferTask
from burlab.bench.variants.first_gradient import Process
from burlab.bench.variants.objective import ObjectiveTask
from burlab.bench.variants.task import CastTask, Gradient, answer_of, timed

from .jax_numbers import jax_numbers
from .jax_training import JaxTraining, ScanTraining
from .optional_import import load


def open_task(problem: Problem, variant: str) -> Task:
    """The task of a problem, in float64 unless it asks for less."""
    jax = load("jax")
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")  # float32 on a GPU too, as in PyTorch
    if isinstance(problem, Start):
        return Process(problem, "jax jit")
    if isinstance(problem, Scalar):
        return {"jit": JaxScalar, "jit for all points at once": JaxScalarBatch}[variant](problem, jax)
    if isinstance(problem, Training):
        make = ScanTraining if variant == "20 steps in a scan" else JaxTraining
        return make(problem, jax, namespace(jax))
    if isinstance(problem, ArrayObjective):
        gradient = jax.jit(jax.value_and_grad(partial(problem.function, namespace(jax))))
        return ObjectiveTask(problem, lambda _p, _data: gradient, jax.numpy.asarray, jax.block_until_ready)
    if isinstance(problem, OtherNumbers):
        return jax_numbers(problem, jax, namespace(jax))
    if isinstance(problem, BatchObjective):
        whole = jax.jit(jax.value_and_grad(partial(problem.function, namespace(jax))))
        return CastTask(problem, lambda _p, _data: whole, jax.numpy.asarray, jax.block_until_ready)
    if isinstance(problem, Transfer):
        return JaxTransfer(problem, jax)
    raise Unavailable("JAX does nothing of this kind")


def namespace(jax: ModuleType) -> Namespace:
    """JAX's NumPy."""
    return Namespace(
        load("jax.numpy"),
        relu=jax.nn.relu,
        logsumexp=last_axis(jax.nn.logsumexp),
        softmax=jax.nn.softmax,
        grad=jax.grad,
    )


class JaxScalar(Gradient):
    """A jitted gradient, one call from Python each; the last result is waited for."""

    def __init__(self, problem: Scalar, jax: ModuleType) -> None:
        self._problem, self._points, spoken = problem, problem.points.tolist(), namespace(jax)

        def function(*x: Any) -> Any:
            return problem.function(spoken, *x)

        self._gradient = jax.jit(jax.value_and_grad(function, argnums=tuple(range(len(problem.names)))))
        self.jit = timed(lambda: self.answer(0, "float64"))

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        value, gradients = self._gradient(*self._points[point])
        return answer_of(self._problem.names, np.array([value, *gradients], np.float64))

    def repeat(self, count: int) -> float:
        """See Task."""
        points, size, call = self._points, len(self._points), self._gradient
        start = perf_counter()
        last: Any = None
        for k in range(count):
            last = call(*points[k % size])
        last[0].block_until_ready()
        return perf_counter() - start


class JaxScalarBatch(Gradient):
    """A jitted `vmap` of the gradient over all points."""

    def __init__(self, problem: Scalar, jax: ModuleType) -> None:
        spoken = namespace(jax)
        self._problem = problem
        self._columns = [jax.numpy.asarray(column) for column in problem.points.T]

        def function(*x: Any) -> Any:
            return problem.function(spoken, *x)

        gradient = jax.value_and_grad(function, argnums=tuple(range(len(problem.names))))
        self._gradient = jax.jit(jax.vmap(gradient))
        self.jit = timed(lambda: self.answer(0, "float64"))

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        value, gradients = self._gradient(*self._columns)
        pairs = zip(self._problem.names, gradients, strict=True)
        return Answer(float(value[point]), {name: np.asarray(g[point]) for name, g in pairs})

    def repeat(self, count: int) -> float:
        """Seconds for `count` gradients: whole passes over the points, in proportion."""
        size = len(self._problem.points)
        passes = -(-count // size)
        start = perf_counter()
        for _ in range(passes):
            self._gradient(*self._columns)[0].block_until_ready()
        return (perf_counter() - start) * count / (passes * size)


class JaxTransfer(TransferTask):
    """JAX's arrays through `numpy.save` and `numpy.load`, as its documentation does it."""

    def __init__(self, problem: Transfer, jax: ModuleType) -> None:
        super().__init__(problem)
        self._jax = jax

    def prepared(self, numbers: Array) -> Any:
        """An array of JAX's."""
        return self._jax.numpy.asarray(numbers)

    def save(self, numbers: Array) -> None:
        """See TransferTask."""
        np.save(self._path, numbers)

    def load(self) -> Any:
        """See TransferTask."""
        return self._jax.numpy.asarray(np.load(self._path))
