"""The layer line is kept, and an import against it is noticed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"


def lint(folder: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", LINT]
    return subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True, check=False).stdout


@pytest.fixture
def copied(root: Path, tmp_path: Path) -> Path:
    shutil.copytree(root / "burlab", tmp_path / "burlab", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(root / "pyproject.toml", tmp_path / "pyproject.toml")
    return tmp_path


def test_layers_are_kept(root: Path):
    assert "2 kept, 0 broken" in lint(root)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("burlab/graph/node.py", "from burlab import compiler"),
        ("burlab/runtime/__init__.py", "from burlab.graph import Node"),
        ("burlab/errors.py", "def late():\n    from burlab.runtime import started"),
        ("burlab/graph/node.py", "import cppyy"),
    ],
    ids=["graph on compiler", "runtime on graph", "late import", "cppyy"],
)
def test_an_import_upwards_is_noticed(copied: Path, file: str, line: str):
    path = copied / file
    path.write_text(f"{path.read_text()}\n{line}\n")
    assert "1 kept, 1 broken" in lint(copied)


def test_a_module_outside_of_the_layers_is_noticed(copied: Path):
    (copied / "burlab" / "misc.py").touch()
    assert "1 kept, 1 broken" in lint(copied)
