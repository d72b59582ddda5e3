"""Exported kernels on 64-bit ARM: the numbers of this machine's kernels, to the bit where clang compiles them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.codegen.export import header
from burlab.compiler.executable import Executable, build
from burlab.compiler.ir.options import PlanOptions
from burlab.compiler.passes import make_plan
from burlab.graph import Graph
from burlab.graph.numpy_api.promotion import node
from burlab.runtime import cpu
from burlab.runtime.coerce import Array
from tests.arm import cases
from tests.arm.cross import COMPILERS, run_on_arm
from tests.engines import inputs
from tests.graph.test_ops import SMOOTH, arrays_of, derivatives
from tests.op_cases import SCALAR

pytestmark = pytest.mark.full
FLOATS = ("float32", "float64")
FUSED = cpu.instruction_set().name != "plain"  # whether this machine adds a product with one rounding, as NEON does


@contextmanager
def neon() -> Iterator[None]:
    """Kernels written for NEON: its registers and blocks of products."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, "cpu_flags", lambda: frozenset({"asimd"}))
        patch.delenv("BURLAB_ISA", raising=False)
        cpu.instruction_set.cache_clear()
        assert cpu.instruction_set().name == "neon"
        yield
    cpu.instruction_set.cache_clear()


def on_arm(compiler: str, exe: Executable, arrays: Sequence[Any], folder: Path) -> list[Array]:
    """The results of an executable's graph, exported for NEON and run there."""
    with neon():
        plan = make_plan(exe.plan.graph, PlanOptions(after=exe.plan.after, written_out=True))
        text = header(plan, exe.inputs, exe.outputs, "f")
    (folder / "f.hpp").write_text(text)
    return run_on_arm(compiler, folder, "f", arrays, exe.outputs)


def assert_near(got: Array, wanted: Any, compiler: str, ulp: float = 8) -> None:
    """The same bits from clang; g++ contracts where it likes. ulp: of the largest number."""
    if compiler.startswith("clang++") and FUSED:
        assert got.tobytes() == np.asarray(wanted).tobytes()
    else:
        unit = np.spacing(np.max(np.abs(wanted))) if got.dtype.kind == "f" else 0
        np.testing.assert_allclose(got, wanted, rtol=0, atol=ulp * unit)


# Every kernel by the compiler that stands for Cling, and each by one of the other two, which both meet long and short
# rows, products and both floats.
BY_GCC = ("gpt", "loop", "short rows, float32", "long rows, float64", "products, float32", "mlp, float64")
CHOSEN = [
    (name, compiler)
    for name in cases.CASES
    for compiler in COMPILERS
    if compiler == "clang++" or (compiler == "g++") == (name in BY_GCC)
]


@pytest.mark.parametrize(("name", "compiler"), CHOSEN)
def test_kernel(name: str, compiler: str, tmp_path: Path) -> None:
    f, *args = cases.CASES[name]
    k = bl.compile(f, *args)
    exe, arrays = k._main.executable, k._arrays(tuple(args))
    for got, wanted in zip(on_arm(compiler, exe, arrays, tmp_path), exe(*arrays), strict=True):
        assert_near(got, wanted, compiler)


def scalar(what: str, dtype: str) -> tuple[list[str], Executable, list[Any]]:
    """All scalar operations in one graph: the name of each result's, what runs, and its arguments."""
    names: list[str] = []
    outputs: list[Any] = []
    xs: list[Any] = []
    arrays: list[Any] = []
    for case in SMOOTH if what == "derivatives" else SCALAR:
        mine = arrays_of(case, case.edges if what == "edges" else case.points, np.dtype(dtype))
        own = inputs(*mine)
        made = derivatives(case, own) if what == "derivatives" else [node(case.name, *own)]
        names += [case.name] * len(made)
        outputs += made
        xs += own
        arrays += mine
    return names, build(Graph(tuple(xs), tuple(outputs))), arrays


def same_bits(got: Array, wanted: Array) -> bool:
    """All nan are one."""
    nan = np.isnan(wanted)
    return np.array_equal(nan, np.isnan(got)) and got[~nan].tobytes() == wanted[~nan].tobytes()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("what", ["points", "edges", "derivatives"])
def test_scalar_operations_have_the_same_bits(what: str, dtype: str, tmp_path: Path) -> None:
    names, exe, arrays = scalar(what, dtype)
    for name, got, wanted in zip(names, on_arm("clang++", exe, arrays, tmp_path), exe(*arrays), strict=True):
        if name == "relu" and what == "edges":
            np.testing.assert_array_equal(got, wanted)  # LLVM makes `fmax` of x < 0 ? 0 : x, and so 0 of -0
        else:
            assert same_bits(got, np.asarray(wanted)), name


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("what", ["points", "edges"])
def test_scalar_operations_by_another_compiler(what: str, dtype: str, tmp_path: Path) -> None:
    names, exe, arrays = scalar(what, dtype)
    for name, got, wanted in zip(names, on_arm("g++", exe, arrays, tmp_path), exe(*arrays), strict=True):
        if got.dtype.kind == "f":
            np.testing.assert_array_equal(np.isfinite(got), np.isfinite(wanted), name)
            there = np.isfinite(wanted)
            np.testing.assert_array_max_ulp(got[there], np.asarray(wanted)[there], 2, dtype)
            np.testing.assert_array_equal(got[~there], wanted[~there], name)
        else:
            np.testing.assert_array_equal(got, wanted, name)
