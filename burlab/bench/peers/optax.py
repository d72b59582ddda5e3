"""Optax (DeepMind 2020): optimizers for JAX, whose gradient of the sample is taken in the same jitted step."""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import numpy as np

from burlab.bench.problem import Answer, Array, Method, Problem, Task, Unavailable
from burlab.bench.variants.method import CHECKED
from burlab.bench.variants.task import timed

from .optional_import import load

# The optimizer of optax that is the same as one of ours, from the arguments of ours.
_SAME: Mapping[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "GD": lambda optax, given: optax.sgd(given["lr"]),
    "Adam": lambda optax, given: optax.adam(given["lr"]),
    "Lion": lambda optax, given: optax.lion(given["lr"], weight_decay=1e-3),
    "DoG": lambda optax, _: optax.contrib.dog(1.0),
    "Prodigy": lambda optax, _: optax.contrib.prodigy(1.0),
}


def open_task(problem: Problem, variant: str) -> Task:
    """The steps of a method that optax has, each a call from Python or all in a loop that XLA compiles."""
    if not isinstance(problem, Method) or problem.name not in _SAME:
        raise Unavailable("optax has none of this")
    return OptaxMethod(problem, looped=variant == "loop in XLA")


class OptaxMethod:
    """A jitted step that takes the next sample."""

    def __init__(self, problem: Method, looped: bool) -> None:
        jax, optax = load("jax"), load("optax")
        load("optax.contrib")
        jax.config.update("jax_enable_x64", True)
        self._jax, self._problem, self._looped = jax, problem, looped
        rule = _SAME[problem.name](optax, problem.options)
        a, b, l2 = jax.numpy.asarray(problem.features), jax.numpy.asarray(problem.labels), problem.l2

        def loss(x: Any, a: Any, b: Any) -> Any:
            return jax.numpy.mean(jax.nn.softplus(-b * (a @ x))) + l2 / 2 * (x @ x)

        def step(t: int, carry: Any) -> Any:
            x, state = carry
            i = t % len(a)
            change, state = rule.update(jax.grad(loss)(x, a[i], b[i]), state, x)
            return optax.apply_updates(x, change), state

        def mean(x: Any) -> Any:
            return loss(x, a, b)

        def loop(t: int, count: int, carry: Any) -> Any:
            return jax.lax.fori_loop(t, t + count, step, carry)

        self._whole = jax.jit(jax.value_and_grad(mean))
        self._init = rule.init
        self._step = jax.jit(step, donate_argnums=1)
        self._loop = jax.jit(loop, donate_argnums=2)
        self._jit = timed(self._open)

    def _zeros(self) -> Any:
        return self._jax.numpy.zeros(self._problem.points.shape[1])

    def _open(self) -> None:
        self._carry, self._t = (self._zeros(), self._init(self._zeros())), 0
        self.repeat(1)

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        value, gradient = self._whole(self._jax.numpy.asarray(self._problem.points[point]))
        return Answer(float(value), {"x": np.asarray(gradient)})

    def displacements(self) -> Mapping[str, Array] | None:
        """See Task."""
        self._open()
        self.repeat(CHECKED - 1)
        return {"x": np.asarray(self._carry[0])}

    def repeat(self, count: int) -> float:
        """See Task."""
        first, step = self._t, self._step
        start = perf_counter()
        if self._looped:
            self._carry = self._loop(first, count, self._carry)
        else:
            for t in range(first, first + count):
                self._carry = step(t, self._carry)
        self._jax.block_until_ready(self._carry)
        seconds = perf_counter() - start
        self._t = first + count
        return seconds

    def facts(self) -> Mapping[str, float]:
        """See Task."""
        return {"jit": self._jit, "arrays": float(sum(a.nbytes for a in self._jax.tree.leaves(self._carry[1])))}
