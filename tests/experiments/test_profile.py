"""Performance profiles against a table worked out by another formula, and over real runs."""

from bisect import bisect_right
from fractions import Fraction

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.experiments.solver_profile import PerformanceProfile, costs

# What three solvers spent on five problems; None: not solved.
TABLE: dict[str, list[int | None]] = {
    "a": [2, 10, 6, None, 4],
    "b": [4, 5, 6, 9, None],
    "c": [3, None, 12, 27, None],
}
PROBLEMS = ("p", "q", "r", "s", "t")


def profile() -> PerformanceProfile:
    cost = np.array([[np.inf if c is None else float(c) for c in row] for row in TABLE.values()])
    return PerformanceProfile(tuple(TABLE), PROBLEMS, cost, "gradients", 1e-3)


def share(solver: str, factor: Fraction) -> Fraction:
    """The share by exact arithmetic: problems whose cost is at most `factor` times the least of the column."""
    count = 0
    for k in range(len(PROBLEMS)):
        least = min(row[k] for row in TABLE.values() if row[k] is not None)  # type: ignore[type-var]
        cost = TABLE[solver][k]
        count += cost is not None and Fraction(cost) <= factor * least  # type: ignore[operator]
    return Fraction(count, len(PROBLEMS))


@pytest.mark.parametrize("solver", TABLE)
def test_shares_are_those_of_the_table(solver: str):
    for quarters in range(4, 20):
        factor = Fraction(quarters, 4)
        assert profile().share(solver, float(factor)) == pytest.approx(float(share(solver, factor)))


def test_the_chart_is_the_same_staircase():
    for curve in profile().chart().parts[0].curves:
        for factor in (1.0, 1.25, 1.6, 2.1, 2.9, 3.0):
            height = curve.y[bisect_right(curve.x.tolist(), factor) - 1]
            assert height == pytest.approx(float(share(curve.label, Fraction(factor))))
        assert (np.diff(curve.x) >= 0).all()


def test_a_problem_that_nobody_solves_counts_for_nobody():
    none = PerformanceProfile(("a", "b"), ("p", "q"), np.array([[1.0, np.inf], [2.0, np.inf]]), "steps", 1e-3)
    assert [none.share("a", np.inf), none.share("b", np.inf), none.share("b")] == [0.5, 0.5, 0.0]


def test_costs_are_read_off_where_the_value_is_low_enough():
    spent = np.array([10.0, 20.0, 30.0, 40.0])
    slow, fast = np.array([100.0, 60.0, 11.0, 1.0]), np.array([100.0, 9.9, 5.0, 0.0])
    wild = np.array([100.0, np.inf])
    found = costs([(slow, spent), (fast, spent), (wild, spent[:2]), (np.empty(0), np.empty(0))], tau=0.1)
    assert found.tolist() == [40.0, 20.0, np.inf, np.inf]


def test_profile_of_real_runs_equals_their_records():
    solvers = {"gd": bl.optim.GD(1e-3), "wild": bl.optim.GD(10.0), "bfgs": bl.optim.SciPy("BFGS")}
    problems = [bl.problems.booth(), bl.problems.rosenbrock()]
    found = bl.performance_profile(solvers, problems, measure="steps", tau=1e-2, steps=400)
    gd = bl.minimize(problems[0], problems[0].start, solvers["gd"], steps=400).history["value"]
    assert found.cost[0, 0] == np.argmax(gd <= 1e-2 * gd[0]) + 1
    assert np.isinf(found.cost[1]).all()
    assert found.share("bfgs") == 1.0
    assert found.problems == ("booth", "rosenbrock")


def test_costs_may_be_floating_point_operations():
    problem, rules = bl.problems.booth(), {"gd": bl.optim.GD(1e-2), "adam": bl.optim.Adam(0.1)}
    found = bl.performance_profile(rules, [problem], measure="flops", tau=1e-2, steps=400)
    runs = [bl.minimize(problem, problem.start, rule, steps=400).history for rule in rules.values()]
    least = min(run["value"].min() for run in runs)
    for cost, run in zip(found.cost[:, 0], runs, strict=True):
        solved = run["value"] - least <= 1e-2 * (run["value"][0] - least)
        assert cost == run["flops"][np.argmax(solved)]


@pytest.mark.full
def test_profile_of_the_library_has_all_its_smooth_functions():
    found = bl.performance_profile({"bb": bl.optim.BarzilaiBorwein(1e-4), "lbfgs": bl.optim.LBFGS()}, steps=300)
    expected = [f.name for f in bl.problems.suite() if f.smooth and f.minimum > -np.inf]
    assert list(found.problems) == expected
    assert len(expected) > 40
    assert np.isfinite(found.cost).any(axis=0).all(), "on each problem one of them got as low as any"
    solved = dict(zip(found.problems, np.isfinite(found.cost[1]), strict=True))
    assert found.share("lbfgs", np.inf) > 0.9, solved


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"optimizers": {}}, "optimizers must be a mapping"),
        ({"optimizers": {"gd": bl.optim.GD}}, "expected an optimizer"),
        ({"measure": "bytes"}, "measure must be one of .*; got 'bytes'"),
        ({"tau": 1.5}, "tau=1.5 must be between 0 and 1"),
        ({"steps": 0}, "steps=0"),
        ({"problems": [np.sum]}, "problems must hold test functions"),
        ({"problems": []}, "problems must hold test functions"),
    ],
)
def test_performance_profile_with_wrong_arguments_raises(change, message):
    with pytest.raises(ArgumentError, match=message):
        bl.performance_profile(**({"optimizers": {"gd": bl.optim.GD(1e-3)}} | change))


def test_unknown_solver_raises():
    with pytest.raises(ArgumentError, match="solver must be one of 'a', 'b', 'c'; got 'd'"):
        profile().share("d")
