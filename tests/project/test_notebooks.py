"""The notebooks are committed as they are written: no outputs, no traces of the machine that ran them."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

import burlab as bl

ROOT = Path(__file__).parents[2]
FROM_SCRATCH = ROOT / "docs" / "from_scratch.ipynb"
TUTORIALS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NOTEBOOKS = [*TUTORIALS, FROM_SCRATCH]


def stains(notebook: dict[str, Any]) -> list[str]:
    """Return the outputs and counts that a run has left behind."""
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    found = [f"outputs in {cell['id']}" for cell in code if cell["outputs"] or cell["execution_count"] is not None]
    paths = re.findall(r"/(?:home|root|Users)/\w+", json.dumps(notebook))
    return [*found, *paths, *(key for key in notebook["metadata"] if key not in ("kernelspec", "language_info"))]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_clean(path: Path):
    assert stains(json.loads(path.read_text())) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_opens_with_a_title_and_mixes_prose_with_code(path: Path):
    cells = json.loads(path.read_text())["cells"]
    assert "".join(cells[0]["source"]).startswith("# ")
    kinds = [cell["cell_type"] for cell in cells]
    assert kinds.count("markdown") * 3 >= kinds.count("code")


def code_of(path: Path) -> str:
    cells = json.loads(path.read_text())["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_reads_no_internals(path: Path):
    code = re.sub(r"(?m)^\s*%.*$", "", code_of(path))
    modules = re.findall(r"(?m)^\s*(?:from|import) burlab\.(\S+)", code)
    benchmarks = path.stem == "08_the_paper"  # it measures again what the benchmarks measure
    internal = [name for name in modules if name not in bl.__all__ and not (benchmarks and name.startswith("bench"))]
    internal += re.findall(r"\.model\b|[\w)\]]\._(?!_)\w+", code)
    assert internal == []


@pytest.mark.parametrize(
    ("path", "after"), list(zip(TUTORIALS, [*TUTORIALS[1:], TUTORIALS[0]], strict=True)), ids=lambda path: path.stem
)
def test_a_tutorial_ends_with_the_way_to_the_next_one(path: Path, after: Path):
    last = json.loads(path.read_text())["cells"][-1]
    assert last["cell_type"] == "markdown"
    end = "".join(last["source"]).split("\n\n")[-1]
    assert re.search(rf"\[[^]]+\]\({after.name}\)", end), end
    assert end.startswith("Next: " if after != TUTORIALS[0] else "This was the last one.")


def lines_of_code(text: str) -> int:
    """Return the number of lines without blank ones and docstrings."""
    documented = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    docstrings = [node.body[0] for node in documented if ast.get_docstring(node)]
    inside = {number for node in docstrings for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return len([line for number, line in enumerate(text.splitlines(), 1) if line.strip() and number not in inside])


def test_burlab_from_scratch_has_250_lines_without_its_examples():
    cells = json.loads(FROM_SCRATCH.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    checks = next(k for k, text in enumerate(code) if text.startswith("import burlab"))
    parts = [text for text in code[:checks] if text.startswith(("import", "def ", "class ", "@")) or "\ndef " in text]
    assert 240 <= lines_of_code("\n".join(parts)) <= 250


def test_stains_are_seen():
    cell = {"cell_type": "code", "id": "a", "outputs": [], "execution_count": 3, "source": ["open('/home/me/x')"]}
    assert stains({"cells": [cell], "metadata": {"widgets": {}}}) == ["outputs in a", "/home/me", "widgets"]
