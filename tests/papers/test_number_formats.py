"""The page of stochastic rounding: its steps are a loop in NumPy with exact rounding, and its claim holds."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.typing import Array
from tests.papers.pages import method, whole
from tests.run.test_sampler import batches
from tests.transforms.numbers.exact_rounding import Exact

STEPS, SEED, FORMAT = 20, 3, (5, 3)
DRAWS = 0x524F554E44  # which the numbers of rounding are told apart by, see bl.optim.rounded


def rounded(x: Array, copy: str, t: int) -> Array:
    """By whole numbers of any size, with the numbers that step t draws."""
    exact = Exact(bl.Format.ieee(*FORMAT), x)
    if copy != "stochastic":
        return exact.rounded("nearest", False)
    key = bl.random.fold_in(bl.random.fold_in(bl.random.key(SEED), t), DRAWS)
    drawn = np.asarray(bl.random.uniform(bl.random.fold_in(key, 0), x.shape))
    return exact.rounded("stochastic", False, (np.floor(drawn * 2.0**53).astype(np.int64), 53))


def gradient(leaves: list[Any], images: Array, labels: Array) -> list[Array]:
    """Of the mean cross-entropy of a network of two layers."""
    w1, b1, w2, b2 = leaves
    hidden = np.maximum(images @ w1 + b1, 0)
    scores = hidden @ w2 + b2
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    slope = (shares / shares.sum(axis=1, keepdims=True) - np.eye(10)[labels]) / len(labels)
    back = (slope @ w2.T) * (hidden > 0)
    return [images.T @ back, back.sum(axis=0), hidden.T @ slope, slope.sum(axis=0)]


def joined(arrays: list[Array]) -> Array:
    return np.concatenate([array.ravel() for array in arrays])


@pytest.mark.parametrize("copy", ["nearest", "stochastic", "master copy"])
def test_the_method_is_a_loop_in_numpy(copy: str):
    page = method("number_formats")
    run = page.trained(FORMAT, copy, SEED, STEPS)
    start = bl.tree.leaves(bl.nn.MLP([64, 32, 10], key=bl.random.key(SEED), dtype=np.float64))
    ends = np.cumsum([leaf.size for leaf in start])[:-1]
    master = copy == "master copy"
    x = joined(start) if master else rounded(joined(start), "nearest", 0)
    for t, rows in enumerate(batches("reshuffle", 1300, 32, STEPS, seed=SEED)):
        used = rounded(x, copy, t) if master else x
        parts = [part.reshape(leaf.shape) for part, leaf in zip(np.split(used, ends), start, strict=True)]
        x = x - 0.1 * joined(gradient(parts, page.x[:1300][rows], page.y[:1300][rows]))
        x = x if master else rounded(x, copy, t)
    found = bl.tree.leaves(run.iterate if master else run.x)
    np.testing.assert_allclose(joined(found), x, rtol=1e-9, atol=1e-13)


def test_the_mean_of_stochastic_rounding_is_what_is_rounded():
    page = method("number_formats")
    assert page.mean_error((5, 3), "nearest", 1.1) == pytest.approx(0.2)
    assert page.mean_error((5, 3), "stochastic", 1.1) < 5 * np.sqrt(0.8 * 0.2 / 1000)


@pytest.mark.full
def test_stochastic_rounding_trains_where_nearest_stalls():
    trials = whole("number_formats").trials
    assert np.all(trials["stochastic"][:, 0] > trials["nearest"][:, 0] + 0.3)
    assert np.all(trials["stochastic"][:, 1] > trials["nearest"][:, 1] + 0.08)
    assert np.all(trials["stochastic"] > trials["64 bits"] - 0.025)
    assert np.all(trials["master copy"] > trials["64 bits"] - 0.025)
