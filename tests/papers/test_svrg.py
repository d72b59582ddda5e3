"""The page of SVRG and SAGA: its methods are loops in NumPy, and its claim holds."""

from types import SimpleNamespace

import numpy as np
import pytest

import burlab as bl
from burlab.typing import Array
from tests.papers.pages import method, whole
from tests.run.test_sampler import batches

STEPS = 20


def sample_gradient(page: SimpleNamespace, x: Array, i: int) -> Array:
    """Of the loss of sample i, without the regularizer."""
    a, label = page.features[i], page.labels[i]
    return -label * a / (1 + np.exp(label * (a @ x)))


def svrg(page: SimpleNamespace, order: list[int], rate: float, every: int) -> Array:
    x = snapshot = full = np.zeros(page.d)
    for t, i in enumerate(order):
        if t % every == 0:
            snapshot = x
            full = np.mean([sample_gradient(page, x, j) for j in range(page.n)], axis=0)
        x = x - rate * (sample_gradient(page, x, i) - sample_gradient(page, snapshot, i) + full + 1e-2 * x)
    return x


def saga(page: SimpleNamespace, order: list[int], rate: float) -> Array:
    x = np.zeros(page.d)
    table = np.array([sample_gradient(page, x, j) for j in range(page.n)])
    for i in order:
        g = sample_gradient(page, x, i)
        x, table[i] = x - rate * (g - table[i] + table.mean(axis=0) + 1e-2 * x), g
    return x


@pytest.mark.parametrize("name", ["SVRG", "SAGA"])
def test_the_methods_are_loops_in_numpy(name: str):
    page = method("svrg")
    rule = {"SVRG": bl.optim.SVRG(1.0, every=7), "SAGA": page.methods["SAGA"]}[name]
    run = bl.minimize(page.problem, np.zeros(page.d), rule, batch=1, seed=3, steps=STEPS)
    order = [int(rows[0]) for rows in batches("reshuffle", page.n, 1, STEPS, seed=3)]
    wanted = svrg(page, order, 1.0, 7) if name == "SVRG" else saga(page, order, 1.0)
    np.testing.assert_allclose(run.x, wanted, rtol=1e-10, atol=1e-13)


@pytest.mark.full
def test_corrected_steps_converge_and_plain_ones_do_not():
    trials = whole("svrg").trials
    assert np.all(trials["SVRG"][:, -1] < 1e-3 * trials["SGD"][:, -1])
    assert np.all(trials["SAGA"][:, -1] < 1e-3 * trials["SGD"][:, -1])
