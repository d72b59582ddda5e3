"""Breakpoints in a replay: steps that are recorded already rest where they did before."""

import numpy as np
import pytest

import burlab as bl
from burlab.run.loop.update import MIN_IN_PLACE
from tests.run.noisy_runs import noisy


def stops(run: bl.Run, end: int) -> list[int]:
    found: list[int] = []
    while run.t < end:
        run.step(end - run.t)
        if run.stopped is not None:
            found.append(run.t)
    return found


def in_place(**more) -> bl.Run:
    """One whose steps write over x."""
    centre = np.random.default_rng(0).normal(size=MIN_IN_PLACE)
    problem = bl.FiniteSum(lambda x, a: np.sum(np.cos(x - a * centre)), np.linspace(-3, 3, 20))
    return bl.minimize(problem, np.ones(MIN_IN_PLACE), bl.optim.Momentum(0.1), batch=1, **more)


@pytest.mark.parametrize(
    "points",
    [
        [{"every": 40}],
        [{"rises": 0.0}],
        [{"rises": 0.0, "patience": 2}],
        [{"grad_norm": 2.0}, {"rises": 0.05}],
    ],
    ids=["every", "rises", "patience", "two"],
)
@pytest.mark.parametrize("begin", [noisy, in_place])
def test_a_replay_stops_where_the_run_did(begin, points) -> None:
    run, again = begin(), begin()
    for point in points:
        run.breakpoints.add(**point)
        again.breakpoints.add(**point)
    live = stops(run, 200)
    assert live == stops(again, 200)
    assert live, "the case says nothing"
    x, record = run.x, run.history["value"].copy()
    for start in (0, 13, live[0], 120):
        run.seek(start)
        assert stops(run, 200) == [at for at in live if at > start]
        np.testing.assert_array_equal(run.x, x)
        np.testing.assert_array_equal(run.history["value"], record)
    assert [hit.step for hit in run.breakpoints.hits] == live
    run.seek(50)
    run.seek(200)
    run.step(300)
    again.step(300)
    assert (run.t, run.stopped) == (again.t, again.stopped), "the front goes on as if nothing had been"


def test_a_new_breakpoint_holds_in_a_replay_and_its_hits_are_in_order() -> None:
    run = noisy()
    run.breakpoints.add(every=90)
    run.step(100)
    run.seek(0)
    run.breakpoints.add(every=40)
    assert stops(run, 100) == [40, 80, 90]
    assert [(hit.step, hit.number) for hit in run.breakpoints.hits] == [(40, 2), (80, 2), (90, 1)]
