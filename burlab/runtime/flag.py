"""Events and threads that an interrupt leaves whole.

`threading.Event`, `Condition` and `Thread.join` are written in Python: where KeyboardInterrupt is raised inside of
them, a lock stays held and who needs it next waits for ever, or a running thread counts as dead (Python 3.11 to 3.12).
A plain lock is C, which an interrupt leaves either before or after it has acted.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_POLL_SECONDS = 0.5  # of a wait: the thread that sets may be interrupted


class Flag:
    """Event that one thread sets and others wait for.

    >>> flag = Flag()
    >>> flag.wait(0.01), flag.set(), flag.wait(), flag.is_set()
    (False, None, True, True)
    """

    def __init__(self) -> None:
        self._gate = threading.Lock()  # free while it is set; who comes through leaves it free
        self._gate.acquire()
        self._is_set = False

    def is_set(self) -> bool:
        """Return True if it is set."""
        return self._is_set

    def set(self) -> None:
        """Let all through who wait, and who will."""
        self._is_set = True
        self._open()

    def clear(self) -> None:
        """Let those wait who come from now on."""
        self._is_set = False
        self._gate.acquire(blocking=False)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is set, at most so many seconds; whether it is."""
        end = None if timeout is None else time.monotonic() + timeout
        while not self._is_set:
            left = _POLL_SECONDS if end is None else min(end - time.monotonic(), _POLL_SECONDS)
            if left <= 0:
                break
            if self._gate.acquire(timeout=left):
                self._open()
                if not self._is_set:  # whoever cleared it came between
                    self._gate.acquire(blocking=False)
        return self._is_set

    def _at_fork_reinit(self) -> None:
        """Begin anew in a forked process, which has no other threads: `threading` calls it."""
        self._gate = threading.Lock()
        if not self._is_set:
            self._gate.acquire()

    def _open(self) -> None:
        with suppress(RuntimeError):  # it is free
            self._gate.release()


class Thread(threading.Thread):
    """A thread that calls work(*arguments), whose start and whose end can be waited for through interrupts."""

    def __init__(self, work: Callable[..., object], name: str, *arguments: Any, daemon: bool = True) -> None:
        super().__init__(name=name, daemon=daemon)
        self._work, self._arguments = work, arguments
        self._gone = Flag()
        self._started: Any = Flag()  # in place of the Event of threading's: `start` waits for it

    def run(self) -> None:
        """Do the work."""
        try:
            self._work(*self._arguments)
        finally:
            del self._work, self._arguments  # as threading does: they may hold what holds this
            self._gone.set()

    def join(self, timeout: float | None = None) -> None:
        """Wait until the work is done, at most so many seconds."""
        self._gone.wait(timeout)

    def is_alive(self) -> bool:
        """Return True while it runs."""
        return self._started.is_set() and not self._gone.is_set()
