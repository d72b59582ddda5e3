"""Programs of C++ on 64-bit ARM: those of tests/cpp, and how exact our own functions are there."""

from pathlib import Path

import pytest

from tests.arm.cross import COMPILERS, ROOT, compile_for_arm, emulate
from tests.numbers.test_accuracy import IN_DOUBLE, STATED

pytestmark = pytest.mark.full
CPP = ROOT / "tests" / "cpp"
SWEPT = [op for op in STATED if op not in IN_DOUBLE]  # the others have the bits of this machine's, in test_kernels.py
FLAGS = ["-Wall", "-Wextra", "-Wconversion", "-Werror", "-static", "-pthread", "-I", ROOT / "cpp", "-I", CPP]
SWEEP = """\
#include <cstdio>
#include "sweep.hpp"
template <class Op> void tell() {
  float where;
  const double error = sweep::worst<Op>(0, 1ull << 32, 49999, &where);
  std::printf("%s %.3f %a\\n", Op::name, error, static_cast<double>(where));
}
int main() {
"""


@pytest.mark.parametrize("source", sorted(CPP.glob("*.cpp")), ids=lambda path: path.stem)
def test_program_runs(source: Path, tmp_path: Path) -> None:
    assert compile_for_arm("clang++", ["-O1", *FLAGS, source, "-o", tmp_path / "run"]) == ""
    done = emulate(tmp_path / "run")
    assert done.returncode == 0, done.stdout.decode()


@pytest.mark.parametrize("compiler", COMPILERS)
def test_functions_of_our_own_are_as_exact_as_stated(compiler: str, tmp_path: Path) -> None:
    """At every so many floats: an emulator is slow, and a machine of its own has swept more of them."""
    calls = "".join(f"  tell<burlab::ops::{op.capitalize()}>();\n" for op in SWEPT)
    (tmp_path / "sweep.cpp").write_text(SWEEP + calls + "}\n")
    flags = ["-O2", *FLAGS, "-Wno-pass-failed"]  # references in double may call libm, of which no lanes are made
    assert compile_for_arm(compiler, [*flags, tmp_path / "sweep.cpp", "-o", tmp_path / "run"]) == ""
    lines = [line.split() for line in emulate(tmp_path / "run").stdout.decode().splitlines()]
    assert [name for name, _, _ in lines] == SWEPT
    for name, error, where in lines:
        assert 0.4 < float(error) <= STATED[name][0], (name, where)
