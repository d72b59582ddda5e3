"""The steps of docs/extending are taken in a copy of the repository, and lead there."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.engines import jax_or_skip
from tests.tiers.parcels import DOCTESTS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "extending"


@dataclass(frozen=True)
class Edit:
    """Put `text` into a file: in the place of `anchor`, or before its line, or, without anchor, as the whole file."""

    file: str
    anchor: str
    text: str

    def apply(self, root: Path) -> None:
        path = root / self.file
        if not self.anchor:
            path.write_text(self.text)
            return
        old = path.read_text()
        assert self.anchor in old, f"a page speaks of {self.anchor!r}, which {self.file} does not hold"
        path.write_text(old.replace(self.anchor, self.text, 1))


@dataclass(frozen=True)
class Recipe:
    """Addition that a page describes. tests: the tables that agree then.

    right, wrong: a part of what the steps write, and a mistake in it; or mistake: one elsewhere.
    """

    tests: tuple[str, ...]
    right: str = ""
    wrong: str = ""
    mistake: Edit | None = None


OPERATIONS = ("tests/graph/test_ops.py", "tests/graph/test_tensor_ops.py", "-k")
REVERSED = Edit(
    "cpp/burlab/kernels/matrix/tile.hpp",
    "const T *a = f.a, *b = f.b;\n  const Int a_depth = f.a_depth, b_depth = f.b_depth,",
    "const Int a_depth = -f.a_depth, b_depth = -f.b_depth;\n"
    "  const T *a = f.a - (f.depth - 1) * a_depth, *b = f.b - (f.depth - 1) * b_depth;\n  const Int",
)
RECIPES = {
    "scalar_operation": Recipe((*OPERATIONS, "cosm1 or has_a_row"), "return -sin(x)", "return sin(x)"),
    "linear_operation": Recipe((*OPERATIONS, "hadamard or has_a_row"), "return hadamard(g)", "return g"),
    "optimizer": Recipe(("tests/optim/test_optimizers.py", "-k", "AdaBelief or has_a_case"), "(g - m) ** 2", "g**2"),
    "schedule": Recipe(("tests/optim/test_schedules.py", "-k", "stairs or has_its_row"), "t >= mile", "t > mile"),
    "test_function": Recipe(
        ("tests/problems/test_library.py", "-k", "camel or has_a_row"), "zeros((1, 2)", "ones((1, 2)"
    ),
    "data_set": Recipe(("tests/data/test_datasets.py", "-k", "moons"), "(1 - 2 * targets)", "(1 + 2 * targets)"),
    "finite_sum": Recipe(("tests/problems/test_regressions.py", "-k", "squared_hinge"), "(0.0, 1.0, ", "(0.0, 0.5, "),
    "layer": Recipe(("tests/nn/test_layers.py", "-k", "prelu"), "x > 0, x, self", "x > 1, x, self"),
    "kernel_tuning": Recipe(("tests/compiler/lowering/test_contraction.py", "-k", "around and 63"), mistake=REVERSED),
    "numpy_word": Recipe(
        ("tests/graph/numpy_api/test_dtype_words.py", "-k", "every_function or of_an_array and not number"),
        "_place(i) for i in multi_index",
        "as_node(i) for i in multi_index",
    ),
    "compiler_pass": Recipe(
        ("tests/compiler/planning/test_square_products.py",),
        "inputs[0] is not inputs[1]",
        "inputs[0].shape != inputs[1].shape",
    ),
    "panel_control": Recipe(("tests/widgets/panel/test_model.py", "-k", "end_goes"), "run.length)", "run.length) - 1"),
    "chart_mark": Recipe(("tests/charts/test_svg.py", "-k", "goal or each_kind"), "colour(2), ", "colour(3), "),
}
# The tests of the rooms that a page touches, which have to be green after `make pages`.
PAGES = ("tests/project/test_catalogue.py", "tests/project/test_words.py")
README_COUNT = "tests/project/test_readme.py::test_number_of_test_functions"
ROOMS: dict[str, tuple[str, ...]] = {
    "scalar_operation": ("tests/widgets/builder/test_palette.py", "tests/graph/test_formula.py"),
    "linear_operation": ("tests/graph/test_signatures.py", "tests/compiler/inspection"),
    "optimizer": ("tests/optim/test_optimizers.py::test_every_optimizer_documents_its_cost_and_an_example",),
    "schedule": ("tests/optim/test_schedules.py",),
    "test_function": ("tests/problems/test_library.py", README_COUNT),
    "data_set": ("tests/data/test_datasets.py",),
    "finite_sum": ("tests/problems/test_regressions.py",),
    "layer": ("tests/nn/test_layers.py", "tests/widgets/builder/test_palette.py"),
    "kernel_tuning": ("tests/compiler/lowering",),
    "numpy_word": (
        "tests/graph/numpy_api/test_dtype_words.py",
        "tests/graph/numpy_api/test_spellings.py::test_value_is_numpys",
    ),
    "compiler_pass": ("tests/compiler/test_passes.py", "tests/project/test_architecture.py"),
    "panel_control": ("tests/widgets/panel",),
    "chart_mark": ("tests/charts", "tests/widgets/chart"),
}
SAMPLE = "optimizer"  # the page that is followed in every tier
ALL = [kind if kind == SAMPLE else pytest.param(kind, marks=pytest.mark.full) for kind in RECIPES]
SHOWS_GRADIENT = ("scalar_operation", "linear_operation")  # whose check compares gradients
NEEDS_JAX = ("optimizer",)  # whose mistake only the comparison with JAX's library of optimizers finds


def steps(kind: str) -> list[str]:
    return re.split(r"^\d\. ", (FOLDER / f"{kind}.md").read_text(), flags=re.MULTILINE)[1:]


WORDS = re.compile(
    r"(?:[Ii]n|A new file)\s+`(?P<file>[^`]+/[^`]+)`"
    r"|replace\s+`(?P<old>[^`]+)`\s+by\s+`(?P<new>[^`]+)`"
    r"|before\s+`(?P<anchor>[^`]+)`"
    r"|^   ```\w+\n(?P<code>.*?)^   ```",
    re.MULTILINE | re.DOTALL,
)


def read(step: str) -> Iterator[Edit]:
    """Yield the edits of a step, in order; code that belongs to no file is to be run."""
    file = anchor = ""
    for found in WORDS.finditer(step):
        if found["file"]:
            file, anchor = found["file"], ""
        elif found["old"]:
            yield Edit(file, found["old"], found["new"])
        elif found["anchor"]:
            anchor = found["anchor"]
        elif found["code"]:
            text = re.sub(r"^   ", "", found["code"], flags=re.MULTILINE)
            yield Edit(file, anchor, text + anchor)


def edits(kind: str) -> list[Edit]:
    """All changes of a page."""
    return [edit for step in steps(kind) for edit in read(step) if edit.file]


def checks(kind: str) -> str:
    """The code of a page that belongs to no file."""
    return "\n".join(edit.text for step in steps(kind) for edit in read(step) if not edit.file)


def copy(folder: Path) -> Path:
    """A copy of what an addition touches, with what Python has compiled: a changed file has another time."""
    for part in ("burlab", "cpp", "tests", "docs"):
        # .pyc.*: half written by others
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("node_modules", "*.pyc.*"))
    for file in ("pyproject.toml", "README.md", "Makefile", "ARCHITECTURE.md"):
        shutil.copyfile(ROOT / file, folder / file)
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python with the copy in the place of the installed package."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True, check=False)


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Tests of the copy, without the plugins that take a second each time to load and do nothing here."""
    return run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:nbval", *arguments)


def tables(folder: Path, kind: str, *options: str) -> subprocess.CompletedProcess[str]:
    """The rows that the steps have added, and whether any is missing."""
    return pytest_in(folder, *options, *RECIPES[kind].tests)


@pytest.fixture(scope="module", params=ALL)
def followed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A copy in which every step but the checks has been taken, and the page."""
    folder = copy(tmp_path_factory.mktemp(request.param))
    for edit in edits(request.param):
        edit.apply(folder)
    return folder, request.param


def test_every_page_is_taken():
    assert {path.stem for path in FOLDER.glob("*.md")} == set(RECIPES)


@pytest.mark.parametrize("kind", RECIPES)
def test_a_page_is_short_and_each_step_names_what_to_do(kind: str):
    text = (FOLDER / f"{kind}.md").read_text()
    assert len([line for line in text.splitlines() if line]) < 80
    assert len(steps(kind)) >= 3
    assert all(list(read(step)) for step in steps(kind))
    assert checks(kind)


def test_the_steps_lead_there(followed: tuple[Path, str]):
    folder, kind = followed
    here = f"import burlab\nassert burlab.__file__.startswith({str(folder)!r}), burlab.__file__\n"
    done = run(folder, "-c", here + checks(kind))
    assert done.returncode == 0, done.stderr


def test_the_tables_of_tests_agree(followed: tuple[Path, str]):
    folder, kind = followed
    done = tables(folder, kind)
    assert done.returncode == 0, done.stdout


def make_pages(folder: Path) -> None:
    """Run the programs of `make pages`."""
    recipe = re.search(r"^pages:.*\n((?:\t.*\n)+)", (folder / "Makefile").read_text(), re.MULTILINE)
    assert recipe
    for script in re.findall(r"\$\(BIN\)/python (\S+)", recipe[1]):
        done = run(folder, script)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ALL)
def test_the_rooms_are_green_after_make_pages(tmp_path: Path, kind: str):
    folder = copy(tmp_path)
    for edit in edits(kind):
        edit.apply(folder)
    make_pages(folder)
    done = pytest_in(folder, *PAGES, *ROOMS[kind])
    assert done.returncode == 0, done.stdout


def test_every_page_has_its_rooms():
    assert set(ROOMS) == set(RECIPES)


def test_the_result_is_in_the_house_style(followed: tuple[Path, str]):
    folder, kind = followed
    files = {folder / edit.file for edit in edits(kind)}
    python = [str(path) for path in files if path.suffix == ".py"]
    run(folder, "-m", "ruff", "check", "--fix", *python)  # as `make format` does
    run(folder, "-m", "ruff", "format", *python)
    done = run(folder, "-m", "ruff", "check", *python)
    assert done.returncode == 0, done.stdout
    examples = [str(path) for path in files if path.suffix == ".py" and path.is_relative_to(folder / "burlab")]
    done = pytest_in(folder, *DOCTESTS, *examples)
    assert done.returncode in (0, 5), done.stdout  # 5: without an example
    for header in (path for path in files if path.suffix == ".hpp"):
        strict = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only"]
        text = f"#include <{header.relative_to(folder / 'cpp')}>\n"
        subprocess.run(["g++", *strict, "-I", folder / "cpp", "-x", "c++", "-"], input=text, text=True, check=True)


@pytest.mark.parametrize("kind", ALL)
def test_a_mistake_is_noticed(tmp_path: Path, kind: str):
    if kind in NEEDS_JAX:
        jax_or_skip()
    folder, recipe = copy(tmp_path), RECIPES[kind]
    assert any(recipe.right in edit.text for edit in edits(kind))
    for edit in edits(kind):
        replace(edit, text=edit.text.replace(recipe.right, recipe.wrong) if recipe.right else edit.text).apply(folder)
    if recipe.mistake is not None:
        recipe.mistake.apply(folder)
    if kind in SHOWS_GRADIENT:
        assert "GradientError" in run(folder, "-c", checks(kind)).stderr
    else:
        assert " failed" in tables(folder, kind, "--exitfirst", "--tb=no").stdout
