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
    shutil.copytree(root / "burlab", tmp_path / "burlab", ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    shutil.copyfile(root / "pyproject.toml", tmp_path / "pyproject.toml")
    return tmp_path


def broken(folder: Path) -> list[str]:
    """The names of the contracts that are broken, of which the report has one line each."""
    lines = lint(folder).split("Contracts:")[0].splitlines()
    assert any("KEPT" in line for line in lines)
    return [line.partition(":")[0].split()[0] for line in lines if " BROKEN" in line]


def test_imports_follow_the_layers(root: Path):
    assert broken(root) == []


@pytest.mark.parametrize(
    ("file", "line", "contracts"),
    [
        ("graph/node.py", "from burlab import compiler", ["A"]),
        ("runtime/__init__.py", "from burlab.graph import Node", ["A"]),
        ("errors.py", "def late():\n    from burlab.runtime import started", ["A"]),
        ("graph/node.py", "import cppyy", ["Only"]),
        ("graph/numpy_api/ufuncs.py", "from burlab.graph.autodiff import sweep", ["Graph"]),
        ("graph/rewrite/simplify.py", "from burlab.graph.tracing import trace", ["Graph"]),
        ("compiler/ir/plan.py", "from burlab.compiler.planning import plan", ["Compiler"]),
        ("compiler/planning/place.py", "from burlab.compiler.replay import segments", ["Compiler"]),
        ("compiler/codegen/emit.py", "from burlab.compiler.planning import fusion", ["Compiler"]),
        ("eager/native.py", "def late():\n    from burlab.eager.tape import Tape", ["Eager"]),
        ("problems/kernels/oracle.py", "from burlab.problems import finite_sum", ["Problems"]),
        ("run/record/tables.py", "from burlab.run.loop import loop", ["Run"]),
    ],
)
def test_an_import_upwards_is_noticed(copied: Path, file: str, line: str, contracts: list[str]):
    path = copied / "burlab" / file
    path.write_text(f"{path.read_text()}\n{line}\n")
    assert set(contracts) <= set(broken(copied))


@pytest.mark.parametrize("folder", [".", "compiler", "eager", "problems", "run"])
def test_a_module_outside_of_the_layers_is_noticed(copied: Path, folder: str):
    (copied / "burlab" / folder / "misc.py").touch()
    assert len(broken(copied)) == 1
