"""Every program of tests/cpp runs clean under the address, undefined-behaviour and thread sanitizers."""

import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((ROOT / "tests" / "cpp").glob("*.cpp"))
FLAGS = ["-std=c++20", "-Og", "-g1", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
SANITIZERS = ["address,undefined", "thread"]


def build_and_run(source: Path, folder: Path, sanitizer: str) -> subprocess.CompletedProcess[str]:
    """Compile `source` with sanitizers and run it; a report of theirs gives a return code that is not 0."""
    program = folder / source.stem
    include = ["-I", str(ROOT / "cpp"), "-isystem", sysconfig.get_paths()["include"]]
    sanitize = [f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
    subprocess.run(["g++", *FLAGS, *sanitize, *include, str(source), "-o", str(program), "-pthread"], check=True)
    environment = os.environ | {"UBSAN_OPTIONS": "print_stacktrace=1"}
    return subprocess.run([program], text=True, capture_output=True, check=False, env=environment, timeout=300)


@pytest.mark.parametrize("sanitizer", SANITIZERS)
@pytest.mark.parametrize("source", PROGRAMS, ids=lambda path: path.stem)
def test_program_runs_clean(source: Path, sanitizer: str, tmp_path: Path):
    done = build_and_run(source, tmp_path, sanitizer)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("sanitizer", "body", "complaint"),
    [
        (SANITIZERS[0], "volatile int* p = new int(argc); delete p; return *p > 9;", "heap-use-after-free"),
        (SANITIZERS[0], "volatile int big = 2147483647; return (big + argc) > 0;", "signed integer overflow"),
        (SANITIZERS[1], "std::thread other([&] { ++argc; }); ++argc; other.join(); return argc > 9;", "data race"),
    ],
    ids=["address", "undefined", "thread"],
)
def test_a_bad_program_is_caught(tmp_path: Path, sanitizer: str, body: str, complaint: str):
    source = tmp_path / "bad.cpp"
    source.write_text(f"#include <thread>\nint main(int argc, char**) {{ {body} }}\n")
    done = build_and_run(source, tmp_path, sanitizer)
    assert done.returncode != 0
    assert complaint in done.stderr
