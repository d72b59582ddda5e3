"""The page of gradient coding: any workers that are fast enough give the exact sum, and its claim holds."""

from itertools import combinations

import numpy as np
import pytest

import burlab as bl
from burlab.optim.distributed.coding import cyclic_code
from tests.papers.clients import gradients
from tests.papers.pages import method, whole


def test_any_fast_workers_give_the_sum():
    """Rows of the code of every set of m - s workers span the vector of ones, and are zero outside of their parts."""
    matrix = np.asarray(cyclic_code(5, 2, 0))
    for i, row in enumerate(matrix):
        assert set(np.flatnonzero(row)) == {i, (i + 1) % 5, (i + 2) % 5}
    for chosen in combinations(range(5), 3):
        weights = np.linalg.lstsq(matrix[list(chosen)].T, np.ones(5), rcond=None)[0]
        np.testing.assert_allclose(weights @ matrix[list(chosen)], np.ones(5), atol=1e-9)


def test_the_method_is_gradient_descent_in_numpy():
    page = method("gradient_coding")
    x = np.zeros(page.d)
    for _ in range(20):
        x = x - 0.5 * gradients(page.clients, x, 0.0).mean(axis=0)
    for stragglers in (0, 1, 3):
        run = bl.minimize(page.problem, np.zeros(page.d), page.coded(stragglers, 1.0), steps=20)
        np.testing.assert_allclose(run.x, x, rtol=1e-9, atol=1e-12)


@pytest.mark.full
def test_stragglers_pay_only_where_delays_do_not_grow_with_the_work():
    grow, stay = (whole("gradient_coding").trials[name] for name in ("delays grow with the work", "delays do not"))
    assert np.all(stay[:, 1:] < stay[:, :1])
    assert np.all(grow[:, 1:8] > grow[:, :1])
