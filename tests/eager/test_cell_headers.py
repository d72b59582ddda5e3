"""Macros and headers of `%%cpp` cells: which text sees which."""

import subprocess
import sys
from pathlib import Path

import pytest

from burlab.eager import Value
from burlab.eager.cells import Cells
from burlab.errors import CompileError

HEADER_UNDER_MACROS = r"""
from burlab.eager.cells import Cells
cells = Cells()
cells.run("#define N 3\n#define x 7\nint three() { return N + x; }")
header = '#include "burlab/numbers/interval.hpp"\nusing Bounds = burlab::Interval<double>;\n'
found = cells.run(header + "double high() { return (Bounds(1, 2) + Bounds(1)).high; }")
assert found["high"]() >= 3.0
"""


def test_macros_of_cells_do_not_reach_headers_of_burlab():
    done = subprocess.run([sys.executable, "-c", HEADER_UNDER_MACROS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_header_that_burlab_has_not_is_an_error_at_its_line_each_time():
    cells = Cells()
    for _ in range(2):
        with pytest.raises(CompileError, match=r"cell:2:\d+: fatal error: 'burlab/numbers/fixed\.hpp' file not found"):
            cells.run('int f() { return 1; }\n#include "burlab/numbers/fixed.hpp"')
    assert cells.run("int f() { return 1; }")["f"]() == 1


def test_macros_and_pragmas_of_cells_reach_no_text_of_burlab():
    cells = Cells()
    cells.run("#define x 7\n#define N 3\nint seven() { return x; }")
    assert cells.run("int again() { return x + N; }")["again"]() == 10
    with pytest.raises(CompileError, match="no previous prototype"):
        cells.run('#pragma GCC diagnostic error "-Weverything"\nint f() { return 1; }')
    assert cells.run("Value twice(Value y) { return 2 * y; }")["twice"](Value(3.0)).data == 6.0
    cells.run("#undef x\n#undef N\nint x() { return 8; }")  # all cells of a process have one preprocessor


def test_a_header_of_the_users_is_compiled_once(tmp_path: Path):
    (tmp_path / "mine.hpp").write_text("#pragma once\ninline int mine() { return 7; }\n")
    cells = Cells()
    for k in range(2):
        assert cells.run(f'#include "{tmp_path}/mine.hpp"\nint f{k}() {{ return mine(); }}')[f"f{k}"]() == 7
