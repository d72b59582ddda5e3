"""Every header, and all that a session hands to Cling, compiled for 64-bit ARM with all warnings."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.arm.cross import ROOT, compile_for_arm, python_headers

pytestmark = pytest.mark.full
HEADERS = sorted(path.relative_to(ROOT / "cpp").as_posix() for path in (ROOT / "cpp").rglob("*.hpp"))
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Werror"]
EMIT = {"clang++": "-femit-all-decls", "g++": "-fkeep-inline-functions"}  # functions that nobody calls, too


def complaints(compiler: str, text: str, folder: Path, *flags: str) -> str:
    """Return a compiler's output for a text that includes burlab's headers."""
    (folder / "text.cpp").write_text(text)
    include = ["-I", ROOT / "cpp", *python_headers(folder)]
    return compile_for_arm(compiler, [*STRICT, *flags, *include, "-c", folder / "text.cpp", "-o", folder / "text.o"])


@pytest.mark.parametrize("compiler", EMIT)
def test_all_headers_compile(compiler: str, tmp_path: Path) -> None:
    text = "".join(f"#include <{header}>\n" for header in HEADERS)
    assert complaints(compiler, text, tmp_path, EMIT[compiler]) == ""


@pytest.mark.parametrize("compiler", EMIT)
@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("inline void f(float* x) { (void)__builtin_ia32_loadups512_mask(x, {}, 3); }", "loadups512_mask"),
        ('inline void f(float& x) { __asm__("" : "+v"(x)); }', "asm"),
    ],
    ids=["intrinsic", "register"],
)
def test_code_for_x86_is_refused(compiler: str, text: str, complaint: str, tmp_path: Path) -> None:
    assert complaint in complaints(compiler, text, tmp_path, EMIT[compiler])


def test_code_handed_to_cling_compiles(tmp_path: Path) -> None:
    """burlab's own choices for NEON, instances of the library's templates, generated kernels, steps, values."""
    texts = tmp_path / "session.cpp"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    environment.pop("BURLAB_ISA", None)
    subprocess.run(
        [sys.executable, ROOT / "tests" / "matrix" / "session.py", "neon", texts], check=True, env=environment
    )
    text = texts.read_text()
    assert text.startswith("#define BURLAB_NEON 1\n")
    assert "Gemm<float, 16, 8, 3>" in text
    assert complaints("clang++", text, tmp_path, "-Wno-unused-variable", "-O0") == ""
