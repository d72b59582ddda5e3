"""Runs of SciPy's minimizers steered like any other run, and what goes wrong in them."""

import time

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, IndexRangeError, StatusError
from tests.optim.curvature_cases import himmelblau, rosenbrock
from tests.run.scipy.losses import SLOW, at_its_first_evaluation, long, slow
from tests.run.scipy.test_scipy import START, direct


def test_steps_and_pauses_change_nothing():
    result, seen = direct("CG")
    run = bl.minimize(rosenbrock, START, bl.optim.SciPy("CG"))
    assert (run.t, run.length, run.running) == (0, 0, False)
    for t in range(1, 8):
        run.step()
        assert run.t == run.length == t
        np.testing.assert_array_equal(run.x, seen[t])
    run.start(steps=4)
    assert run.wait()
    assert run.t == 11
    run.start()
    assert run.wait(120)
    np.testing.assert_array_equal(run.x, result.x)


def test_pause_in_the_middle_of_an_evaluation():
    run = bl.minimize(bl.FiniteSum(long, SLOW), np.ones(8), bl.optim.SciPy("BFGS"))
    for _ in range(3):
        run.start()
        time.sleep(0.1)
        run.pause()
        assert not run.running
        assert at_its_first_evaluation(run)
    run = bl.minimize(bl.FiniteSum(slow, SLOW), np.ones(8), bl.optim.SciPy("BFGS"))
    run.start()
    for _ in range(3):
        time.sleep(0.1)
        run.pause()
        assert not run.running
        done, elapsed = run.t, run.history["time"]
        time.sleep(0.2)
        assert run.t == done
        run.start()
        assert elapsed.size <= done
    run.pause()


def test_seek_shows_and_goes_on_from_the_newest_only():
    result, seen = direct("BFGS")
    run = bl.minimize(rosenbrock, START, bl.optim.SciPy("BFGS"), steps=20)
    run.seek(6)
    assert (run.t, run.length) == (6, 20)
    np.testing.assert_array_equal(run.x, seen[6])
    for move in (run.step, run.start):
        with pytest.raises(StatusError, match=r"cannot go on from there.*run\.fork\(\).*run\.seek\(20\)"):
            move()
    run.seek(20)
    run.step(1000)
    np.testing.assert_array_equal(run.x, result.x)
    with pytest.raises(ArgumentError):
        run.seek(run.length + 1)


def test_fork_starts_anew_from_the_point_shown():
    run = bl.minimize(himmelblau, np.array([0.1, 0.3]), bl.optim.SciPy("CG"), steps=8)
    before = {name: run.history[name] for name in ("value", "gradient_norm", "step_norm", "samples", "time")}
    run.seek(5)
    other = run.fork()
    assert (other.t, other.length, other.parent) == (5, 5, run)
    np.testing.assert_array_equal(other.x, run.x)
    other.step(1000)
    result, seen = direct("CG", himmelblau, run.x)
    np.testing.assert_array_equal(other.x, result.x)
    assert other.t == 5 + len(seen) - 1
    for name, column in before.items():
        np.testing.assert_array_equal(other.history[name][:5], column[:5])
    assert np.all(np.diff(other.history["time"]) >= 0)
    assert np.all(np.diff(other.history["samples"]) >= 0)
    other.seek(2)
    run.seek(2)
    np.testing.assert_array_equal(other.x, run.x)
    run.seek(8)
    run.step(1000)
    np.testing.assert_array_equal(run.x, direct("CG", himmelblau, np.array([0.1, 0.3]))[0].x)


def test_no_live_fields():
    run = bl.minimize(rosenbrock, START, bl.optim.SciPy())
    assert run.hyper.keys() == ()
    assert run.events == []
    with pytest.raises(ArgumentError, match="no live field"):
        run.hyper["lr"] = 1.0


def test_scipy_runs_stop_by_criteria():
    _, seen = direct("BFGS")
    norms = [np.linalg.norm(bl.grad(rosenbrock)(x)) for x in seen]
    values = [rosenbrock(x) for x in seen]
    for stop, hit, reason in (
        (bl.Stop(grad_norm=1.0), next(k for k, v in enumerate(norms) if v <= 1.0), "grad_norm"),
        (bl.Stop(value=1.0), next(k for k, v in enumerate(values) if v <= 1.0), "value"),
        (bl.Stop(value=1e9), 0, "value"),
        (bl.Stop(steps=4), 4, "steps"),
    ):
        run = bl.minimize(rosenbrock, START, bl.optim.SciPy("BFGS"), stop=stop, steps=1000)
        assert (run.t, run.stopped.reason, run.stopped.step) == (hit, reason, hit)
        assert run.length == hit + (reason != "steps")
        np.testing.assert_array_equal(run.x, seen[hit])
        if reason != "steps":
            assert run.history["value"][-1] == values[hit]
            run.step(1)
            assert run.t == hit + 1
            assert run.history["step_norm"][hit] == np.linalg.norm(seen[hit + 1] - seen[hit])
    timed = bl.minimize(bl.FiniteSum(long, SLOW), np.ones(8), bl.optim.SciPy(), stop=bl.Stop(seconds=0.2))
    timed.step(10**6)
    assert timed.stopped.reason == "seconds"
    assert at_its_first_evaluation(timed)


def test_numbers_that_blow_up():
    f = lambda x: np.log(x[0]) + x[0] ** 2  # noqa: E731 - as a user writes it
    with pytest.warns(RuntimeWarning, match="nan"):
        run = bl.minimize(f, np.array([-1.0]), bl.optim.SciPy("Nelder-Mead"), steps=10)
    assert run.stopped.reason == "non_finite"
    assert run.t == 0


def test_memory_path_and_dropped_points():
    run = bl.minimize(himmelblau, np.zeros(2), bl.optim.SciPy("Nelder-Mead"), steps=30, keyframe_bytes=160)
    memory = run.memory
    assert memory["total"] == memory["peak"] == sum(v for k, v in memory.items() if k not in ("total", "peak"))
    assert memory["history"] > 0
    assert 0 < memory["keyframes"] <= 160
    run.seek(16)
    with pytest.raises(ArgumentError, match=r"step 17 was not kept.*every 4-th"):
        run.seek(17)
    assert run.t == 16
    run.seek(30)
    whole = bl.minimize(himmelblau, np.zeros(2), bl.optim.SciPy("Nelder-Mead"), steps=30)
    np.testing.assert_array_equal(run.x, whole.x)


# ---- what goes wrong


def test_failing_kernel_is_called_again():
    """An index that leaves its axis: the error is raised as often as the step is tried."""
    table = np.arange(4.0)
    f = lambda x: bl.asarray(table)[(x[0] * 10).astype(np.int64)] + x[0] ** 2  # noqa: E731 - as a user writes it
    run = bl.minimize(f, np.array([0.35]), bl.optim.SciPy("Nelder-Mead", options={"initial_simplex": [[0.3], [0.9]]}))
    for _ in range(2):
        with pytest.raises(IndexRangeError):
            run.step(3)
        assert run.stopped.reason == "error"
        assert run.t == 0


def test_errors_of_scipy_are_raised():
    wrong = {"type": "ineq", "fun": lambda x: x[7]}
    run = bl.minimize(rosenbrock, START, bl.optim.SciPy("SLSQP", constraints=wrong))
    for _ in range(2):
        with pytest.raises(IndexError):
            run.step()
    with pytest.raises(ArgumentError, match="bounds of SciPy hold 2 pairs"):  # which is known before it is called
        bl.minimize(rosenbrock, START, bl.optim.SciPy(bounds=[(0, 1), (0, 1)]))


def test_scipy_run_continues_after_an_error():
    calls = []

    def flaky(x):
        calls.append(x)
        if len(calls) == 9:
            raise RuntimeError("a cable was loose")
        return 2 - x[0]

    run = bl.minimize(rosenbrock, START, bl.optim.SciPy("SLSQP", constraints={"type": "ineq", "fun": flaky}))
    with pytest.raises(RuntimeError, match="cable"):
        run.step(100)
    reached = run.t
    run.step(100)
    assert run.stopped.reason == "finished"
    assert run.t > reached
    np.testing.assert_allclose(run.x, 1, atol=1e-2)


def test_untraceable_problem_raises_at_once():
    with pytest.raises(bl.BurlabError):
        bl.minimize(lambda x: float(x[0]), START, bl.optim.SciPy())


@pytest.mark.parametrize("method", ["COBYLA", "TNC", "SLSQP", "L-BFGS-B"])
def test_two_runs_at_once(method):
    one, other = (bl.minimize(rosenbrock, START, bl.optim.SciPy(method)) for _ in range(2))
    for run in (one, other, one):
        run.step(2)
    assert (one.t, other.t) == (4, 2)
    one.start()
    other.start()
    assert one.wait(60)
    assert other.wait(60)
    np.testing.assert_array_equal(one.x, other.x)
    np.testing.assert_array_equal(one.x, direct(method)[0].x)


def test_a_predicate_stops_at_its_first_row_and_lets_go_on():
    result, seen = direct("BFGS")
    hits = [k for k, x in enumerate(seen[:-1]) if rosenbrock(x) < 1.0 and k % 2]
    stop = bl.Stop(when=lambda rows: (rows["value"] < 1.0) & (rows["step"] % 2 == 1))
    run = bl.minimize(rosenbrock, START, bl.optim.SciPy("BFGS"), stop=stop)
    for hit in hits[:3]:
        run.step(1000)
        assert (run.t, run.length, run.stopped.reason) == (hit, hit + 1, "when")
        np.testing.assert_array_equal(run.x, seen[hit])
    run.step(1)
    assert run.t == hits[2] + 1
    for _ in hits[3:]:
        run.step(1000)
    run.step(1000)
    np.testing.assert_array_equal(run.x, result.x)
    wrong = bl.minimize(rosenbrock, START, bl.optim.SciPy(), stop=bl.Stop(when=lambda rows: "yes"))
    with pytest.raises(ArgumentError, match="predicate"):
        wrong.step(10)


def test_a_run_of_scipy_is_not_saved(tmp_path):
    run = bl.minimize(rosenbrock, START, bl.optim.SciPy(), steps=3)
    with pytest.raises(bl.BurlabError, match="SciPy"):
        run.save(tmp_path / "a.burlab")
