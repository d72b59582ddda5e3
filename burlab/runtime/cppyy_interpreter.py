"""The C++ interpreter of cppyy, started through cppyy's backend.

`import cppyy` takes 0.3 s, most of it for wrapping C++ in Python, which nothing here needs: the backend alone takes a
third of that. A later `import cppyy`, by a user or another package, finds the same interpreter running, and everything
declared.
"""

import ctypes
import os
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from burlab.errors import ConfigurationError

from .compiler_calls import CompilerFunction, captured_stderr
from .host import host_compiler, preferred
from .object_reports import object_files
from .quoting import literal

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


class CppyyInterpreter:
    """Cling, behind two functions of its own."""

    def __init__(self, declare: int, find: int) -> None:
        """Create it of the addresses of its two functions."""
        self._declare = CompilerFunction(declare, ctypes.c_int)
        self._find = CompilerFunction(find, ctypes.c_void_p)

    def declare(self, text: str, users: bool = False) -> tuple[bool, str]:
        """Compile text as it is, see `Interpreter`."""
        done, messages = self._declare(text, users=users)
        return bool(done), messages

    def find(self, symbol: str) -> tuple[int, str]:
        """The address of a symbol, see `Interpreter`."""
        place, messages = self._find(symbol)
        return place or 0, messages

    def add_include_path(self, folder: Path) -> None:
        """Search headers in this folder, too."""
        self.declare(f"#pragma cling add_include_path({literal(str(folder))})")

    def object_files(self) -> list[bytes] | None:
        """All object files, see `Interpreter`: Cling reports them to debuggers where CLING_DEBUG is set."""
        return object_files()

    def namespace(self) -> Any:
        """The global namespace as a Python object."""
        return import_module("cppyy").gbl


def precompiled_header() -> str | None:
    """The file of parsed standard headers that cppyy itself would choose, where that is known without starting it."""
    if "CLING_STANDARD_PCH" in os.environ:
        return os.environ["CLING_STANDARD_PCH"]
    package = PathFinder.find_spec("cppyy")  # and no other finder: one of ours takes the question for an import
    version = import_module("cppyy_backend").__version__
    header = Path(package.origin if package and package.origin else "").parent / f"allDict.cxx.pch.{version}"
    return str(header) if header.is_file() else None


def start() -> CppyyInterpreter:
    """Load cppyy's backend, with the precompiled header that cppyy itself would choose."""
    header = precompiled_header()
    if header:
        os.environ["CLING_STANDARD_PCH"] = header
    backend = _backend()
    exports = (ctypes.c_void_p * 2)()
    backend.cppyy_compile.argtypes = (ctypes.c_char_p,)
    with captured_stderr() as messages:
        backend.cppyy_compile(_EXPORTS.replace("ADDRESS", str(ctypes.addressof(exports))).encode())
    declare, find = exports
    if not declare or not find:
        raise ConfigurationError(
            f"cppyy's interpreter does not start: {_gist(messages())}. "
            "Install it again: pip install --force-reinstall --no-cache-dir cppyy cppyy-backend cppyy-cling."
        )
    return CppyyInterpreter(declare, find)


def _backend() -> Any:
    """cppyy's library, loaded. Loading starts the interpreter, so what it needs is checked first."""
    loader: Any = import_module("cppyy_backend.loader")
    if "cppyy" in sys.modules:  # it runs already
        return loader.load_cpp_backend()
    compiler = host_compiler()
    with preferred(compiler), captured_stderr() as messages:
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
