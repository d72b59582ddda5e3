"""The C++ interpreter of this process: that of cppyy, or of its successor cppjit where BURLAB_INTERPRETER says so.

Each is a module that fills `Interpreter`; nothing else knows which one runs.
"""

import ctypes
import os
import signal
import sys
import sysconfig
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache, reduce
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from burlab.errors import ConfigurationError

from . import cppjit_interpreter, cppyy_interpreter
from .compiler_turns import compiler_lock, watch
from .cpu import instruction_set

# Everything that our headers include from the standard library: parsed before a target pragma opens, and in one go.
_STANDARD = (
    "algorithm array atomic bit chrono climits cmath condition_variable cstddef cstdint cstdio cstdlib cstring ctime "
    "initializer_list limits memory mutex optional string thread tuple type_traits utility vector"
).split()


class Interpreter(Protocol):
    """The running interpreter. Its calls are for one thread at a time, and release the GIL where they may."""

    def declare(self, text: str, users: bool = False) -> tuple[bool, str]:
        """Compile text as it is: whether that went well, and what the compiler said. users: the text is a user's."""
        ...

    def find(self, symbol: str) -> tuple[int, str]:
        """The address of a symbol, 0 where it cannot be linked, and what the linker said."""
        ...

    def add_include_path(self, folder: Path) -> None:
        """Search headers in this folder, too."""
        ...

    def object_files(self) -> list[bytes] | None:
        """All object files that it has made, oldest first; None if it hands out none, so that no code can be kept."""
        ...

    def namespace(self) -> Any:
        """The global namespace of C++ as a Python object."""
        ...


class _Package(NamedTuple):
    """A package with an interpreter. keeps_code: whether it hands out object files, so that code can be kept."""

    start: Callable[[], Interpreter]
    keeps_code: bool


_PACKAGES = {"cppyy": _Package(cppyy_interpreter.start, True), "cppjit": _Package(cppjit_interpreter.start, False)}


def interpreter_name() -> str:
    """The package whose interpreter is used, by the environment variable BURLAB_INTERPRETER: "cppyy" or "cppjit"."""
    name = os.environ.get("BURLAB_INTERPRETER", "") or "cppyy"
    if name not in _PACKAGES:
        raise ConfigurationError(f"BURLAB_INTERPRETER={name} is unknown. Set it to cppyy or cppjit, or unset it.")
    return name


def keeps_code() -> bool:
    """Return True if the interpreter hands out object files, so that compiled code can be kept."""
    return _PACKAGES[interpreter_name()].keeps_code


def started() -> bool:
    """Return True if the interpreter runs: importing burlab must not start it."""
    return _interpreter.cache_info().currsize > 0


def interpreter() -> Interpreter:
    """The interpreter, started by the first call (0.1 s). Raises ConfigurationError where it runs with unfit flags."""
    with compiler_lock:
        return _interpreter()


@cache
def _interpreter() -> Interpreter:
    watch()
    chosen, name = instruction_set(), interpreter_name()
    if "t" in getattr(sys, "abiflags", ""):
        raise ConfigurationError(
            "This Python is built without its lock (free threading), which burlab and cppyy do not support. "
            "Use an ordinary build of Python 3.11 to 3.14."
        )
    with _restored_signals():
        found = _PACKAGES[name].start()
    found.declare(chosen.definitions)
    for folder in (header_folder(), Path(sysconfig.get_paths()["include"])):
        found.add_include_path(folder)
    found.declare("".join(f"#include <{header}>\n" for header in _STANDARD))
    found.declare('#pragma clang diagnostic ignored "-Wpragma-clang-attribute"')  # a region may be empty
    if not found.declare("static_assert(__cplusplus >= 202002L);")[0]:
        raise ConfigurationError(
            f"The C++ interpreter runs with a standard older than C++20: {name} was started with other flags. "
            f"Unset EXTRA_CLING_ARGS and STDCXX, restart Python, and import burlab before other users of {name}."
        )
    return found


def reflect(*scope: str) -> Any:
    """A C++ namespace as a Python object whose attributes are its functions and classes; the first call takes 0.3 s.

    >>> reflect("std").string("text").size()
    4
    """
    namespace = interpreter().namespace()  # with our flags, before the package would start with its own
    return reduce(getattr, scope, namespace)


@contextmanager
def _restored_signals() -> Generator[None]:
    """The backend takes a dozen signals for itself, and with them Python's own handlers: of timers, of children."""
    actions = {number: ctypes.create_string_buffer(256) for number in signal.valid_signals()}  # larger than any struct
    process = ctypes.CDLL(None)
    for number, action in actions.items():
        process.sigaction(number, None, action)
    try:
        yield
    finally:
        for number, action in actions.items():
            process.sigaction(number, action, None)


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
