"""Random programs of assignments, in-place operators and views: values as plain NumPy's, gradients as JAX's `.at[]`."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from tests.engines import assert_close, jax_or_skip
from tests.exploring import examples
from tests.graph.buffers.programs import traced

SHAPE = (4, 5)


def random_key(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """An index into an array: ints, slices with steps, masks, integer arrays with duplicates, an Ellipsis."""
    kind = rng.integers(7)
    if kind == 0:
        return tuple(int(rng.integers(-d, d)) for d in shape)
    if kind == 1:
        return rng.random(shape) < 0.4
    if kind == 2:
        return (rng.integers(-shape[0], shape[0], 3), rng.integers(0, shape[1], 3))
    if kind == 3:
        return (slice(None, None, -1), rng.integers(0, shape[1], 2))
    if kind == 4:
        return (..., int(rng.integers(shape[1])))
    if kind == 5:
        return int(rng.integers(shape[0]))
    step = int(rng.choice([-2, -1, 1, 2]))
    return (slice(None, None, step), slice(int(rng.integers(3)), None))


Step = tuple[str, Any, float, bool, Any]


def program(seed: int) -> list[Step]:
    """(kind, index, number, on the transposed view, index to read) of each step."""
    rng = np.random.default_rng(seed)
    steps: list[Step] = []
    for _ in range(8):
        turned = bool(rng.integers(2))
        shape = SHAPE[::-1] if turned else SHAPE
        kind = str(rng.choice(["set", "add", "scale", "known", "swap", "whole", "raised"]))
        steps.append((kind, random_key(rng, shape), float(rng.normal()), turned, int(rng.integers(6))))
    return steps


def in_numpy(steps: list[Step], x: Any, start: str = "buffer") -> Any:
    """The array after all steps. start: "buffer", of np.zeros, or "result", of an operation on the argument."""
    A = np.zeros(SHAPE) if start == "buffer" else np.outer(x[:4], x[:5])
    T = A.T
    before = A * x[0]  # keeps what the array holds now
    for kind, key, number, turned, k in steps:
        B = T if turned else A
        if kind == "set":
            B[key] = x[k] * number
        elif kind == "add":
            B[key] += np.sin(x[k]) + B[0, 0]
        elif kind == "scale":
            B[key] *= x[k]
        elif kind == "known":
            B[key] = number
        elif kind == "whole":
            B += x[k]
        elif kind == "raised":
            B *= np.sin(number * B)
        else:
            B[key] = B[key][..., ::-1] * x[k] if np.ndim(B[key]) else x[k]
    return A + before


def in_jax(jax: Any, steps: list[Step], x: Any, start: str = "buffer") -> Any:
    jnp = jax.numpy
    A = jnp.zeros(SHAPE) if start == "buffer" else jnp.outer(x[:4], x[:5])
    before = A * x[0]
    for kind, key, number, turned, k in steps:
        B = A.T if turned else A
        if kind == "set":
            B = B.at[key].set(x[k] * number)
        elif kind == "add":  # once, also where the index names an entry twice
            B = B.at[key].set(B[key] + jnp.sin(x[k]) + B[0, 0])
        elif kind == "scale":
            B = B.at[key].set(B[key] * x[k])
        elif kind == "known":
            B = B.at[key].set(number)
        elif kind == "whole":
            B = B + x[k]
        elif kind == "raised":
            B = B * jnp.sin(number * B)
        else:
            B = B.at[key].set(B[key][..., ::-1] * x[k] if np.ndim(B[key]) else x[k])
        A = B.T if turned else B
    return A + before


def distinct(steps: list[Step]) -> bool:
    """Return True if no step puts different values at an entry that its index names twice: there JAX has no order."""
    places = np.arange(20).reshape(SHAPE)
    return not any(
        kind == "swap" and np.unique(named := (places.T if turned else places)[key]).size < np.size(named)
        for kind, key, _, turned, _ in steps
    )


X = np.random.default_rng(1).normal(size=6)


@pytest.mark.parametrize("start", ["buffer", "result"])
@pytest.mark.parametrize("first", range(0, 120, 40))
def test_values(first: int, start: str) -> None:
    for seed in range(first, first + 40):
        steps = program(seed)
        assert_close(traced(lambda x, steps=steps: in_numpy(steps, x, start), X), in_numpy(steps, X, start), 1e-13)


@pytest.mark.parametrize("start", ["buffer", pytest.param("result", marks=pytest.mark.full)])
def test_jacobians(start: str) -> None:
    jax = jax_or_skip()
    weights = np.random.default_rng(2).normal(size=SHAPE)
    compared = 0
    for seed in range(examples(16)):
        steps = program(seed)
        if not distinct(steps):
            continue
        compared += 1
        got = traced(bl.grad(lambda x, steps=steps: np.sum(weights * in_numpy(steps, x, start))), X)
        wanted = jax.jit(jax.grad(lambda x, steps=steps: (weights * in_jax(jax, steps, x, start)).sum()))(X)
        assert_close(got, np.asarray(wanted), 1e-11)
    assert compared > examples(16) // 2
