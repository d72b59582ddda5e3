"""`burlab/graph/scalar_table.py` is what `cpp/generate/scalar_table.py` writes of the C++ structs today."""

import runpy

import numpy as np
import pytest

from burlab.compiler.ir.spelling import has_common_lanes, has_lanes
from burlab.graph import Node
from burlab.graph.operation import STRUCTURAL, make_node
from burlab.graph.scalar import arity, partials
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


def without_lanes(row):
    """The value and the first derivatives that a loop computes one by one, or only for arguments that are common."""
    dtype = np.int64 if row.of_integers else np.float64
    x, mask = (Node("input", (), "x", (4,), np.dtype(kind)) for kind in (dtype, bool))
    masked = {0} if row.chooses else {*range(row.arity)} if row.of_masks else set()
    arguments = [mask if k in masked else x for k in range(row.arity)]
    computed = [] if not row.differentiable else [p.constant is None and p.argument is None for p in partials(row.name)]
    nodes = [make_node(row.name, None, *arguments)]
    nodes += [make_node(f"{row.name}'{k}", None, *arguments, x) for k, some in enumerate(computed) if some]
    return [n.op for n in nodes if not has_lanes(n) and not has_common_lanes(n)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_operation_and_derivative_has_lanes_or_a_reason(row):
    """Else a loop of other operations would lose its lanes with it (`compiler/codegen/stages.py` limits that)."""
    missing = without_lanes(row)
    assert bool(missing) == bool(row.no_lanes), f"{missing}: state `no_lanes`, or give lanes ({row.no_lanes!r})"


def test_second_derivatives_of_arithmetic_have_lanes():
    for name in ("div'0'1", "div'1'1", "sqrt'0'1", "cube'0'0"):
        x = Node("input", (), "x", (4,), np.dtype(float))
        n = make_node(name, None, *[x] * arity(name))
        assert has_lanes(n), name


def test_every_operation_has_one_row():
    assert rare is not None  # all structural operations have been read
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert STRUCTURAL.keys().isdisjoint(row.name for row in ROWS)
