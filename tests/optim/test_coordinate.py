"""Coordinate descent beside NumPy, and its bound."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim import CoordinateDescent
from tests.optim.theory import FEATURES, GAP, MU, STAR, D, N, grad, problem, value

LI = np.sum(FEATURES**2, axis=0) / (4 * N) + MU  # smoothness along every coordinate


def descend(smoothness, lr, steps, seed=0):
    """In NumPy, with the numbers that burlab draws."""
    x, key = np.zeros(D), bl.random.key(seed)
    for t in range(steps):
        k = bl.random.fold_in(key, t)
        if smoothness is None:
            i, rate = int(bl.random.randint(k, (), 0, D)), lr
        else:
            bounds = np.cumsum(smoothness) / np.sum(smoothness)
            i = int(np.searchsorted(bounds, bl.random.uniform(k, ()), side="right"))
            rate = lr / smoothness[i]
        x = x.copy()
        x[i] -= rate * grad(x)[i]
    return x


@pytest.mark.parametrize(("smoothness", "lr"), [(None, 0.5), (LI, 1.0), (LI, 0.7)])
def test_steps_are_those_of_the_paper(smoothness, lr):
    rule = CoordinateDescent(lr, None if smoothness is None else tuple(smoothness))
    run = bl.minimize(problem(), np.zeros(D), rule, steps=60)
    np.testing.assert_allclose(run.x, descend(smoothness, lr, 60), rtol=1e-9, atol=1e-12)
    run.seek(25)
    np.testing.assert_allclose(run.x, descend(smoothness, lr, 25), rtol=1e-9, atol=1e-12)


def test_coordinate_descent_meets_its_bound_and_frequencies():
    """E[f - f*] <= (1 - mu / sum L)^k (f(x0) - f*); and of 20 seeds the mean stays below."""
    rule, gaps = CoordinateDescent(1.0, tuple(LI)), []
    for seed in range(20):
        run = bl.minimize(problem(), np.zeros(D), rule, seed=seed, steps=400)
        gaps.append(value(run.x) - value(STAR))
    assert 0 <= np.mean(gaps) <= (1 - MU / LI.sum()) ** 400 * GAP
    steep = np.array([1.0, 9.0])
    run = bl.minimize(lambda x: 0.0 * np.sum(x) + x @ np.ones(2), np.zeros(2), CoordinateDescent(1.0, tuple(steep)))
    run.step(4000)
    counts = -run.x * steep  # each visit of i moves it by 1 / L_i
    np.testing.assert_allclose(counts / 4000, [0.1, 0.9], atol=0.02)


@pytest.mark.parametrize(
    ("smoothness", "message"),
    [
        ((1.0, -1.0), "smoothness of CoordinateDescent is"),
        ((1.0,) * 3, "has 3 numbers, but x has 20 entries"),
    ],
)
def test_wrong_smoothness_raises(smoothness, message):
    with pytest.raises(ArgumentError, match=message):
        bl.minimize(problem(), np.zeros(D), CoordinateDescent(1.0, smoothness))
