"""No text of a file, a name or a path becomes code: what is escaped is on one line, and means what it says."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from burlab.eager.cells import Cells
from burlab.errors import CompileError, ConfigurationError
from burlab.runtime import address, declare
from burlab.runtime.quoting import comment, escaped, include, line_directive, literal, without_comments

NASTY = [
    "a\nb", "a\r\nb", "a\u2028b\u2029c", "\x0b\x0c\x1c\x1d\x1e\x85", "\0", 'say "x"', "back\\", "line\\\nsplice",
    "what??/\nnow", "*/ int x; /*", "\u202eesrever", "\ud800 half", "é 中文 🙂", "%s {0} @unit // /* ' R\"(",
    "\x7f\x1b[2J",
]  # fmt: skip
TEXTS = st.one_of(st.sampled_from(NASTY), st.text(), st.lists(st.sampled_from([*NASTY, "x"])).map("".join))


@given(TEXTS)
def test_escaped_text_stays_on_its_line(text: str) -> None:
    said = escaped(text)
    assert said.isprintable()
    assert not any(end in said for end in ('"', "??", "*/"))
    assert not said.endswith("\\")
    said.encode()  # no half characters
    code = f"int x;{comment(text)}\nint y;"
    assert without_comments(code) == "int x;\nint y;"
    assert len(code.splitlines()) == 2


def test_plain_names_stay_as_they_are() -> None:
    for text in ("model.py:7", "%3 tanh'0", "/home/é/In[3]", "a b-c.d"):
        assert escaped(text) == text


def test_the_compiler_reads_the_text_again() -> None:
    texts = [text for text in NASTY if "\0" not in text]
    table = ", ".join(map(literal, texts))
    unit = declare(f'const char* const texts[] = {{{table}}}; extern "C" const void* @unit_texts() {{ return texts; }}')
    place = ctypes.CFUNCTYPE(ctypes.c_void_p)(address(f"{unit}_texts"))()
    found = (ctypes.c_char_p * len(texts)).from_address(place)
    assert [raw.decode("utf-8", "surrogatepass") for raw in found] == texts


@pytest.mark.parametrize("name", NASTY)
def test_name_of_any_text_appears_in_messages_only(name: str) -> None:
    unit = declare(f'extern "C" int @unit_three() {{ return 3; }} // {len(name)}', name=f"{name}\nint 3;")
    assert ctypes.CFUNCTYPE(ctypes.c_int)(address(f"{unit}_three"))() == 3
    with pytest.raises(CompileError, match=r":7:1: error: expected"):
        declare(f"{line_directive(7, name)}?;", name=name)
    assert Cells().run("double two() { return 2; }", name)["two"]() == 2


@pytest.mark.parametrize("text", ["int a = 1;\0int b = 2;", "int a; // \ud800"])
def test_a_cell_with_what_no_text_has_is_refused(text: str) -> None:
    with pytest.raises(CompileError, match="half a character"):
        Cells().run(text)


def test_headers_are_found_in_a_folder_of_any_name(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a\"b\\101 ??' é*"
    folder.mkdir()
    for part in ("burlab", "cpp"):
        (folder / part).symlink_to(root / part, target_is_directory=True)
    code = (
        "import burlab.runtime.interpreter as i, pathlib; i.header_folder = lambda: pathlib.Path('cpp').absolute();"
        "import burlab as bl; print(bl.grad(lambda x: x**3)(2.0))"
    )
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    python = [sys.executable, "-c", code]
    ran = subprocess.run(python, check=False, capture_output=True, text=True, cwd=folder, env=environment)
    assert ran.stdout == "12.0\n", ran.stderr


@pytest.mark.parametrize("header", ['a"\n#error x\n".hpp', "a??/b.hpp", "a\\b.hpp", "a\0.hpp"])
def test_a_header_that_has_no_name_in_cpp_is_refused(header: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot include"):
        include(header)
