"""The page of Top-KAST: its steps are those of masked matrices in NumPy, and its claim holds."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from tests.papers import networks
from tests.papers.pages import method, whole
from tests.run.test_sampler import batches

STEPS, D, B, DECAY = 20, 0.1, 0.25, 0.01


def largest(w: Any, share: float) -> Any:
    mask = np.zeros(w.size, bool)
    mask[np.argsort(-np.abs(w).ravel(), kind="stable")[: round(share * w.size)]] = True
    return mask.reshape(w.shape)


def test_steps_are_those_of_masks_in_numpy():
    page = method("top_kast")
    net = bl.nn.MLP([64, 20, 12, 10], key=bl.random.key(1), dtype=np.float64)
    rule = bl.optim.TopKAST(bl.optim.Momentum(0.05), density=D, backward=B, decay=DECAY)
    run = bl.minimize(page.problem, net, rule, batch=32, seed=2, steps=STEPS)
    weights, biases = networks.parameters(net)
    moments = [np.zeros_like(w) for w in weights], [np.zeros_like(b) for b in biases]
    for rows in batches("reshuffle", 1300, 32, STEPS, seed=2):
        used = [w * largest(w, D) for w in weights]
        slopes = networks.gradients(used, biases, page.x[page.train][rows], page.y[page.train][rows])
        for k, w in enumerate(weights):
            a, b = largest(w, D), largest(w, B)
            g = b * (slopes[0][k] + DECAY * np.where(a, 1.0, 1 / D) * w)
            moments[0][k] = 0.9 * moments[0][k] + g
            moments[1][k] = 0.9 * moments[1][k] + slopes[1][k]
            weights[k] = np.where(b, w - 0.05 * moments[0][k], w)
            biases[k] = biases[k] - 0.05 * moments[1][k]
    for layer, w, b in zip(run.x.layers, weights, biases, strict=True):
        np.testing.assert_allclose(layer.weight, w * largest(w, D), rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(layer.bias, b, rtol=1e-9, atol=1e-13)


def test_the_rule_of_the_page_is_the_one_above():
    rule = method("top_kast").top_kast(0.02, 4)
    assert (rule.density, rule.backward, rule.inner.lr, rule.inner.mu) == (0.02, 0.1, 0.05, 0.9)


@pytest.mark.full
def test_weights_that_may_come_in_help_at_every_density():
    trials = whole("top_kast").trials
    assert np.all(trials["M = 4 D"] > trials["M = 0 D"])
    assert np.all(trials["M = 0 D"][:, 1:] > trials["dense, then cut"][:, 1:])
    assert np.all(trials["M = 4 D"][:, 2] > trials["dense"][:, 2] - 0.03)
