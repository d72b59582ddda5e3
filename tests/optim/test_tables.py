"""Schedules from tables, and the refined schedule."""

import numpy as np
import pytest
from scipy.ndimage import median_filter

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim import GD, linear, refined, table


def test_a_table_is_followed_by_a_run():
    values = (0.5, 0.25, 0.125)
    run = bl.minimize(np.sum, np.zeros(1), GD(lr=table(values)), steps=5)
    np.testing.assert_array_equal(run.x, [-(sum(values) + 2 * values[-1])])
    assert table(values)(1) == 0.25
    np.testing.assert_array_equal(table(values)(np.array([-1, 0, 2, 7])), [0.5, 0.5, 0.125, 0.125])


def test_constant_norms_give_a_straight_line_down():
    np.testing.assert_allclose(refined(np.full(50, 3.0), 0.3)(np.arange(50)), linear(0.3, steps=49)(np.arange(50)))


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_refined_table_is_the_papers_algorithm(power):
    norms = np.exp(np.random.default_rng(0).normal(size=101)) * np.linspace(4, 1, 101)
    half = int(0.1 * 101 / 2)
    weights = median_filter(norms, size=2 * half + 1, mode="mirror") ** -power
    wanted = np.array([weights[t] * weights[t + 1 :].sum() for t in range(101)])
    got = np.array(refined(norms, 0.7, power=power).values)
    np.testing.assert_allclose(got, 0.7 * wanted / wanted.max(), rtol=1e-12, atol=1e-15)
    assert got[-1] == 0
    begins_large = np.where(np.arange(101) < 20, 3.0, 1.0)
    assert 10 < np.argmax(refined(begins_large, 1.0).values) < 25  # it warms up


def test_repeating_a_run_with_its_schedule_ends_lower():
    rng = np.random.default_rng(1)
    a = rng.normal(size=(200, 8))
    problem = bl.FiniteSum(lambda x, a, b: (a @ x - b) ** 2, (a, a @ np.ones(8) + rng.normal(size=200)))
    first = bl.minimize(problem, np.zeros(8), GD(0.05), batch=1, steps=400)
    again = bl.minimize(problem, np.zeros(8), GD(refined(first.history["gradient_norm"][-400:], 0.05)), batch=1)
    again.step(400)
    assert problem.value(again.x) < problem.value(first.x)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: table(()), "values of table"),
        (lambda: table((1.0, np.nan)), "values of table"),
        (lambda: table("falling"), "values of table are 'falling'"),
        (lambda: refined([1.0], 0.1), "norms of refined"),
        (lambda: refined([1.0, 0.0], 0.1), "norms of refined"),
        (lambda: refined("ab", 0.1), "norms of refined"),
        (lambda: refined([1.0, 2.0], -0.1), "peak of refined is -0.1"),
        (lambda: refined([1.0, 2.0], 0.1, smoothing=1.5), "smoothing of refined is 1.5"),
        (lambda: refined([1.0, 2.0], 0.1, power=0), "power of refined is 0"),
    ],
)
def test_tables_with_wrong_values_raise(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()
