"""The page of masked training: its steps are a loop in NumPy with derivatives by hand, and its claim holds."""

import numpy as np
import pytest

import burlab as bl
from tests.papers import networks
from tests.papers.pages import method, whole
from tests.run.test_sampler import batches

STEPS = 20


@pytest.mark.parametrize("name", ["Turns", "Core"])
def test_steps_are_a_loop_in_numpy(name: str):
    page = method("partially_masked")
    net = page.start(1, rank=3, widths=[64, 9, 8, 10])
    run = bl.minimize(page.problem, net, page.rule(getattr(page, name)()), batch=32, seed=2, steps=STEPS)
    x = [{key: np.array(leaf) for key, leaf in p.items()} for p in net]
    for t, rows in enumerate(batches("reshuffle", 1300, 32, STEPS, seed=2)):
        on = t % 2 if name == "Turns" else 0
        matrices = [p["u"] @ p["v"] + on * p["r"] for p in x]
        slopes = networks.gradients(matrices, [p["b"] for p in x], page.x[rows], page.y[rows])
        for p, w, b in zip(x, *slopes, strict=True):
            u, v = p["u"], p["v"]
            p["u"], p["v"] = u - 0.02 * w @ v.T, v - 0.02 * u.T @ w
            p["r"], p["b"] = p["r"] - 0.02 * on * w, p["b"] - 0.02 * b
    for got, wanted in zip(run.x, x, strict=True):
        for key, leaf in wanted.items():
            np.testing.assert_allclose(got[key], leaf, rtol=1e-9, atol=1e-13)


@pytest.mark.full
def test_core_and_whole_are_good_at_once():
    trials = whole("partially_masked").trials
    assert np.all(trials["core, in turns"] > trials["core, cut out"] + 0.1)
    assert np.all(trials["core, in turns"][:, -1] > trials["core, alone"][:, -1])
    assert np.all(trials["whole, in turns"] > trials["whole, alone"] - 0.04)
