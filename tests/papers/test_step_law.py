"""The page of the Step Law: its fit solves the normal equations, its runs are those of minimize, its claim holds."""

import numpy as np
import pytest

import burlab as bl
from tests.papers.pages import method, whole


def test_the_fit_solves_the_normal_equations():
    rng = np.random.default_rng(0)
    n, d = np.exp(rng.uniform(5, 12, size=(2, 40)))
    target = 1.79 * n**-0.713 * d**0.307
    constant, exponents = method("step_law").fit(target, n, d)
    np.testing.assert_allclose([constant, *exponents], [1.79, -0.713, 0.307], rtol=1e-9)

    target = target * np.exp(0.3 * rng.normal(size=40))
    constant, exponents = method("step_law").fit(target, n, d)
    x, y = np.log([n, d]), np.log(target)
    centred = x - x.mean(axis=1, keepdims=True)
    wanted = np.linalg.solve(centred @ centred.T, centred @ y)
    np.testing.assert_allclose(exponents, wanted, rtol=1e-9)
    np.testing.assert_allclose(np.log(constant), y.mean() - wanted @ x.mean(axis=1), rtol=1e-9)


def test_a_run_of_the_sweep_is_one_pass_of_adam():
    page = method("step_law")
    sweep = page.searched(8, 64, 2)
    row = next(row for row in sweep.rows if (row.seed, row.hypers["batch"], row.hypers["lr"]) == (1, 4, page.rates[3]))
    problem = bl.FiniteSum(page.loss, (page.inputs[:64], page.targets[:64]))
    net = bl.nn.MLP([16, 8, 1], key=bl.random.key(1), activation="tanh")
    run = bl.minimize(problem, net, bl.optim.Adam(page.rates[3]), batch=4, seed=1, steps=16)
    np.testing.assert_array_equal(bl.tree.ravel(sweep.runs[row.number].x), bl.tree.ravel(run.x))
    assert run.counts["samples"] == 64


@pytest.mark.full
def test_the_best_rate_falls_with_the_size_of_the_network():
    assert np.all(whole("step_law").laws[:, 0] < -0.2)
