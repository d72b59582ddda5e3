"""Norms of the record where their squares are beyond the range of floats: in every kind of step."""

import numpy as np
import pytest

import burlab as bl
from burlab.experiments import local_executor

SCALES = {np.float64: (1.0, 1e155, 1e160, 1e300, 1e-160, 1e-170, 1e-300), np.float32: (1.0, 1e20, 1e30, 1e-30)}


def problems(scale, dtype, d):
    """A plain function, which is one kernel with its rule; and samples, whose mean is taken first."""
    yield lambda x: dtype(scale) * np.sum(np.sin(x))
    yield bl.FiniteSum(lambda x, a: dtype(scale) * a * np.sum(np.sin(x)), np.array([0.5, 1.5], dtype))


@pytest.mark.parametrize("d", [1, 2, 3, 200])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_norms_of_long_and_short_gradients_and_steps(d, dtype):
    start = np.linspace(0.1, 1.0, d).astype(dtype)
    length = np.linalg.norm(np.cos(start.astype(np.float64)))
    for scale in SCALES[dtype]:
        for f in problems(scale, dtype, d):
            for lr in (0.1 / scale if 1e-30 < scale < 1e30 else 0.1, 1e-3):
                run = bl.minimize(f, start, bl.optim.GD(lr), stop=bl.Stop(non_finite=False), steps=1)
                row = run.at(0)
                np.testing.assert_allclose(row["gradient_norm"], length * scale, rtol=1e-5)
                before, after = start.astype(np.float64), run.x.astype(np.float64)
                if np.all(np.isfinite(after)) and lr * scale > 1e-6:
                    moved = np.hypot.reduce(after - before)
                    np.testing.assert_allclose(row["step_norm"], moved, rtol=1e-4)


@pytest.mark.parametrize("of", ["batch", "full"])
def test_a_run_stops_by_the_true_norm(of):
    for scale, limit in ((1e160, 1e158), (1e-170, 1e-172)):
        f = bl.FiniteSum(lambda x, a: scale * a * np.sum(x**2), np.ones(2))  # noqa: B023 - used within the loop
        stop = bl.Stop(grad_norm=limit, of=of, every=1)
        run = bl.minimize(f, np.ones(2), bl.optim.GD(0.25 / scale), stop=stop, steps=50)
        assert run.stopped.reason == "grad_norm"
        wanted = next(k for k in range(50) if 2 * np.sqrt(2) * scale * 0.5**k <= limit)
        assert run.t == wanted


def test_infinite_norm_stays_infinite():
    for f in (lambda x: 1e300 * np.sum(x**2), lambda x: np.sum(np.sqrt(x - 1.0))):
        with pytest.warns(RuntimeWarning, match="gradient norm inf"):
            run = bl.minimize(f, np.full(2, 1e200) if f(np.ones(2)) else np.ones(2), bl.optim.GD(0.1), steps=2)
        assert run.stopped.reason == "non_finite"


def test_a_point_without_a_gradient_has_the_norm_zero():
    run = bl.minimize(lambda x: np.sum(x**2), np.zeros(2), bl.optim.GD(0.1), steps=4)
    np.testing.assert_array_equal(run.history["gradient_norm"], 0.0)
    np.testing.assert_array_equal(run.history["step_norm"], 0.0)


def test_runs_of_a_sweep_have_the_norms_of_runs_alone(monkeypatch):
    """Steps of many runs in one kernel: where one of them leaves the range of squares, and where a gradient is 0."""
    monkeypatch.setattr(local_executor, "MIN_STEPS", 1)
    rates = [0.1, 1e-4, 0.3, 1e-7]
    f = lambda x: np.sum((x - 1) ** 2) + 1e-200 * x[0]  # noqa: E731
    for start in (np.zeros(2), np.ones(2), np.full(2, 1 + 1e-9)):
        found = bl.sweep(f, start, bl.optim.GD(), {"lr": rates}, steps=300, progress=False)
        for run, lr in zip(found.runs, rates, strict=True):
            alone = bl.minimize(f, start, bl.optim.GD(lr), steps=300)
            for name in ("gradient_norm", "step_norm"):
                np.testing.assert_array_equal(run.history[name], alone.history[name])
