"""The page of GSE: its methods are dense matrices with masks in NumPy, and its claim holds."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from tests.optim.test_rewiring import Twin
from tests.papers import networks
from tests.papers.pages import method, whole
from tests.run.test_sampler import batches

STEPS = 20


class OnDigits(Twin):
    """The network of the page, on the rows of a step."""

    rows: Any = None

    def slopes(self) -> Any:
        page = method("gse")
        return networks.gradients(self.weights, self.biases, page.x[self.rows], page.y[self.rows])


@pytest.mark.parametrize(("name", "candidates"), [("SET", 1), ("GSE", 5), ("RigL", None)])
def test_steps_are_those_of_masks_in_numpy(name: str, candidates: int | None):
    page = method("gse")
    rule = {"SET": bl.optim.SET, "GSE": bl.optim.GSE, "RigL": bl.optim.RigL}[name]
    net = page.network(0.05, 0)
    run = bl.minimize(page.problem, net, rule(page.inner, every=4, fraction=0.2, end=17), batch=32, steps=STEPS)
    twin = OnDigits(net, 4, 0.2, candidates, 17)
    for t, rows in enumerate(batches("reshuffle", 1300, 32, STEPS, seed=0)):
        twin.rows = rows
        twin.step(t)
    for layer, weight, bias in zip(run.x, twin.weights, twin.biases, strict=True):
        np.testing.assert_allclose(layer.dense(), weight, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(layer.bias, bias, rtol=1e-9, atol=1e-12)
    assert np.any(run.x[1].rows != net[1].rows)


def test_the_methods_of_the_page_are_these():
    methods = method("gse").methods
    assert {name: type(rule).__name__ for name, rule in methods.items()} == {
        "static": "Momentum", "SET": "SET", "GSE": "GSE", "RigL": "RigL",
    }  # fmt: skip
    assert methods["GSE"].candidates == 5


@pytest.mark.full
def test_few_links_find_better_places_by_gradients_of_candidates():
    trials = whole("gse").trials
    for few in (0, 1):
        assert np.all(trials["static"][:, few] < trials["SET"][:, few])
        assert np.all(trials["SET"][:, few] < trials["GSE"][:, few])
    assert np.all(trials["GSE"][:, 0] < trials["RigL"][:, 0])
