"""The kernels written by hand: headers that stand alone, and gradients against a second engine, also in float64."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from burlab.bench.cases import find
from burlab.bench.clock import Effort
from burlab.bench.measure import Entrant, measure
from burlab.bench.problem import Training
from burlab.bench.ways.golden_mlp import Steps
from burlab.bench.ways.training import Minimize
from burlab.bench.words import PLAIN
from tests.project.test_headers import STRICT

HEADERS = sorted(Path(__file__).parents[2].glob("burlab/bench/**/*.hpp"))


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_header_stands_alone(header: Path, root: Path):
    include = ["-I", str(root / "cpp"), "-Wno-psabi"]
    text = f'#include "{header}"\n#include "{header}"\n'
    command = ["g++", *STRICT, *include, "-x", "c++", "-"]
    assert subprocess.run(command, input=text, text=True, capture_output=True, check=False).stderr == ""


@pytest.mark.parametrize(("hidden", "batch"), [(4, 1), (4, 8), (17, 16), (64, 1), (64, 8), (80, 64)])
def test_the_mlp_by_hand_equals_burlab(hidden: int, batch: int):
    size = {"hidden": hidden, "batch": batch}
    problem = find("mlp").problem(size)
    assert isinstance(problem, Training)
    entrants = [Entrant("golden", "", lambda: Steps(problem)), Entrant("burlab", "", lambda: Minimize(problem))]
    for line in measure("mlp", size, problem, "float32", entrants, Effort(shortest=0.0, rounds=1)):
        assert line.verdict, line.gap
        assert line.verdict.complaints == ()
        assert line.verdict.error
        assert line.verdict.error["float64"] < 1e-12


def test_models_have_the_size_of_the_paper():
    assert sum(a.size for a in find("gpt").problem({"batch": 1}).parameters.values()) == 46_337
    shapes = {name: a.shape for name, a in find("mlp").problem({"hidden": 4, "batch": 1}).parameters.items()}
    assert shapes["embedding"] == (27, 64)
    assert shapes["hidden"] == (16 * 64, 4)
    assert shapes["output"] == (4, 27)


def test_the_seed_of_the_gpt_is_the_one_that_keeps_farthest_from_kinks():
    from burlab.bench.cases import gpt

    problem = gpt.problem({"batch": 2})
    tokens, targets = problem.inputs[:4], problem.targets[:4]
    margins = [gpt.margin(gpt.start(seed), tokens, targets) for seed in range(gpt.SEEDS)]
    assert gpt.margin(dict(problem.parameters), tokens, targets) == max(margins) > min(margins)


def test_the_loss_of_a_batch_is_that_of_its_samples():
    problem = find("gpt").problem({"batch": 2})
    together = problem.loss(PLAIN, problem.parameters, problem.inputs[:3], problem.targets[:3])
    alone = [problem.loss(PLAIN, problem.parameters, problem.inputs[k], problem.targets[k]) for k in range(3)]
    np.testing.assert_allclose(together, alone, rtol=1e-13)
