"""Turns at the compiler, and the question when it may run without Python's lock, the GIL.

Cling serves one thread at a time. Calls of burlab take turns by `compiler_lock`, so they may release the GIL, and a
notebook answers while it compiles. Calls of the package cppyy know nothing of that lock: from its import on, burlab
holds the GIL while it compiles, which keeps all others out. So it does, too, for texts of users, whose initializers may
call Python, and when Python ends, which must not happen in the middle of a compilation.
"""

import atexit
import os
import sys
import threading
from functools import cache
from importlib.abc import MetaPathFinder
from typing import Any

from .flag import Flag

PACKAGES = frozenset({"cppyy", "cppjit"})  # which may use the interpreter beside burlab

compiler_lock = threading.RLock()
"""Held by the thread that uses the compiler."""


_others = Flag()  # set once others than burlab may use the compiler, or Python ends


def may_release_gil() -> bool:
    """Return True if a compilation that begins now may run without the GIL. The caller holds `compiler_lock`."""
    return not _others.is_set()


def hold_gil() -> None:
    """Let compilations hold the GIL from now on, and wait for the one that does not."""
    _others.set()
    with compiler_lock:
        pass


class _ImportOfUsers(MetaPathFinder):
    """A finder that finds nothing: it is asked before cppyy or cppjit is imported."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        del path, target
        if fullname in PACKAGES:
            hold_gil()


@cache
def watch() -> None:
    """Watch for the import of cppyy or cppjit, for forks, and for the end of Python: before the compiler starts."""
    if not PACKAGES.isdisjoint(sys.modules):
        _others.set()
    else:
        sys.meta_path.insert(0, _ImportOfUsers())
    atexit.register(hold_gil)
    release = compiler_lock.release
    os.register_at_fork(before=compiler_lock.acquire, after_in_parent=release, after_in_child=release)
