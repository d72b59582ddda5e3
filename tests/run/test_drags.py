"""Drags of a slider: all values count, and the last stands for all of them in timelines."""

import numpy as np

import burlab as bl


def open_run(**more):
    return bl.minimize(lambda x: np.sum(x**2), np.array([1.0, -2.0]), bl.optim.Momentum(0.01), **more)


def dragged(run, *values, name="lr", steps=5):
    """Drag a slider while the run does steps."""
    for k, value in enumerate(values):
        run.hyper.drag(name, value, begins=k == 0)
        run.step(steps)


def seen(run):
    return [(event.step, event.name, event.value) for event in run.events if not event.passing]


def test_a_drag_is_one_event_and_each_of_its_values_counts():
    run = open_run(steps=10)
    dragged(run, 0.02, 0.03, 0.04)
    assert seen(run) == [(20, "lr", 0.04)]
    assert list(run.history["lr"]) == [0.01] * 10 + [0.02] * 5 + [0.03] * 5 + [0.04] * 5
    x = run.x
    run.seek(0)
    run.step(25)
    assert x.tobytes() == run.x.tobytes()


def test_drags_one_after_another_and_changes_between_stay_apart():
    run = open_run(steps=10)
    dragged(run, 0.02, 0.03)
    dragged(run, 0.5, 0.6, name="mu")
    dragged(run, 0.04, 0.05)
    run.hyper["lr"] = 0.06
    run.step(5)
    run.hyper["lr"] = 0.07
    assert seen(run) == [(15, "lr", 0.03), (25, "mu", 0.6), (35, "lr", 0.05), (40, "lr", 0.06), (45, "lr", 0.07)]


def test_of_changes_at_one_step_the_log_has_the_last():
    run = open_run(steps=10)
    run.hyper["lr"] = 0.02
    run.hyper["mu"] = 0.5
    run.hyper["lr"] = 0.03
    assert seen(run) == [(10, "lr", 0.03), (10, "mu", 0.5)]


def test_a_drag_in_the_past_is_one_branch():
    run = open_run(steps=100)
    run.seek(30)
    dragged(run, 0.02, 0.03, 0.04)
    assert (run.parent.length, run.parent.parent, run.parent.events) == (100, None, [])
    assert seen(run) == [(40, "lr", 0.04)]
    tree = bl.branches(run)
    assert [branch.message for branch in tree.tree] == ["the first run", "lr = 0.04 at step 40"]


def test_a_fork_within_a_drag_names_where_its_own_ended():
    run = open_run(steps=10)
    dragged(run, 0.02, 0.03)
    fork = run.fork()
    dragged(run, 0.04)
    assert seen(fork) == [(15, "lr", 0.03)]
    assert bl.branches(fork).tree[-1].changes == ()


def test_the_end_of_a_record_that_is_cut_forgets_its_drags():
    run = open_run(steps=10)
    dragged(run, 0.02, 0.03)
    dragged(run, 0.04, 0.05)
    run.seek(15)
    dragged(run, 0.06, 0.07)
    assert seen(run) == [(10, "lr", 0.02), (20, "lr", 0.07)]
    assert seen(run.parent) == [(15, "lr", 0.03), (25, "lr", 0.05)]
