"""The page of rate-distortion pruning: its distortions are those of NumPy, its division the best of all; its claim."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import burlab as bl
from tests.papers import networks
from tests.papers.pages import method, whole


def test_distortions_are_those_of_single_layers():
    page = method("rd_pruning")
    net = bl.nn.MLP([64, 7, 6, 10], key=bl.random.key(1), dtype=np.float64)
    weights, biases = networks.parameters(net)
    rows = page.x[:50]
    before = networks.logits(weights, biases, rows)
    wanted = np.zeros((3, len(page.shares)))
    for layer, k in product(range(3), range(len(page.shares))):
        changed = [w.copy() for w in weights]
        flat = changed[layer].reshape(-1)
        for place in sorted(range(flat.size), key=lambda i: abs(flat[i]))[: int(page.shares[k] * flat.size)]:
            flat[place] = 0
        wanted[layer, k] = np.mean(np.sum((networks.logits(changed, biases, rows) - before) ** 2, axis=1))
    np.testing.assert_allclose(page.distortions(net, rows), wanted, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("budget", [30, 47, 66])
def test_the_division_is_the_best_of_all(budget: int):
    page, sizes = method("rd_pruning"), [40, 18, 12]
    delta = np.sort(np.random.default_rng(budget).random((3, len(page.shares))), axis=1)
    stay = [[n - int(p * n) for p in page.shares] for n in sizes]
    best: Any = min(
        (sum(delta[k, i] for k, i in enumerate(chosen)), chosen)
        for chosen in product(range(len(page.shares)), repeat=3)
        if sum(stay[k][i] for k, i in enumerate(chosen)) <= budget
    )
    found = [int(np.flatnonzero(page.shares == share)[0]) for share in page.divide(delta, sizes, budget)]
    assert sum(stay[k][i] for k, i in enumerate(found)) <= budget
    assert sum(delta[k, i] for k, i in enumerate(found)) == pytest.approx(best[0], rel=1e-12)


@pytest.mark.full
def test_the_division_by_the_programme_loses_least():
    page = whole("rd_pruning")
    for other in ("smallest of all", "same share"):
        assert np.all(page.trials["rate-distortion"][:, :4] > page.trials[other][:, :4] - 0.003)
        assert np.all(page.moved["rate-distortion"] < page.moved[other])
