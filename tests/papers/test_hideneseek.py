"""The page of HideNseek: its scores and steps are those of NumPy, and signs take far fewer bits."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.papers.networks import gradients
from tests.papers.pages import method, whole

STEPS = 20


def weights(seed: int) -> list[Any]:
    rng, sizes = np.random.default_rng(seed), method("hideneseek").sizes
    return [rng.normal(size=shape) / np.sqrt(shape[0]) for shape in pairwise(sizes)]


def saliencies(ws: list[Any]) -> list[Any]:
    """Of each weight: its size, times what comes to its row, times what goes on from its column."""
    sizes = [np.abs(w) for w in ws]
    come, on = [np.ones(sizes[0].shape[0])], [np.ones(sizes[-1].shape[1])]
    for w in sizes[:-1]:
        come.append(come[-1] @ w)
    for w in sizes[:0:-1]:
        on.insert(0, w @ on[0])
    return [a[:, None] * w * b for a, w, b in zip(come, sizes, on, strict=True)]


def test_scores_are_flows_and_each_layer_has_the_same_sum():
    page = method("hideneseek")
    found = [np.asarray(s) for s in page.scores(weights(1))]
    for one, wanted in zip(found, saliencies(weights(1)), strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-11)
    np.testing.assert_allclose([s.sum() for s in found], page.flow(weights(1)), rtol=1e-11)


def test_pruning_takes_the_least_flows_of_each_round():
    page, rounds, wanted = method("hideneseek"), 6, weights(2)
    for k in range(1, rounds + 1):
        every = np.concatenate([s.ravel() for s in saliencies(wanted)])
        kept = np.zeros(every.size, bool)
        kept[np.argsort(-every)[: round(0.1 ** (k / rounds) * every.size)]] = True
        masks = np.split(kept, np.cumsum([w.size for w in wanted])[:-1])
        wanted = [w * mask.reshape(w.shape) for w, mask in zip(wanted, masks, strict=True)]
    found = page.pruned(weights(2), 0.1, rounds)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    assert sum(np.count_nonzero(w) for w in found) == round(0.1 * sum(w.size for w in found))


def test_steps_of_a_client_are_a_loop_in_numpy():
    page, rng = method("hideneseek"), np.random.default_rng(3)
    sizes_of = [np.abs(w) for w in page.pruned(weights(3), 0.3, 3)]
    data = rng.normal(size=(50, 64)), rng.integers(0, 10, 50)
    mean = [rng.uniform(-1, 1, w.shape) for w in sizes_of]
    biases = [np.zeros(w.shape[1]) for w in sizes_of]
    draws, s = np.random.default_rng(4), mean
    for _ in range(STEPS):
        rows = draws.choice(50, 8)
        signed = [a * np.where(one >= 0, 1.0, -1.0) for a, one in zip(sizes_of, s, strict=True)]
        by_weights, _ = gradients(signed, biases, data[0][rows], data[1][rows])
        wanted = [a * g for a, g in zip(sizes_of, by_weights, strict=True)]
        for one, other in zip(page.slope(s, sizes_of, data[0][rows], data[1][rows]), wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-13)
        s = [one - 20.0 * g for one, g in zip(s, wanted, strict=True)]
    sent = page.client(mean, sizes_of, data, np.random.default_rng(4), steps=STEPS, rate=20.0, batch=8)
    for one, other, start in zip(sent, s, mean, strict=True):
        np.testing.assert_array_equal(one, np.where(other >= 0, 1.0, -1.0))
        assert np.any((other >= 0) != (start >= 0))


@pytest.mark.full
def test_signs_take_a_hundredth_of_the_bits_and_are_less_accurate():
    ends = whole("hideneseek").ends
    for (bits, signs), (others, average) in zip(ends["HideNseek"], ends["FedAvg"], strict=True):
        assert 100 * bits[-1] < others[-1]
        assert signs[-1] > 0.7
        assert signs[-1] < average[-1]
