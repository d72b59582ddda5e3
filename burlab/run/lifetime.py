"""How long the threads of runs live: until nobody holds the run, or Python ends, whatever interrupts come."""

import atexit
import ctypes
import os
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import count
from queue import SimpleQueue
from typing import Any

from burlab.errors import StatusError

from .doors import loop_doors


def at_end(action: Callable[[], None]) -> None:
    """Have something done when Python ends, before it waits for threads, which may be stepping a run."""
    import_module("concurrent.futures.thread")  # it waits for threads too; what is registered last is called first
    getattr(threading, "_register_atexit", atexit.register)(action)


@dataclass
class _Open:
    """A C++ loop that is not closed. keep: what it points to. busy: held by who ends its thread."""

    loop: "weakref.ref[Any]"
    handle: ctypes.c_void_p
    process: int
    keep: object
    busy: threading.Lock = field(default_factory=threading.Lock)


_open: dict[int, _Open] = {}
_numbers = count()
_left: SimpleQueue[int] = SimpleQueue()  # loops that nobody holds any more
_ended = threading.Event()


def adopt(loop: Any, handle: int, keep: object) -> None:
    """Close a C++ loop after the last reference to the Python object that owns it, and free `keep` only then.

    A thread of its own closes loops: it hears no interrupts, and nobody waits while a step in flight is left.
    """
    _begin(os.getpid())
    number = next(_numbers)
    _open[number] = _Open(weakref.ref(loop), ctypes.c_void_p(handle), os.getpid(), keep)
    # At exit nothing is freed: another thread may be waiting for this loop.
    weakref.finalize(loop, _left.put, number).atexit = False
    for other, entry in list(_open.items()):
        if entry.loop() is None:  # an interrupt may have come before its finalizer did anything
            _left.put(other)


def check_awake() -> None:
    """Raise StatusError where Python is ending."""
    if _ended.is_set():
        raise StatusError("Python is ending, so no run steps any more. Let threads that step runs end before it does.")


@cache
def _begin(_process: int) -> None:
    """Once in every process: the thread that closes loops, and what is done at the end."""
    threading.Thread(target=_close_all, name="burlab closes runs", daemon=True).start()
    at_end(_stop_all)


def _close_all() -> None:
    while not _ended.is_set():
        number = _left.get()
        entry = _open.get(number)
        if entry is None or os.getpid() != entry.process:
            continue
        with entry.busy:
            if not _ended.is_set():
                loop_doors()["loop_close"](ctypes.byref(entry.handle))
                _open.pop(number, None)
        del entry  # and with it what the loop pointed to


def _stop_all() -> None:
    """Join the threads before anything that they use is torn down."""
    _ended.set()
    for entry in list(_open.values()):
        with entry.busy:
            if os.getpid() == entry.process and entry.handle:
                loop_doors()["loop_stop"](entry.handle)


def _lose_all() -> None:
    """A forked child has memory and no threads: nothing there may be waited for, nor freed."""
    for entry in list(_open.values()):
        entry.busy = threading.Lock()
        loop = entry.loop()
        if loop is not None:
            loop.lost = True


os.register_at_fork(after_in_child=_lose_all)
