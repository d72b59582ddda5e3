"""docs/catalogue.md is what docs/catalogue.py writes today, and holds every public optimizer and problem."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import burlab as bl

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def catalogue() -> ModuleType:
    spec = importlib.util.spec_from_file_location("catalogue", DOCS / "catalogue.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(catalogue: ModuleType):
    assert (DOCS / "catalogue.md").read_text() == catalogue.page(), "run: python docs/catalogue.py"


def test_nothing_is_left_out(catalogue: ModuleType):
    words = {"Hyper", "Optimizer", "Wrapper", "Penalty", "Set"}  # what the others are made of
    page = catalogue.page()
    missing = [name for name in bl.optim.__all__ if name not in words and f"| `{name}` |" not in page]
    assert missing == []
    functions = {name for name in bl.problems.__all__ if name.islower()}
    assert [name for name in functions if f"| `{name}` |" not in page] == []
