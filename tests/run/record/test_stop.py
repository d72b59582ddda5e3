"""When runs come to rest by themselves: where exactly, what is left behind, and how they go on."""

import gc
import subprocess
import sys
import threading
import time
import warnings
import weakref

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim import GD, Adam

START = np.array([3.0, -2.0])


def bowl(x):
    return np.sum(x**2 * np.array([1.0, 10.0]))


def minimize(stop=None, **more) -> bl.Run:
    return bl.minimize(bowl, START, GD(0.01), stop=stop or bl.Stop(non_finite=False), **more)


def rests_at(run: bl.Run, step: int, reason: str) -> None:
    """The run is at a step whose row is its last, as a run that never stopped passed through it."""
    assert (run.t, run.length, run.running) == (step, step + 1, False)
    assert run.stopped is not None
    assert (run.stopped.reason, run.stopped.step) == (reason, step)
    assert f"step {step}" in run.stopped.message
    straight = minimize(steps=step + 1)
    for name in ("value", "gradient_norm", "step_norm"):
        np.testing.assert_array_equal(run.history[name], straight.history[name])
    straight.seek(step)
    np.testing.assert_array_equal(run.x, straight.x)
    assert run.history["value"][-1] == pytest.approx(bowl(run.x), rel=1e-14)


def first(column: str, limit: float) -> int:
    """The first step whose row is at most the limit."""
    return int(np.argmax(minimize(steps=2000).history[column] <= limit))


@pytest.mark.parametrize(("criterion", "column"), [("grad_norm", "gradient_norm"), ("value", "value")])
@pytest.mark.parametrize("limit", [1.0, 1e-3, 1e-9])
def test_run_stops_at_the_measured_point(criterion, column, limit):
    step = first(column, limit)
    assert step > 0
    run = minimize(bl.Stop(**{criterion: limit}))
    run.step(5000)
    rests_at(run, step, criterion)
    exact = float(run.history[column][-1])
    again = minimize(bl.Stop(**{criterion: exact}))  # "at most": equality counts
    again.start()
    assert again.wait()
    rests_at(again, step, criterion)


def test_continuing_does_the_step_and_checks_again():
    run = minimize(bl.Stop(value=0.5), steps=5000)
    step = run.t
    run.step(1)
    assert (run.t, run.length, run.stopped) == (step + 1, step + 1, None)
    run.step(100)  # the next row meets it too
    rests_at(run, step + 1, "value")
    for _ in range(5):
        run.step(100)
    rests_at(run, step + 6, "value")
    run.seek(3)
    assert run.stopped is None
    run.step(step)  # no criterion is asked in the past
    assert (run.t, run.stopped) == (step + 3, None)
    run.seek(run.length)
    assert run.t == run.length == step + 7
    same = minimize(steps=step + 7)
    np.testing.assert_array_equal(run.x, same.x)
    np.testing.assert_array_equal(run.history["value"], same.history["value"])


def test_a_change_there_does_its_step_anew_and_forks_nothing():
    run = minimize(bl.Stop(value=0.5), steps=5000)
    step = run.t
    run.hyper["lr"] = 0.02
    assert [(e.step, e.value) for e in run.events] == [(step, 0.02)]
    assert (run.t, run.length, run.parent) == (step, step, None)
    run.step(1)  # the row is new, so it is asked about: the value is the same
    assert (run.t, run.length) == (step, step + 1)
    run.step(1)
    straight = minimize(steps=step)
    straight.hyper["lr"] = 0.02
    straight.step(1)
    np.testing.assert_array_equal(run.x, straight.x)
    np.testing.assert_array_equal(run.history["step_norm"], straight.history["step_norm"])


def test_a_fork_there_equals_its_parent():
    run = minimize(bl.Stop(value=0.5), steps=5000)
    fork, other = run.fork(), run.fork(lr=0.02)
    assert (fork.t, fork.length) == (run.t, run.length)
    assert (other.t, other.length, len(other.events)) == (run.t, run.t, 1)
    run.step(1)
    fork.step(1)
    np.testing.assert_array_equal(fork.x, run.x)
    assert fork.t == run.t == run.length == fork.length


@pytest.mark.parametrize("steps", [0, 1, 100])
def test_steps_in_all(steps):
    run = minimize(bl.Stop(steps=steps))
    run.step(1000)
    assert (run.t, run.length, run.stopped.reason) == (steps, steps, "steps")
    run.step(1)
    run.start()
    assert run.wait()
    assert (run.t, run.length, run.stopped.reason) == (steps, steps, "steps")
    if steps:
        run.seek(0)
        run.step(steps + 5)
        assert (run.t, run.length, run.stopped.reason) == (steps, steps, "steps")


def test_seconds_of_running():
    run = minimize(bl.Stop(seconds=0.2))
    before = time.perf_counter_ns()
    run.start()
    time.sleep(0.01)
    run.pause()
    time.sleep(0.2)  # does not count
    run.start()
    assert run.wait(60)
    assert run.stopped.reason == "seconds"
    assert run.t == run.length
    assert 0.2e9 <= run.history["time"][-1] <= time.perf_counter_ns() - before - 0.2e9
    run.step(10)
    assert (run.t, run.stopped.reason) == (run.length, "seconds")
    run.seek(10)
    run.step(50)  # the past costs no time
    assert (run.t, run.stopped) == (60, None)


def test_numbers_that_blow_up_stop_a_run_and_warn():
    run = bl.minimize(lambda x: np.sum(x**4), np.array([1e3]), GD(1.0))
    with pytest.warns(RuntimeWarning, match="Stopped at step") as caught:
        run.step(1000)
    assert caught[0].filename == __file__
    assert run.stopped.reason == "non_finite"
    row = run.at(run.t)
    assert not np.isfinite(row["value"]) or not np.isfinite(row["gradient_norm"])
    before = run.at(run.t - 1)
    assert np.isfinite([before["value"], before["gradient_norm"]]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run.seek(0)
        run.start(2)
        assert run.wait()


def test_the_first_criterion_counts():
    run = minimize(bl.Stop(steps=10, value=1e-3, grad_norm=1e-9, seconds=100))
    run.step(5000)
    assert (run.t, run.stopped.reason) == (10, "steps")
    later = minimize(bl.Stop(steps=4000, value=1e-3, grad_norm=1e-9, seconds=100))
    later.step(5000)
    rests_at(later, first("value", 1e-3), "value")


# Predicates


@pytest.mark.parametrize("limit", [1.0, 1e-3, 1e-9])
@pytest.mark.parametrize("more", [{}, {"history_bytes": 4000}], ids=["", "merged"])
def test_a_predicate_holds_at_an_exact_step(limit, more):
    step = first("value", limit)
    waiting = minimize(bl.Stop(when=lambda rows: rows["value"] <= limit), **more)
    waiting.step(200_000)
    assert (waiting.t, waiting.length, waiting.stopped.reason) == (step, step + 1, "when")
    background = minimize(bl.Stop(when=lambda rows: rows["value"] <= limit), **more)
    background.start()
    deadline = time.monotonic() + 120
    while background.running and time.monotonic() < deadline:
        time.sleep(0.001)
    assert (background.t, background.length, background.stopped.reason) == (step, step + 1, "when")
    straight = minimize(steps=step)
    np.testing.assert_array_equal(waiting.x, straight.x)
    np.testing.assert_array_equal(background.x, straight.x)
    if not more:
        rests_at(waiting, step, "when")
    waiting.step(1)
    assert (waiting.t, waiting.length, waiting.stopped) == (step + 1, step + 1, None)
    waiting.step(1)
    assert (waiting.t, waiting.stopped.reason) == (step + 1, "when")


def test_a_predicate_sees_every_row_once_with_all_columns():
    seen = []

    def never(rows):
        seen.append({name: rows[name].copy() for name in rows})
        return np.zeros(len(rows["step"]), bool)

    run = bl.minimize(bowl, START, Adam(0.01), stop=bl.Stop(when=never))
    run.step(100)
    run.hyper["lr"] = 0.1
    run.start(400_000)
    assert run.wait()
    run.seek(1000)
    run.step(500_000)
    history = run.history
    assert len(seen) > 5
    for name in seen[0]:
        np.testing.assert_array_equal(np.concatenate([rows[name] for rows in seen]), history[name])
    assert set(seen[0]) == set(history) - {"time"}
    with pytest.raises(KeyError, match="the column must be one of"):
        seen[0]["loss"] if "loss" in seen[0] else run.history["loss"]


def test_a_predicate_and_a_criterion():
    run = minimize(bl.Stop(value=0.5, when=lambda rows: rows["value"] <= 0.7))
    run.step(5000)
    assert (run.t, run.stopped.reason) == (first("value", 0.7), "when")
    run = minimize(bl.Stop(value=0.7, when=lambda rows: rows["value"] <= 0.5))
    run.step(5000)
    rests_at(run, first("value", 0.7), "value")


def test_a_change_after_the_hit_is_forgotten_with_all_that_came_after():
    step = first("value", 1.0)
    run = minimize(bl.Stop(when=lambda rows: rows["value"] <= 1.0))
    run.start()
    for k in range(20):
        run.hyper["lr"] = 0.01 + 1e-9 * (run.t > step) * (k + 1)
    assert run.wait()
    assert [event for event in run.events if event.step > step] == []
    assert run.t == step


@pytest.mark.parametrize(
    ("when", "error", "message"),
    [
        (lambda rows: rows["value"], ArgumentError, "float64 of shape"),
        (lambda rows: rows["value"].min() < 0, ArgumentError, r"bool of shape \(\)"),
        (lambda rows: None, ArgumentError, "Compare a column"),
        (lambda rows: rows["loss"] < 0, KeyError, "got 'loss'"),
        (lambda rows: 1 / 0, ZeroDivisionError, "division"),
        (lambda rows: np.tile(rows["value"], 2) < 1 and True, ArgumentError, "write & | ~ for and, or, not"),
    ],
)
def test_a_predicate_that_fails(when, error, message):
    run = minimize(bl.Stop(when=when))
    with pytest.raises(error, match=message):
        run.step(100)
    with pytest.raises(error, match=message):
        run.step(100)
    background = minimize(bl.Stop(when=when))
    background.start()
    deadline = time.monotonic() + 120
    while background.running and time.monotonic() < deadline:
        time.sleep(0.001)
    assert not background.running
    with pytest.raises(error, match=message):
        background.wait()


def test_forks_and_branches_have_the_predicate_too():
    run = minimize(bl.Stop(when=lambda rows: rows["value"] <= 1.0))
    run.step(5)
    fork = run.fork(lr=0.02)
    fork.step(5000)
    assert fork.stopped.reason == "when"
    values = fork.history["value"]
    assert values[-1] <= 1.0 < values[:-1].min()
    run.step(10)
    run.seek(3)
    run.hyper["lr"] = 0.03
    run.step(5000)
    values = run.history["value"]
    assert values[-1] <= 1.0 < values[:-1].min()
    run.parent.step(5000)
    assert run.parent.t == first("value", 1.0)


def watchers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "burlab-observer"}


def test_the_thread_of_a_predicate_ends_with_its_run():
    others = watchers()
    run = minimize(bl.Stop(when=lambda rows: rows["value"] < 0))
    run.start()
    while run.t == 0:
        time.sleep(0.01)
    own = watchers() - others
    assert own
    witness = weakref.ref(run)
    del run
    gc.collect()
    assert witness() is None
    for thread in own:
        thread.join(120)
        assert not thread.is_alive()


PROGRAM = """
import sys, threading, time
import numpy as np, burlab as bl
run = bl.minimize(lambda x: np.sum(x ** 2), np.ones(2), bl.optim.GD(1e-9),
                  stop=bl.Stop(when=lambda rows: rows["value"] < 0))
run.start()
while run.t == 0:
    time.sleep(0.01)
assert "burlab-observer" in [thread.name for thread in threading.enumerate()]
"""


@pytest.mark.parametrize(
    "end",
    ["", "sys.exit(0)", "threading.Thread(target=sys.exit).start()"],
)
def test_the_thread_of_a_predicate_ends_with_the_interpreter(end):
    command = [sys.executable, "-c", PROGRAM + end]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("steps", -1), ("steps", 1.5), ("seconds", -1.0), ("value", "low"), ("grad_norm", float("nan")), ("when", 3)],
)
def test_invalid_criterion_raises(name, wrong):
    with pytest.raises(ArgumentError, match=f"Stop.{name}"):
        bl.Stop(**{name: wrong})


def test_stop_must_be_a_stop():
    with pytest.raises(ArgumentError, match="expected a bl"):
        bl.minimize(bowl, START, GD(0.01), stop=100)


@pytest.mark.parametrize("rule", [GD(0.1), bl.optim.LBFGS(), bl.optim.SciPy("L-BFGS-B")])
@pytest.mark.parametrize("f", [lambda x: np.sum(np.sqrt(x - 5.0)), lambda x: np.sum(np.sqrt(x - 3.0))])
def test_nonfinite_start_is_not_blamed_on_step_sizes(rule, f):
    with pytest.warns(RuntimeWarning, match="at the start"):
        run = bl.minimize(f, np.full(2, 3.0), rule, steps=5)
    assert (run.t, run.stopped.reason) == (0, "non_finite")
    assert "smaller steps" not in run.stopped.message
