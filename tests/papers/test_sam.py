"""The page of sharpness-aware minimization: its steps are a loop in NumPy, and its claim about sharpness holds."""

import numpy as np
import pytest

import burlab as bl
from tests.papers import networks
from tests.papers.pages import method, whole
from tests.run.test_sampler import batches

STEPS, RHO = 20, 0.3


def test_steps_are_a_loop_in_numpy():
    page = method("sam")
    net = bl.nn.MLP([64, 11, 10], key=bl.random.key(1), dtype=np.float64)
    run = bl.minimize(page.problem_of(page.wrong), net, page.rule(RHO), batch=32, seed=2, steps=STEPS)
    weights, biases = networks.parameters(net)
    moments = [np.zeros_like(leaf) for leaf in (*weights, *biases)]
    for rows in batches("reshuffle", 600, 32, STEPS, seed=2):
        data = page.x[page.train][rows], page.wrong[rows]
        up = [g for kind in networks.gradients(weights, biases, *data) for g in kind]
        length = np.sqrt(sum(np.sum(g**2) for g in up))
        x = [*weights, *biases]
        above = [leaf + RHO * g / length for leaf, g in zip(x, up, strict=True)]
        slopes = [g for kind in networks.gradients(above[:2], above[2:], *data) for g in kind]
        moments = [0.9 * m + g for m, g in zip(moments, slopes, strict=True)]
        x = [leaf - 0.05 * m for leaf, m in zip(x, moments, strict=True)]
        weights, biases = x[:2], x[2:]
    for layer, w, b in zip(run.x.layers, weights, biases, strict=True):
        np.testing.assert_allclose(layer.weight, w, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(layer.bias, b, rtol=1e-9, atol=1e-12)
    assert run.counts["samples"] == 2 * STEPS * 32


@pytest.mark.full
def test_the_largest_eigenvalue_falls_with_rho():
    sharp = whole("sam").sharp
    assert np.all(np.diff(sharp["right labels"], axis=1) < 0)
    assert np.all(sharp["30 % random labels"][:, 1] < 0.9 * sharp["30 % random labels"][:, 0])
