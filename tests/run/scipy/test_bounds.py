"""Bounds of SciPy's minimizers: variables that they fix, and bounds that are none."""

import numpy as np
import pytest
from scipy import optimize

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim import SciPy
from burlab.optim.scipy_minimizer import METHODS

KEEP = [name for name, traits in METHODS.items() if traits.bounds]


def distance(x):
    return np.sum((x - 3.0) ** 2)


@pytest.mark.filterwarnings("ignore:Initial guess")
@pytest.mark.parametrize("bounds", [((1, 1), (0, 5)), ((0, 5), (1, 1)), ((1, 1), (2, 2)), ((0, 5), (1, 1), (2, 2))])
@pytest.mark.parametrize("method", ["COBYLA", "Nelder-Mead", "L-BFGS-B"])
def test_a_variable_whose_bounds_are_equal_stays(method, bounds):
    low, high = np.array(bounds, float).T
    run = bl.minimize(distance, low + 0.5 * (high - low), SciPy(method, bounds=bounds), steps=300)
    np.testing.assert_allclose(run.x, np.clip(3.0, low, high), atol=1e-3)
    assert run.stopped.reason == "finished"
    assert run.value == pytest.approx(float(distance(run.x)))


@pytest.mark.parametrize("bounds", [(2, 1), "x", 5, [(1, 2, 3)], [("a", 1)], [[1, 2], 3], [(1j, 2)]])
def test_invalid_bounds_raise(bounds):
    with pytest.raises(ArgumentError, match="expected \\(low, high\\) for each variable"):
        SciPy(bounds=bounds)


@pytest.mark.parametrize("bounds", [[(2, 1)], [(0, 1), (5, None), (3, 2)], [(float("nan"), 1)]])
def test_bounds_that_nothing_meets_are_refused(bounds):
    with pytest.raises(ArgumentError, match="no number lies between"):
        SciPy(bounds=bounds)


def test_bounds_of_a_wrong_length_raise():
    with pytest.raises(ArgumentError, match="hold 2 pairs, but x has 3 entries"):
        bl.minimize(distance, np.zeros(3), SciPy(bounds=[(0, 1), (0, 1)]))


@pytest.mark.parametrize("method", KEEP)
def test_scipys_own_bounds_are_taken(method):
    run = bl.minimize(distance, np.ones(2), SciPy(method, bounds=optimize.Bounds([0, 0], [2, 9])))
    run.step(1)
    assert run.t <= 1
