"""Files that earlier versions wrote load, and give what they gave then."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.executable import build
from burlab.graph import Graph, tree
from tests.run.saved_cases import CASES
from tests.written.graphs import LAYERS, PROGRAMS, arrays_of
from tests.written.write import MORE, STEPS

VERSIONS = sorted(folder for folder in Path(__file__).parent.iterdir() if folder.name.isdigit())


def near(got: Any, answers: Any, name: str) -> None:
    """Equal but for what another CPU rounds in another way."""
    single = np.asarray(got).dtype == np.float32
    np.testing.assert_allclose(got, answers[name], rtol=1e-4 if single else 1e-9, atol=1e-6 if single else 1e-12)


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda f: f.name)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_graph_computes_what_it_did(folder: Path, name: str) -> None:
    answers = np.load(folder / "answers.npz")
    graph = Graph.from_json(json.loads((folder / "graphs.json").read_text())[name])
    outputs = build(graph, gear="replay")(*arrays_of(name))
    for k, y in enumerate(outputs):
        near(y, answers, f"graph {name} {k}")


@pytest.mark.filterwarnings("ignore:.*comes from another version of burlab or another kind of CPU")
@pytest.mark.parametrize("folder", VERSIONS, ids=lambda f: f.name)
@pytest.mark.parametrize("name", CASES)
def test_a_run_goes_on_where_it_stood(folder: Path, name: str) -> None:
    answers = np.load(folder / "answers.npz")
    run = bl.load_run(folder / f"{name.replace(' ', '_')}.burlab", CASES[name]()[1])
    assert run.t == STEPS
    assert len(run.events) == 1
    run.step(MORE)
    for k, leaf in enumerate(tree.flatten(run.x)[0]):
        near(leaf, answers, f"run {name} {k}")


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda f: f.name)
def test_parameters_are_those_that_were_saved(folder: Path) -> None:
    found = bl.load_parameters(folder / "layers.safetensors", LAYERS)
    for mine, theirs in zip(tree.flatten(found)[0], tree.flatten(LAYERS)[0], strict=True):
        np.testing.assert_array_equal(mine, theirs)
