"""Sweeps whose trials a study of Optuna proposes: what it learns, what it stops, and what a crash costs."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, FileError
from burlab.experiments.setting import REPORTS
from tests.interrupts import interrupt

optuna = pytest.importorskip("optuna")

F = bl.problems.rosenbrock()
SPACE = {"lr": bl.Between(1e-5, 1e-2, log=True), "mu": bl.Between(0.0, 0.99)}
STATES = optuna.trial.TrialState
optuna.logging.set_verbosity(optuna.logging.WARNING)
# Once four runs have ended, the next ones go on for ever: whenever the sweep is killed, it is in the middle.
KILLED = """
import sys, time, numpy as np, burlab as bl
from pathlib import Path
from tests.experiments.test_optuna_search import searched, stored
def when(rows):
    while len(list(Path(sys.argv[1]).glob("0*.json"))) >= 4 and rows["step"][-1] > 70:
        time.sleep(0.1)
    return np.zeros(len(rows["value"]), bool)
searched(stored(sys.argv[2]), folder=sys.argv[1], stop=bl.Stop(when=when), threads=2)
"""


def study(seed=0, pruner=None):
    pruner = optuna.pruners.MedianPruner(n_startup_trials=3) if pruner is None else pruner
    return optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed), pruner=pruner)


def stored(path):
    sampler = optuna.samplers.TPESampler(seed=0)
    place = f"sqlite:///{path}"
    return optuna.create_study(storage=place, study_name="search", load_if_exists=True, sampler=sampler)


def searched(search, **changed):
    given = {
        "problem": F,
        "x0": F.start,
        "optimizers": bl.optim.Momentum(),
        "hypers": SPACE,
        "trials": 12,
        "steps": 200,
    }
    return bl.sweep(search=search, **given | changed)


def own_trials(one):
    return [trial for trial in one.trials if "burlab_sweep" in trial.user_attrs]


def check(sweep, one, steps=200):
    """The rows are what the study knows, and the runs are those of `minimize` alone, as far as they went."""
    known = {trial.user_attrs["burlab_sweep"][1]: trial for trial in own_trials(one) if trial.state != STATES.FAIL}
    assert sorted(known) == [row.number for row in sweep.rows]
    for row, run in zip(sweep.rows, sweep.runs, strict=True):
        trial = known[row.number]
        assert trial.params == row.hypers
        assert trial.state == (STATES.PRUNED if row.reason == "pruned" else STATES.COMPLETE)
        assert run.t == row.steps == {"pruned": trial.last_step, "steps": steps, "non_finite": row.steps}[row.reason]
        assert trial.value == (np.inf if row.failed else row.value)
        alone = bl.minimize(F, F.start, bl.optim.Momentum(**row.hypers))
        alone.start(row.steps)
        while not alone.rests(1.0):
            pass
        assert np.array_equal(run.x, alone.x)
        assert np.array_equal(run.history["value"][: row.steps], alone.history["value"])
        values = np.append(alone.history["value"], alone.value)
        assert trial.intermediate_values == {step: values[step] for step in trial.intermediate_values}
        assert list(trial.intermediate_values) == list(range(10, min(row.steps + 1, steps), 10))


def test_tpe_with_median_pruning_beats_a_grid_of_as_many_runs():
    grid = {"lr": np.geomspace(1e-5, 1e-2, 10), "mu": np.linspace(0.0, 0.99, 6)}
    best = bl.sweep(F, F.start, bl.optim.Momentum(), grid, steps=1000).best()
    found = [searched(study(seed), trials=60, steps=1000) for seed in range(5)]
    values = sorted(sweep.best().value for sweep in found)
    assert values[2] < best.value / 100, (values, best.value)
    for sweep in found:
        assert len(sweep) == 60
        pruned = [row for row in sweep.rows if row.reason == "pruned"]
        assert len(pruned) >= 10
        assert all(row.steps < 1000 and row.counts["samples"] == row.steps for row in pruned), "they cost nothing more"
        assert "by the pruner" in pruned[0].message


def test_study_hears_the_curve_of_each_run_and_its_value():
    one = study()
    sweep = searched(one)
    check(sweep, one)
    assert {row.reason for row in sweep.rows} >= {"steps", "pruned"}
    assert one.best_value == sweep.best().value
    again = searched(study())
    assert [(row.hypers, row.value, row.reason, row.steps) for row in again.rows] == [
        (row.hypers, row.value, row.reason, row.steps) for row in sweep.rows
    ]


def test_search_on_threads_and_of_a_sampler():
    one = study()
    check(searched(one, threads=3), one)
    sweep = searched(optuna.samplers.RandomSampler(seed=1), trials=6)
    assert len({row.hypers["lr"] for row in sweep.rows}) == 6
    assert str(sweep.table).startswith("6 of 6 runs done")
    assert 1 <= len(sweep.race().racers) <= 6


def test_study_of_others_is_read_and_only_own_trials_are_rows():
    one = study()
    one.optimize(lambda trial: trial.suggest_float("lr", 1e-5, 1e-2, log=True), n_trials=4)
    first, second = searched(one, trials=3), searched(one, trials=2)
    assert len(one.trials) == 9
    assert [len(first), len(second)] == [3, 2]
    assert len({trial.user_attrs["burlab_sweep"][0] for trial in own_trials(one)}) == 2


def test_optimizers_lists_whole_numbers_and_arguments_are_chosen():
    rates = [1e-3, bl.optim.cosine(1e-3, steps=50)]
    space = {"lr": rates, "memory": bl.Between(2, 8, whole=True), "batch": [None], "steps": [20, 40]}
    one = study(pruner=optuna.pruners.NopPruner())
    problem = bl.FiniteSum(lambda x, a: (x[0] - a) ** 2 + (x[1] - 1) ** 2, np.arange(4.0))
    optimizers = {"gd": bl.optim.GD(), "lbfgs": bl.optim.LBFGS()}
    sweep = searched(one, problem=problem, x0=np.zeros(2), optimizers=optimizers, hypers=space, steps=None, trials=20)
    assert {row.name for row in sweep.rows} == {"gd", "lbfgs"}
    for row, trial in zip(sweep.rows, one.trials, strict=True):
        assert trial.params["optimizer"] == row.name
        assert set(row.hypers) == ({"lr", "batch", "steps"} if row.name == "gd" else {"memory", "batch", "steps"})
        assert row.steps == row.hypers["steps"] or row.reason == "stalled"
        if row.name == "gd":
            assert row.hypers["lr"] in rates
            rule = bl.optim.GD(row.hypers["lr"])
            assert row.value == bl.minimize(problem, np.zeros(2), rule, steps=row.steps).value


def test_validation_is_what_a_search_minimizes():
    held = bl.problems.booth()
    one = study(pruner=optuna.pruners.NopPruner())
    sweep = searched(one, validation=held, trials=4)
    for row, run, trial in zip(sweep.rows, sweep.runs, one.trials, strict=True):
        assert trial.value == row.validation == float(held(run.x))
        assert trial.intermediate_values[100] == pytest.approx(run.history["validation_value"][100], rel=1e-14)


def test_run_that_diverges_is_worth_infinity_and_an_error_is_tried_again():
    one, calls = study(pruner=optuna.pruners.NopPruner()), []

    def when(rows):
        calls.append(rows["lr"][0])
        if calls.count(rows["lr"][0]) == 1 and len(set(calls)) == 2:
            raise ZeroDivisionError("once")
        return np.zeros(len(rows["value"]), bool)

    sweep = searched(one, hypers={"lr": bl.Between(0.5, 1.0)}, trials=3, optimizers=bl.optim.GD(1.0))
    assert [row.reason for row in sweep.rows] == ["non_finite"] * 3
    assert [trial.value for trial in one.trials] == [np.inf] * 3
    third = study(pruner=optuna.pruners.NopPruner())
    space = {"lr": bl.Between(0.5, 1.0)}
    gone = searched(third, problem=lambda x: np.sum(np.sqrt(x)), x0=np.full(1, 0.1), hypers=space, trials=2)
    assert np.isnan(gone.rows[0].value)
    assert [trial.value for trial in third.trials] == [np.inf] * 2
    second = study(pruner=optuna.pruners.NopPruner())
    sweep = searched(second, trials=3, stop=bl.Stop(when=when))
    assert [row.reason for row in sweep.rows] == ["steps", "error", "steps"]
    assert second.trials[1].state == STATES.FAIL
    sweep.go()
    assert [row.reason for row in sweep.rows] == ["steps", "steps", "steps"]
    assert second.trials[3].params == second.trials[1].params == sweep.rows[1].hypers
    assert len(second.trials) == 4
    assert len(second.trials[3].intermediate_values) == len(second.trials[0].intermediate_values) == REPORTS - 1


def test_search_goes_on_after_an_interrupt():
    one, found = study(pruner=optuna.pruners.NopPruner()), []

    def call():
        with pytest.warns(RuntimeWarning, match="interrupted: 0 of 2 runs are done"):
            found.append(searched(one, hypers={"lr": bl.Between(1e-9, 1e-8)}, trials=2, steps=8_000_000))
        raise KeyboardInterrupt

    interrupt(call, lambda: bool(one.trials and one.trials[0].intermediate_values), wait=0)
    sweep, before = found[0], one.trials[0].params
    half = sweep._executor.paused[0]
    assert 0 < half.t < 8_000_000
    sweep.go()
    assert [row.steps for row in sweep.rows] == [8_000_000] * 2
    assert sweep.rows[0].hypers == before
    assert [trial.state for trial in one.trials] == [STATES.COMPLETE] * 2


def test_search_that_is_killed_goes_on_from_its_storage_and_folder(tmp_path, root):
    folder, database = tmp_path / "sweep", tmp_path / "study.db"
    environment = os.environ | {"PYTHONPATH": str(root)}
    command = [sys.executable, "-c", KILLED, str(folder), str(database)]
    with subprocess.Popen(command, env=environment, cwd=root) as process:
        end = time.monotonic() + 120

        def running():
            trials = stored(database).trials if database.exists() and (folder / "sweep.json").exists() else []
            return [trial for trial in trials if trial.state == STATES.RUNNING and trial.intermediate_values]

        while len(list(folder.glob("0*.json"))) < 4 or not running():
            assert process.poll() is None, "it has ended by itself"
            assert time.monotonic() < end
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
    rows = {file.name: file.read_text() for file in folder.glob("0*.json")}
    assert 4 <= len(rows) < 12
    half = [trial for trial in stored(database).trials if trial.state == STATES.RUNNING]
    assert half
    quick = bl.Stop(when=lambda rows: np.zeros(len(rows["value"]), bool))
    one = stored(database)
    sweep = searched(one, folder=folder, stop=quick)
    assert {name: (folder / name).read_text() for name in rows} == rows
    check(sweep, one)
    lost = [trial for trial in one.trials if trial.state == STATES.FAIL]
    assert [trial.number for trial in lost] == [trial.number for trial in half]
    again = {trial.user_attrs["burlab_sweep"][1]: trial.params for trial in one.trials if trial.state != STATES.FAIL}
    assert all(again[trial.user_attrs["burlab_sweep"][1]] == trial.params for trial in lost)
    more = searched(stored(database), folder=folder, stop=quick, trials=14)
    assert [row.value for row in more.rows[:12]] == [row.value for row in sweep.rows]
    assert more.rows[13].done


def test_folder_alone_teaches_a_new_study(tmp_path):
    first = searched(study(), folder=tmp_path, trials=6)
    one = study()
    second = searched(one, folder=tmp_path, trials=9)
    assert second.rows[:6] == first.rows
    check(second, one)
    with pytest.raises(FileError, match="its list of runs differs from the requested search"):
        searched(study(), folder=tmp_path, hypers={"lr": SPACE["lr"]})
    (tmp_path / "00003.burlab").unlink()
    other = study()
    third = searched(other, folder=tmp_path, trials=9)
    assert third.rows[3].hypers != first.rows[3].hypers, "its parameters are lost, too"
    check(third, other)


def test_row_that_the_study_did_not_hear_of_is_told(tmp_path):
    """The process was killed between the two."""
    one = study()
    searched(one, folder=tmp_path, trials=3)
    other = study()
    for trial in one.trials[:2]:
        other.add_trial(trial)
    cut = other.ask()
    cut.set_user_attr("burlab_sweep", one.trials[2].user_attrs["burlab_sweep"])
    for name, distribution in one.trials[2].distributions.items():
        cut._suggest(name, distribution)
    searched(other, folder=tmp_path, trials=3)
    assert [trial.state for trial in other.trials] == [trial.state for trial in one.trials]
    assert other.trials[2].value == one.trials[2].value


@pytest.fixture(scope="module")
def client():
    import distributed

    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_search_on_one_worker_of_dask_is_that_of_one_thread(client, tmp_path):
    one, other = study(), study()
    expected, sweep = searched(one), searched(other, cluster=client, folder=tmp_path)
    check(sweep, other)
    assert [(row.hypers, row.value, row.reason, row.steps) for row in sweep.rows] == [
        (row.hypers, row.value, row.reason, row.steps) for row in expected.rows
    ]
    assert {row.reason for row in sweep.rows} >= {"steps", "pruned"}


@pytest.mark.full
def test_run_of_a_worker_that_is_killed_is_searched_by_another(tmp_path):
    import distributed

    folder, over, one = tmp_path / "sweep", tmp_path / "killed", study()
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())

        def when(rows):
            """Never true; once four runs have ended the next ones wait, so that one is killed in the middle."""
            while len(list(folder.glob("0*.json"))) >= 4 and not over.exists() and rows["step"][-1] > 70:
                (tmp_path / f"waits {os.getpid()}").touch()
                time.sleep(0.005)
            return np.zeros(len(rows["value"]), bool)

        def kill():
            while len(list(tmp_path.glob("waits *"))) < 2:
                time.sleep(0.005)
            os.kill(pids[0], signal.SIGKILL)
            over.touch()

        killer = threading.Thread(target=kill)
        killer.start()
        sweep = searched(one, cluster=client, folder=folder, stop=bl.Stop(when=when))
        killer.join()
    check(sweep, one)
    assert len(one.trials) == 12, "the run that was lost is the same trial"


def test_each_run_reports_some_times():
    one = study(pruner=optuna.pruners.NopPruner())
    searched(one, trials=1, steps=1000)
    searched(one, trials=1, steps=None, stop=bl.Stop(steps=7))
    searched(one, trials=1, steps=None, stop=bl.Stop(value=1e-2))
    assert [len(trial.intermediate_values) for trial in one.trials[:2]] == [REPORTS - 1, 6]
    assert set(np.diff(list(one.trials[2].intermediate_values))) <= {100}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"search": "tpe"}, "search is 'tpe', expected 'random', a NumPy generator, or a study"),
        ({"search": optuna.samplers.TPESampler}, "expected 'random'"),
        ({"search": optuna.create_study(direction="maximize")}, "direction maximize, but a sweep minimizes"),
        ({"search": optuna.create_study(directions=["minimize"] * 2)}, "direction minimize and minimize"),
        ({"search": study(), "seeds": 3}, "each trial of Optuna is one run"),
        ({"search": study(), "trials": None}, "how many configurations"),
    ],
)
def test_bad_searches_are_refused(change, message):
    with pytest.raises(ArgumentError, match=message):
        searched(**{"search": None} | change)
