"""Smooth curves behind noise."""

import numpy as np
import pytest

from burlab.widgets.panel.column import Column
from burlab.widgets.panel.smooth import noisy, smoothed, spread

RNG = np.random.default_rng(0)


def means_of(y, *, log_steps=False, pieces=1):
    column = Column()
    for steps in np.array_split(np.arange(len(y)), pieces):
        column.append(steps.astype(float), np.asarray(y, float)[steps])
    return column.means_along(log_steps=log_steps)


@pytest.mark.parametrize("pieces", [1, 60])
@pytest.mark.parametrize("rows", [3, 100, 50_000])
def test_means_are_those_of_all_rows(rows, pieces):
    y = RNG.normal(size=rows)
    y[1] = np.nan
    x, mean, low, high, count = means_of(y, pieces=pieces)
    assert count.sum() == rows - 1
    assert mean @ count / count.sum() == pytest.approx(np.nanmean(y), abs=1e-12)
    assert (low.min(), high.max()) == (np.nanmin(y), np.nanmax(y))
    assert (np.diff(x) > 0).all()


@pytest.mark.parametrize("log_steps", [False, True])
def test_noise_is_averaged_and_a_descent_stays_where_it_is(log_steps):
    steps = np.arange(20_000)
    truth = 1e3 / (1 + steps) ** 2
    means = means_of(truth * np.exp(0.5 * RNG.normal(size=steps.size)), log_steps=log_steps)
    x, y = smoothed(means, 0.4, log=True, log_steps=log_steps)
    off = np.abs(np.log(y * (1 + x) ** 2 / 1e3))
    assert off[x > 2000].max() < 0.3, "up to the end"
    assert means[1].size > 1000


def test_a_slope_stays_as_it_is_up_to_its_ends():
    means = means_of(5.0 - 3.0 * np.arange(4000))
    for amount in (0.1, 0.5, 1.0):
        x, y = smoothed(means, amount, log=False, log_steps=False)
        np.testing.assert_allclose(y, 5.0 - 3.0 * x, atol=20)  # a place of the axis holds ten steps


def test_a_little_smoothing_is_none():
    y = RNG.normal(size=200)
    x, smooth = smoothed(means_of(y), 0.0, log=False, log_steps=False)
    np.testing.assert_array_equal(x, np.arange(200))
    np.testing.assert_allclose(smooth, y)


def test_the_middle_and_the_range_do_not_follow_a_few_interruptions():
    y = np.where(np.arange(10_000) % 500 == 3, 1e-3, 1e-6) * RNG.uniform(0.9, 1.1, 10_000)
    x, middle, low, high = spread(means_of(y), log_steps=False)
    assert x.size == 80
    assert (low <= middle).all()
    assert (middle <= high).all()
    assert np.median(middle) == pytest.approx(1e-6, rel=0.2)


def test_only_visible_oscillation_is_noise():
    steps = np.arange(3000)
    assert noisy(means_of(np.exp(RNG.normal(size=3000))), log=True)
    assert not noisy(means_of(0.99**steps), log=True)
    assert not noisy(means_of(np.sin(steps / 50)), log=False)
    rounding = np.maximum(10.0 ** (-steps / 50), 1e-28) * RNG.uniform(0.99, 1.01, 3000)
    assert not noisy(means_of(rounding), log=True), "too small for an axis of 28 decades"
    assert not noisy(means_of([1.0, 2.0, 1.0]), log=False)


@pytest.mark.parametrize("rows", [20_000, 200_000, 3_000_000])
def test_noise_is_found_in_a_record_so_long_that_its_means_are_calm(rows):
    steps = np.arange(rows)
    squares = (1e3 * np.exp(-steps / 200) + 1) * RNG.normal(size=rows) ** 2
    assert noisy(means_of(squares), log=True)
    for calm in (1 / (1.0 + steps), np.exp(-30 * steps / rows), 2 + np.sin(50 * steps / rows)):
        assert not noisy(means_of(calm), log=True)
