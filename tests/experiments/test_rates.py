"""The learning-rate range test: where theory knows the answer, and where there is none."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.experiments.rates import judged


@pytest.mark.parametrize("smoothness", [1.0, 30.0, 1000.0])
def test_on_a_quadratic_it_diverges_soon_after_two_over_l(smoothness):
    f = bl.problems.quadratic([smoothness, smoothness / 3], seed=None)
    found = bl.find_lr(f, f.start, bl.optim.GD(), low=1e-8, high=1e3, steps=400)
    assert found.diverged is not None
    assert 2 / smoothness < found.diverged < 20 / smoothness
    assert 0.02 / smoothness < found.suggestion < 2 / smoothness
    assert found.suggestion < found.lowest < found.diverged


def test_the_rates_are_those_of_the_run():
    f = bl.problems.quadratic([1.0, 2.0], seed=None)
    found = bl.find_lr(f, f.start, bl.optim.GD(), low=1e-4, high=1e-1, steps=40)
    x = f.start.copy()
    for rate, loss in zip(np.geomspace(1e-4, 1e-1, 40), found.loss, strict=True):
        assert loss == pytest.approx(f(x))
        x = x - rate * bl.grad(f)(x)


def test_of_batches_the_loss_is_smoothed():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(200, 5))
    problem = bl.problems.least_squares(a, a @ np.ones(5) + rng.normal(size=200))
    found = bl.find_lr(problem, problem.start, bl.optim.GD(), batch=4)
    n = 50
    weights = 0.1 * 0.9 ** np.arange(n)[::-1]
    assert found.smooth[n - 1] == pytest.approx(weights @ found.loss[:n] / weights.sum())
    assert found.suggestion is not None
    assert 1e-3 < found.suggestion < 1
    assert not np.array_equal(bl.find_lr(problem, problem.start, bl.optim.GD()).smooth, found.smooth)


def test_rate_that_never_diverges_is_reported():
    f = bl.problems.quadratic([1.0, 2.0], seed=None)
    found = bl.find_lr(f, f.start, bl.optim.GD(), low=1e-3, high=0.5)
    assert found.diverged is None
    assert "never diverged: try a larger high" in found.message
    assert found.chart().parts[0].marks == ()


def test_immediate_divergence_suggests_no_rate():
    f = bl.problems.rosenbrock()
    found = bl.find_lr(f, f.start, bl.optim.GD(), low=0.1, high=10.0)
    assert found.suggestion is None
    assert "diverges at once" in found.message
    assert "try a smaller low" in repr(found)


def test_a_flat_loss_suggests_nothing():
    rates = np.geomspace(1e-5, 1, 50)
    found = judged(rates, np.full(50, 3.0), 0.0)
    assert (found.suggestion, found.diverged) == (None, None)
    assert "never fell" in found.message


def test_a_loss_that_is_not_finite_has_diverged():
    rates = np.geomspace(1e-5, 1, 50)
    loss = np.linspace(3.0, 1.0, 50)
    loss[40:] = np.nan
    found = judged(rates, loss, 0.0)
    assert found.diverged == rates[40]
    assert found.lowest == rates[39]


def test_the_suggestion_is_where_the_loss_falls_most_per_factor():
    rates = np.geomspace(1e-6, 1, 301)
    loss = 2 - np.tanh(3 * np.log10(rates / 1e-3))
    assert judged(rates, loss, 0.0).suggestion == pytest.approx(1e-3, rel=0.05)


def test_the_chart_shows_what_was_found():
    f = bl.problems.booth()
    found = bl.find_lr(f, f.start, bl.optim.Momentum())
    plot = found.chart().parts[0]
    assert plot.dots[0].x[0] == found.suggestion
    assert plot.marks[0].at == found.diverged
    assert np.nanmax(plot.curves[0].y) <= 2 * found.loss[0]
    assert plot.x.log


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"low": 0.0}, "must be positive and finite"),
        ({"low": 1.0, "high": 0.1}, "the lower one first"),
        ({"steps": 5}, "steps=5"),
        ({"optimizer": bl.optim.SciPy("BFGS")}, "expected a rule of bl.optim with a learning rate"),
        ({"optimizer": bl.optim.TrustRegion()}, "has no learning rate"),
    ],
)
def test_find_lr_with_wrong_arguments_raises(more, message):
    f = bl.problems.booth()
    with pytest.raises(ArgumentError, match=message):
        bl.find_lr(**({"problem": f, "x0": f.start, "optimizer": bl.optim.GD()} | more))
