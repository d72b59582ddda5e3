"""What a sweep varies: ranges that random search draws from, batches, steps, the model and its data."""

import gc
import json
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, FileError, StatusError
from burlab.experiments.dependents import MAX_SETTINGS, TrialSettings
from burlab.experiments.setting import Always, Setting
from burlab.experiments.trials import Trial

F = bl.problems.rosenbrock()
RNG = np.random.default_rng(3)
A = RNG.normal(size=(24, 6))
B = A @ np.ones(6) + RNG.normal(size=24)
SPACE = {"lr": bl.Between(1e-5, 1e-3, log=True), "mu": bl.Between(0.0, 0.9)}


def least_squares(width, rows=24):
    return bl.FiniteSum(lambda x, a, b: 0.5 * (a @ x - b) ** 2, (A[:rows, :width].copy(), B[:rows]))


def test_random_search_draws_the_distribution_that_a_range_states():
    space = {"lr": bl.Between(1e-4, 1.0, log=True), "mu": bl.Between(0.5, 0.9)}
    optimizers = {"m": bl.optim.Momentum(), "d": bl.optim.GD()}
    sweep = bl.sweep(F, F.start, optimizers, space, search="random", trials=400, steps=0)
    logs = np.log10([row.hypers["lr"] for row in sweep.rows])
    rates = [row.hypers["mu"] for row in sweep.rows if row.name == "m"]
    assert [set(row.hypers) for row in sweep.rows if row.name == "d"] == [{"lr"}] * (400 - len(rates))
    # Standard deviations: 10 of 400 names, 0.022 and 0.031 of a range for quartiles of 400 and 200 draws. 5 of each.
    assert 150 < len(rates) < 250
    assert np.quantile(logs, [0.25, 0.5, 0.75]) == pytest.approx([-3, -2, -1], abs=4 * 0.11)
    assert np.quantile(rates, [0.25, 0.5, 0.75]) == pytest.approx([0.6, 0.7, 0.8], abs=0.4 * 0.155)


@pytest.mark.parametrize(
    ("log", "share"), [(False, lambda k: k / 64), (True, lambda k: np.log(2 * k + 1) / np.log(129))]
)
def test_whole_numbers_of_a_range_have_their_shares(log, share):
    """Each number has the numbers that round to it; so also the first and the last one."""
    found = np.array([bl.Between(1, 64, log=log, whole=True).at(u) for u in (np.arange(100_000) + 0.5) / 100_000])
    for k in (1, 2, 5, 30, 63, 64):
        assert np.mean(found <= k) == pytest.approx(share(k), abs=2e-5)


def test_random_search_is_the_same_for_the_same_generator_and_has_every_seed():
    given = {"hypers": SPACE, "trials": 5, "steps": 20, "seeds": [2, 7]}
    one = bl.sweep(F, F.start, bl.optim.Momentum(), search=np.random.default_rng(4), **given)
    other = bl.sweep(F, F.start, bl.optim.Momentum(), search=np.random.default_rng(4), threads=3, **given)
    third = bl.sweep(F, F.start, bl.optim.Momentum(), search="random", **given)
    assert [(row.hypers, row.seed, row.value) for row in one.rows] == [(r.hypers, r.seed, r.value) for r in other.rows]
    assert [row.seed for row in one.rows] == [2, 7] * 5
    assert one.rows[0].hypers == one.rows[1].hypers != one.rows[2].hypers
    assert third.rows[0].hypers != one.rows[0].hypers
    for row in one.rows:
        assert row.value == float(F(bl.minimize(F, F.start, bl.optim.Momentum(**row.hypers), steps=20).x))


def test_random_search_of_few_values_tries_none_twice():
    sweep = bl.sweep(F, F.start, bl.optim.GD(), {"lr": [1e-3, 1e-4, 1e-5]}, search="random", trials=3, steps=1)
    assert sorted(row.hypers["lr"] for row in sweep.rows) == [1e-5, 1e-4, 1e-3]
    with pytest.raises(ArgumentError, match="trials=4, but only 3 different configurations were found"):
        bl.sweep(F, F.start, bl.optim.GD(), {"lr": [1e-3, 1e-4, 1e-5]}, search="random", trials=4, steps=1)


def test_random_search_goes_on_in_its_folder(tmp_path):
    given = {"hypers": SPACE, "search": "random", "trials": 4, "steps": 30, "folder": tmp_path}
    first = bl.sweep(F, F.start, bl.optim.Momentum(), **given)
    (tmp_path / "00002.json").unlink()
    again = bl.sweep(F, F.start, bl.optim.Momentum(), **given)
    assert [(row.hypers, row.value) for row in again.rows] == [(row.hypers, row.value) for row in first.rows]
    assert [row.seconds == other.seconds for row, other in zip(again.rows, first.rows, strict=True)].count(False) <= 1
    with pytest.raises(FileError, match="its list of runs differs"):
        bl.sweep(F, F.start, bl.optim.Momentum(), **given | {"search": np.random.default_rng(1)})


def test_batches_and_steps_are_hyperparameters():
    problem = least_squares(6)
    sweep = bl.sweep(
        problem, np.zeros(6), bl.optim.GD(), {"lr": [0.01, 0.02], "batch": [2, 8]}, steps=lambda *, batch: 240 // batch
    )
    assert [(row.hypers["batch"], row.steps, row.counts["samples"]) for row in sweep.rows] == [
        (2, 120, 240), (8, 30, 240), (2, 120, 240), (8, 30, 240),
    ]  # fmt: skip
    for row, run in zip(sweep.rows, sweep.runs, strict=True):
        batch = row.hypers["batch"]
        other = bl.minimize(problem, np.zeros(6), bl.optim.GD(row.hypers["lr"]), batch=batch, steps=240 // batch)
        assert np.array_equal(run.x, other.x)
    assert list(sweep.to_pandas()["batch"]) == [2, 8, 2, 8]
    assert len(sweep.race().racers) == 4
    lengths = bl.sweep(problem, np.zeros(6), bl.optim.GD(0.01), {"steps": [5, 9]})
    assert [row.steps for row in lengths.rows] == [5, 9]
    listed = [
        {"optimizer": bl.optim.GD(0.01), "batch": 3, "steps": 4},
        {"optimizer": bl.optim.GD(0.01), "batch": 6, "steps": 4},
    ]
    assert [row.counts["samples"] for row in bl.sweep(problem, np.zeros(6), listed).rows] == [12, 24]


@dataclass(frozen=True)
class Halved(bl.optim.Optimizer):
    """Has a field with the name of an argument of `sweep`."""

    batch: int = 1

    def update(self, g, state, x, t):
        return x - 0.01 * self.batch * g, state


def test_a_field_of_the_optimizer_goes_before_an_argument():
    optimizers = {"gd": bl.optim.GD(0.01), "halved": Halved()}
    sweep = bl.sweep(least_squares(6), np.zeros(6), optimizers, {"batch": [2, 8]}, batch=4, steps=3)
    assert [(row.name, row.counts["samples"]) for row in sweep.rows] == [
        ("gd", 6),
        ("gd", 24),
        ("halved", 12),
        ("halved", 12),
    ]
    assert [trial.optimizer for trial in sweep.trials[2:]] == [Halved(2), Halved(8)]


def test_model_and_data_are_hyperparameters(tmp_path):
    built = []

    def problem(*, width, rows):
        built.append((width, rows))
        return least_squares(width, rows)

    def start(seed, *, width):
        return np.full(width, float(seed))

    given = {"hypers": {"width": [2, 5], "rows": [12, 24], "lr": [0.01, 0.02]}, "seeds": 2, "steps": 15}
    sweep = bl.sweep(problem, start, bl.optim.GD(), folder=tmp_path, **given)
    assert len(built) == 4, "one problem for each, whatever the number of runs"
    for row, run in zip(sweep.rows, sweep.runs, strict=True):
        own = least_squares(row.hypers["width"], row.hypers["rows"])
        x0 = np.full(row.hypers["width"], float(row.seed))
        other = bl.minimize(own, x0, bl.optim.GD(row.hypers["lr"]), seed=row.seed, steps=15)
        assert np.array_equal(run.x, other.x)
        assert row.value == own.value(other.x)
    assert bl.sweep(problem, start, bl.optim.GD(), folder=tmp_path, **given).rows == sweep.rows
    with pytest.raises(FileError, match="its problem, start, optimizers or steps are others"):
        bl.sweep(lambda *, width, rows: least_squares(width, rows - 1), start, bl.optim.GD(), folder=tmp_path, **given)
    with pytest.raises(StatusError, match="minimize different problems"):
        sweep.race()
    assert json.loads((tmp_path / "sweep.json").read_text())["runs"][0] == [
        "GD", {"width": "2.0", "rows": "12.0", "lr": "0.01"}, 0,
    ]  # fmt: skip


def test_problems_that_are_not_in_use_are_forgotten():
    alive = []

    class Shifted:
        def __init__(self, shift):
            self.shift = shift
            alive.append(weakref.ref(self))

        def __call__(self, x):
            return np.sum((x - self.shift) ** 2)

    shifts = [float(k) for k in range(MAX_SETTINGS + 5)]
    settings = TrialSettings(Setting(lambda *, shift: Shifted(shift), Always(np.zeros(1)), None, bl.Stop(), (0,)))
    for number, shift in enumerate(shifts):
        trial = Trial(number, "GD", bl.optim.GD(0.1), {"shift": shift}, 0)
        for _ in range(2):
            assert settings.of(trial).problem.shift == shift
    gc.collect()
    assert len(alive) == len(shifts), "each was built once"
    assert sum(one() is not None for one in alive) == MAX_SETTINGS


def test_a_function_that_fails_is_a_row_with_its_reason():
    def problem(*, width):
        if width == 5:
            raise LookupError("no such model")
        return least_squares(width)

    sweep = bl.sweep(problem, lambda *, width: np.zeros(width), bl.optim.GD(0.01), {"width": [2, 5]}, steps=3)
    assert [row.reason for row in sweep.rows] == ["steps", "error"]
    assert "LookupError: no such model" in sweep.rows[1].message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hypers": {"lr": bl.Between(0.1, 1.0)}}, "'lr' has a range, expected a list of values"),
        ({"search": "random"}, "how many configurations to try"),
        ({"trials": 3}, "trials=3 is for a search"),
        ({"search": "random", "trials": 0}, "trials=0"),
        ({"search": "random", "trials": 3, "hypers": None}, "needs optimizers and the choices"),
        (
            {"search": "random", "trials": 3, "optimizers": [{"optimizer": bl.optim.GD()}]},
            "needs optimizers and the choices",
        ),
        ({"search": "random", "trials": 3, "hypers": {"lr": bl.Between(-1.0, 1.0)}}, "GD cannot have lr=-1.0"),
        ({"steps": lambda *, batch: batch}, "depends on 'batch', which is not among hypers"),
        (
            {"optimizers": [{"optimizer": bl.optim.GD()}], "hypers": None, "steps": lambda *, batch: batch},
            "entry 0 of the",
        ),
        ({"steps": lambda batch: batch}, "is not a whole number"),
        ({"hypers": {"lr": [0.1]}, "steps": None}, "says when a run of the sweep ends"),
    ],
)
def test_bad_choices_are_refused(change, message):
    given = {"optimizers": bl.optim.GD(), "hypers": {"lr": [0.1]}, "steps": 3} | change
    with pytest.raises(ArgumentError, match=message):
        bl.sweep(F, F.start, given.pop("optimizers"), given.pop("hypers"), **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((1.0, 0.1), "Pass the smaller number first"),
        ((0.0, 1.0, True), "begins at 0.0, expected a number above 0"),
        ((0.5, 2, False, True), "low of Between=0.5 is not a whole number"),
        ((0.0, float("inf")), "expected a finite number"),
        ((0.0, float("nan")), "not a real number"),
        ((0.0, 1.0, "yes"), "log of Between='yes' is neither True nor False"),
    ],
)
def test_bad_ranges_are_refused(given, message):
    with pytest.raises(ArgumentError, match=message):
        bl.Between(*given)


def test_samplers_are_choices(tmp_path):
    """Each run has the bits of its own sampler, also from a folder, which knows one sampler from another."""
    problem, orders = least_squares(6), ["sequential", "reshuffle"]
    given = {"batch": 4, "steps": 30}
    sweep = bl.sweep(
        problem,
        np.zeros(6),
        bl.optim.GD(0.01),
        {"order": orders},
        sampler=lambda *, order: order,
        folder=tmp_path,
        **given,
    )
    alone = [bl.minimize(problem, np.zeros(6), bl.optim.GD(0.01), sampler=order, **given) for order in orders]
    for run, other in zip(sweep.runs, alone, strict=True):
        np.testing.assert_array_equal(run.x, other.x)
    assert np.any(alone[0].x != alone[1].x)
    with pytest.raises(FileError, match="its problem, start, optimizers or steps are others"):
        bl.sweep(
            problem, np.zeros(6), bl.optim.GD(0.01), {"order": orders}, sampler=lambda *, order: "uniform",
            folder=tmp_path, **given,
        )  # fmt: skip
