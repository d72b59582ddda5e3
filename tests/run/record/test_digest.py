"""A digest is the record, exactly at first and in stretches later."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.run.record.digest import interval_of

F = bl.problems.rosenbrock()


def grouped(run: bl.Run, column: str = "value"):
    """The same by a loop over the rows."""
    values = run.history[column]
    groups: dict[float, list[int]] = {}
    for step in range(values.size):
        groups.setdefault(float(interval_of(np.array([float(step)]))[0]), []).append(step)
    return [(rows[-1], values[rows].mean(), values[rows].min(), values[rows].max()) for rows in groups.values()]


def test_digest_is_the_record_in_stretches():
    run = bl.minimize(F, F.start, bl.optim.Momentum(1e-3), steps=5000)
    digest = run.digest()
    assert digest.read()
    steps, means, lows, highs = map(np.array, zip(*grouped(run), strict=True))
    assert np.array_equal(digest.steps, steps)
    np.testing.assert_allclose(digest.mean, means, rtol=1e-13)
    assert np.array_equal(digest.low, lows)
    assert np.array_equal(digest.high, highs)


def test_reading_as_it_grows_gives_the_same():
    run = bl.minimize(F, F.start, bl.optim.Momentum(1e-3))
    piecewise, whole = run.digest(), run.digest()
    for n in (1, 3, 1000, 500, 37, 2000, 1, 1, 700):
        run.step(n)
        piecewise.read()
    whole.read()
    assert np.array_equal(piecewise.steps, whole.steps)
    np.testing.assert_allclose(piecewise.mean, whole.mean, rtol=1e-13)
    assert np.array_equal(piecewise.cost("samples"), whole.cost("samples"))


def test_stretches_are_short_relative_to_their_step():
    steps = np.unique(np.round(np.geomspace(1024, 1e9, 4000)))
    width = 1 / (interval_of(steps + 0.5 * steps) - interval_of(steps)) * 0.5 * steps
    assert (width / steps < 1 / 400).all()
    assert (np.diff(interval_of(np.arange(200_000.0))) <= 1).all()


def test_a_change_in_the_past_begins_anew():
    run = bl.minimize(F, F.start, bl.optim.Momentum(1e-3), steps=100)
    digest = run.digest()
    digest.read()
    run.seek(10)
    run.hyper["lr"] = 1e-4
    run.step(5)
    digest.read()
    assert np.array_equal(digest.mean, run.history["value"])


def test_rows_that_are_nan_are_passed_over():
    problem = bl.problems.least_squares(np.eye(3), np.ones(3))
    run = bl.minimize(problem, problem.start, bl.optim.GD(0.1), validation=problem, validate_every=10, steps=35)
    digest = run.digest("validation_value")
    digest.read()
    assert digest.steps.tolist() == [0, 10, 20, 30]


def test_axes_are_those_of_the_history():
    run = bl.minimize(F, F.start, bl.optim.SciPy("BFGS"), steps=15)
    digest = run.digest()
    digest.read()
    assert np.array_equal(digest.cost("samples"), run.history["samples"])
    np.testing.assert_allclose(digest.seconds, run.history["time"] * 1e-9)


def test_digest_of_a_missing_column_raises():
    with pytest.raises(ArgumentError, match="'loss' is not stored; there are value"):
        bl.minimize(F, F.start, bl.optim.GD()).digest("loss")
