"""The tutorials are committed as they are written: no outputs, no traces of the machine that ran them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def stains(notebook: dict[str, Any]) -> list[str]:
    """What a run has left behind."""
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


def test_stains_are_seen():
    cell = {"cell_type": "code", "id": "a", "outputs": [], "execution_count": 3, "source": ["open('/home/me/x')"]}
    assert stains({"cells": [cell], "metadata": {"widgets": {}}}) == ["outputs in a", "/home/me", "widgets"]
