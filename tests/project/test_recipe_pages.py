"""The pages of notebooks/recipes run as they are written, from top to bottom."""

import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[2] / "notebooks" / "recipes").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of_a_recipe_page_runs(page: Path):
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    program = "\n".join(blocks)
    assert "assert " in program
    exec(compile(program, str(page), "exec"), {"__name__": "recipe"})
