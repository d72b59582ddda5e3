"""The C++ interpreter of cppyy, started through cppyy's backend.

`import cppyy` takes 0.3 s, most of it for wrapping C++ in Python, which nothing here needs: the backend alone takes a
third of that. A later `import cppyy`, by a user or another package, finds the same interpreter running, and everything
declared.
"""

import ctypes
import os
import signal
import sys
import sysconfig
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache, reduce
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from burlab.errors import ConfigurationError

from .compiler_turns import compiler_lock, may_release_gil, watch
from .cpu import instruction_set
from .host import host_compiler, preferred
from .quoting import literal

# Everything that our headers include from the standard library: parsed before a target pragma opens, and in one go.
_STANDARD = (
    "algorithm array atomic bit chrono climits cmath condition_variable cstddef cstdint cstdio cstdlib cstring ctime "
    "initializer_list limits memory mutex optional string thread tuple type_traits utility vector"
).split()

# Two functions that take C strings, and a constant whose initialisation writes their addresses.
_EXPORTS = """
#include <cstdio>
#include <exception>
#include "TInterpreter.h"
namespace burlab_exports {
extern "C" int burlab_declare(const char* text) {
  try {
    return gInterpreter->Declare(text);
  } catch (const std::exception& error) {
    fprintf(stderr, "error: the initializer of a variable threw an exception: %s", error.what());
  } catch (...) {
    fprintf(stderr, "error: the initializer of a variable threw an exception.");
  }
  return 0;
}
extern "C" void* burlab_find(const char* symbol) { return gInterpreter->FindSym(symbol); }
const int filled = (((void**)ADDRESS)[0] = (void*)&burlab_declare, ((void**)ADDRESS)[1] = (void*)&burlab_find, 0);
}
"""


class Interpreter:
    """The running interpreter. Its calls are for one thread at a time, and release the GIL where they may."""

    def __init__(self, declare: int, find: int) -> None:
        """Create it of the addresses of its two functions."""
        self._declare = _Entry(declare, ctypes.c_int)
        self._find = _Entry(find, ctypes.c_void_p)

    def declare(self, text: str, users: bool = False) -> tuple[bool, str]:
        """Compile text as it is: whether that went well, and what the compiler said. users: the text is a user's."""
        with compiler_lock, _captured_stderr() as messages:
            done = bool(self._declare.call(text, release=not users and may_release_gil()))
        return done, messages()

    def find(self, symbol: str) -> tuple[int, str]:
        """The address of a symbol, 0 where it cannot be linked, and what the linker said."""
        with compiler_lock, _captured_stderr() as messages:
            place = self._find.call(symbol, release=may_release_gil())
        return place or 0, messages()


class _Entry:
    """A C function that takes one C string, called with the GIL or without it."""

    def __init__(self, place: int, result: Any) -> None:
        self._with_gil: Any = ctypes.PYFUNCTYPE(result, ctypes.c_char_p)(place)
        self._without_gil: Any = ctypes.CFUNCTYPE(result, ctypes.c_char_p)(place)

    def call(self, text: str, release: bool) -> Any:
        return (self._without_gil if release else self._with_gil)(text.encode())


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
    chosen = instruction_set()
    with _restored_signals():
        cling = _start()
    cling.declare(chosen.definitions)
    for folder in (header_folder(), sysconfig.get_paths()["include"]):
        cling.declare(f"#pragma cling add_include_path({literal(str(folder))})")
    cling.declare("".join(f"#include <{name}>\n" for name in _STANDARD))
    cling.declare('#pragma clang diagnostic ignored "-Wpragma-clang-attribute"')  # a region may be empty
    if not cling.declare("static_assert(__cplusplus >= 202002L);")[0]:
        raise ConfigurationError(
            "The C++ interpreter runs with a standard older than C++20: cppyy was started with other flags. "
            "Unset EXTRA_CLING_ARGS and STDCXX, restart Python, and import burlab before other users of cppyy."
        )
    return cling


def reflect(*scope: str) -> Any:
    """A C++ namespace as a Python object whose attributes are its functions and classes; the first call takes 0.3 s.

    >>> reflect("std").string("text").size()
    4
    """
    interpreter()  # with our flags, before cppyy would start it with its own
    return reduce(getattr, scope, import_module("cppyy").gbl)


def precompiled_header() -> str | None:
    """The file of parsed standard headers that cppyy itself would choose, where that is known without starting it."""
    if "CLING_STANDARD_PCH" in os.environ:
        return os.environ["CLING_STANDARD_PCH"]
    package = PathFinder.find_spec("cppyy")  # and no other finder: one of ours takes the question for an import
    version = import_module("cppyy_backend").__version__
    header = Path(package.origin if package and package.origin else "").parent / f"allDict.cxx.pch.{version}"
    return str(header) if header.is_file() else None


def clang_flags() -> str:
    """The flags that the interpreter has, or will have when it starts."""
    return os.environ.get("EXTRA_CLING_ARGS", "-O2 -march=native").strip()


def _start() -> Interpreter:
    """Load cppyy's backend, with the precompiled header that cppyy itself would choose."""
    if "t" in getattr(sys, "abiflags", ""):
        raise ConfigurationError(
            "This Python is built without its lock (free threading), which burlab and cppyy do not support. "
            "Use an ordinary build of Python 3.11 to 3.14."
        )
    header = precompiled_header()
    if header:
        os.environ["CLING_STANDARD_PCH"] = header
    backend = _backend()
    exports = (ctypes.c_void_p * 2)()
    backend.cppyy_compile.argtypes = (ctypes.c_char_p,)
    with _captured_stderr() as messages:
        backend.cppyy_compile(_EXPORTS.replace("ADDRESS", str(ctypes.addressof(exports))).encode())
    declare, find = exports
    if not declare or not find:
        raise ConfigurationError(
            f"cppyy's interpreter does not start: {_gist(messages())}. "
            "Install it again: pip install --force-reinstall --no-cache-dir cppyy cppyy-backend cppyy-cling."
        )
    return Interpreter(declare, find)


def _backend() -> Any:
    """cppyy's library, loaded. Loading starts the interpreter, so what it needs is checked first."""
    loader: Any = import_module("cppyy_backend.loader")
    if "cppyy" in sys.modules:  # it runs already
        return loader.load_cpp_backend()
    compiler = host_compiler()
    with preferred(compiler), _captured_stderr() as messages:
        loader.set_cling_compile_options()  # the name of the precompiled header depends on them
        loader.ensure_precompiled_header()
        header = os.environ["CLING_STANDARD_PCH"]
        backend = loader.load_cpp_backend() if Path(header).is_file() else None
    if backend is None:
        raise ConfigurationError(
            f"cppyy's precompiled header, CLING_STANDARD_PCH={header}, is not there and could not be made by "
            f"{compiler or 'a machine without a C++ compiler'}: {_gist(messages())}. It needs a compiler with its "
            "headers, apt-get install g++, and a folder that can be written to: "
            'export CLING_STANDARD_PCH="$HOME/cling.pch".'
        )
    return backend


def _gist(messages: str) -> str:
    """Return the first two errors of the compiler's output, or else its last line."""
    lines = messages.strip().splitlines() or ["it gave no message"]
    return "; ".join([line for line in lines if "error:" in line][:2] or lines[-1:])


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


@contextmanager
def _captured_stderr() -> Generator[Callable[[], str]]:
    """Catch what the compiler writes to file descriptor 2; the yielded function reads it, after the block."""
    sys.stderr.flush()
    saved, file, text = os.dup(2), _memory_file(), ""
    os.dup2(file, 2)
    try:
        yield lambda: text
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        text = os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")
        os.close(file)


def _memory_file() -> int:
    """A file descriptor of a file without a name."""
    if sys.platform == "linux":
        return os.memfd_create("burlab")
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
