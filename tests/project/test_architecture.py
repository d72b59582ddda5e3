"""The steps of ARCHITECTURE.md that add an operation are taken in a copy of the repository, and lead there."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
KINDS = ["scalar", "linear"]


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
    return PAGE.split(f"## Add a {kind} operation")[1].split("\n## ")[0]


def steps(kind: str) -> list[str]:
    return re.split(r"^\d\. ", section(kind), flags=re.MULTILINE)[1:]


def code(step: str) -> str:
    """The code block of a step, without the indentation of the list."""
    (block,) = re.findall(r"^   ```\w+\n(.*?)^   ```", step, re.MULTILINE | re.DOTALL)
    return re.sub(r"^   ", "", block, flags=re.MULTILINE)


def edits(step: str) -> Iterator[Edit]:
    """What a step says to change."""
    words = step.split("   ```", maxsplit=1)[0]
    for file in re.findall(r"A new file\s+`([^`]+)`", words):
        yield Edit(file, "", code(step))
    for file, rest in re.findall(r"In\s+`([^`]+)`,(.*)", words, re.DOTALL):
        for old, new in re.findall(r"replace\s+`([^`]+)`\s+by\s+`([^`]+)`", rest):
            yield Edit(file, old, new)
        for anchor in re.findall(r"before\s+`([^`]+)`", rest):
            yield Edit(file, anchor, code(step) + anchor)


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


@pytest.fixture(scope="module", params=KINDS)
def followed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A copy in which every step but the check has been taken, and the check."""
    folder = copy(tmp_path_factory.mktemp(request.param))
    for step in steps(request.param)[:-1]:
        changes = list(edits(step))
        assert changes, f"no file is named in: {step}"
        for edit in changes:
            edit.apply(folder)
    return folder, code(steps(request.param)[-1])


@pytest.mark.parametrize("kind", KINDS)
def test_there_are_five_steps(kind: str):
    assert len(steps(kind)) == 5


def test_the_steps_lead_there(followed: tuple[Path, str]):
    folder, check = followed
    here = f"import burlab\nassert burlab.__file__.startswith({str(folder)!r}), burlab.__file__\n"
    done = run(folder, "-c", here + check)
    assert done.returncode == 0, done.stderr


def test_the_result_is_in_the_house_style(followed: tuple[Path, str]):
    folder, _ = followed
    files = {folder / edit.file for kind in KINDS for step in steps(kind)[:-1] for edit in edits(step)}
    python = [path for path in files if path.suffix == ".py"]
    headers = [path for path in files if path.suffix == ".hpp" and path.exists()]
    run(folder, "-m", "ruff", "check", "--fix", *map(str, python))  # as `make format` does
    run(folder, "-m", "ruff", "format", *map(str, python))
    done = run(folder, "-m", "ruff", "check", *map(str, python))
    assert done.returncode == 0, done.stdout
    for header in headers:
        strict = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only"]
        text = f"#include <{header.relative_to(folder / 'cpp')}>\n"
        subprocess.run(["g++", *strict, "-I", folder / "cpp", "-x", "c++", "-"], input=text, text=True, check=True)


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [("scalar", "T(1) / (T(3)", "T(1) / (T(2)"), ("linear", "return hadamard(g)", "return g")],
    ids=KINDS,
)
def test_the_check_notices_a_wrong_rule(tmp_path: Path, kind: str, right: str, wrong: str):
    folder = copy(tmp_path)
    for edit in (edit for step in steps(kind)[:-1] for edit in edits(step)):
        replace(edit, text=edit.text.replace(right, wrong)).apply(folder)
    assert "GradientError" in run(folder, "-c", code(steps(kind)[-1])).stderr
