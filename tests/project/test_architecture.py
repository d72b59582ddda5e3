"""The steps of ARCHITECTURE.md that add something are taken in a copy of the repository, and lead there."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text()


@dataclass(frozen=True)
class Recipe:
    """What a section adds. tests: the tables that agree then. right, wrong: a part of the rule, and a mistake in it."""

    title: str
    steps: int
    tests: tuple[str, ...]
    right: str
    wrong: str


OPERATIONS = ("tests/graph/test_ops.py", "tests/graph/test_tensor_ops.py")
RECIPES = {
    "scalar": Recipe("a scalar operation", 5, (*OPERATIONS, "-k", "cbrt or has_a_row"), "T(1) / (T(3)", "T(1) / (T(2)"),
    "linear": Recipe(
        "a linear operation", 5, (*OPERATIONS, "-k", "hadamard or has_a_row"), "return hadamard(g)", "return g"
    ),
    "optimizer": Recipe(
        "an optimizer", 4, ("tests/optim/test_optimizers.py", "-k", "AdaBelief or has_its_row"), "(g - m) ** 2", "g**2"
    ),
    "schedule": Recipe(
        "a schedule", 4, ("tests/optim/test_schedules.py", "-k", "stairs or has_its_row"), "t >= mile", "t > mile"
    ),
    "function": Recipe(
        "a test function",
        4,
        ("tests/problems/test_library.py", "-k", "camel or has_a_row"),
        "zeros((1, 2)",
        "ones((1, 2)",
    ),
    "control": Recipe(
        "a control to the panel", 4, ("tests/widgets/panel/test_model.py", "-k", "back"), "run.t) - 1", "run.t) - 2"
    ),
}


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
        assert self.anchor in old, f"ARCHITECTURE.md speaks of {self.anchor!r}, which {self.file} does not hold"
        path.write_text(old.replace(self.anchor, self.text, 1))


def section(kind: str) -> str:
    return PAGE.split(f"## Add {RECIPES[kind].title}\n")[1].split("\n## ")[0]


def steps(kind: str) -> list[str]:
    return re.split(r"^\d\. ", section(kind), flags=re.MULTILINE)[1:]


WORDS = re.compile(
    r"(?:In|A new file)\s+`(?P<file>[^`]+)`"
    r"|replace\s+`(?P<old>[^`]+)`\s+by\s+`(?P<new>[^`]+)`"
    r"|before\s+`(?P<anchor>[^`]+)`"
    r"|^   ```\w+\n(?P<code>.*?)^   ```",
    re.MULTILINE | re.DOTALL,
)


def read(step: str) -> Iterator[Edit]:
    """What a step says to change, in its order; code that belongs to no file is to be run."""
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
    """All changes of a section."""
    return [edit for step in steps(kind)[:-1] for edit in read(step)]


def check(kind: str) -> str:
    """The code of the last step."""
    (edit,) = read(steps(kind)[-1])
    assert not edit.file
    return edit.text


def copy(folder: Path) -> Path:
    """A copy of what an operation touches."""
    for part in ("burlab", "cpp", "tests"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(ROOT / "pyproject.toml", folder / "pyproject.toml")
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python with the copy in the place of the installed package."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True, check=False)


@pytest.fixture(scope="module", params=RECIPES)
def followed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A copy in which every step but the check has been taken, and the kind of operation."""
    folder = copy(tmp_path_factory.mktemp(request.param))
    for edit in edits(request.param):
        edit.apply(folder)
    return folder, request.param


def test_every_section_that_adds_something_is_taken():
    assert re.findall(r"^## Add (.*)", PAGE, re.MULTILINE) == [recipe.title for recipe in RECIPES.values()]


@pytest.mark.parametrize("kind", RECIPES)
def test_each_step_names_what_to_do(kind: str):
    assert len(steps(kind)) == RECIPES[kind].steps
    assert all(list(read(step)) for step in steps(kind))


def test_the_steps_lead_there(followed: tuple[Path, str]):
    folder, kind = followed
    here = f"import burlab\nassert burlab.__file__.startswith({str(folder)!r}), burlab.__file__\n"
    done = run(folder, "-c", here + check(kind))
    assert done.returncode == 0, done.stderr


def test_the_tables_of_tests_agree(followed: tuple[Path, str]):
    folder, kind = followed
    done = tables(folder, kind)
    assert done.returncode == 0, done.stdout


def tables(folder: Path, kind: str) -> subprocess.CompletedProcess[str]:
    """The rows that the steps have added, and whether any is missing."""
    return run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *RECIPES[kind].tests)


def test_the_result_is_in_the_house_style(followed: tuple[Path, str]):
    folder, kind = followed
    files = {folder / edit.file for edit in edits(kind)}
    python = [str(path) for path in files if path.suffix == ".py"]
    run(folder, "-m", "ruff", "check", "--fix", *python)  # as `make format` does
    run(folder, "-m", "ruff", "format", *python)
    done = run(folder, "-m", "ruff", "check", *python)
    assert done.returncode == 0, done.stdout
    for header in (path for path in files if path.suffix == ".hpp"):
        strict = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only"]
        text = f"#include <{header.relative_to(folder / 'cpp')}>\n"
        subprocess.run(["g++", *strict, "-I", folder / "cpp", "-x", "c++", "-"], input=text, text=True, check=True)


@pytest.mark.parametrize("kind", RECIPES)
def test_a_wrong_rule_is_noticed(tmp_path: Path, kind: str):
    folder, recipe = copy(tmp_path), RECIPES[kind]
    assert any(recipe.right in edit.text for edit in edits(kind))
    for edit in edits(kind):
        replace(edit, text=edit.text.replace(recipe.right, recipe.wrong)).apply(folder)
    checked = run(folder, "-c", check(kind))
    if kind in ("scalar", "linear"):
        assert "GradientError" in checked.stderr
    else:
        assert " failed" in tables(folder, kind).stdout
