"""The page of methods without a learning rate: they are loops in NumPy, and the claim holds."""

from collections.abc import Callable

import numpy as np
import pytest

import burlab as bl
from burlab.typing import Array
from tests.papers.pages import method, whole
from tests.run.test_sampler import batches

STEPS = 20
Gradient = Callable[[Array, Array], Array]


def dog(gradient: Gradient, chosen: list[Array]) -> Array:
    x, farthest, squares = np.zeros(20), 1e-6, 1e-8
    for rows in chosen:
        g = gradient(x, rows)
        farthest, squares = max(farthest, float(np.linalg.norm(x))), squares + g @ g
        x = x - farthest / np.sqrt(squares) * g
    return x


def dowg(gradient: Gradient, chosen: list[Array]) -> Array:
    x, farthest, weighted = np.zeros(20), 1e-4, 0.0  # both are squares
    for rows in chosen:
        g = gradient(x, rows)
        farthest = max(farthest, x @ x)
        weighted += farthest * (g @ g)
        x = x - farthest / (np.sqrt(weighted) + 1e-4) * g
    return x


def prodigy(gradient: Gradient, chosen: list[Array]) -> Array:
    """Algorithm 4, with d the estimate of the distance."""
    x, d, r = np.zeros(20), 1e-6, 0.0
    m, v, s = np.zeros(20), np.zeros(20), np.zeros(20)
    for rows in chosen:
        g = gradient(x, rows)
        m, v = 0.9 * m + 0.1 * d * g, 0.999 * v + 0.001 * (d * g) ** 2
        r = np.sqrt(0.999) * r + d**2 * (g @ -x)
        s = np.sqrt(0.999) * s + d**2 * g
        after = max(d, r / np.sum(np.abs(s)))
        x, d = x - d * m / (np.sqrt(v) + after * 1e-8), after
    return x


@pytest.mark.parametrize(("name", "loop"), [("DoG", dog), ("DoWG", dowg), ("Prodigy", prodigy)])
def test_the_methods_are_loops_in_numpy(name: str, loop: Callable[[Gradient, list[Array]], Array]):
    page = method("no_learning_rate")
    features, labels = page.data_of(0)

    def gradient(x: Array, rows: Array) -> Array:
        a, b = features[rows], labels[rows]
        return -(b / (1 + np.exp(b * (a @ x)))) @ a / len(rows) + 1e-3 * x

    run = bl.minimize(page.problem_of(0), np.zeros(20), page.methods[name], batch=16, seed=4, steps=STEPS)
    wanted = loop(gradient, list(batches("reshuffle", len(labels), 16, STEPS, seed=4)))
    np.testing.assert_allclose(run.x, wanted, rtol=1e-9, atol=1e-15)


@pytest.mark.full
def test_without_a_rate_they_beat_most_rates():
    trials = whole("no_learning_rate").trials
    for name in ("DoG", "DoWG", "Prodigy"):
        better = trials[name][:, :1] < trials["SGD"]
        assert np.all(np.mean(better, axis=1) >= 0.5)
    assert np.all(trials["DoG"][:, 0] < 10 * trials["SGD"].min(axis=1))
