"""The page of dynamic sparse learning: its steps are those of one masked vector in NumPy, and its claim holds."""

import numpy as np
import pytest

import burlab as bl
from tests.papers import networks
from tests.papers.pages import method, whole
from tests.run.test_sampler import batches

STEPS, BUDGET, ZETA, EVERY, END = 20, 60, 0.4, 4, 17
rng = np.random.default_rng(3)
X, LABELS = rng.normal(size=(64, 12)), rng.integers(0, 3, 64)


def test_steps_are_those_of_one_masked_vector():
    page = method("dynamic_sparse")
    net = bl.nn.MLP([12, 10, 8, 3], key=bl.random.key(1), dtype=np.float64)
    problem = bl.FiniteSum(lambda net, a, label: bl.nn.cross_entropy(net(a), label), (X, LABELS))
    moving = page.Moving(BUDGET, ZETA, EVERY, END)
    rule = bl.optim.through(bl.optim.GD(0.2), moving, at="T(x)")
    run = bl.minimize(problem, net, rule, batch=16, seed=2, steps=STEPS)

    matrices, biases = networks.parameters(net)
    cuts = np.cumsum([w.size for w in matrices])[:-1]
    mask = moving.init(net)["mask"] > 0
    first = mask.copy()
    w = np.concatenate([m.ravel() for m in matrices]) * mask
    for t, rows in enumerate(batches("reshuffle", len(X), 16, STEPS, seed=2)):
        parts = [part.reshape(m.shape) for part, m in zip(np.split(w, cuts), matrices, strict=True)]
        of_weights, of_biases = networks.gradients(parts, biases, X[rows], LABELS[rows])
        slope, stepped = np.concatenate([g.ravel() for g in of_weights]), mask.copy()
        if t > 0 and t % EVERY == 0 and t <= END:
            k = int(ZETA / 2 * (1 + np.cos(np.pi * t / END)) * BUDGET)
            links, free = np.flatnonzero(mask), np.flatnonzero(~mask)
            out = links[np.argsort(np.abs(w[links]), kind="stable")[:k]]
            new = free[np.argsort(-np.abs(slope[free]), kind="stable")[:k]]
            mask[out], mask[new], stepped[out], w[out] = False, True, False, 0.0
        w = w - 0.2 * np.where(stepped, slope, 0)
        biases = [b - 0.2 * g for b, g in zip(biases, of_biases, strict=True)]
    assert np.count_nonzero(mask) == BUDGET
    assert np.count_nonzero(mask != first) > 20
    np.testing.assert_allclose(page.weights(run.x), w, rtol=1e-9, atol=1e-13)
    for layer, b in zip(run.x.layers, biases, strict=True):
        np.testing.assert_allclose(layer.bias, b, rtol=1e-9, atol=1e-13)


@pytest.mark.full
def test_links_that_move_learn_more_than_links_that_stay():
    trials = whole("dynamic_sparse").trials
    assert np.all(trials["links that move"] > trials["links that stay"])
    assert np.all(trials["links that move"][:, 2] > trials["all links"][:, 2] - 0.025)
