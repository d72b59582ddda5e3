"""The page of pruning by relevance: its scores are those of the formula in NumPy, and its claim holds."""

import numpy as np
import pytest

import burlab as bl
from tests.analysis.test_unit_relevance import by_hand
from tests.papers.pages import method, whole


def test_scores_are_those_of_the_formula():
    page = method("lrp_pruning")
    net = bl.nn.MLP([64, 9, 8, 10], key=bl.random.key(1), dtype=np.float64)
    wanted = [by_hand(net, page.x[i], page.y[i], 1e-6, lambda z: np.maximum(z, 0))[1:3] for i in page.few]
    found = page.by_relevance(net)
    assert len(page.few) == 100
    for k, name in enumerate(("layers.0", "layers.1")):
        np.testing.assert_allclose(found[name], np.mean([one[k] for one in wanted], axis=0), rtol=1e-9, atol=1e-12)


def test_gradients_are_differences_of_scores():
    page = method("lrp_pruning")
    net = bl.nn.MLP([64, 9, 10], key=bl.random.key(1), dtype=np.float64)
    w = net.layers[1].weight
    wanted = np.mean(np.abs(w[:, page.y[page.few]]), axis=1)
    np.testing.assert_allclose(page.by_gradient(net)["layers.0"], wanted, rtol=1e-12)


@pytest.mark.full
def test_relevance_is_better_than_chance():
    trials = whole("lrp_pruning").trials
    assert np.all(trials["relevance"] > trials["random"])
