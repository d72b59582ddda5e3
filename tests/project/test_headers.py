"""Each C++ header stands alone: a strict compiler accepts a file that includes nothing else."""

import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CPP = Path(__file__).parents[2] / "cpp"
HEADERS = sorted(path.relative_to(CPP).as_posix() for path in CPP.rglob("*.hpp"))
STRICT = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only"]


def compile_together(headers: list[str], cpp: Path) -> str:
    """Return what g++ says about a file that includes the headers and nothing else: nothing, if all is well."""
    text = "".join(f"#include <{header}>\n" for header in headers)
    include = ["-I", str(cpp)]
    if any("/python/" in header for header in headers):  # all others serve C++ programs that know no Python
        include += ["-isystem", sysconfig.get_paths()["include"]]
    command = ["g++", *STRICT, *include, "-x", "c++", "-"]
    return subprocess.run(command, input=text, text=True, capture_output=True, check=False).stderr


@pytest.mark.parametrize("header", HEADERS)
def test_header_stands_alone(header: str):
    assert compile_together([header, header], CPP) == ""


@pytest.mark.parametrize("order", [HEADERS, HEADERS[::-1]], ids=["forward", "backward"])
def test_headers_stand_together(order: list[str]):
    assert compile_together(order, CPP) == "", "a session of the interpreter sees all of them, in any order"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("inline std::size_t zero() { return 0; }", "std"),
        ("inline float narrow(double x) { return x; }", "conversion from"),
        ("struct Twice {};", "redefinition"),
    ],
    ids=["missing include", "narrowing", "no include guard"],
)
def test_a_bad_header_is_refused(tmp_path: Path, text: str, complaint: str):
    (tmp_path / "bad.hpp").write_text(text)
    assert complaint in compile_together(["bad.hpp", "bad.hpp"], tmp_path)


def forbidden(text: str) -> list[str]:
    """The lines of C++ that can end the process or print, comments and strings aside."""
    bare = re.sub(r'"(\\.|[^"\\\n])*"|//[^\n]*', "", text)
    words = re.compile(r"\bthrow\b|\bassert\s*\(|\bexit\s*\(|\babort\s*\(|\bnew\b|\bstd::c(out|err)\b")
    return [line.strip() for line in bare.splitlines() if words.search(line)]


@pytest.mark.parametrize("header", HEADERS)
def test_nothing_ends_the_process(header: str):
    assert forbidden((CPP / header).read_text()) == []


def test_what_ends_the_process_is_seen():
    bad = ["throw 1;", "assert (x);", "std::exit(1);", "int* p = new int;", "std::cout << x;"]
    assert forbidden("\n".join(bad)) == bad
    assert forbidden('static_assert(x); // a new thing\nauto s = "throw \\" new"; std::exit_code;') == []
