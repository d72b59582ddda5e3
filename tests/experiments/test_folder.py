"""A sweep with a folder goes on after a crash, and takes no folder that is not its own."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, FileError, StatusError
from tests.interrupts import interrupt

F = bl.problems.rosenbrock()
A = np.random.default_rng(3).normal(size=(24, 3))
HYPERS = {"lr": [0.1, 0.01]}
# Once two runs are done, the next two go on for ever: whenever the sweep is killed, it is in the middle.
KILLED = """
import sys, time, numpy as np, burlab as bl
from pathlib import Path
from tests.experiments.test_folder import swept
def when(rows):
    while len(list(Path(sys.argv[1]).glob("0*.json"))) >= 2:
        time.sleep(0.1)
    return np.zeros(len(rows["value"]), bool)
swept(sys.argv[1], stop=bl.Stop(when=when), threads=2)
"""


def problem():
    return bl.FiniteSum(lambda x, a: 0.5 * (a @ x - 1.0) ** 2, A)


def swept(folder=None, **changed):
    given = {"problem": problem(), "x0": np.zeros(3), "optimizers": bl.optim.GD(), "hypers": HYPERS}
    given |= {"seeds": 3, "batch": 4, "steps": 30, "folder": folder} | changed
    return bl.sweep(**given)


def same(one, other):
    for row, twin, run, again in zip(one.rows, other.rows, one.runs, other.runs, strict=True):
        assert (row.value, row.steps, row.counts, row.reason) == (twin.value, twin.steps, twin.counts, twin.reason)
        assert np.array_equal(run.x, again.x)
        assert np.array_equal(run.history["value"], again.history["value"])
    return True


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept") / "new" / "sweep"
    return folder, swept(folder)


def test_each_run_is_a_file_and_a_row(kept):
    folder, sweep = kept
    assert sorted(file.name for file in folder.iterdir()) == sorted(
        ["lock", "sweep.json", *(f"{k:05d}.{ending}" for k in range(6) for ending in ("burlab", "json"))]
    )
    data = problem().oracle.data.arrays
    assert np.array_equal(bl.load_run(folder / "00004.burlab", data).x, sweep.runs[4].x)
    assert same(sweep, swept())


def test_a_folder_knows_the_validation(tmp_path):
    def held(a):
        return bl.FiniteSum(lambda x, a: (a @ x - 1.0) ** 2, a)

    sweep = swept(tmp_path, seeds=1, validation=held(A[:5]))
    again = swept(tmp_path, seeds=1, validation=held(A[:5]))
    assert [row.validation for row in again.rows] == [held(A[:5]).value(run.x) for run in sweep.runs]
    assert again.rows == sweep.rows
    assert np.array_equal(again.runs[1].history["validation_value"], sweep.runs[1].history["validation_value"], True)
    with pytest.raises(FileError, match="its problem, start, optimizers or steps are others"):
        swept(tmp_path, seeds=1, validation=held(A[:6]))


def test_a_finished_sweep_is_read_and_nothing_runs(kept, monkeypatch):
    folder, sweep = kept
    before = {file: file.stat().st_mtime_ns for file in folder.iterdir() if file.name != "lock"}
    again = swept(folder)
    assert {file: file.stat().st_mtime_ns for file in before} == before
    assert again.rows == sweep.rows, "also the seconds"
    assert same(sweep, again)
    run = again.runs[2]
    assert again.runs[2] is run, "as long as somebody holds it"
    run.step(5)
    assert run.t == 35
    assert again.best() == sweep.best()
    assert len(again.race().racers) == 2
    assert len(again.chart().parts[0].bands) == 2


def test_a_crash_costs_what_had_not_ended(tmp_path, root):
    folder = tmp_path / "sweep"
    environment = os.environ | {"PYTHONPATH": str(root)}
    with subprocess.Popen([sys.executable, "-c", KILLED, str(folder)], env=environment, cwd=root) as process:
        end = time.monotonic() + 120
        while len(list(folder.glob("0*.json"))) < 2:
            assert process.poll() is None, "it has ended by itself"
            assert time.monotonic() < end
            time.sleep(0.01)
        with pytest.raises(FileError, match=f"is in use by process {process.pid} on .*Wait until"):
            swept(folder)
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = {file: file.stat().st_mtime_ns for file in folder.glob("*.json")}
    rows = {k: (folder / f"{k:05d}.json").read_text() for k in range(6) if (folder / f"{k:05d}.json").exists()}
    assert 2 <= len(rows) < 6
    # The predicate of the process that was killed changed no step: what it has done counts.
    told = json.loads((folder / "sweep.json").read_text())
    quick = bl.Stop(when=lambda rows: np.zeros(len(rows["value"]), bool))
    sweep = swept(folder, stop=quick)
    assert {file: file.stat().st_mtime_ns for file in done} == done
    for number, text in rows.items():
        assert sweep.rows[number].as_json() == text
    assert all(row.steps == 30 for row in sweep.rows)
    assert json.loads((folder / "sweep.json").read_text()) == told
    assert same(sweep, swept())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"hypers": {"lr": [0.1, 0.02]}}, "its list of runs differs from the requested one of 6"),
        ({"seeds": 2}, "its list of runs differs from the requested one of 4"),
        ({"steps": 31}, "its problem, start, optimizers or steps are others"),
        ({"batch": 5}, "its problem, start, optimizers or steps are others"),
        ({"x0": np.ones(3)}, "its problem, start, optimizers or steps are others"),
        ({"optimizers": {"GD": bl.optim.Momentum(mu=0.0)}}, "its problem, start, optimizers or steps are others"),
        ({"problem": bl.FiniteSum(lambda x, a: 0.5 * (a @ x - 1.0) ** 2, A + 1e-9)}, "its problem, start"),
        ({"problem": bl.FiniteSum(lambda x, a: 0.4 * (a @ x - 1.0) ** 2, A)}, "its problem, start"),
        ({"stop": bl.Stop(value=0.1)}, "its problem, start"),
    ],
)
def test_a_folder_of_another_sweep_is_refused(kept, changed, message):
    with pytest.raises(FileError, match=rf"is of another sweep: {message}.* Give another folder"):
        swept(kept[0], **changed)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("burlab", "0.0.1", "computed by burlab 0.0.1"),
        ("instruction_set", "neon", "Set BURLAB_ISA=neon"),
        ("burlab_sweep", 2, "another format"),
    ],
)
def test_a_folder_of_another_burlab_or_machine_is_refused(kept, tmp_path, key, value, message):
    told = json.loads((kept[0] / "sweep.json").read_text()) | {key: value}
    (tmp_path / "sweep.json").write_text(json.dumps(told))
    with pytest.raises(FileError, match=message):
        swept(tmp_path)
    (tmp_path / "sweep.json").write_text("{")
    with pytest.raises(FileError, match="cannot be read"):
        swept(tmp_path)


def test_a_folder_of_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(FileError, match=r"holds 'thesis\.tex' but no sweep"):
        swept(tmp_path)
    with pytest.raises(FileError, match="cannot be made"):
        swept(tmp_path / "thesis.tex")


def test_threads_are_others_and_the_folder_is_the_same(kept):
    assert same(swept(kept[0], threads=3), kept[1])


def test_runs_of_scipy_are_no_files(tmp_path):
    with pytest.raises(ArgumentError, match="'SciPy' is a minimizer of SciPy, whose runs cannot be files"):
        bl.sweep(F, F.start, bl.optim.SciPy("BFGS"), steps=3, folder=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_failed_run_is_a_row_also_when_it_is_read(tmp_path):
    first = bl.sweep(F, F.start, bl.optim.GD(), {"lr": [1e-3, 1.0]}, steps=50, folder=tmp_path)
    again = bl.sweep(F, F.start, bl.optim.GD(), {"lr": [1e-3, 1.0]}, steps=50, folder=tmp_path)
    assert again.rows == first.rows
    assert again.rows[1].failed
    assert again.runs[1].stopped.reason == "non_finite"


def test_an_error_is_tried_again(tmp_path):
    calls = []

    def when(rows):
        calls.append(rows["lr"][0])
        if rows["lr"][0] == 2e-3 and len([lr for lr in calls if lr == 2e-3]) == 1:
            raise ZeroDivisionError("once")
        return np.zeros(len(rows["value"]), bool)

    given = {"steps": 50, "folder": tmp_path, "stop": bl.Stop(when=when)}
    first = bl.sweep(F, F.start, bl.optim.GD(), {"lr": [1e-3, 2e-3]}, **given)
    assert [row.reason for row in first.rows] == ["steps", "error"]
    with pytest.raises(StatusError, match="ZeroDivisionError: once"):
        first.runs[1]
    again = bl.sweep(F, F.start, bl.optim.GD(), {"lr": [1e-3, 2e-3]}, **given)
    assert [row.reason for row in again.rows] == ["steps", "steps"]


@dataclass(frozen=True)
class Unfinished(bl.optim.Optimizer):
    def update(self, g, state, x, t):
        raise LookupError("no rule yet")


def test_a_rule_that_cannot_be_traced_is_a_row_with_its_reason(tmp_path):
    optimizers = {"gd": bl.optim.GD(1e-3), "mine": Unfinished()}
    for _ in range(2):
        rows = bl.sweep(F, F.start, optimizers, steps=5, folder=tmp_path).rows
        assert [row.reason for row in rows] == ["steps", "error"]
        assert "LookupError: no rule yet" in rows[1].message


def test_a_seed_without_a_start_is_a_row_with_its_reason(tmp_path):
    def start(seed):
        if seed == 1:
            raise LookupError("no start for it")
        return F.start

    for _ in range(2):
        rows = bl.sweep(F, start, bl.optim.GD(1e-3), seeds=3, steps=5, folder=tmp_path).rows
        assert [row.reason for row in rows] == ["steps", "error", "steps"]
        assert "LookupError: no start for it" in rows[1].message


def test_a_row_that_was_cut_off_is_done_again(kept, tmp_path):
    for file in kept[0].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "00003.json").write_text((tmp_path / "00003.json").read_text()[:-9])
    (tmp_path / "00004.burlab").unlink()
    assert same(swept(tmp_path), kept[1])
    assert json.loads((tmp_path / "00003.json").read_text())["reason"] == "steps"


def test_an_interrupt_frees_the_folder(tmp_path):
    def call():
        with pytest.warns(RuntimeWarning, match="interrupted: 0 of 1"):
            bl.sweep(F, F.start, bl.optim.GD(1e-9), stop=bl.Stop(seconds=600.0), folder=tmp_path)
        raise KeyboardInterrupt

    interrupt(call, (tmp_path / "sweep.json").exists, wait=0.3)
    with pytest.raises(FileError, match="is of another sweep"):
        swept(tmp_path)
