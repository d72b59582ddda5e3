"""Files of runs with logged metrics, and folders of sweeps, as they were before columns and fields were renamed.

`logged/` is never written again. Its run was made by `problem()` with a rule that logs `longest`, `ahead` (from a
query) and `bits`; lr was halved after 10 of 20 steps.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import burlab as bl
from burlab.runtime.cpu import instruction_set

FOLDER = Path(__file__).parent / "logged"
A = np.random.default_rng(3).normal(1.0, 0.2, size=(24, 3))

pytestmark = pytest.mark.filterwarnings("ignore:.*comes from another version of burlab or another kind of CPU")


def problem() -> bl.FiniteSum:
    return bl.FiniteSum(lambda x, a: 0.5 * (a @ x - 1.0) ** 2, A)


def test_a_run_with_logged_metrics_and_events_loads_and_goes_on() -> None:
    answers = np.load(FOLDER / "answers.npz")
    run = bl.load_run(FOLDER / "metrics.burlab", A)
    assert [(event.step, event.name, event.value) for event in run.events] == [(10, "lr", 0.05)]
    assert {"values", "samples", "longest", "ahead", "bits"} <= set(run.history)
    for name in ("longest", "ahead", "bits", "value"):
        np.testing.assert_array_equal(run.history[name], answers[name])
    np.testing.assert_array_equal(run.x, answers["x"])
    assert run.counts["bits"] == 20 * 96
    run.seek(5)
    run.seek(20)
    np.testing.assert_allclose(run.x, answers["x"], rtol=1e-12)
    run.step(3)
    assert run.history["ahead"].shape == (23,)


def test_a_folder_of_a_sweep_is_read_and_nothing_runs(tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    shutil.copytree(FOLDER / "sweep", folder)
    identity = json.loads((folder / "sweep.json").read_text())
    (folder / "sweep.json").write_text(json.dumps(identity | {"instruction_set": instruction_set().name}))
    before = {file: file.read_bytes() for file in folder.iterdir()}
    sweep = bl.sweep(
        problem(), np.zeros(3), bl.optim.GD(),
        hypers={"lr": [0.1, 0.01]}, seeds=1, batch=4, steps=20, stop=bl.Stop(value=0.1), folder=folder,
    )  # fmt: skip
    assert {file: file.read_bytes() for file in before} == before
    assert [(row.steps, row.reason) for row in sweep.rows] == [(3, "value"), (20, "steps")]
    assert sweep.rows[0].message.startswith("Stopped at step 3: the value")
    assert sweep.runs[0].t == 3
