"""The page of the learned cost model: work by hand, its fit is that of SciPy, and its claim holds."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from burlab.typing import Array
from tests.papers.pages import method, whole


def kernels(seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    table = np.exp(rng.uniform(3, 10, size=(25, 4))) * (rng.random((25, 4)) < 0.6)
    seconds = 3e-7 + table @ np.array([2e-10, 1e-8, 4e-9, 1e-9])
    return table, seconds * np.exp(0.2 * rng.normal(size=25))


def test_work_is_that_of_a_count_by_hand():
    work = method("cost_model").work(lambda x: np.sum(np.tanh(x @ x.T)), np.ones((5, 3)))
    assert work["contract"] == 3 * 5 * 5 * 3  # the product, and one for each of its two factors
    assert work["tanh"] == work["tanh'0"] == 25
    assert work["sum"] == 25


def test_the_fit_is_the_minimum_of_the_formula():
    page = method("cost_model")
    table, seconds = kernels(0)
    got = page.fit(table, seconds)
    start = np.log([1e-6, 1e-9, 1e-9, 1e-9, 1e-9])

    def residuals(weights: Array) -> Array:
        times = np.array([np.exp(weights[0]) + sum(np.exp(weights[1:]) * row) for row in table])
        return np.concatenate([np.log(seconds) - np.log(times), 0.1 * (weights[1:] - start[1:])])

    wanted = least_squares(residuals, start, xtol=1e-15, ftol=1e-15, gtol=1e-15).x
    np.testing.assert_allclose(got, wanted, rtol=1e-6)

    # By hand: the gradient of the sum of squares is zero, to rounding.
    parts = np.column_stack([np.full(25, np.exp(got[0])), table * np.exp(got[1:])])
    slopes = parts / parts.sum(axis=1, keepdims=True)
    errors = np.log(parts.sum(axis=1) / seconds)
    np.testing.assert_allclose(slopes.T @ errors + 0.01 * np.append(0, (got - start)[1:]), 0, atol=1e-9)


def test_an_operation_without_kernels_keeps_its_prior():
    table, seconds = kernels(1)
    table[:, 2] = 0
    weights = method("cost_model").fit(table, seconds)
    np.testing.assert_allclose(weights[3], np.log(1e-9), rtol=1e-9)


def test_a_prediction_is_the_sum_of_the_formula():
    page = method("cost_model")
    weights, row = np.log([2e-6, 1e-9, 3e-9]), np.array([[100.0, 7.0], [0.0, 0.0]])
    np.testing.assert_allclose(page.seconds_of(weights, row), [2e-6 + 100e-9 + 21e-9, 2e-6], rtol=1e-12)
    assert page.measured(lambda x: np.sum(x**2), np.ones(3)) > 0


@pytest.mark.full
def test_costs_by_operation_tell_the_time_of_other_kernels():
    page = whole("cost_model")
    errors = {name: rows[:, -1] for name, rows in page.trials.items()}
    assert np.all(errors["cost by operation"] < errors["power law"])
    assert np.all(errors["power law"] < errors["mean"])
    assert min(page.ranks) > 0.9
    assert max(page.unknown.values()) > 3  # a kind that was never measured is not predicted
