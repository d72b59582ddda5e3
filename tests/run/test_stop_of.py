"""`Stop(grad_norm=, of=)`: the norm of the batch's gradient, of an estimate, or of the full gradient."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim import GD, SAGA, SVRG, Optimizer, ScheduleFreeSGD, SciPy
from tests.run.saved_cases import same

RNG = np.random.default_rng(5)
DATA = RNG.normal(size=(12, 2)), RNG.normal(size=12)


def loss(x: Any, a: Any, b: Any) -> Any:
    return (a @ x - b) ** 2


def ridge(x: Any) -> Any:
    return 0.1 * np.sum(x**2)


PROBLEM = bl.FiniteSum(loss, DATA, ridge)


def gradient(x: Any, rows: Any = slice(None)) -> Any:
    a, b = DATA[0][rows], DATA[1][rows]
    return 2 * a.T @ (a @ x - b) / len(b) + 0.2 * x


def points(run: bl.Run) -> list[Any]:
    """The points of all steps of a run."""
    found = []
    for t in range(run.t + 1):
        run.seek(t)
        found.append(run.x)
    return found


def test_the_full_gradient_stops_a_run_of_batches(tmp_path: Any) -> None:
    stop = bl.Stop(grad_norm=0.05, of="full", every=3)
    run = bl.minimize(PROBLEM, np.ones(2), SVRG(0.05, every=6), batch=2, stop=stop, seed=1)
    run.step(900)
    column, samples = run.history["full_gradient_norm"], run.history["samples"]
    stopped, norms = run.stopped, [np.linalg.norm(gradient(x)) for x in points(run)]
    due = np.arange(len(column)) % 3 == 0
    np.testing.assert_allclose(column[due], np.array(norms)[due], rtol=1e-12)
    assert np.isnan(column[~due]).all()
    assert stopped.reason == "grad_norm"
    assert stopped.message.startswith(f"Stopped at step {run.t}: the norm of the full gradient {column[-1]:.6g} is at")
    assert (np.array(norms)[due] <= 0.05).tolist() == [False] * (sum(due) - 1) + [True]
    t = np.arange(len(samples))
    np.testing.assert_array_equal(samples, 4 * (t + 1) + 12 * (t // 6 + 1) + 12 * (t // 3 + 1))
    run.save(tmp_path / "run.burlab")
    loaded, fork = bl.load_run(tmp_path / "run.burlab", DATA, stop=bl.Stop()), run.fork()
    for other in (run, loaded, fork):
        other.step(1)
    assert run.stopped is None
    assert run.t == loaded.t == fork.t
    run.seek(2)
    run.seek(run.length)
    same(loaded, run)
    again = bl.load_run(tmp_path / "run.burlab", DATA)
    again.step(99)
    assert (again.stopped.reason, again.t) == ("grad_norm", run.t + 2)


def test_an_estimate_and_its_breakpoint() -> None:
    """Estimated gradients of SVRG equal NumPy's; the batch's own norm stays in its column."""
    stop = bl.Stop(grad_norm=1e-3, of="estimator")
    order = RNG.integers(0, 12, (400, 1))
    run = bl.minimize(PROBLEM, np.ones(2), SVRG(0.05, every=6), sampler=order, stop=stop)
    number = run.breakpoints.add(grad_norm=0.5, of="estimator")
    run.step(400)
    assert run.stopped.message.startswith(f"Stopped at step 0 by breakpoint {number}: the norm of the estimate")
    run.breakpoints.remove(number)
    run.step(400)
    x, estimates = np.ones(2), []
    for t in range(run.length):
        if t % 6 == 0:
            w, whole = x, gradient(x)
        estimates.append(gradient(x, order[t]) - gradient(w, order[t]) + whole)
        x = x - 0.05 * estimates[-1]
    norms = np.linalg.norm(estimates, axis=1)
    np.testing.assert_allclose(run.history["estimator_norm"], norms, rtol=1e-9)
    assert run.stopped.reason == "grad_norm"
    assert (norms <= 1e-3).tolist() == [False] * run.t + [True]
    assert run.history["gradient_norm"][-1] > 0.1


def test_full_steps_have_it_for_nothing() -> None:
    stop = bl.Stop(grad_norm=0.1, of="full")
    run = bl.minimize(PROBLEM, np.ones(2), GD(0.1), stop=stop, steps=900)
    other = bl.minimize(PROBLEM, np.ones(2), GD(0.1), stop=bl.Stop(grad_norm=0.1), steps=900)
    assert "full_gradient_norm" not in run.history
    assert (run.t, run.counts) == (other.t, other.counts)
    scipy = bl.minimize(PROBLEM, np.ones(2), SciPy("BFGS"), stop=stop, steps=900)
    assert scipy.stopped.reason in ("grad_norm", "finished")


@dataclass(frozen=True)
class Shrink(Optimizer):
    """Reads no gradient."""

    def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
        return x * 0.5, state


def test_a_rule_without_gradients_and_one_with_another_point() -> None:
    run = bl.minimize(PROBLEM, np.ones(2), Shrink(), stop=bl.Stop(grad_norm=0.0, of="full", every=2), steps=3)
    np.testing.assert_allclose(
        run.history["full_gradient_norm"][::2], [np.linalg.norm(gradient(c)) for c in (np.ones(2), np.ones(2) / 4)]
    )
    assert run.history["samples"].tolist() == [12, 12, 24]
    averaged = ScheduleFreeSGD(0.1)
    run = bl.minimize(PROBLEM, np.ones(2), averaged, stop=bl.Stop(grad_norm=0.0, of="full", every=1), steps=4)
    np.testing.assert_allclose(
        run.history["full_gradient_norm"], [np.linalg.norm(gradient(x)) for x in points(run)[:4]], rtol=1e-12
    )


def test_invalid_stop_of_raises() -> None:
    with pytest.raises(ArgumentError, match=r"Stop.of must be one of 'batch', 'estimator', 'full'; got 'mean'"):
        bl.Stop(grad_norm=0.1, of="mean")
    with pytest.raises(ArgumentError, match=r"Stop.of='full' selects the norm of grad_norm"):
        bl.Stop(of="full")
    with pytest.raises(ArgumentError, match=r"grad_norm is of='estimator', but its optimizer reports no estimate"):
        bl.minimize(PROBLEM, np.ones(2), GD(0.1), stop=bl.Stop(grad_norm=0.1, of="estimator"))
    run = bl.minimize(PROBLEM, np.ones(2), SAGA(0.1), batch=1)
    with pytest.raises(ArgumentError, match=r"the run computes no full gradient: open it with stop=bl.Stop\("):
        run.breakpoints.add(grad_norm=0.1, of="full")
    with pytest.raises(ArgumentError, match=r"Stop.every"):
        bl.Stop(grad_norm=0.1, of="full", every=0)
    with pytest.raises(ArgumentError, match=r"of='estimator'"):
        bl.minimize(PROBLEM, np.ones(2), SciPy("BFGS"), stop=bl.Stop(grad_norm=0.1, of="estimator"))


def test_a_full_gradient_that_fails_is_named() -> None:
    def steep(x: Any, a: Any) -> Any:
        return np.sum(np.array([1.0, 2.0])[np.where(a > 2.0, np.int64(np.array(7)), np.int64(np.array(0)))] * x)

    problem = bl.FiniteSum(steep, np.arange(4.0))
    run = bl.minimize(
        problem, np.ones(1), Shrink(), sampler=np.zeros((3, 1), int), stop=bl.Stop(grad_norm=0.0, of="full")
    )
    with pytest.raises(bl.BurlabError) as caught:
        run.step(1)
    assert caught.value.__notes__[-1] == "In the full gradient that the run stops by."
