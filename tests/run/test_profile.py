"""Profiles of a step of a run: its kernels as they are called by the loop, with the update."""

import warnings

import numpy as np
import pytest

import burlab as bl
from burlab.errors import StatusError

RNG = np.random.default_rng(0)
DATA = RNG.normal(size=(100, 12)), RNG.normal(size=100)
X = {"w": RNG.normal(size=(12, 8)), "v": RNG.normal(size=8)}


def loss(p, a, y):
    with bl.scope("hidden"):
        h = np.tanh(a @ p["w"])
    return (h @ p["v"] - y) ** 2


def penalty(p):
    return 1e-3 * (np.sum(p["w"] ** 2) + np.sum(np.abs(p["v"])))


def built(batch, threads=1, stop=None):
    problem = bl.FiniteSum(loss, DATA, regularizer=penalty, threads=threads)
    return bl.minimize(problem, X, bl.optim.Adam(1e-2), batch=batch, stop=stop or bl.Stop())


@pytest.mark.parametrize("batch", [1, 7, 64])
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_of_all_kernels_add_up_to_the_step(batch, threads):
    run = built(batch, threads)
    run.step(3)
    p = run.profile()
    assert sum(row.nanoseconds for row in p.rows) == p.total
    assert all(row.nanoseconds >= 0 for row in p.rows)
    kernels = run._engine.setup.executables
    assert len(kernels) == 1 if batch == 1 else len(kernels) >= 3  # loss (and what finishes it), regularizer, update
    assert len(p.rows) == sum(len(exe.plan.steps) for exe in kernels) + 1
    for phase in ("forward", "update", "residual"):
        assert p.nanoseconds(phase) > 0, phase
    # Reads x, g, m, v; writes x, m, v. A fused step stores no gradient of w.
    assert p.nbytes("update") >= (6 if batch == 1 else 7) * 8 * (12 * 8 + 8) - 64
    assert any(row.scope == "hidden" for row in p.rows)
    assert {event["cat"] for event in p.trace_events()} == {"call", *(row.phase for row in p.rows)} - {"residual"}


def test_the_run_stays_as_it_is():
    run, other = built(64), built(64)
    run.step(5)
    run.profile()
    assert run.t == 5
    run.step(5)
    other.step(10)
    for a, b in zip(run.x.values(), other.x.values(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_time_of_a_larger_batch_is_in_its_kernels():
    small, large = (built(batch).profile() for batch in (2, 100))
    kernels = [p.nanoseconds("forward") + p.nanoseconds("backward") for p in (small, large)]
    assert kernels[1] > 2 * kernels[0]
    assert large.nbytes("forward") > small.nbytes("forward")
    profiles = [large, *(built(100).profile() for _ in range(3))]
    alone, total = (min(getattr(p, name) for p in profiles) for name in ("alone", "total"))
    assert 0.3 * alone < total < 3 * alone + 20_000


def test_a_run_that_has_stopped_and_a_plain_function():
    run = built(8, stop=bl.Stop(steps=2))
    run.step(10)
    assert run.t == 2
    assert run.profile().total > 0
    rows = bl.minimize(bl.problems.booth(), np.zeros(2), bl.optim.GD(0.01)).profile().rows
    assert [row.phase for row in rows].count("update") >= 1


def test_a_run_that_rests_at_a_measured_row():
    """Its next step has a row already, and takes no time; a point that is not finite does not stop the measuring."""
    quartic = bl.FiniteSum(lambda x, a: np.sum((x - a) ** 4), np.linspace(-1, 1, 8)[:, None] * np.ones(4000))
    stops = {"when": bl.Stop(when=lambda rows: rows["step"] == 3), "value": bl.Stop(value=4e5), "non_finite": bl.Stop()}
    for reason, stop in stops.items():
        optimizer = bl.optim.GD(10.0 if reason == "non_finite" else 1e-4)
        with warnings.catch_warnings(category=RuntimeWarning, action="ignore"):  # of the last one
            run = bl.minimize(quartic, np.full(4000, 3.0), optimizer, stop=stop, steps=50)
        assert run.stopped is not None, reason
        assert run.stopped.reason == reason
        p = run.profile()
        assert p.alone > 0, reason
        assert all(row.nanoseconds >= 0 for row in p.rows), reason
        assert p.total > p.nanoseconds("update") > 0, reason


def test_a_run_over_pairs_that_rests_at_a_small_gradient():
    """Levenberg-Marquardt by the Schur complement: each measured step is done, of a fork with one more row."""
    i, j = np.divmod(np.arange(12), 4)
    target = (1.0 + i) * (2.0 + j) + 0.1 * np.cos(5 * i + j)
    problem = bl.Residuals(lambda a, b, y: a * b - y, (i, j, target), pairs=True)
    start = np.ones((3, 1)), np.ones((4, 1))
    stop = bl.Stop(grad_norm=1e-2, of="estimator")
    run = bl.minimize(problem, start, bl.optim.LevenbergMarquardt(), stop=stop, steps=50)
    assert run.stopped is not None
    assert (run.stopped.reason, run.length) == ("grad_norm", run.t + 1)
    p = run.profile()
    assert p.alone > 0
    assert p.total > p.nanoseconds("update") > 0
    assert all(row.nanoseconds >= 0 for row in p.rows)


def test_a_minimizer_of_scipy_has_no_step_of_its_own():
    run = bl.minimize(bl.problems.booth(), np.zeros(2), bl.optim.SciPy("BFGS"))
    with pytest.raises(StatusError, match=r"bl\.compile"):
        run.profile()
