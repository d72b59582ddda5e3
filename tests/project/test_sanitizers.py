"""Every program of tests/cpp runs clean under the address and undefined-behaviour sanitizers."""

import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((ROOT / "tests" / "cpp").glob("*.cpp"))
FLAGS = ["-std=c++20", "-O1", "-g", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]


def build_and_run(source: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Compile `source` with both sanitizers and run it; a report of theirs gives a return code that is not 0."""
    program = folder / source.stem
    include = ["-I", str(ROOT / "cpp"), "-isystem", sysconfig.get_paths()["include"]]
    subprocess.run(["g++", *FLAGS, *SANITIZE, *include, str(source), "-o", str(program), "-pthread"], check=True)
    environment = os.environ | {"UBSAN_OPTIONS": "print_stacktrace=1"}
    return subprocess.run([program], text=True, capture_output=True, check=False, env=environment, timeout=300)


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda path: path.stem)
def test_program_runs_clean(source: Path, tmp_path: Path):
    done = build_and_run(source, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("volatile int* p = new int(argc); delete p; return *p > 9;", "heap-use-after-free"),
        ("volatile int big = 2147483647; return (big + argc) > 0;", "signed integer overflow"),
    ],
    ids=["address", "undefined"],
)
def test_a_bad_program_is_caught(tmp_path: Path, body: str, complaint: str):
    source = tmp_path / "bad.cpp"
    source.write_text(f"int main(int argc, char**) {{ {body} }}\n")
    done = build_and_run(source, tmp_path)
    assert done.returncode != 0
    assert complaint in done.stderr
