"""A race does what its runs do alone, and says who leads."""

import gc
import re
import time
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, BurlabError, ShapeError, StatusError
from burlab.experiments.curves import Curves
from burlab.experiments.race_chart import plot_of
from tests.interrupts import interrupt

F = bl.problems.rosenbrock()
GD, ADAM = bl.optim.GD(1e-3), bl.optim.Adam(1e-2)


def least_squares(n: int = 64, d: int = 5) -> bl.problems.Regression:
    rng = np.random.default_rng(3)
    a = rng.normal(size=(n, d))
    return bl.problems.least_squares(a, a @ np.ones(d) + rng.normal(size=n))


def wait_for(what, seconds=120.0):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.01)


def test_each_racer_has_the_bits_of_the_run_alone():
    problem = least_squares()
    optimizers = {"momentum": bl.optim.Momentum(0.05), "adam": bl.optim.Adam(0.05), "sgd": bl.optim.GD(0.1)}
    race = bl.race(problem, problem.start, optimizers, seeds=[3, 5], batch=8)
    race.step(70)
    race.start(until=5000)
    race.pause()
    race.start(until=5000)
    assert race.wait()
    for name, optimizer in optimizers.items():
        for seed, run in zip([3, 5], race.runs[name], strict=True):
            alone = bl.minimize(problem, problem.start, optimizer, batch=8, seed=seed, steps=5000)
            assert run.t == 5000
            assert np.array_equal(run.x, alone.x)
            assert np.array_equal(run.history["value"], alone.history["value"])


def test_racers_share_cores_evenly_when_runs_outnumber_them(monkeypatch):
    race = bl.race(F, F.start, {f"gd {k}": bl.optim.GD(1e-5 * (k + 1)) for k in range(7)})
    turns, begin = [], race._scheduler._begin
    monkeypatch.setattr(race._scheduler, "_begin", lambda due, failed: turns.append(begin(due, failed)) or turns[-1])
    race._scheduler.cores = 2
    race.start()
    wait_for(lambda: len(turns) > 30)
    race.pause()
    counts = [sum(runs[0] in turn for turn in turns) for runs in race.runs.values()]
    assert max(counts) - min(counts) <= 1
    assert {len(turn) for turn in turns} == {2}
    assert all(runs[0].t > 0 and not runs[0].running for runs in race.runs.values())


def test_no_more_runs_step_at_once_than_there_are_cores(monkeypatch):
    race = bl.race(F, F.start, {f"gd {k}": bl.optim.GD(1e-5) for k in range(6)})
    race._scheduler.cores = 2
    others, begin = [], race._scheduler._begin

    def refreshed(due, failed):
        """Begin a turn; who is not of it rests by then."""
        mine = [run for run, _ in due]
        runs = [runs[0] for runs in race.runs.values()]
        others.append(sum(run.running for run in runs if all(run is not other for other in mine)))
        return begin(due, failed)

    monkeypatch.setattr(race._scheduler, "_begin", refreshed)
    race.start()
    wait_for(lambda: len(others) > 30)
    race.pause()
    assert max(others) == 0


def test_slow_racers_alternate():
    def wait_a_little(rows):
        time.sleep(0.05)
        return np.zeros(len(rows["value"]), bool)

    race = bl.race(F, F.start, {f"{k}": bl.optim.GD(1e-3) for k in range(4)}, stop=bl.Stop(when=wait_a_little))
    race._scheduler.cores = 1
    race.step(20)
    assert [runs[0].t for runs in race.runs.values()] == [20] * 4


def test_diverged_racer_is_a_row_with_its_reason():
    race = bl.race(F, F.start, {"wild": bl.optim.GD(1.0), "tame": GD}, steps=200)
    first, last = race.standings()
    assert (first.name, first.rank, first.step, first.message) == ("tame", 1, 200, "")
    assert (last.name, last.rank) == ("wild", 0)
    assert "the value is" in last.message
    assert np.isnan(last.value)
    cross = [dots for dots in race.chart().parts[0].dots if dots.shape == "cross"]
    assert len(cross) == 1
    assert cross[0].hints[0].startswith("wild: Stopped at step")


def test_diverged_racer_does_not_flatten_the_other_curves():
    race = bl.race(F, F.start, {"wild": bl.optim.GD(1.0), "tame": GD}, steps=200)
    plot = race.chart().parts[0]
    tame = next(curve for curve in plot.curves if curve.label == "tame")
    assert np.isfinite(tame.y).all()
    assert tame.y.max() < plot.y.high < 100 * tame.y.max()
    wild = next(curve for curve in plot.curves if curve.label == "wild")
    assert (wild.y <= plot.y.high).sum() == 1
    assert (wild.y > plot.y.high).sum() == 1, "it is seen to leave"
    alone = bl.race(F, F.start, {"wild": bl.optim.GD(1.0)}, steps=200).chart().parts[0]
    assert alone.y.high > 1000 * plot.y.high / 10


def test_racer_that_cannot_start_is_a_row_with_its_reason():
    problem = least_squares()
    race = bl.race(problem, problem.start, {"scipy": bl.optim.SciPy("BFGS"), "gd": bl.optim.GD(0.1)}, batch=4, steps=5)
    rows = {row.name: row for row in race.standings()}
    assert rows["gd"].rank == 1
    assert rows["gd"].step == 5
    assert rows["scipy"].rank == 0
    assert "batch" in rows["scipy"].message
    with pytest.raises(BurlabError, match="batch"):
        bl.race(problem, problem.start, {"scipy": bl.optim.SciPy("BFGS")}, batch=4)


def test_a_run_that_is_stopped_under_way_leaves_the_race_to_the_others():
    race = bl.race(F, F.start, {"a": GD, "b": ADAM})
    race.runs["a"][0].stop()
    race.step(10)
    rows = {row.name: row for row in race.standings()}
    assert rows["b"].step == 10
    assert "stopped for good" in rows["a"].message


def test_scipy_races_and_its_end_counts_to_the_end():
    race = bl.race(F, F.start, {"bfgs": bl.optim.SciPy("BFGS"), "gd": GD}, steps=300)
    first, second = race.standings()
    assert (first.name, second.name) == ("bfgs", "gd")
    assert first.at == 300
    assert first.step < 100
    assert first.value == F(race.runs["bfgs"][0].x)
    assert "Optimization terminated" in first.message
    assert str(race.leader()).startswith("bfgs leads gd by") or str(race.leader()).startswith("bfgs is at the minimum")


def test_the_lead_is_that_of_the_record():
    race = bl.race(F, F.start, {"gd": GD, "adam": ADAM}, steps=100)
    a, b = (race.runs[name][0].value for name in ("gd", "adam"))
    lead = race.leader()
    assert lead.name == ("gd" if a < b else "adam")
    assert lead.factor == max(a, b) / min(a, b)
    assert lead.at == 100
    assert race.leader("gradients").at == 100


def test_racers_are_compared_where_all_have_come_to():
    race = bl.race(F, F.start, {"gd": GD, "adam": ADAM}, steps=50)
    race.runs["gd"][0].step(1000)
    lead = race.leader()
    gd, adam = race.runs["gd"][0].history["value"][50], race.runs["adam"][0].value
    assert lead.at == 50
    assert lead.factor == max(gd, adam) / min(gd, adam)
    assert any(mark.at == 50 for mark in race.chart().parts[0].marks)


def test_gradients_are_those_of_the_record():
    race = bl.race(F, F.start, {"bfgs": bl.optim.SciPy("BFGS"), "gd": GD}, steps=20)
    plot = race.chart("gradients").parts[0]
    ends = {curve.label: curve.x[-1] for curve in plot.curves}
    assert ends == {"bfgs": race.runs["bfgs"][0].history["samples"][-1], "gd": 20}
    assert ends["bfgs"] > race.runs["bfgs"][0].t
    assert plot.note == ""


def test_the_trials_of_a_line_search_are_gradients_too():
    race = bl.race(F, F.start, {"wolfe": bl.optim.WolfeGD(), "gd": GD}, steps=5)
    ends = {curve.label: curve.x[-1] for curve in race.chart("gradients").parts[0].curves}
    assert ends == {"wolfe": race.runs["wolfe"][0].history["samples"][-1], "gd": 5}
    assert ends["wolfe"] > 10, "each step asks for at least one value and one gradient more"


@pytest.mark.parametrize(("seeds", "ends"), [(5, (0.25, 0.75)), (3, (0.0, 1.0))])
def test_a_band_is_that_of_the_seeds(seeds, ends):
    def start(seed):
        return np.array([-1.0 - 0.05 * seed, 1.0 + 0.01 * seed**2])

    race = bl.race(F, start, {"gd": GD}, seeds=seeds, steps=50)
    plot = race.chart().parts[0]
    values = np.stack([[*run.history["value"], run.value] for run in race.runs["gd"]])
    np.testing.assert_allclose(plot.curves[0].y, np.median(values, axis=0))
    low, high = np.quantile(values, ends, axis=0)
    np.testing.assert_allclose(plot.bands[0].low, low)
    np.testing.assert_allclose(plot.bands[0].high, high)


def test_seconds_are_those_of_the_record():
    race = bl.race(F, F.start, {"gd": GD, "adam": ADAM}, steps=1000)
    for curve in race.chart("seconds").parts[0].curves:
        assert curve.x[-1] == pytest.approx(race.runs[curve.label][0].history["time"][-1] * 1e-9)
    assert race.chart("seconds").parts[0].x.unit == "s"


def test_bytes_are_what_the_optimizer_holds():
    race = bl.race(F, F.start, {"gd": GD, "adam": ADAM, "lbfgs": bl.optim.LBFGS(memory=20)}, steps=30)
    rows = race.standings("bytes")
    assert [row.name for row in rows] == ["gd", "adam", "lbfgs"]
    memory = race.runs["gd"][0].memory
    kinds = ("parameters", "gradients", "activations", "optimizer_state", "scratch")
    assert rows[0].value == sum(memory[kind] for kind in kinds)
    dots = race.chart("bytes").parts[0].dots
    assert {one.label: one.x[0] for one in dots} == {row.name: row.value for row in rows}
    assert "holds the least" in str(race.leader("bytes"))


def test_a_racer_comes_and_goes_while_the_race_is_on():
    race = bl.race(F, F.start, {"gd": bl.optim.GD(1e-5)})
    race.start()
    wait_for(lambda: race.t > 1000)
    race.add("adam", ADAM)
    wait_for(lambda: race.runs["adam"][0].t > 1000)
    assert race.running
    gone = race.runs["gd"][0]
    race.drop("gd")
    wait_for(lambda: not gone.running)
    here = gone.t
    wait_for(lambda: race.runs["adam"][0].t > 200_000)
    assert gone.t == here
    assert list(race.racers) == ["adam"]
    race.pause()
    assert race.chart().parts[0].curves[0].colour == 1, "a colour stays with its racer"


def test_late_racer_catches_up():
    race = bl.race(F, F.start, {"gd": GD}, steps=500)
    race.add("adam", ADAM)
    race.start(until=600)
    assert race.wait()
    assert [runs[0].t for runs in race.runs.values()] == [600, 600]
    race.step(10)
    assert [runs[0].t for runs in race.runs.values()] == [610, 610]


def test_runs_race_from_where_they_stand():
    run = bl.minimize(F, F.start, GD, steps=20)
    race = bl.race(F, F.start, {"old": run, "new": ADAM})
    race.step(5)
    assert run.t == 25
    assert race.runs["old"] == (run,)


def test_each_seed_may_have_its_start():
    race = bl.race(F, lambda seed: F.start + 0.1 * seed, {"gd": GD}, seeds=3, steps=1)
    assert [run.path[1][0].tolist() for run in race.runs["gd"]] == [(F.start + 0.1 * k).tolist() for k in range(3)]


def test_a_race_in_the_background_ends_with_its_last_reference():
    race = bl.race(F, F.start, {"gd": bl.optim.GD(1e-5)})
    run = race.runs["gd"][0]
    race.start()
    wait_for(lambda: run.t > 100)
    gone = weakref.ref(race)
    del race
    gc.collect()
    assert gone() is None
    wait_for(lambda: not run.running)


def test_an_interrupted_step_pauses_all():
    race = bl.race(F, F.start, {"a": bl.optim.GD(1e-6), "b": bl.optim.GD(1e-6)})
    interrupt(lambda: race.step(10**9), lambda: race.t > 1000)
    assert not any(runs[0].running for runs in race.runs.values())
    race.step(1)


def test_race_can_be_read_after_stop():
    race = bl.race(F, F.start, {"gd": GD, "adam": ADAM}, steps=10)
    race.stop()
    assert race.leader().at == 10
    assert race.chart().parts[0].curves[0].x.size == 11


@pytest.mark.parametrize(
    ("do", "error", "message"),
    [
        (lambda: bl.race(F, F.start, {}), ArgumentError, "racers is none, expected optimizers by name"),
        (lambda: bl.race(F, F.start, [GD]), ArgumentError, "racers is a list, expected optimizers by name"),
        (lambda: bl.race(F, F.start, {"": GD}), ArgumentError, "the name of a racer must be text"),
        (lambda: bl.race(F, F.start, {"gd": bl.optim.GD}), ArgumentError, r"Call it: bl\.optim\.GD\(\)"),
        (lambda: bl.race(F, F.start, {"gd": 0.1}), ArgumentError, "expected an optimizer or a run"),
        (
            lambda: bl.race(F, F.start, {"gd": GD}, seeds=0),
            ArgumentError,
            "seeds=0 is not a whole number from 1 to 10000",
        ),
        (lambda: bl.race(F, F.start, {"gd": GD}, seeds=2.0), ArgumentError, "is not a whole number"),
        (lambda: bl.race(F, F.start, {"gd": GD}, seeds=[1, 1]), ArgumentError, "at least one seed, and each once"),
        (lambda: bl.race(F, F.start, {"gd": GD}, seeds=[0.5]), ArgumentError, "a seed of seeds=0.5"),
        (lambda: bl.race(F, np.ones(3), {"gd": GD}), ShapeError, r"x has shape \(3,\)"),
        (lambda: bl.race(F, F.start, {"gd": GD}).add("gd", ADAM), ArgumentError, "there is a racer 'gd' already"),
        (
            lambda: bl.race(F, F.start, {"gd": GD}).drop("adam"),
            ArgumentError,
            "the racer must be one of 'gd'; got 'adam'",
        ),
        (lambda: bl.race(F, F.start, {"gd": GD}).drop("gd"), ArgumentError, "'gd' is the last racer"),
        (lambda: bl.race(F, F.start, {"gd": GD}).chart("time"), ArgumentError, "against must be one of .*; got 'time'"),
        (lambda: bl.race(F, F.start, {"gd": GD}).chart(of="loss"), ArgumentError, "'loss' is not stored"),
        (lambda: bl.race(F, F.start, {"gd": GD}).start(until=1.5), ArgumentError, "until=1.5"),
        (lambda: bl.race(F, F.start, {"a": other_problem()}), ArgumentError, "Race runs of the very same problem"),
        (lambda: bl.race(sphere, np.ones(2), {"a": other_size()}), ShapeError, "Race runs of one dimension"),
        (lambda: bl.race(F, F.start, {"a": ended()}), StatusError, "was stopped for good"),
        (lambda: twice(bl.minimize(F, F.start, GD)), ArgumentError, "already in the race under another name"),
    ],
)
def test_race_with_wrong_arguments_raises(do, error, message):
    with pytest.raises(error, match=message):
        do()


def sphere(x):
    return np.sum(x**2)


def other_problem():
    g = bl.problems.booth()
    return bl.minimize(g, g.start, GD)


def other_size():
    return bl.minimize(sphere, np.ones(3), GD)


def ended():
    run = bl.minimize(F, F.start, GD)
    run.stop()
    return run


def twice(run):
    bl.race(F, F.start, {"a": run, "b": run})


def test_racers_are_compared_by_any_cost():
    """By names of columns; who has no such column has spent none of it."""
    race = bl.race(F, F.start, {"armijo": bl.optim.ArmijoGD(), "gd": GD}, steps=5)
    for cost in ("samples", "values", "hvps", "jvps", "partials", "surrogates", "bits", "flops"):
        ends = {curve.label: curve.x[-1] for curve in race.chart(cost).parts[0].curves}
        assert ends == {name: runs[0].counts[cost] for name, runs in race.runs.items()}, cost
    assert race.runs["armijo"][0].counts["values"] > 0
    assert race.leader("samples").at == 5
    assert "at 5 sample gradients" in str(race.leader("samples"))
    with pytest.raises(
        ArgumentError, match=re.escape("must be one of 'step', 'gradients', 'flops', 'seconds', 'bytes', 'samples'")
    ):
        race.standings("cost")


def test_a_racer_that_went_astray_and_came_back_does_not_press_the_others_into_a_line():
    steps = np.arange(200.0)
    paths = {"fine": 2 * np.exp(-steps / 50) - 3, "astray": np.where(steps == 4, -1e9, np.exp(-steps / 20) - 3)}
    curves = {name: Curves(steps, y, y, y, False) for name, y in paths.items()}
    racers: list[Any] = [SimpleNamespace(name=name, colour=0, runs=[None], failed=False) for name in paths]
    plot = plot_of(racers, curves, "step", "value", "raw")
    assert plot.y.high is None
    assert -6 < plot.y.low < -3
    assert plot.note == "raw; goes on to −1e9"
    assert plot_of(racers[:1], curves, "step", "value", "").note == ""


def test_a_racer_without_a_curve_is_named_and_has_no_rank():
    def f(x):
        return np.sum(np.sqrt(x))

    good = bl.minimize(f, np.ones(2), bl.optim.GD(0.01), progress=False)
    lost = bl.minimize(f, -np.ones(2), bl.optim.GD(0.01), progress=False)
    race = bl.race(f, np.ones(2), {"good": good, "lost": lost}, steps=5)
    assert [(row.name, row.rank) for row in race.standings()] == [("good", 1), ("lost", 0)]
    plot = race.chart().parts[0]
    assert "lost has no finite value" in plot.note
