"""cppyy's interpreter: started at first use, fed through one door, `declare`.

Rules of the border, each learned by measurement: the same text is never declared twice, so every unit lives in a
namespace named by the hash of its content; `#include` lines stand outside of it; success is what `Declare` returns, not
what it prints; functions are reached by their symbol, because a wrapper made by cppyy costs milliseconds to compile.
"""

import hashlib
import os
import re
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from burlab.errors import CompileError, ConfigurationError
from .cpu import instruction_set

# Everything that our headers include from the standard library: parsed before the target pragma opens, and in one go.
_STANDARD = (
    "array atomic chrono climits cmath condition_variable cstddef cstdint cstdio cstdlib cstring limits mutex thread "
    "tuple type_traits utility"
).split()
_lock = threading.RLock()
_declared: dict[str, str] = {}  # unit text -> namespace
_included: set[str] = set()


def header_folder() -> Path:
    """The folder that holds `burlab/*.hpp`: the repository's `cpp/` in a checkout, else the copy in the wheel."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package.parent / "cpp", package / "_include"):
        if (folder / "burlab" / "abi.hpp").is_file():
            return folder
    raise ConfigurationError(
        f"burlab's C++ headers are neither in {package.parent / 'cpp'} nor in {package / '_include'}. "
        "Install burlab again: pip install --force-reinstall burlab."
    )


def started() -> bool:
    """Whether the C++ interpreter runs: importing burlab must not start it."""
    return interpreter.cache_info().currsize > 0


def _cppyy() -> Any:
    return import_module("cppyy")  # late: importing burlab must not start a compiler; untyped: it has no stubs


@cache
def interpreter() -> Any:
    """cppyy's C++ interpreter, started by the first call (0.3 s)."""
    with _lock:
        cling = _cppyy().gbl.gInterpreter
        cling.AddIncludePath(str(header_folder()))
        cling.AddIncludePath(sysconfig.get_paths()["include"])
        _declare_raw(cling, "".join(f"#include <{name}>\n" for name in _STANDARD))
        _declare_raw(cling, '#pragma clang diagnostic ignored "-Wpragma-clang-attribute"')  # a region may be empty
        if not _declare_raw(cling, "static_assert(__cplusplus >= 202002L);")[0]:
            raise ConfigurationError(
                "The C++ interpreter runs with a standard older than C++20: cppyy was started with other flags. "
                "Unset EXTRA_CLING_ARGS and STDCXX, restart Python, and import burlab before other users of cppyy."
            )
        return cling


def declare(body: str, include: Sequence[str] = (), *, name: str = "input") -> str:
    """Compile C++ once and give the namespace it lives in; a text seen before costs a dictionary look-up.

    body: C++ source; `@unit` in it stands for the namespace, so `extern "C" int @unit_run()` gets a name of its own.
    include: headers of burlab, such as `"burlab/ops/table.hpp"`. name: what compiler messages call the text.
    Raises CompileError with the compiler's message; everything declared before stays usable.
    """
    text = "\n".join((*include, name, body))
    with _lock:
        if text not in _declared:
            unit = "burlab_" + hashlib.sha256(text.encode()).hexdigest()[:16]
            compile_text(f'namespace {unit} {{\n#line 1 "{name}"\n{body.replace("@unit", unit)}\n}}\n', include)
            _declared[text] = unit
        return _declared[text]


def compile_text(text: str, include: Sequence[str] = ()) -> None:
    """Hand text to the compiler as it is, for this CPU's instruction set. Use `declare` unless it must not be wrapped.

    Headers are compiled by themselves first: a header that came in with a text that fails would be lost with it, and
    `#pragma once` would keep it from ever coming back.
    """
    with _lock:
        for header in include:
            if header not in _included:
                _included.add(header)
                _compile(f'#include "{header}"\n')
        _compile(text)


def _compile(text: str) -> None:
    cling = interpreter()
    before, after = instruction_set().pragmas
    done, messages = _declare_raw(cling, f"{before}{text}\n{after}")
    if not done:
        while before and _declare_raw(cling, after)[0]:
            pass  # a text with an open bracket swallows the closing pragma: close the region, or every later text fails
        raise CompileError(_readable(messages))
    if messages:
        sys.stderr.write(messages)  # warnings belong to the user


def address(symbol: str) -> int:
    """The address of an `extern "C"` function. Raises CompileError where it cannot be linked: a missing symbol shows here."""
    with _lock, _captured_stderr() as messages:
        found = interpreter().FindSym(symbol)
        place = _cppyy().addressof(found) if found else 0
    if not place:
        raise CompileError(f"The function {symbol} uses what is declared but defined nowhere.\n{messages()}".strip())
    return int(place)


def _declare_raw(cling: Any, text: str) -> tuple[bool, str]:
    with _captured_stderr() as messages:
        done = bool(cling.Declare(text))
    return done, messages()


@contextmanager
def _captured_stderr() -> Generator[Callable[[], str]]:
    """Catch what the compiler writes to file descriptor 2; the yielded function reads it, after the block too."""
    sys.stderr.flush()
    saved, text = os.dup(2), ""
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield lambda: text
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            file.seek(0)
            text = file.read().decode(errors="replace")


def _readable(messages: str) -> str:
    """The compiler's messages without the notes on how it came there, which name only generated text."""
    lines = [line for line in messages.splitlines() if not re.match(r"In file included from input_line_", line)]
    return "\n".join(lines).strip() or "The C++ compiler gave no message."
