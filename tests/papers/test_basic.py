"""The page of BASIC: its steps are those of the three passes in NumPy, and its claim holds."""

from types import SimpleNamespace

import numpy as np
import pytest

import burlab as bl
from burlab.typing import Array
from tests.papers.pages import method, whole

WIDTHS, BATCH, RATE, TAU = (6, 9, 5), 24, 0.05, 0.1
Weights = dict[str, list[Array]]


def tower(weights: list[Array], a: Array) -> list[Array]:
    """Outputs of all layers, the input first."""
    outputs = [a]
    for w in weights:
        outputs.append(np.tanh(outputs[-1] @ w))
    return outputs


def by_embeddings(p: Array, q: Array) -> tuple[Array, Array]:
    """The gradients of the loss by the embeddings of both views."""
    lengths = [np.linalg.norm(z, axis=1, keepdims=True) for z in (p, q)]
    u, v = p / lengths[0], q / lengths[1]
    e = np.exp(u @ v.T / TAU)
    slopes = (e / e.sum(1, keepdims=True) + e / e.sum(0, keepdims=True)) / 2 - np.eye(len(e))
    pairs = zip((u, v), (slopes @ v, slopes.T @ u), lengths, strict=True)
    first, second = ((g - z * (g * z).sum(1, keepdims=True)) / n / TAU / len(e) for z, g, n in pairs)
    return first, second


def gradient(x: Weights, views: tuple[Array, Array], chunks: int) -> Weights:
    """Embeddings, their gradients, then each chunk once more."""
    pieces = [slice(k, k + chunks) for k in range(0, BATCH, chunks)]
    z = [np.concatenate([tower(x[s], a[c])[-1] for c in pieces]) for s, a in zip("ab", views, strict=True)]
    total = {s: [np.zeros_like(w) for w in x[s]] for s in "ab"}
    for s, a, slopes in zip("ab", views, by_embeddings(*z), strict=True):
        for c in pieces:
            outputs, g = tower(x[s], a[c]), slopes[c]
            for k in reversed(range(len(x[s]))):
                g = g * (1 - outputs[k + 1] ** 2)
                total[s][k] += outputs[k].T @ g
                g = g @ x[s][k].T
    return total


def start(page: SimpleNamespace) -> tuple[tuple[Array, Array], Weights]:
    """Two views and towers in float64."""
    return page.example(BATCH, 1, WIDTHS, np.float64)


@pytest.mark.parametrize("chunks", [8, 7])  # 24 = 3 * 8, and 3 * 7 + 3
def test_steps_are_those_of_the_three_passes(chunks: int):
    page = method("basic")
    views, x = start(page)
    run = bl.minimize(page.problem(views, chunks), x, bl.optim.GD(RATE), batch=BATCH, steps=20)
    for _ in range(20):
        g = gradient(x, views, chunks)
        x = {s: [w - RATE * d for w, d in zip(x[s], g[s], strict=True)] for s in "ab"}
    for found, wanted in zip(bl.tree.leaves(run.x), bl.tree.leaves(x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.full
def test_chunks_need_less_memory_and_their_gradient_is_exact():
    page = whole("basic")
    assert np.all(page.megabytes["chunks"] < page.megabytes["whole"])
    assert page.megabytes["chunks"][-1] < 0.4 * page.megabytes["whole"][-1]
    assert np.all(np.array(page.errors["chunks"]) < 1e-5)
    assert np.all(np.array(page.errors["parts"]) > 0.01)
