"""Calls of the compiler, for all interpreters: functions of one C string, in turns, with what they print caught."""

import ctypes
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from .compiler_turns import compiler_lock, may_release_gil


class CompilerFunction:
    """A C function that takes one C string and more arguments, for one thread at a time."""

    def __init__(self, place: int, result: Any, *more: Any) -> None:
        """Create it of its address and its types in ctypes."""
        self._with_gil: Any = ctypes.PYFUNCTYPE(result, ctypes.c_char_p, *more)(place)
        self._without_gil: Any = ctypes.CFUNCTYPE(result, ctypes.c_char_p, *more)(place)

    def __call__(self, text: str, *more: Any, users: bool = False) -> tuple[Any, str]:
        """Return what it returns, and what it writes to standard error. users: it runs code of the user's."""
        with compiler_lock, captured_stderr() as messages:
            release = not users and may_release_gil()
            found = (self._without_gil if release else self._with_gil)(text.encode(), *more)
        return found, messages()


def clang_flags() -> str:
    """The flags that the interpreter has, or will have when it starts."""
    return os.environ.get("EXTRA_CLING_ARGS", "-O2 -march=native").strip()


@contextmanager
def captured_stderr() -> Generator[Callable[[], str]]:
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
