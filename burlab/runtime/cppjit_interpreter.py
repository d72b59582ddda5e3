"""The C++ interpreter of cppjit, the successor of cppyy: clang-repl behind CppInterOp's C functions.

Only the library of the package is loaded, whose names in C are stated in `CppInterOp/CXCppInterOp.h`: it knows nothing
of Python. It has no precompiled header, so each process reads the standard library again, and hands out no object
files, so no code is kept; an exception in the initializer of a variable ends the process.
"""

import ctypes
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from burlab.errors import ConfigurationError

from .compiler_calls import CompilerFunction, captured_stderr, clang_flags

_ADVICE = "Install it by pip install 'cppjit==0.1.0a1' (Python 3.12 to 3.14), or unset BURLAB_INTERPRETER."


class CppjitInterpreter:
    """clang-repl."""

    def __init__(self, library: ctypes.CDLL) -> None:
        """Create it of CppInterOp's library, whose interpreter runs."""
        self._declare = CompilerFunction(_place(library, "cppinterop_Declare"), ctypes.c_int, ctypes.c_bool)
        self._find = CompilerFunction(_place(library, "cppinterop_GetFunctionAddress_str"), ctypes.c_void_p)
        self._include = CompilerFunction(_place(library, "cppinterop_AddIncludePath"), None)

    def declare(self, text: str, users: bool = False) -> tuple[bool, str]:
        """Compile text as it is, see `Interpreter`."""
        failed, messages = self._declare(text, False, users=users)
        return not failed, messages

    def find(self, symbol: str) -> tuple[int, str]:
        """The address of a symbol, see `Interpreter`."""
        place, messages = self._find(symbol)
        return place or 0, messages

    def add_include_path(self, folder: Path) -> None:
        """Search headers in this folder, too."""
        self._include(str(folder))

    def object_files(self) -> list[bytes] | None:
        """None: see `Interpreter`."""
        return None

    def namespace(self) -> Any:
        """The global namespace as a Python object."""
        return import_module("cppjit").gbl


def start() -> CppjitInterpreter:
    """Load the library of cppjit and create its interpreter, or take the one that runs."""
    package = PathFinder.find_spec("cppjit")  # and no other finder: one of ours takes the question for an import
    if package is None or package.origin is None:
        raise ConfigurationError(f"BURLAB_INTERPRETER=cppjit, but cppjit is not installed. {_ADVICE}")
    folder = Path(package.origin).parent / "interop" / "lib"
    try:
        library = ctypes.CDLL(str(folder / "libclangCppInterOp.so"), ctypes.RTLD_GLOBAL)
        running, create = library.cppinterop_GetInterpreter, library.cppinterop_CreateInterpreter
    except (OSError, AttributeError) as error:
        raise ConfigurationError(f"cppjit's interpreter does not start: {error}. {_ADVICE}") from error
    running.restype = create.restype = ctypes.c_void_p
    create.argtypes = (ctypes.c_void_p, ctypes.c_size_t) * 2
    if "cppjit" not in sys.modules or not running():
        flags = ["-std=c++20", *clang_flags().split(), "-resource-dir", str(next((folder / "clang").iterdir()))]
        words = (ctypes.c_char_p * len(flags))(*(flag.encode() for flag in flags))
        with captured_stderr() as messages:
            made = create(words, len(flags), None, 0)
        if not made:
            raise ConfigurationError(f"cppjit's interpreter does not start: {messages().strip()}. {_ADVICE}")
    return CppjitInterpreter(library)


def _place(library: ctypes.CDLL, name: str) -> int:
    """The address of a function of the library."""
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
