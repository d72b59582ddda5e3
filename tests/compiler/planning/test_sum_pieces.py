"""Sums of padded pieces: taken piece by piece where pieces lie apart, with the values and gradients of replay."""

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.planning.sum_pieces import sum_pieces
from burlab.graph import Graph, Node
from burlab.graph.linear_nodes import pad
from burlab.graph.rewrite.simplify import simplify
from tests.engines import jax_or_skip

RNG = np.random.default_rng(0)


def over_time(xp, w, steps=6):
    """A recurrent layer whose two gates have rows of a small and of a large array."""
    h = xp.zeros(w.shape[-1]) + 0.1
    for t in range(steps):
        a, b = w[t % 2], w[1 - t % 2]
        h = xp.tanh(h * a[0] + a[1]) * xp.sin(b[2] + h) + a[-1]
    return xp.sum(h * h)


def rows(xp, w):
    return sum((xp.sum(xp.sin(w[k % 3] * (k + 1))) for k in range(9)), 0.0)


def windows(xp, w):
    """Pieces that overlap stay as they are."""
    return xp.sum(w[0, 0, 1:] * w[0, 0, :-1] + xp.sin(w[0, 0, 2:-1]).sum() + xp.cos(w[0, 0, 1:] * w[0, 0, :-1]))


def once(xp, w):
    return xp.sum(xp.sin(w[0])) + xp.sum(xp.cos(w[1]))


def everywhere(xp, w):
    return rows(xp, w) + xp.sum(w**3)


def gradient_graph(f, w) -> Graph:
    return simplify(bl.compile(lambda w: f(np, w), w).gradient_graph)


@pytest.mark.parametrize("shape", [(3, 4, 5), (3, 4, 200)])
@pytest.mark.parametrize("f", [over_time, rows, windows, once, everywhere])
def test_gradients_are_those_of_replay_and_of_jax(f, shape) -> None:
    jax, w = jax_or_skip(), RNG.normal(size=shape)
    compiled, replay = (
        bl.compile(lambda w: f(np, w), w, gear=gear).value_and_grad(w)[1] for gear in ("compiled", "replay")
    )
    np.testing.assert_allclose(compiled, replay, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(compiled, jax.grad(lambda w: f(jax.numpy, w))(w), rtol=1e-11, atol=1e-12)


def test_pieces_are_added_one_by_one() -> None:
    w = RNG.normal(size=(3, 4, 200))
    before = gradient_graph(over_time, w)
    after = sum_pieces(before)
    assert any(n.op == "pad" for n in before.nodes)
    assert not any(n.op == "pad" for n in after.nodes)
    assert max(n.size for n in after.nodes if n.op == "add") < w.size


@pytest.mark.parametrize("f", [windows, once])
def test_others_stay(f) -> None:
    before = gradient_graph(f, RNG.normal(size=(3, 4, 200)))
    assert sum_pieces(before) is before


def test_long_sums() -> None:
    x = Node("input", (), None, (2,), np.dtype(np.float64))
    total = pad(x, (0,), (1,), (6,))
    for k in range(1, 3000):
        total = total + pad(x, (k % 3 * 2,), (1,), (6,))
    after = sum_pieces(Graph((x,), (total,)))
    assert sum(n.size == 6 for n in after.nodes) == 1
