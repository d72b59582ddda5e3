"""How long the threads of runs live: until nobody holds the run, or Python ends, whatever interrupts come."""

import _thread
import atexit
import ctypes
import os
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import count
from typing import Any

from burlab.errors import StatusError

from .doors import loop_doors


def at_end(action: Callable[[], None]) -> None:
    """Have something done when Python ends, before it waits for threads, which may be stepping a run."""
    import_module("concurrent.futures.thread")  # it waits for threads too; what is registered last is called first
    getattr(threading, "_register_atexit", atexit.register)(action)


@dataclass
class _Open:
    """A C++ loop that is not closed. keep: what it points to."""

    loop: "weakref.ref[Any]"
    handle: ctypes.c_void_p
    process: int
    keep: object


_open: dict[int, _Open] = {}
_numbers = count()
_ended = threading.Event()


def adopt(loop: Any, handle: int, keep: object) -> None:
    """Close a C++ loop with the last reference to the Python object that owns it, and not free `keep` before."""
    _expect_the_end()
    number = next(_numbers)
    _open[number] = _Open(weakref.ref(loop), ctypes.c_void_p(handle), os.getpid(), keep)
    # At exit nothing is freed: another thread may be waiting for this loop.
    weakref.finalize(loop, _close, number).atexit = False
    for left, entry in list(_open.items()):
        if entry.loop() is None:  # an interrupt came before its finalizer did anything
            _close(left)


def check_awake() -> None:
    """Raise StatusError where Python is ending."""
    if _ended.is_set():
        raise StatusError("Python is ending, so no run steps any more. Let threads that step runs end before it does.")


def _close(number: int) -> None:
    entry = _open.get(number)
    if entry is None or os.getpid() != entry.process:
        return
    try:
        loop_doors()["loop_close"](ctypes.byref(entry.handle))
    except KeyboardInterrupt:  # nobody would hear of it, here: try again, and have it come again
        loop_doors()["loop_close"](ctypes.byref(entry.handle))
        _thread.interrupt_main()
    _open.pop(number, None)


@cache
def _expect_the_end() -> None:
    at_end(_stop_all)


def _stop_all() -> None:
    """Join the threads before anything that they use is torn down."""
    _ended.set()
    for entry in list(_open.values()):
        if os.getpid() == entry.process and entry.handle:
            loop_doors()["loop_stop"](entry.handle)


def _lose_all() -> None:
    """A forked child has memory and no threads: nothing there may be waited for, nor freed."""
    for entry in list(_open.values()):
        loop = entry.loop()
        if loop is not None:
            loop.lost = True


os.register_at_fork(after_in_child=_lose_all)
