"""The page of GaLore, APOLLO and FRUGAL: their steps are loops in NumPy, and its claim holds."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.typing import Array
from tests.optim import matrix_rules
from tests.papers.pages import method, whole

STEPS = 20
ADAM: dict[str, Any] = {"b1": 0.9, "b2": 0.999, "eps": 1e-8}
RNG = np.random.default_rng(0)
START = [0.3 * RNG.normal(size=(64, 12)), np.zeros(12), 0.3 * RNG.normal(size=(12, 10))]


def problem(page: SimpleNamespace) -> Any:
    """A network of two matrices on forty digits, with their whole gradient, and that gradient in NumPy."""
    images, labels = page.data[0][:40].astype(np.float64) / 16, page.data[1][:40]

    def loss(x: Any) -> Any:
        return bl.nn.cross_entropy(np.tanh(images @ x[0] + x[1]) @ x[2], labels)

    def gradient(x: list[Array]) -> list[Array]:
        hidden = np.tanh(images @ x[0] + x[1])
        scores = hidden @ x[2]
        slopes = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        slopes[np.arange(40), labels] -= 1
        back = slopes / 40 @ x[2].T * (1 - hidden**2)
        return [images.T @ back, back.sum(axis=0), hidden.T @ slopes / 40]

    return loss, gradient


def projection(k: int, t: int) -> Array:
    """Of APOLLO-Mini with one row, by the key of the leaf at that step."""
    key = bl.random.fold_in(bl.random.fold_in(bl.random.key(0), t), k)
    return bl.random.normal(key, (1, min(START[k].shape)), np.float64)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("GaLore, rank 8", matrix_rules.galore(3e-2, 0.25, 8, 50, "short", **ADAM)),
        ("APOLLO-Mini", matrix_rules.apollo(1e-2, 128.0, 200, True, projection, **ADAM | {"eps": 1e-6})),
    ],
)
def test_projected_moments_are_loops_in_numpy(name: str, rule: Any):
    page = method("galore")
    loss, gradient = problem(page)
    run, x = bl.minimize(loss, START, page.methods[name], steps=STEPS), list(START)
    for t in range(STEPS):
        g = gradient(x)
        x = [leaf - rule(k, g[k], leaf, t) for k, leaf in enumerate(x)]
    for got, wanted in zip(run.x, x, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)


def test_frugal_is_adam_on_its_entries_and_signs_elsewhere():
    page = method("galore")
    loss, gradient = problem(page)
    run, x = bl.minimize(loss, START, page.methods["FRUGAL"]), np.concatenate([leaf.ravel() for leaf in START])
    m = v = np.zeros(0)
    for t in range(STEPS):
        run.step()
        shaped = np.split(x, np.cumsum([leaf.size for leaf in START])[:-1])
        parts = [part.reshape(leaf.shape) for part, leaf in zip(shaped, START, strict=True)]
        g = np.concatenate([leaf.ravel() for leaf in gradient(parts)])
        chosen = np.asarray(run.state["chosen"])
        m, v = (np.zeros(len(chosen)), np.zeros(len(chosen))) if t == 0 else (m, v)
        m, v = 0.9 * m + 0.1 * g[chosen], 0.999 * v + 0.001 * g[chosen] ** 2
        step = np.sign(g)
        step[chosen] = m / (1 - 0.9 ** (t + 1)) / (np.sqrt(v / (1 - 0.999 ** (t + 1))) + 1e-8)
        x = x - 3e-3 * step
    np.testing.assert_allclose(np.concatenate([leaf.ravel() for leaf in run.x]), x, rtol=1e-9, atol=1e-12)


@pytest.mark.full
def test_less_memory_trains_better_than_none():
    end = {name: losses[:, -1] for name, losses in whole("galore").trials.items()}
    for name in ("APOLLO-Mini", "FRUGAL"):
        assert np.all(end[name] < 2 * end["Adam"])
    assert np.all(end["GaLore, rank 8"] > end["Adam"])
    assert np.all(end["GaLore, rank 8"] < end["SGD"])
