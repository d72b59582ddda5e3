"""The lifetime of the threads of runs: until the run is garbage, or Python exits, also with interrupts."""

import atexit
import ctypes
import os
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import count
from queue import SimpleQueue
from time import monotonic, sleep
from typing import Any

from burlab.errors import StatusError
from burlab.runtime.flag import Flag

from .loop_abi import loop_exports


def at_end(action: Callable[[], None]) -> None:
    """Register an action for the exit of Python, before it joins threads, which may be stepping a run.

    Actions run in reverse order. A thread that still runs when Python is torn down may end the process with an
    error, wherever C++ stands between it and Python; so threads that are no loops are ended here, too.
    """
    import_module("concurrent.futures.thread")  # it waits for threads too

    def ending() -> None:
        with suppress(KeyboardInterrupt):  # the other actions are done all the same
            action()

    getattr(threading, "_register_atexit", atexit.register)(ending)


class Handle:
    """The owner of a C++ loop, whose address is at `place`; the loop is closed after the last reference to this.

    It exists before the loop, so that an interrupt after the C++ call leaves no loop without an owner. keep: objects
    that the loop points to, freed after it. forked: True in a forked child: the thread is in the parent.

    A separate thread closes loops, so no caller waits for their last step. If loops are dropped faster than they end,
    creating another one waits for some of them.
    """

    def __init__(self, keep: object) -> None:
        self.place = ctypes.c_void_p()
        self.forked = False
        _begin(os.getpid())
        number = next(_numbers)
        _open[number] = _Open(weakref.ref(self), self.place, os.getpid(), keep)
        # At exit nothing is freed: another thread may be waiting for this loop.
        weakref.finalize(self, _leave, number).atexit = False
        for other, entry in list(_open.items()):
            if entry.handle() is None:  # an interrupt may have come before its finalizer did anything
                _leave(other)
        end = monotonic() + _PATIENCE
        while sum(entry.left for entry in list(_open.values())) > _CROWD and monotonic() < end:
            sleep(1e-3)

    @property
    def back(self) -> Any:
        """The place, for C++ to write to."""
        return ctypes.byref(self.place)


@dataclass
class _Open:
    """An open C++ loop. keep: objects that it points to. left: whether to close it. busy: held meanwhile."""

    handle: weakref.ref[Handle]
    place: ctypes.c_void_p
    process: int
    keep: object
    left: bool = False
    busy: threading.Lock = field(default_factory=threading.Lock)


_open: dict[int, _Open] = {}
_numbers = count()
_left: SimpleQueue[int] = SimpleQueue()  # loops without a reference
_CROWD, _PATIENCE = 16, 1.0  # of them wait to be closed before a new one waits for them, at most so many seconds
_ended = Flag()


def check_awake() -> None:
    """Raise StatusError if Python is ending. A daemon thread blocks here forever."""
    if _ended.is_set():
        if threading.current_thread().daemon:
            Flag().wait()
        raise StatusError("Python is ending, so no run steps any more. Let threads that step runs end before it does.")


def _leave(number: int) -> None:
    entry = _open.get(number)
    if entry is not None and not entry.left:
        _left.put(number)
        entry.left = True


@cache
def _begin(_process: int) -> None:
    """Start the thread that closes loops, and register the work at exit, once in every process."""
    threading.Thread(target=_close_all, name="burlab closes runs", daemon=True).start()
    at_end(_stop_all)


def _close_all() -> None:
    while not _ended.is_set():
        numbers = [_left.get()]
        while not _left.empty():
            numbers.append(_left.get())
        for number in numbers:
            _quit(number)  # all at once, so that none takes time from the others
        for number in numbers:
            _close(number)


def _quit(number: int) -> None:
    entry = _open.get(number)
    if entry is not None and entry.process == os.getpid() and entry.place and not _ended.is_set():
        loop_exports()["loop_quit"](entry.place)


def _close(number: int) -> None:
    """Wait for a loop to end, free it, and then release the objects that it pointed to."""
    entry = _open.get(number)
    if entry is None or entry.process != os.getpid():
        return
    with entry.busy:
        if not _ended.is_set():
            if entry.place:
                loop_exports()["loop_close"](ctypes.byref(entry.place))
            _open.pop(number, None)


def _stop_all() -> None:
    """Join the threads before anything that they use is torn down."""
    _ended.set()
    entries = list(_open.values())
    while entries:
        with suppress(KeyboardInterrupt):  # the next pass of the loop tries again
            _stop(entries[-1])
            entries.pop()


def _stop(entry: _Open) -> None:
    with entry.busy:
        if os.getpid() == entry.process and entry.place:
            loop_exports()["loop_stop"](entry.place)


def _after_fork() -> None:
    """A forked child has memory and no threads: nothing there may be waited for, nor freed."""
    for entry in list(_open.values()):
        entry.busy = threading.Lock()
        handle = entry.handle()
        if handle is not None:
            handle.forked = True


os.register_at_fork(after_in_child=_after_fork)
