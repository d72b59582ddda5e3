"""Which run branched from which, by `fork` and by a change in the past."""

import gc

import numpy as np

import burlab as bl


def make(steps: int = 20) -> bl.Run:
    return bl.minimize(bl.problems.rosenbrock(), np.array([-1.2, 1.0]), bl.optim.Momentum(1e-4), steps=steps)


def test_a_fork_is_a_child_from_the_step_on_where_it_left():
    run = make()
    run.seek(7)
    first = run.fork(lr=2e-4)
    run.seek(12)
    second = run.fork()
    assert run.family.children == (first, second)
    assert [child.family.at for child in run.family.children] == [7, 12]
    assert first.parent is second.parent is run
    assert (run.parent, run.family.at) == (None, None)


def test_a_change_in_the_past_makes_the_run_a_child_of_its_old_record():
    run = make()
    run.seek(5)
    run.hyper["mu"] = 0.5
    old = run.parent
    assert old is not None
    assert old.family.children == (run,)
    assert (run.family.at, old.length, run.length) == (5, 20, 5)


def test_children_stay_with_the_record_that_they_left():
    run = make()
    child = run.fork(lr=2e-4)  # at step 20
    run.seek(5)
    run.hyper["mu"] = 0.5
    old = run.parent
    assert old is not None
    assert child.parent is old
    assert old.family.children == (child, run)
    assert run.family.children == ()


def test_a_change_in_the_past_of_a_child_puts_its_old_record_in_between():
    root = make()
    root.seek(10)
    child = root.fork()
    child.step(10)
    child.seek(15)
    child.hyper["lr"] = 1e-5
    between = child.parent
    assert between is not None
    assert between.parent is root
    assert root.family.children == (between,)
    assert (between.family.at, child.family.at) == (10, 15)


def test_a_parent_does_not_keep_its_children():
    run = make()
    child = run.fork()
    grandchild = child.fork()
    del child
    gc.collect()
    assert len(run.family.children) == 1, "a child holds its parents"
    del grandchild
    gc.collect()
    assert run.family.children == ()
