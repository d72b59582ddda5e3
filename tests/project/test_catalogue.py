"""docs/catalogue.md is what docs/catalogue.py writes today, and holds every public optimizer and problem."""

from types import ModuleType

import pytest

import burlab as bl
from tests.project.programs import DOCS, program


@pytest.fixture(scope="module")
def catalogue() -> ModuleType:
    return program("catalogue")


def test_catalogue_is_up_to_date(catalogue: ModuleType):
    assert (DOCS / "catalogue.md").read_text() == catalogue.page(), "run: make pages"


def test_catalogue_lists_all_optimizers_and_problems(catalogue: ModuleType):
    words = {"Hyper", "Optimizer", "Wrapper", "Penalty", "Set"}  # what the others are made of
    page = catalogue.page()
    missing = [name for name in bl.optim.__all__ if name not in words and f"| `{name}` |" not in page]
    assert missing == []
    functions = {name for name in bl.problems.__all__ if name.islower()} - {"suite"}
    assert "`bl.problems.suite()` returns all of them." in page
    assert [name for name in functions if f"| `{name}` |" not in page] == []
