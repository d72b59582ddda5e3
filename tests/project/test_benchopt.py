"""The benchmark of docs/benchopt runs in benchopt, and what it reports is true."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from scipy import optimize

import burlab as bl

pytestmark = pytest.mark.full
pytest.importorskip("benchopt")
LINES = ("burlab[optimizer=GD]", "burlab[optimizer=LBFGS]", "burlab[optimizer=NewtonCG]", "burlab[optimizer=SAGA]",
         "burlab[optimizer=SVRG]", "scipy")  # fmt: skip


@pytest.fixture(scope="module")
def results(root: Path, tmp_path_factory: pytest.TempPathFactory):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    folder = copytree(root / "docs" / "benchopt", tmp_path_factory.mktemp("benchopt") / "benchmark")
    assert "burlab" in reported(folder, root, "-n", "12")
    (file,) = (folder / "outputs").glob("*.parquet")
    return pandas.read_parquet(file)


def reported(folder: Path, root: Path, *options: str) -> str:
    """Run the benchmark in a folder, and return what benchopt prints."""
    program = Path(sys.executable).with_name("benchopt")
    command = [program, "run", folder, *options, "-r", "1", "--no-plot", "--no-display", "--no-html"]
    environment = os.environ | {"PYTHONPATH": str(root)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 20))
    return X, np.sign(X @ rng.normal(size=20) + rng.normal(size=500))


def value(X, y, beta):
    return np.sum(np.logaddexp(0.0, -y * (X @ beta))) + 0.5 * beta @ beta


def slope(X, y, beta):
    return -X.T @ (y / (1 + np.exp(y * (X @ beta)))) + beta


def test_each_solver_gets_down_to_the_minimum(results, data):
    lowest = optimize.minimize(lambda b: value(*data, b), np.zeros(20), jac=lambda b: slope(*data, b), tol=1e-12).fun
    assert sorted(results["solver_name"].unique()) == list(LINES)
    for name, rows in results.groupby("solver_name"):
        values = rows.sort_values("stop_val")["objective_value"].to_numpy()
        assert values[0] == pytest.approx(500 * np.log(2)), f"{name} starts at 0"
        assert lowest - 1e-9 <= values.min() < lowest + (1.0 if "GD" in name else 1e-3), name
        assert rows["time"].max() < 20


def test_gradient_descent_has_the_values_of_numpy(results, data):
    rows = results[results["solver_name"] == "burlab[optimizer=GD]"].sort_values("stop_val")
    problem = bl.problems.logistic_regression(*data, l2=1 / 500)
    beta, step = np.zeros(20), 0
    for stop, found in zip(rows["stop_val"], rows["objective_value"], strict=True):
        while step < stop:
            beta = beta - slope(*data, beta) / (500 * problem.smoothness)
            step += 1
        assert found == pytest.approx(value(*data, beta), rel=1e-12)
    assert step > 5


def test_objective_with_an_intercept_is_skipped(root: Path, tmp_path: Path):
    folder = copytree(root / "docs" / "benchopt", tmp_path / "benchmark")
    objective = (folder / "objective.py").read_text()
    wider = objective.replace('{"lmbd": [1.0]}', '{"lmbd": [1.0], "fit_intercept": [True, False]}')
    wider = wider.replace('"lmbd": self.lmbd}', '"lmbd": self.lmbd, "fit_intercept": self.fit_intercept}')
    (folder / "objective.py").write_text(wider)
    text = reported(folder, root, "-n", "2", "-s", "burlab[optimizer=GD]")
    assert text.count("skip") >= 1
    assert "there is no intercept" in text
    assert text.count("done") >= 1
