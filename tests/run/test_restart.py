"""A run begins again at another point: the bits are those of a new run, and what was there stays."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ShapeError, StatusError

F = bl.problems.rosenbrock()
ELSEWHERE = np.array([0.5, 2.0])
RULES = [bl.optim.GD(1e-3), bl.optim.Adam(1e-2), bl.optim.AMSGrad(1e-2), bl.optim.LBFGS(), bl.optim.SciPy("BFGS")]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_bits_are_those_of_a_run_that_began_there(rule):
    run = bl.minimize(F, F.start, rule, steps=20)
    before = run.x
    run.restart(ELSEWHERE)
    assert (run.t, run.length) == (0, 0)
    run.step(15)
    assert run.x.tobytes() == bl.minimize(F, ELSEWHERE, rule, steps=15).x.tobytes()
    assert run.parent.x.tobytes() == before.tobytes()
    assert run.path[1][0].tolist() == ELSEWHERE.tolist()


def test_changed_hyperparameters_stay_and_schedules_are_followed_again():
    run = bl.minimize(F, F.start, bl.optim.Momentum(lambda t: 1e-3 / (1 + t), mu=0.9), steps=5)
    run.hyper["mu"] = 0.5
    run.restart(ELSEWHERE)
    assert run.hyper["mu"] == 0.5
    assert run.hyper.follows("lr")
    assert run.hyper["lr"] == 1e-3


def test_batches_are_the_same_again():
    problem = bl.FiniteSum(lambda x, a: np.sum((x - a) ** 2), np.arange(20.0))
    run = bl.minimize(problem, np.zeros(1), bl.optim.GD(0.1), batch=3, seed=5, steps=7)
    run.restart(np.zeros(1))
    run.step(7)
    assert run.x.tobytes() == run.parent.x.tobytes()


def test_breakpoints_and_criteria_hold_again():
    run = bl.minimize(F, F.start, bl.optim.GD(1e-3), stop=bl.Stop(steps=10))
    run.breakpoints.add(every=4)
    run.step(3)
    run.restart(ELSEWHERE)
    run.step(100)
    assert (run.t, run.stopped.reason) == (4, "breakpoint")
    run.step(100)
    run.step(100)
    assert (run.t, run.stopped.reason) == (10, "steps")


def test_a_run_that_plays_rests_at_the_new_start():
    run = bl.minimize(F, F.start, bl.optim.GD(1e-4))
    run.start()
    run.restart(ELSEWHERE)
    assert not run.running
    assert run.t == 0


def test_relatives_stay():
    run = bl.minimize(F, F.start, bl.optim.GD(1e-3), steps=5)
    fork = run.fork(lr=1e-4)
    run.restart(ELSEWHERE)
    assert fork.parent is run.parent
    assert run.parent.family.children == (fork, run)
    assert run.family.at == 0


def test_another_form_is_refused_and_changes_nothing():
    run = bl.minimize(lambda x: np.sum(x**4), np.ones(2), bl.optim.GD(1e-3), steps=5)
    x = run.x
    with pytest.raises(ShapeError, match=r"shapes \[\(3,\)\], but the run has \[\(2,\)\]"):
        run.restart(np.zeros(3))
    assert run.t == 5
    assert run.x.tobytes() == x.tobytes()
    assert run.parent is None


def test_a_loaded_run_and_a_stopped_one_are_refused(tmp_path):
    run = bl.minimize(F, F.start, bl.optim.GD(1e-3), steps=5)
    run.save(tmp_path / "run.burlab")
    loaded = bl.load_run(tmp_path / "run.burlab")
    assert not loaded.can_restart
    with pytest.raises(StatusError, match="loaded run"):
        loaded.restart(ELSEWHERE)
    run.stop()
    with pytest.raises(StatusError, match="stopped for good"):
        run.restart(ELSEWHERE)


def test_curves_of_a_race_follow_a_racer_that_began_again():
    race = bl.race(F, F.start, {"a": bl.optim.GD(1e-3), "b": bl.optim.GD(1e-4)}, steps=30)
    race.read()
    race.runs["a"][0].restart(ELSEWHERE)
    race.runs["a"][0].step(3)
    rows = {row.name: row for row in race.standings()}
    assert rows["a"].step == 3
    race.restart(ELSEWHERE)
    assert race.t == 0
