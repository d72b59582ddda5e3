"""sin, cos and tan of doubles, near and far: each instruction set that this CPU has, g++ and clang, against mpmath."""

import ctypes
import shutil
import subprocess
from functools import cache
from pathlib import Path

import mpmath
import numpy as np
import pytest
from mpmath import mp

import burlab as bl
from burlab.runtime import cpu
from tests.numbers.test_accuracy import error_in_ulp

EXACT = {"sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan}
STATED = {"sin": 0.9, "cos": 0.9, "tan": 1.0}  # units in the last place
CPP = Path(__file__).parents[2] / "cpp"
BASES = {"plain": "x86-64", "avx2": "x86-64-v3", "avx512": "x86-64-v4"}
ABLE = [known.name for known in cpu._KNOWN if known.name in BASES and cpu.cpu_flags().issuperset(known.flags)]
COMPILERS = [tool for tool in ("g++", shutil.which("clang++-16") or "clang++") if shutil.which(tool)]
LOOPS = "#include <burlab/numbers/trigonometric.hpp>\nBURLAB_BEGIN\n" + "".join(
    f'extern "C" void many_{op}(const double* x, double* y, long n) {{\n'
    f"  BURLAB_LANES\n  for (long i = 0; i < n; ++i) y[i] = burlab::math::{op}(x[i]);\n}}\n"
    for op in EXACT
)


@cache
def arguments() -> np.ndarray:
    """Of every size, where the reduction changes its row of the table, and where the result all but vanishes."""
    rng = np.random.default_rng(11)
    exponents = np.arange(-1074, 1024)
    sizes = rng.uniform(1, 2, exponents.size) * 2.0**exponents
    rows = 2.0 ** np.arange(52 + 32, 1024, 32)
    with mp.workdps(400):
        multiples = [2.0**k + j for k in range(0, 52, 3) for j in range(3)] + [*range(1, 200)]
        close = [float(mp.mpf(n) * mp.pi / 2) for n in multiples]
        close += [float(mp.nint(mp.mpf(2) ** k / mp.pi) * mp.pi / 2) for k in range(60, 1020, 7)]
    hard = [
        1e-8,
        6381956970095103 * 2.0**797,
        float.fromhex("0x1.6ac5b262ca1ffp849"),
        5.319372648326541e255,
        np.finfo(float).max,
    ]
    x = np.concatenate([sizes, rows, np.nextafter(rows, 0), close, np.nextafter(close, 0), hard, rng.normal(size=500)])
    return np.concatenate([x, -x])


@cache
def exact(op: str) -> list[mp.mpf]:
    """The function, of which mpmath takes as many digits of pi as it needs."""
    with mp.workdps(40):
        return [EXACT[op](mp.mpf(float(v))) for v in arguments()]


def assert_right(op: str, got: np.ndarray) -> None:
    with mp.workdps(40):
        errors = [error_in_ulp(y, wanted) for y, wanted in zip(got, exact(op), strict=True)]
    worst = int(np.argmax(errors))
    assert 0.4 < errors[worst] <= STATED[op], arguments()[worst]


def assert_edges(op: str, function) -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e-310, -1e-300])
    with np.errstate(invalid="ignore"):
        wanted = getattr(np, op)(x)
    got = function(x)
    np.testing.assert_array_equal(got, wanted)
    there = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(got[there]), np.signbit(wanted[there]))


@pytest.mark.parametrize("op", EXACT)
def test_compiled(op: str) -> None:
    k = bl.compile(getattr(np, op), arguments())
    assert_right(op, k(arguments()))
    assert_edges(op, bl.compile(getattr(np, op), np.zeros(9)))


@pytest.mark.parametrize("isa", ABLE)
@pytest.mark.parametrize("compiler", COMPILERS, ids=lambda path: Path(path).name)
def test_trigonometric_loops_are_exact_in_every_instruction_set(compiler: str, isa: str, tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(LOOPS)
    strict = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Wno-psabi"]
    command = [compiler, *strict, "-O3", f"-march={BASES[isa]}", "-I", CPP, "-shared", "-fPIC", "a.cpp", "-o", "a.so"]
    subprocess.run(command, check=True, cwd=tmp_path)
    library = ctypes.CDLL(str(tmp_path / "a.so"))

    for op in EXACT:
        function = getattr(library, f"many_{op}")

        def many(x: np.ndarray, function=function) -> np.ndarray:
            y = np.empty_like(x)
            function(*(ctypes.c_void_p(a.ctypes.data) for a in (x, y)), ctypes.c_long(x.size))
            return y

        assert_right(op, many(arguments()))
        assert_edges(op, many)


def test_columns_of_a_matrix_have_the_bits_of_vectors() -> None:
    x = np.random.default_rng(3).normal(size=(203, 7)) * 9
    a, b = x[:, 3].copy(), x[:, 1].copy()
    apart, together = bl.compile(lambda x: np.sin(x[:, 3]) * x[:, 1], x), bl.compile(lambda a, b: np.sin(a) * b, a, b)
    assert apart(x).tobytes() == together(a, b).tobytes()
