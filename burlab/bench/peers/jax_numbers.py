"""Values of JAX, and jets of its `jax.experimental.jet`."""

from functools import partial
from math import factorial
from types import ModuleType
from typing import Any

import numpy as np

from burlab.bench.namespace import Namespace
from burlab.bench.problem import OtherNumbers, Unavailable
from burlab.bench.variants.number_calls import NumbersTask, named

from .optional_import import load


def jax_numbers(problem: OtherNumbers, jax: ModuleType, np_: Namespace) -> NumbersTask:
    """The task of one kind of numbers, compiled."""
    if problem.kind == "intervals":
        raise Unavailable("JAX has no intervals")
    if problem.kind == "rounded":
        raise Unavailable("JAX has bfloat16 as a dtype, with sums of its own")
    if problem.kind == "digits":
        raise Unavailable("JAX has no numbers of 32 digits")
    f = partial(problem.function, np_)
    call: Any = jax.jit(f if problem.kind == "values" else _jets(problem, f))
    return NumbersTask(problem, lambda x: named(problem.kind, call(x)), jax.block_until_ready)


def _jets(problem: OtherNumbers, f: Any) -> Any:
    jet: Any = load("jax.experimental.jet").jet
    jnp = load("jax.numpy")
    v = problem.direction
    series = [v, *(np.zeros_like(v) for _ in range(problem.order - 1))]
    scale = np.array([1.0 / factorial(k) for k in range(problem.order + 1)])[:, None]

    def call(x: Any) -> Any:
        first, rest = jet(f, (x,), (series,))
        return jnp.stack([first, *rest]) * scale

    return call
