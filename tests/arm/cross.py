"""Programs for 64-bit ARM, made here by a cross compiler and run by an emulator.

clang++ stands for Cling, which is clang; g++ is what exported kernels are compiled with. Debian's packages: clang-16,
g++-aarch64-linux-gnu (which brings the libraries) and qemu-user-static.
"""

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burlab.compiler.ir.spelling import C_TYPES
from burlab.runtime.coerce import Array, ArraySpec

ROOT = Path(__file__).parents[2]
CLANG = shutil.which("clang++-16") or "clang++"  # 16 is Cling's
COMPILERS = {
    "clang++": [CLANG, "--target=aarch64-linux-gnu"],
    "g++": ["aarch64-linux-gnu-g++"],
    # What -march=native means on servers: loops become code for vectors of any length, packets stay NEON's.
    "clang++ for SVE": [CLANG, "--target=aarch64-linux-gnu", "-march=armv8.2-a+sve"],
}
EMULATOR = "qemu-aarch64-static"

_DRIVER = """\
#include "{name}.hpp"
#include <cstdio>
{room}
alignas(64) static char workspace[{name}::workspace_bytes + 64];
template <class T> static bool read(T* x, unsigned long n) {{ return std::fread(x, sizeof(T), n, stdin) == n; }}
template <class T> static bool write(T* x, unsigned long n) {{ return std::fwrite(x, sizeof(T), n, stdout) == n; }}
int main() {{
  if (!({reads})) return 1;
  if ({name}::run({arguments}, workspace) != 0) return 2;
  return {writes} ? 0 : 3;
}}
"""


def require_tools() -> None:
    """Skip what needs a tool that this machine lacks; in CI, fail."""
    tools = dict.fromkeys([*(command[0] for command in COMPILERS.values()), EMULATOR])
    absent = ", ".join(tool for tool in tools if shutil.which(tool) is None)
    if absent and os.environ.get("CI"):
        pytest.fail(f"CI needs {absent} for the tests of 64-bit ARM.")
    if absent:
        pytest.skip(f"no {absent} on this machine: install clang-16, g++-aarch64-linux-gnu and qemu-user-static")


def compile_for_arm(compiler: str, arguments: Sequence[str | Path]) -> str:
    """Return the compiler's output, which is empty if all is well."""
    command = [*COMPILERS[compiler], "-std=c++20", *map(str, arguments)]
    return subprocess.run(command, text=True, capture_output=True, check=False).stderr


def python_headers(folder: Path) -> list[str | Path]:
    """The flags that find Python.h. Debian's asks for the target's sizes of types, which are as here."""
    include = Path(sysconfig.get_paths()["include"])
    sizes = folder / "aarch64-linux-gnu" / include.name / "pyconfig.h"
    sizes.parent.mkdir(parents=True)
    here = Path("/usr/include") / str(sysconfig.get_config_var("MULTIARCH")) / include.name / "pyconfig.h"
    sizes.write_text(f'#include "{here}"\n')
    return ["-isystem", folder, "-isystem", include]


def emulate(program: Path, data: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    """Run a program that is linked statically."""
    return subprocess.run([EMULATOR, "-cpu", "max", program], input=data, capture_output=True, check=False, timeout=300)


def run_on_arm(
    compiler: str, folder: Path, name: str, arrays: Sequence[Any], outputs: Sequence[ArraySpec]
) -> list[Array]:
    """The results of the function in `folder/name.hpp`, which `export` wrote, for these arrays."""
    ins = {f"in{k}": np.asarray(a) for k, a in enumerate(arrays)}
    outs = {f"out{k}": np.empty(y.shape, y.dtype) for k, y in enumerate(outputs)}
    (folder / "driver.cpp").write_text(
        _DRIVER.format(
            name=name,
            room="\n".join(
                f"alignas(64) static {C_TYPES[a.dtype]} {x}[{max(a.size, 1)}];" for x, a in (ins | outs).items()
            ),
            reads=" && ".join(["true", *(f"read({x}, {a.size})" for x, a in ins.items())]),
            writes=" && ".join(["true", *(f"write({y}, {a.size})" for y, a in outs.items())]),
            arguments=", ".join([*ins, *outs]),
        )
    )
    program = folder / "driver"
    flags = ["-O2", "-Wall", "-Werror", "-static"]
    assert compile_for_arm(compiler, [*flags, folder / "driver.cpp", "-o", program]) == ""
    done = emulate(program, b"".join(a.tobytes() for a in ins.values()))
    assert done.returncode == 0, (done.returncode, done.stderr)
    ends = np.cumsum([a.nbytes for a in outs.values()])
    parts = [done.stdout[end - a.nbytes : end] for a, end in zip(outs.values(), ends, strict=True)]
    return [np.frombuffer(part, a.dtype).reshape(a.shape) for part, a in zip(parts, outs.values(), strict=True)]
