"""A sweep does what its runs do alone, in any number of threads, and has a row for each."""

import threading

import numpy as np
import pandas as pd
import pytest

import burlab as bl
from burlab.charts.palette import colour
from burlab.errors import ArgumentError, BurlabError, StatusError
from burlab.experiments.dependents import TrialSettings
from burlab.experiments.local_executor import LocalExecutor
from burlab.experiments.setting import Always, Setting
from burlab.experiments.sweep_rows import SweepRow
from burlab.experiments.sweeps import _median
from burlab.experiments.trial_source import TrialList
from tests.interrupts import interrupt

F = bl.problems.rosenbrock()
RNG = np.random.default_rng(3)
A = RNG.normal(size=(24, 3))
SUM = bl.FiniteSum(lambda x, a, b: 0.5 * (a @ x - b) ** 2, (A, A @ np.ones(3) + RNG.normal(size=24)))
OPTIMIZERS = {"momentum": bl.optim.Momentum(mu=0.5), "sgd": bl.optim.GD()}
HYPERS = {"lr": [0.1, 0.01], "mu": [0.0, 0.9]}


@pytest.fixture(scope="module")
def swept():
    return bl.sweep(SUM, np.zeros(3), OPTIMIZERS, HYPERS, seeds=[3, 5], batch=4, steps=40)


def alone(row, **more):
    kinds = {"momentum": bl.optim.Momentum, "sgd": bl.optim.GD}
    return bl.minimize(SUM, np.zeros(3), kinds[row.name](**row.hypers), batch=4, seed=row.seed, steps=40, **more)


def test_a_grid_is_every_optimizer_with_what_it_has(swept):
    expected = [("momentum", {"lr": lr, "mu": mu}, s) for lr in (0.1, 0.01) for mu in (0.0, 0.9) for s in (3, 5)]
    expected += [("sgd", {"lr": lr}, s) for lr in (0.1, 0.01) for s in (3, 5)]
    assert [(row.name, row.hypers, row.seed) for row in swept.rows] == expected
    assert [row.number for row in swept.rows] == list(range(12))
    assert [trial.optimizer.mu for trial in swept.trials[:4]] == [0.0, 0.0, 0.9, 0.9]


def test_each_run_has_the_bits_of_the_run_alone(swept):
    for row, run in zip(swept.rows, swept.runs, strict=True):
        other = alone(row)
        assert np.array_equal(run.x, other.x)
        for name in ("value", "gradient_norm", "step_norm"):
            assert np.array_equal(run.history[name], other.history[name])
        assert row.value == SUM.value(other.x)
        assert (row.steps, row.reason, row.message, row.counts) == (40, "steps", "", other.counts)
        assert row.seconds > 0


@pytest.mark.parametrize("threads", [2, 5])
def test_sweep_threads_change_no_bit(swept, threads):
    others = bl.sweep(SUM, np.zeros(3), OPTIMIZERS, HYPERS, seeds=[3, 5], batch=4, steps=40, threads=threads)
    for row, other, run, same in zip(swept.rows, others.rows, swept.runs, others.runs, strict=True):
        assert (row.value, row.steps, row.counts) == (other.value, other.steps, other.counts)
        assert np.array_equal(run.x, same.x)
        assert np.array_equal(run.history["value"], same.history["value"])


def test_as_many_runs_step_at_once_as_there_are_threads(swept):
    trials = bl.sweep(F, F.start, bl.optim.GD(), {"lr": [1e-9, 2e-9, 3e-9, 4e-9]}, steps=0).trials
    opened, most, both = [], [], threading.Event()

    class Watched(Setting):
        __slots__ = ()

        def opening(self):
            begin = super().opening()

            def one(trial):
                opened.append(begin(trial))
                return opened[-1]

            return one

        def begin(self, run):
            super().begin(run)
            most.append(sum(one.running for one in opened))
            if most[-1] == 2:
                both.set()

    # None ends before two of them run, however long it takes to open the second one.
    stop = bl.Stop(seconds=60.0, when=lambda rows: np.full(len(rows["value"]), both.is_set()))
    watched = Watched(F, Always(F.start), None, stop, (0,), "reshuffle", 10**9, 4)
    executor = LocalExecutor(TrialSettings(watched), 2)
    assert sorted(outcome.row.number for outcome in executor.carry_out(TrialList(trials))) == [0, 1, 2, 3]
    assert max(most) == 2
    assert executor.paused == {}


def test_the_best_is_of_the_lowest_median_and_in_it_the_lowest(swept):
    frame = swept.to_pandas()
    medians = frame.groupby(["name", "lr", frame["mu"].fillna(-1)])["value"].median()
    name, lr, mu = medians.idxmin()
    best = swept.best()
    assert (best.name, best.hypers["lr"], best.hypers.get("mu", -1)) == (name, lr, mu)
    assert (
        best.value
        == frame[(frame["name"] == name) & (frame["lr"] == lr) & (frame["mu"].fillna(-1) == mu)]["value"].min()
    )


def test_a_seed_that_fails_counts_as_infinite():
    start = {0: np.array([0.0]), 1: np.array([3.0]), 2: np.array([4.0])}
    cubic = lambda x: np.sum(x**4)  # noqa: E731 - diverges from 3 with the larger rate, which is better from 0
    sweep = bl.sweep(cubic, start.get, bl.optim.GD(), {"lr": [0.1, 0.001]}, seeds=3, steps=30)
    assert [row.failed for row in sweep.rows] == [False, True, True, False, False, False]
    assert sweep.rows[0].value == 0
    assert sweep.best().hypers == {"lr": 0.001}
    error = SweepRow(0, "GD", {}, 0, reason="error")
    assert _median([error, error, sweep.rows[0]]) == np.inf, "its value is nan"
    assert _median([error, *sweep.rows[3:5]]) == max(row.value for row in sweep.rows[3:5])


def test_sweep_passes_on_options_of_runs():
    """Metrics, a part that is trained, and a validation, by which the slower rate is better."""

    def function(x):
        return np.sum((x["w"] - x["b"]) ** 2), {"size": np.sum(x["w"] ** 2)}

    start = {"w": np.ones(2), "b": np.full(2, 3.0)}
    told = {"trainable": {"w": True, "b": False}, "has_aux": True, "validate_every": 5}
    told["validation"] = bl.FiniteSum(lambda x, a: np.sum((x["w"] - a) ** 2), np.array([1.0, 1.5]))
    sweep = bl.sweep(function, start, bl.optim.GD(), {"lr": [0.1, 0.01]}, steps=12, **told)
    for row, run in zip(sweep.rows, sweep.runs, strict=True):
        other = bl.minimize(function, start, bl.optim.GD(row.hypers["lr"]), steps=12, **told)
        for name in ("size", "validation_value", "value"):
            assert np.array_equal(run.history[name], other.history[name], equal_nan=True)
        assert np.array_equal(run.x["w"], other.x["w"])
        assert (row.value, row.validation) == (function(other.x)[0], told["validation"].value(other.x))
    assert sweep.best().hypers == {"lr": 0.1}
    assert sweep.best(by="validation").hypers == {"lr": 0.01}
    assert sweep.table.head[4:6] == ("value", "validation")
    assert list(sweep.to_pandas()["validation"]) == [row.validation for row in sweep.rows]
    with pytest.raises(ArgumentError, match="by must be one of 'value', 'validation' of this sweep; got 'loss'"):
        sweep.best(by="loss")


def test_pandas_gets_a_row_for_each_run(swept):
    frame = swept.to_pandas()
    assert list(frame.columns[:7]) == ["name", "lr", "mu", "seed", "value", "steps", "seconds"]
    assert {"samples", "reason", "message"} < set(frame.columns)
    assert frame["samples"].tolist() == [160] * 12
    assert frame["mu"].isna().tolist() == [False] * 8 + [True] * 4
    pd.testing.assert_series_equal(frame["value"], pd.Series([row.value for row in swept.rows], name="value"))


def test_the_table_has_the_best_first(swept):
    table = swept.table
    numbers = [int(cells[0]) for cells in table.cells]
    assert numbers == sorted(range(12), key=lambda k: swept.rows[k].value)
    assert table.head == ("run", "optimizer", "lr", "mu", "seed", "value", "steps", "flops", "seconds", "ended by")
    assert str(table).splitlines()[0] == "12 of 12 runs done"
    assert repr(swept).startswith("<Sweep: 12 of 12 runs done, best ")


def test_numbers_are_written_as_python_writes_them():
    rates = list(np.array([0.1, 0.01]))
    listed = [{"optimizer": bl.optim.GD(), "lr": lr} for lr in rates]
    for optimizers, hypers in ((bl.optim.GD(), {"lr": rates}), (listed, None)):
        rows = bl.sweep(SUM, np.zeros(3), optimizers, hypers, steps=1).rows
        assert [repr(row.hypers) for row in rows] == ["{'lr': 0.1}", "{'lr': 0.01}"]


def test_its_race_has_a_racer_for_each_configuration(swept):
    race = swept.race()
    assert len(race.racers) == 6
    assert all(len(racer.runs) == 2 for racer in race.racers.values())
    best = swept.best()
    first = race.racers[swept.trials[best.number].label].runs
    assert swept.runs[best.number] in first
    assert swept.race() is race
    assert len(swept.race(2).racers) == 2
    plot = swept.chart().parts[0]
    assert len(plot.curves) == 6
    assert len(plot.bands) == 6


def test_each_curve_of_its_race_has_a_colour_of_its_own():
    sweep = bl.sweep(F, F.start, bl.optim.GD(), {"lr": [k * 1e-5 for k in range(1, 12)]}, steps=2)
    inks = [colour(racer.colour) for racer in sweep.race().racers.values()]
    assert len(set(inks)) == len(inks) > 5


def test_a_run_that_diverges_is_a_row_with_its_reason():
    sweep = bl.sweep(F, F.start, bl.optim.GD(), {"lr": [1e-3, 1.0]}, steps=50)
    good, bad = sweep.rows
    assert (good.reason, good.failed) == ("steps", False)
    assert (bad.reason, bad.failed) == ("non_finite", True)
    assert bad.steps < 50
    assert "smaller steps may help" in bad.message
    assert sweep.runs[1].stopped.reason == "non_finite"
    assert sweep.best() == good
    assert "1 failed" in sweep.table.title


def test_run_that_cannot_start_is_a_row_with_its_reason():
    optimizers = {"bfgs": bl.optim.SciPy("BFGS"), "gd": bl.optim.GD(0.1)}
    sweep = bl.sweep(SUM, np.zeros(3), optimizers, batch=4, steps=5)
    row = sweep.rows[0]
    assert (row.reason, row.steps, row.failed) == ("error", 0, True)
    assert row.message.startswith("ArgumentError: ")
    assert 0 not in sweep.runs
    with pytest.raises(StatusError, match=r"failed\. ArgumentError"):
        sweep.runs[0]
    assert sweep.rows[1].reason == "steps"
    with pytest.raises(BurlabError, match="batch"):
        bl.sweep(SUM, np.zeros(3), bl.optim.SciPy("BFGS"), batch=4, steps=5)


def test_run_that_fails_later_is_a_row_with_its_reason():
    def when(rows):
        if rows["lr"][0] == 2e-3 and rows["step"][-1] >= 3:
            raise ZeroDivisionError("nobody can say")
        return np.zeros(len(rows["value"]), bool)

    sweep = bl.sweep(F, F.start, bl.optim.GD(), {"lr": [1e-3, 2e-3]}, steps=50, stop=bl.Stop(when=when))
    good, bad = sweep.rows
    assert good.reason == "steps"
    assert (bad.reason, bad.failed, bad.message) == ("error", True, "ZeroDivisionError: nobody can say")
    assert bad.steps == sweep.runs[1].t > 0
    assert bad.message in str(sweep.table)


def test_scipy_ends_by_itself():
    sweep = bl.sweep(F, F.start, {"bfgs": bl.optim.SciPy("BFGS")}, steps=300)
    assert sweep.rows[0].reason == "finished"
    assert sweep.rows[0].value < 1e-8


def test_a_list_of_runs_is_taken_as_it_is():
    entries = [
        {"optimizer": bl.optim.GD(0.01), "seed": 3},
        {"optimizer": bl.optim.Adam(), "lr": 0.1, "name": "mine"},
        {"optimizer": bl.optim.GD(0.01), "seed": 4},
    ]
    sweep = bl.sweep(SUM, np.zeros(3), entries, batch=2, steps=10)
    assert [(row.name, row.hypers, row.seed) for row in sweep.rows] == [
        ("GD", {}, 3), ("mine", {"lr": 0.1}, 0), ("GD", {}, 4),
    ]  # fmt: skip
    assert sweep.trials[1].optimizer == bl.optim.Adam(0.1)
    assert len(sweep.race().racers) == 2
    assert np.array_equal(
        sweep.runs[2].x, bl.minimize(SUM, np.zeros(3), entries[2]["optimizer"], batch=2, seed=4, steps=10).x
    )


def test_fields_of_parts_and_of_the_program_are_set():
    wrapped = bl.optim.clip_by_norm(bl.optim.Adam(), 1.0)
    sweep = bl.sweep(F, F.start, {"clipped": wrapped}, {"lr": [0.1]}, steps=1)
    assert sweep.trials[0].optimizer.inner.lr == 0.1
    memory = bl.sweep(F, F.start, bl.optim.LBFGS(), {"memory": [2, 3]}, steps=3)
    assert [trial.optimizer.memory for trial in memory.trials] == [2, 3]
    scheduled = bl.sweep(F, F.start, bl.optim.GD(), {"lr": [1e-3, bl.optim.cosine(1e-3, steps=9)]}, steps=9)
    assert len({row.value for row in scheduled.rows}) == 2


def test_an_interrupt_keeps_what_is_done_and_go_does_the_rest(monkeypatch):
    sweep, begun, begin = None, [], Setting.begin
    monkeypatch.setattr(Setting, "begin", lambda self, run: begin(self, run) or begun.append(run))
    entries = [{"optimizer": bl.optim.GD(1.0)}, {"optimizer": bl.optim.Momentum(1e-9)}]

    def call():
        nonlocal sweep
        with pytest.warns(RuntimeWarning, match="interrupted: 1 of 2 runs are done"):
            sweep = bl.sweep(F, F.start, entries, stop=bl.Stop(seconds=2.0))
        raise KeyboardInterrupt  # the call has ended as it should

    interrupt(call, lambda: len(begun) == 2 and begun[1].t > 0, wait=0)  # the first has ended: there is one thread
    assert [row.done for row in sweep.rows] == [True, False]
    half = sweep._executor.paused[1]
    reached = half.t
    assert reached > 0
    assert not half.running
    with pytest.raises(StatusError, match="has not ended"):
        sweep.runs[1]
    sweep.go()
    assert sweep.runs[1] is half, "it goes on where it was"
    assert (sweep.rows[1].reason, sweep.rows[1].steps) == ("seconds", half.t)
    assert half.t > reached


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hypers": {"rate": [0.1]}}, "no optimizer has a hyperparameter 'rate'"),
        ({"hypers": {"lr": 0.1}}, "expected a list of values"),
        ({"hypers": {"lr": []}}, "expected a list of values"),
        ({"hypers": [0.1]}, "hypers is"),
        ({"hypers": {"lr": [0.1, 0.1]}}, "twice"),
        ({"hypers": {"lr": [float("nan")]}}, "must not hold NaN"),
        ({"hypers": {"lr": ["fast"]}}, "cannot have lr='fast'"),
        ({"seeds": [1, 1]}, "each once"),
        ({"seeds": 0}, "seeds=0"),
        ({"optimizers": {}}, "optimizers is empty"),
        ({"optimizers": bl.optim.GD}, r"the optimizer 'GD' is <class .*Call it: bl.optim.GD\(\)"),
        ({"optimizers": [bl.optim.GD(0.1), bl.optim.GD(0.2)]}, "Give them names"),
        ({"optimizers": ["GD", "Adam"]}, r"an optimizer is 'GD', .* such as bl.optim.GD\(\)"),
        ({"optimizers": {3: bl.optim.GD()}}, "the name of an optimizer must be text"),
        ({"optimizers": [{"optimizer": bl.optim.GD()}], "hypers": {"lr": [1.0]}}, "part of the list"),
        ({"optimizers": [{"lr": 0.1}]}, "entry 0 of the list"),
        ({"optimizers": [{"optimizer": bl.optim.GD(), "mu": 0.1}]}, "sets 'mu', but GD has: lr"),
        ({"threads": 0}, "threads=0"),
        ({"steps": None}, "says when a run of the sweep ends"),
        ({"stop": 3}, "expected a bl.Stop"),
        ({"folder": 3}, "folder=3 is not a path"),
        ({"problem": None}, "problem is a NoneType, expected a bl.FiniteSum or a function of x alone"),
    ],
)
def test_bad_arguments_are_refused_before_anything_runs(change, message):
    given = {"optimizers": bl.optim.GD(), "hypers": None, "steps": 3} | change
    with pytest.raises(ArgumentError, match=message):
        bl.sweep(given.pop("problem", F), F.start, given.pop("optimizers"), given.pop("hypers"), **given)
