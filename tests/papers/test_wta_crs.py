"""The page of WTA-CRS: its rows and factors are those of the formula, and its claim holds."""

import numpy as np
import pytest

import burlab as bl
from tests.papers.pages import method, whole

SHARE = np.random.default_rng(0).exponential(size=24) ** 3


def winners(p, k):
    """The number of winners, by trying all."""
    return min(range(k), key=lambda c: (1 - p[:c].sum()) / (k - c))


@pytest.mark.parametrize("k", [3, 8, 15])
def test_winners_stand_first_and_draws_are_weighted(k: int):
    chosen = method("wta_crs").chosen  # outside of what is traced: the page draws numbers when it runs
    pick = bl.jit(lambda share, key: chosen(share, k, key))
    order = np.argsort(-SHARE)
    p = SHARE[order] / SHARE.sum()
    c = winners(p, k)
    assert c > 0
    for seed in range(20):
        rows, factor = pick(SHARE, bl.random.key(seed))
        np.testing.assert_array_equal(rows[:c], order[:c])
        np.testing.assert_array_equal(factor[:c], 1.0)
        assert not set(rows[c:]) & set(order[:c])
        np.testing.assert_allclose(factor[c:], (1 - p[:c].sum()) / ((k - c) * SHARE[rows[c:]] / SHARE.sum()), rtol=1e-9)
        np.testing.assert_allclose(SHARE[rows] @ factor, SHARE.sum(), rtol=1e-9)


@pytest.mark.full
def test_winners_lower_the_error_for_every_seed():
    trials = whole("wta_crs").trials
    assert np.all(trials["WTA-CRS"][:, 1:] < trials["CRS"][:, 1:])  # of 10 rows none wins, and both are the same
