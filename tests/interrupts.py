"""Interrupts that come while something is at work, and never before or after it."""

import _thread
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import CodeType

import pytest

from burlab.runtime.flag import Flag


def main_stack() -> list[CodeType]:
    """Return the stack of the main thread, the innermost function first."""
    frame, codes = sys._current_frames()[threading.main_thread().ident or 0], []
    while frame is not None:
        codes.append(frame.f_code)
        frame = frame.f_back
    return codes


def main_waits_in(name: str) -> bool:
    """Return True if the main thread waits for an event in a function of this name."""
    stack = main_stack()
    return stack[0] == Flag.wait.__code__ and stack[1].co_name == name


def interrupt(act: Callable[[], object], at_work: Callable[[], object], wait: float = 0.05) -> None:
    """Do something that has to end by KeyboardInterrupt, which comes soon after it is at work.

    at_work: asked in another thread after `act` was called, again and again. What ends by itself is not interrupted.
    """
    called, over, lock = threading.Event(), threading.Event(), threading.Lock()

    def press() -> None:
        called.wait()
        while not at_work() and not over.is_set():
            time.sleep(0.0005)
        time.sleep(wait)  # well into it
        with lock:
            if not over.is_set():
                _thread.interrupt_main()

    def work() -> None:
        called.set()
        act()
        with lock:
            over.set()

    presser = threading.Thread(target=press, name="presser")
    presser.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        with lock:
            over.set()
        presser.join()


def alarm(act: Callable[[], object]) -> None:
    """Do something that has to end by what a signal's handler raises, a moment after it began."""

    def ring(_number: int, _frame: object) -> None:
        raise TimeoutError("enough")

    def work() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        act()

    before = signal.signal(signal.SIGALRM, ring)
    try:
        with pytest.raises(TimeoutError, match="enough"):
            work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
