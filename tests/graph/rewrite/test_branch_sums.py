"""Choices in a loss: one array of weights' size for a tile, not for each of its samples; equal to JAX."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.graph.executions import every_node
from burlab.graph.rewrite.batch_sum import tiled
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tracing.trace import trace
from tests.engines import jax_or_skip

D, N, SIZE = 24, 37, 8
_rng = np.random.default_rng(5)
P = {"on": np.array(0.5), "u": 0.3 * _rng.normal(size=(D, D)), "v": 0.3 * _rng.normal(size=(D, D))}
DATA = _rng.normal(size=(N, D)), _rng.normal(size=(N, D))


def shared(np: Any, cond: Any, scan: Any, p: Any, a: Any, b: Any) -> Any:
    """Both branches read one weight, one of them twice."""
    x = cond(p["on"] > 0, lambda: np.tanh(p["u"] @ np.tanh(p["u"] @ a)), lambda: np.sin(p["u"] @ (p["v"] @ a)))
    return np.sum((x - b) ** 2)


def nested(np: Any, cond: Any, scan: Any, p: Any, a: Any, b: Any) -> Any:
    inner = lambda: cond(p["on"] > 1, lambda: p["v"] @ a, lambda: np.tanh(p["v"] @ a) + np.sum(p["u"]))  # noqa: E731
    x = cond(p["on"] > 0, inner, lambda: p["u"] @ a)
    return np.sum((x - b) ** 2) + cond(p["on"] > 0, lambda: np.sum(p["u"] * p["v"]), lambda: np.sum(x * b))


def weights(np: Any, cond: Any, scan: Any, p: Any, a: Any, b: Any) -> Any:
    """A weight that is chosen before a sample is read."""
    return np.sum((cond(p["on"] > 0, lambda: p["u"] + p["v"], lambda: 2.0 * p["u"]) @ a - b) ** 2)


def own(np: Any, cond: Any, scan: Any, p: Any, a: Any, b: Any) -> Any:
    """Each sample chooses."""
    x = cond(a[0] > p["on"], lambda: np.tanh(p["u"] @ a) @ p["v"], lambda: p["u"] @ a + p["v"] @ b)
    return np.sum((x - b) ** 2)


def repeated(np: Any, cond: Any, scan: Any, p: Any, a: Any, b: Any) -> Any:
    """A loop over layers, which are chosen by their number."""
    layer = lambda x, k: (cond(k % 2 == 0, lambda: np.tanh(p["u"] @ x), lambda: x - p["v"] @ x), None)  # noqa: E731
    return np.sum((scan(layer, a, np.arange(3))[0] - b) ** 2)


LOSSES = [shared, nested, weights, own, repeated]
Loss = Callable[..., Any]


def at(on: float) -> dict[str, Any]:
    return {**P, "on": np.array(on)}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_tile_has_no_weights_for_each_sample(loss: Loss) -> None:
    f = bl.value_and_grad(lambda p, a, b: loss(np, bl.cond, bl.scan, p, a, b))
    graph = simplify(trace(f, (P, DATA[0][0], DATA[1][0]), {}).graph)
    tile = tiled(graph, [False] * 3 + [True] * 2, SIZE, N)
    assert max(n.size for n in every_node(tile.graph)) < SIZE * D * D
    assert all(n.op in ("sum", "contract", "scatter", "cond") for n in tile.graph.outputs)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("on", [1.5, 0.5, -0.5])
def test_sums_equal_jax(loss: Loss, on: float) -> None:
    jax = jax_or_skip()
    problem = bl.FiniteSum(lambda p, a, b: loss(np, bl.cond, bl.scan, p, a, b), DATA)

    def mean(p: Any) -> Any:
        return jax.vmap(lambda a, b: loss(jax.numpy, jax.lax.cond, jax.lax.scan, p, a, b))(*DATA).mean()

    value, gradient = problem.value_and_grad(at(on))
    wanted, gradients = jax.value_and_grad(mean)(at(on))
    np.testing.assert_allclose(value, wanted, rtol=1e-13)
    for key, g in gradient.items():
        np.testing.assert_allclose(
            g, gradients[key], rtol=0, atol=1e-12 * max(1.0, float(np.abs(gradients[key]).max()))
        )
    direction = {"on": np.array(0.0), "u": P["v"], "v": P["u"]}
    curved = problem.hvp(at(on), direction)
    wanted = jax.jvp(jax.grad(mean), (at(on),), (direction,))[1]
    for key, h in curved.items():
        np.testing.assert_allclose(h, wanted[key], rtol=0, atol=1e-11 * max(1.0, float(np.abs(wanted[key]).max())))


def test_a_choice_and_its_derivative_are_one_execution() -> None:
    f = bl.value_and_grad(lambda x, w: bl.cond(np.sum(x) > 0, lambda: np.sum(np.tanh(w @ x)), lambda: np.sum(x)))
    graph = simplify(trace(f, (np.ones(3), np.ones((4, 3))), {}).graph)
    assert len({n.params.region for n in graph.nodes if n.op == "cond"}) == 1
    branch = next(n for n in graph.nodes if n.op == "cond").params.region.graphs[0]
    assert [n.op for n in branch.nodes].count("tanh") == 1
