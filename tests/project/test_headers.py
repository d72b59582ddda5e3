"""A strict compiler accepts each C++ header in a file that includes nothing else, and the programs of the tests."""

import os
import re
import subprocess
import sysconfig
from functools import cache
from pathlib import Path

import pytest

CPP = Path(__file__).parents[2] / "cpp"
PROGRAMS = sorted((Path(__file__).parents[1] / "cpp").glob("*.cpp"))
HEADERS = sorted(path.relative_to(CPP).as_posix() for path in CPP.rglob("*.hpp"))
STRICT = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only"]


def compile_together(headers: list[str], cpp: Path) -> str:
    """Return what g++ says about a file that includes the headers and nothing else: nothing, if all is well."""
    text = "".join(f"#include <{header}>\n" for header in headers)
    # All others serve C++ programs that know no Python.
    return complaints(text, cpp, with_python=any("/python/" in header for header in headers))


def complaints(text: str, cpp: Path, with_python: bool) -> str:
    """Return g++'s output for a text that includes headers of `cpp`."""
    include = ["-I", str(cpp), *(["-isystem", sysconfig.get_paths()["include"]] if with_python else [])]
    command = ["g++", *STRICT, *include, "-x", "c++", "-"]
    return subprocess.run(command, input=text, text=True, capture_output=True, check=False).stderr


def includes(cpp: Path) -> dict[str, set[str]]:
    """Of each header all others of ours that it includes, and what those include."""
    headers = {path.relative_to(cpp).as_posix(): path.read_text() for path in cpp.rglob("*.hpp")}
    quoted = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)

    @cache
    def inner(header: str) -> set[str]:
        own = {os.path.normpath(Path(header).parent / name) for name in quoted.findall(headers[header])}
        return own.union(*map(inner, own))

    return {header: inner(header) for header in headers}


def chains(cpp: Path) -> list[list[str]]:
    """All headers, in orders in which each includes the one before.

    So its text sees what it would see alone, as everything before it is what it includes by itself: to compile a chain
    proves of each of its headers that it stands alone.
    """
    inner, found = includes(cpp), list[list[str]]()
    for header in sorted(inner, key=lambda name: (-len(inner[name]), name)):
        for chain in found:
            # Those of python/ are compiled with Python's headers at hand, which others have to do without.
            if header in inner[chain[0]] and ("/python/" in header) == ("/python/" in chain[0]):
                chain.insert(0, header)
                break
        else:
            found.append([header])
    return found


CHAINS = chains(CPP)


def test_each_header_has_its_place():
    assert sorted(header for chain in CHAINS for header in chain) == HEADERS
    assert len(CHAINS) < len(HEADERS) / 2


@pytest.mark.full
@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain[-1])
def test_headers_stand_alone(chain: list[str]):
    assert compile_together([header for header in chain for _ in range(2)], CPP) == ""


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_of_tests_compile(program: Path):
    """The full tier runs them, under the sanitizers and on ARM: what a changed header asks of them is told before."""
    assert complaints(f'#include "{program}"\n', CPP, with_python=True) == ""


def test_a_header_that_leans_on_the_one_before_is_refused(tmp_path: Path):
    (tmp_path / "lower.hpp").write_text("#pragma once\n#include <cstddef>\n")
    leaning = "#pragma once\ninline std::size_t zero() { return 0; }\n"
    (tmp_path / "beside.hpp").write_text(leaning)
    (tmp_path / "above.hpp").write_text('#include "lower.hpp"\n' + leaning.replace("zero", "nought"))
    found = chains(tmp_path)
    assert found == [["lower.hpp", "above.hpp"], ["beside.hpp"]]
    assert compile_together(found[0], tmp_path) == ""
    assert "std" in compile_together(found[1], tmp_path)


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
def test_headers_do_not_end_the_process(header: str):
    assert forbidden((CPP / header).read_text()) == []


def test_forbidden_statements_are_found():
    bad = ["throw 1;", "assert (x);", "std::exit(1);", "int* p = new int;", "std::cout << x;"]
    assert forbidden("\n".join(bad)) == bad
    assert forbidden('static_assert(x); // a new thing\nauto s = "throw \\" new"; std::exit_code;') == []
