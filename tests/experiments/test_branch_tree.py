"""The tree of branches knows its runs, what each changed, and what came of it."""

import gc

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError

F = bl.problems.rosenbrock()


def make(steps: int = 100) -> bl.Run:
    return bl.minimize(F, F.start, bl.optim.Momentum(1e-4, mu=0.9), steps=steps)


def test_forks_and_changes_in_the_past_are_branches():
    run = make()
    first = run.fork(lr=2e-4)
    run.seek(40)
    second = run.fork()
    run.hyper["mu"] = 0.5
    run.step(10)
    run.hyper["lr"] = 1e-5
    run.step(10)
    second.step(5)
    tree = bl.branches(run).tree
    assert [(b.name, b.parent, b.at, b.depth, b.message) for b in tree] == [
        ("A", "", None, 0, "the first run"),
        ("B", "A", 100, 1, "lr = 0.0002"),
        ("C", "A", 40, 1, "nothing changed"),
        ("D", "A", 40, 1, "mu = 0.5, lr = 1e-05 at step 50"),
    ]
    assert [b.run for b in tree] == [run.parent, first, second, run]
    assert [(b.step, b.length) for b in tree] == [(40, 100), (100, 100), (45, 45), (60, 60)]


def test_a_branch_knows_its_value_and_what_it_cost():
    run = make(60)
    (branch,) = bl.branches(run).tree
    assert branch.value == run.value
    assert branch.gradients == run.history["samples"][-1] == 60
    assert branch.seconds == pytest.approx(run.history["time"][-1] * 1e-9)


def test_any_run_of_the_tree_shows_all_of_it():
    run = make()
    child = run.fork(lr=2e-4)
    grandchild = child.fork(mu=0.5)
    assert [b.run for b in bl.branches(grandchild).tree] == [run, child, grandchild]


def test_a_fork_in_the_past_leaves_the_branch_where_it_is():
    run = make()
    tree = bl.branches(run)
    x = run.x
    branch = tree.fork("A", at=30, mu=0.5)
    assert run.t == 100
    assert np.array_equal(run.x, x)
    assert (branch.at, branch.step, branch.length) == (30, 30, 30)
    alone = bl.minimize(F, F.start, bl.optim.Momentum(1e-4, mu=0.9), steps=30)
    alone.hyper["mu"] = 0.5
    alone.step(20)
    branch.run.step(20)
    assert np.array_equal(branch.run.x, alone.x)


def test_forks_of_a_tree_and_their_names_stay():
    run = make()
    tree = bl.branches(run)
    tree.fork("A", mu=0.5)
    passing = run.fork()
    assert [b.name for b in tree.tree] == ["A", "B", "C"]
    del passing
    gc.collect()
    tree.fork("A", mu=0.6)
    assert [b.name for b in tree.tree] == ["A", "B", "D"]
    assert tree["D"].hyper["mu"] == 0.6


def test_the_chart_draws_each_from_where_it_left():
    run = make()
    tree = bl.branches(run)
    tree.fork("A", at=30, mu=0.5)
    tree["B"].step(50)
    plot, ground = tree.chart().parts
    curves = {curve.label: curve for curve in plot.curves}
    assert (curves["A"].x[0], curves["A"].x[-1]) == (0, 100)
    assert (curves["B"].x[0], curves["B"].x[-1]) == (30, 80)
    assert np.array_equal(curves["B"].y, [*tree["B"].history["value"][30:], tree["B"].value])
    assert {curve.label for curve in ground.curves} == {"A", "B"}
    (alone,) = tree.chart(["B"]).parts[0].curves
    assert alone.x[0] == 0, "without its parent all of it is drawn"
    assert tree.chart(against="gradients").parts[0].curves[1].x[0] == 31


def test_tree_grows_with_its_runs():
    run = make()
    tree = bl.branches(run)
    assert tree.chart().parts[0].curves[0].x.size == 101
    run.step(20)
    assert tree.chart().parts[0].curves[0].x.size == 121
    assert tree.tree[0].length == 120


@pytest.mark.parametrize(
    ("do", "message"),
    [
        (lambda run: bl.branches(F), "expected a run, such as bl.minimize returns; got a TestFunction"),
        (lambda run: bl.branches(run).fork("Z"), "the branch must be one of A; got 'Z'"),
        (lambda run: bl.branches(run).fork("A", at=101), "at=101 is not a whole number from 0 to 100"),
        (lambda run: bl.branches(run).fork("A", momentum=0.5), "no live field 'momentum'; it has lr, mu"),
        (lambda run: bl.branches(run).chart(["A", "Q"]), "the branch must be one of A; got 'Q'"),
        (lambda run: bl.branches(run).chart(against="bytes"), "against must be one of .*; got 'bytes'"),
    ],
)
def test_branches_with_wrong_arguments_raise(do, message):
    with pytest.raises(ArgumentError, match=message):
        do(make())


def test_a_run_that_began_again_says_where():
    run = make(60)
    run.restart(np.array([0.5, -2.0]))
    run.step(30)
    run.seek(10)
    run.hyper["mu"] = 0.5
    run.step(5)
    tree = bl.branches(run).tree
    assert [(b.name, b.parent, b.at, b.message) for b in tree] == [
        ("A", "", None, "the first run"),
        ("B", "A", 0, "x0 = (0.5, -2)"),
        ("C", "B", 10, "mu = 0.5"),
    ]
    assert "B from step 0: x0 = (0.5, -2), 30 steps" in repr(bl.branches(run))


def test_of_a_long_start_the_first_numbers_are_said():
    run = bl.minimize(
        lambda x: np.sum(x["w"] ** 2) + np.sum(x["b"] ** 2),
        {"b": np.ones(2), "w": np.ones(4_000)},
        bl.optim.GD(0.1),
        steps=3,
    )
    run.restart({"b": np.zeros(2), "w": np.full(4_000, 2.0)})
    assert bl.branches(run).tree[-1].message == "x0 = (0, 0, 2, ... 4,002 numbers)"


def test_a_landscape_of_a_run_is_no_branch(monkeypatch):
    run = make(60)
    seen = []
    seek = bl.Run.seek

    def look(other, step):
        seen.append(len(bl.branches(run).tree))
        seek(other, step)

    monkeypatch.setattr(bl.Run, "seek", look)
    bl.analysis.landscape(run, plane="path")
    assert set(seen) == {1}
    assert len(bl.branches(run).tree) == 1
