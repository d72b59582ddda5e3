"""The kernels written by hand: headers that stand alone, and gradients against a second engine, also in float64."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from burlab.bench.cases import find
from burlab.bench.clock import Effort
from burlab.bench.measure import Entrant, measure
from burlab.bench.namespace import PLAIN
from burlab.bench.problem import Training
from burlab.bench.variants.golden_mlp import GoldenMlp
from burlab.bench.variants.training import Minimize
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
    entrants = [Entrant("golden", "", lambda: GoldenMlp(problem)), Entrant("burlab", "", lambda: Minimize(problem, 1))]
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
    from burlab.bench.cases import paper_gpt

    problem = paper_gpt.problem({"batch": 2})
    tokens, targets = problem.inputs[:4], problem.targets[:4]
    margins = [paper_gpt.margin(paper_gpt.start(seed), tokens, targets) for seed in range(paper_gpt.SEEDS)]
    assert paper_gpt.margin(dict(problem.parameters), tokens, targets) == max(margins) > min(margins)


def test_no_relu_passes_its_kink_within_a_difference():
    from burlab.bench.cases import paper_gpt

    problem = paper_gpt.problem({"batch": 64})
    data, rng = (problem.inputs[:64], problem.targets[:64]), np.random.default_rng(0)

    def signs(p: dict[str, np.ndarray]) -> np.ndarray:
        seen: list[np.ndarray] = []
        problem.loss(PLAIN, p, *data, seen)
        return np.stack(seen) > 0

    p = dict(problem.parameters)
    here = signs(p)
    for name in ("token", "0.qkv", "0.norm2", "0.shift2", "0.up", "3.norm2", "3.shift2", "3.up_bias", "5.up"):
        u = rng.choice([-1.0, 1.0], p[name].shape) / np.sqrt(p[name].size)
        for way in (1.0, -1.0):
            there = signs({**p, name: p[name] + way * problem.difference * u})
            np.testing.assert_array_equal(there, here, err_msg=name)


def test_the_loss_of_a_batch_is_that_of_its_samples():
    problem = find("gpt").problem({"batch": 2})
    together = problem.loss(PLAIN, problem.parameters, problem.inputs[:3], problem.targets[:3])
    alone = [problem.loss(PLAIN, problem.parameters, problem.inputs[k], problem.targets[k]) for k in range(3)]
    np.testing.assert_allclose(together, alone, rtol=1e-13)
