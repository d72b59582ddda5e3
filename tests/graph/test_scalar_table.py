"""`burlab/graph/scalar_table.py` is what `cpp/generate/scalar_table.py` writes of the C++ structs today."""

import runpy

import pytest

from burlab.graph.operation import STRUCTURAL
from burlab.graph.scalar_table import ROWS
from tests.graph.integers import rare

SCRIPT = "cpp/generate/scalar_table.py"


@pytest.fixture(scope="module")
def script(request):
    return runpy.run_path(str(request.config.rootpath / SCRIPT))


@pytest.mark.full
def test_the_table_is_what_the_structs_state(script):
    assert script["FILE"].read_text() == script["text"](), f"run: python {SCRIPT}"


def test_rows_of_one_table_are_what_its_structs_state(script):
    """One table alone: compiling all of them takes a minute."""
    rows = [script["row"]("normal", fields) for fields in script["facts"]("normal")]
    assert "\n".join(rows) in script["FILE"].read_text(), f"run: python {SCRIPT}"


def test_every_operation_has_one_row():
    assert rare is not None  # all structural operations have been read
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert STRUCTURAL.keys().isdisjoint(row.name for row in ROWS)
