"""Examples of the README run and are right, and no link of a page is broken."""

import contextlib
import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that the README's examples leave behind, and the folder where they left files."""
    names: dict[str, Any] = {"folder": tmp_path_factory.mktemp("readme")}
    with contextlib.chdir(names["folder"]):
        for block in re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL):
            exec(block, names)
    return names


def test_example_gives_the_gradient(shown: dict[str, Any]):
    f, x, h = shown["rosenbrock"], shown["x"], 1e-6
    differences = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)]
    np.testing.assert_allclose(shown["gradient"], differences, rtol=1e-6)


def test_example_gives_the_curvature(shown: dict[str, Any]):
    import burlab as bl

    f, x, v, h = shown["rosenbrock"], shown["x"], np.ones(3), 1e-5
    differences = (bl.grad(f)(x + h * v) - bl.grad(f)(x - h * v)) / (2 * h)
    np.testing.assert_allclose(shown["curvature"], differences, rtol=1e-6)


def test_example_finds_the_minimum(shown: dict[str, Any]):
    f, run = shown["rosenbrock"], shown["run"]
    assert shown["kernel"](run.x) == pytest.approx(f(run.x), rel=1e-12)
    assert f(run.x) < 1e-3 * f(shown["x"])


def test_example_trains_a_gpt_and_keeps_it(shown: dict[str, Any]):
    import burlab as bl

    problem, model, trained, some = shown["problem"], shown["model"], shown["trained"], np.arange(0, 400_000, 9973)
    assert problem.value(trained, some) < problem.value(model, some) - 1
    kept = bl.load_parameters(shown["folder"] / "gpt.safetensors", model)
    np.testing.assert_array_equal(kept.head.weight, trained.head.weight)


def test_example_travels_in_time(shown: dict[str, Any]):
    trip, other = shown["trip"], shown["other"]
    assert (trip.t, other.t) == (200, 1200)
    assert trip.stopped is None or trip.stopped.reason == "grad_norm"
    np.testing.assert_array_equal(trip.history["value"][:200], other.history["value"][:200])
    assert other.history["lr"][-1] == 0.02


def test_number_of_test_functions(shown: dict[str, Any]):
    import burlab as bl

    makers = [getattr(bl.problems, name) for name in bl.problems.__all__ if name.islower()]
    functions = [make for make in makers if inspect.signature(make).return_annotation is bl.problems.TestFunction]
    assert f"{len(functions)} test functions" in README


def test_every_tutorial_is_listed():
    notebooks = {f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert set(re.findall(r"/blob/main/(notebooks/[^)]+)\)", README)) == notebooks


def test_readme_keeps_its_promise_of_brevity():
    what, rest = README.split("## Install")
    assert len([line for line in what.splitlines() if line]) <= 5
    for block in re.findall(r"^```python\n(.*?)^```", rest, re.MULTILINE | re.DOTALL):
        assert len([line for line in block.splitlines() if line]) <= 12


def test_its_pictures_are_there_and_all_are_shown():
    shown = re.findall(r"raw\.githubusercontent\.com/burlab/burlab/main/(docs/images/[^)]+)\)", README)
    assert sorted(shown) == sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "images").iterdir())


def test_commands_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"):
        wanted = set(re.findall(r"(?:^|`)make ([a-z-]+)", (ROOT / page).read_text(), re.MULTILINE))
        assert wanted <= targets, page


def test_citation_names_this_version():
    import yaml

    import burlab

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == burlab.__version__
    assert citation["license"] == "Apache-2.0"
