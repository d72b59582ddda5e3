"""The flagship programs on precompiled headers of each base, for each instruction set that this CPU has.

The precompiled header may be another machine's, so its base must not matter: it changes no bit of a set's numbers, and
nothing appears on the screen. Sets differ by whether a product and an addition round once or twice, and nothing else.
"""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burlab.runtime import cpu
from tests.engines import assert_close, jax_or_skip
from tests.matrix.programs import PROGRAMS, Array, arrays_of, kernel_cases
from tests.transforms.models import MODELS

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(1800)]
ROOT = Path(__file__).parents[2]
ABLE = {known.name: known.target for known in cpu._KNOWN if cpu.cpu_flags().issuperset(known.flags)}
X86 = [name for name in ABLE if name != "neon"]
BASES = {"native": "plain", "x86-64": "plain", "x86-64-v3": "avx2", "x86-64-v4": "avx512"}  # and a set that has as much
# Every set on the base of this CPU and on the plain one; between them what has less than the base, and what has more.
ON = {"native": X86, "x86-64": X86, "x86-64-v3": ["plain", "avx512"], "x86-64-v4": ["avx2"]}
PAIRS = [(base, name) for base, least in BASES.items() if least in ABLE for name in ON[base] if name in X86]
COMPILERS = {"g++": shutil.which("g++"), "clang++": shutil.which("clang++-16") or shutil.which("clang++")}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Output of a process, and its arrays."""

    code: int
    said: str
    arrays: dict[str, Array]


def start(base: str, name: str, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run Python for an instruction set, on the precompiled header of a base. That of cppyy itself is native."""
    flags = {"EXTRA_CLING_ARGS": f"-O2 -march={base}", "CLING_STANDARD_PCH": str(folder / f"{base}.pch")}
    environment = {k: v for k, v in os.environ.items() if k not in flags}
    environment |= {"BURLAB_ISA": name, "PYTHONPATH": str(ROOT)} | ({} if base == "native" else flags)
    command = [sys.executable, *arguments]
    return subprocess.run(command, text=True, capture_output=True, check=False, env=environment)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Outcome]:
    """Of every base with every set: all programs in one process, two processes at a time."""
    folder = tmp_path_factory.mktemp("bases")

    def build(base: str) -> None:
        built = start(base, "plain", folder, "-c", "from burlab.runtime import interpreter; interpreter()")
        assert built.returncode == 0, built.stderr

    def outcome(pair: tuple[str, str]) -> Outcome:
        place = folder / f"{' '.join(pair)}.npz"
        done = start(*pair, folder, "-m", "tests.matrix.programs", str(place))
        arrays = dict(np.load(place)) if done.returncode == 0 else {}
        return Outcome(done.returncode, done.stdout + done.stderr, arrays)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(build, dict.fromkeys(base for base, _ in PAIRS)))
        return dict(zip(PAIRS, pool.map(outcome, PAIRS), strict=True))


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_every_program_runs_silently(pair: tuple[str, str], outcomes: dict[tuple[str, str], Outcome]) -> None:
    assert (outcomes[pair].code, outcomes[pair].said) == (0, "")
    assert {key.partition(":")[0] for key in outcomes[pair].arrays} == {f.__name__ for f in PROGRAMS}


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair[0] != "x86-64"], ids=" ".join)
def test_a_set_has_the_same_bits_on_each_base(pair: tuple[str, str], outcomes: dict[tuple[str, str], Outcome]) -> None:
    got, wanted = outcomes[pair].arrays, outcomes["x86-64", pair[1]].arrays
    assert got.keys() == wanted.keys() != set()
    assert [key for key in got if got[key].tobytes() != wanted[key].tobytes()] == []


@pytest.mark.parametrize("name", [name for name in ABLE if name not in ("plain", "neon")])
def test_sets_agree(name: str, outcomes: dict[tuple[str, str], Outcome]) -> None:
    """Within some units in the last place of 1, or of the largest number."""
    got, wanted = outcomes["x86-64", name].arrays, outcomes["x86-64", "plain"].arrays
    for key, x in got.items():
        if x.dtype.kind == "f":
            scale = max(1.0, np.max(np.abs(wanted[key]), initial=0.0))
            np.testing.assert_allclose(x, wanted[key], rtol=0, atol=32 * np.finfo(x.dtype).eps * scale, err_msg=key)
        elif x.dtype.kind != "U":
            np.testing.assert_array_equal(x, wanted[key], err_msg=key)


@pytest.mark.parametrize("name", X86)
def test_kernels_equal_numpys_and_gradients_jaxs(name: str, outcomes: dict[tuple[str, str], Outcome]) -> None:
    jax, arrays = jax_or_skip(), outcomes["x86-64", name].arrays
    for case, (f, *given) in kernel_cases().items():
        wanted = arrays_of({case: f(*(x.astype(np.float64) for x in given))})
        for gear in ("compiled", "replay"):
            for key, y in wanted.items():
                x = arrays[f"kernels: {key.replace(case, f'{case} {gear}')}"]
                near = 32 * np.finfo(given[0].dtype).eps * max(1.0, np.max(np.abs(y)))
                np.testing.assert_allclose(x, y, rtol=0, atol=near, err_msg=key)
    for model, (f, p, data) in MODELS.items():
        engine = jax.jit(jax.value_and_grad(lambda p, *data, f=f: f(jax.numpy, p, *data)))
        for key, y in arrays_of({f"{model} compiled": _plain(engine(p, *data))}).items():
            assert_close(arrays[f"models: {key}"], y, 1e-12)


def _plain(result: Any) -> Any:
    """A number and a tree of JAX's arrays, as NumPy's."""
    if isinstance(result, dict):
        return {key: _plain(x) for key, x in result.items()}
    return type(result)(map(_plain, result)) if isinstance(result, (list, tuple)) else np.asarray(result)


@pytest.mark.parametrize("march", ["x86-64", "native"])
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", X86)
def test_exported_programs_run(
    name: str, compiler: str, march: str, outcomes: dict[tuple[str, str], Outcome], tmp_path: Path
) -> None:
    """Programs exported on one machine are compiled on another, with fewer or more instructions."""
    program = {"x86-64": "gpt", "native": "mixture"}[march] if compiler == "g++" else "gpt"
    for key, text in outcomes["x86-64", name].arrays.items():
        if key.startswith(f"exported: {program}/"):
            (tmp_path / key.partition("/")[2].partition(" ")[0]).write_text(str(text))
    if COMPILERS[compiler] is None and "CI" not in os.environ:
        pytest.skip(f"no {compiler} on this machine")
    flags = ["-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", f"-march={march}"]
    command = [str(COMPILERS[compiler]), *flags, str(tmp_path / "main.cpp"), "-o", str(tmp_path / "run")]
    built = subprocess.run(command, text=True, capture_output=True, check=False)
    assert built.returncode == 0, built.stderr[:3000]
    done = subprocess.run([tmp_path / "run"], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
