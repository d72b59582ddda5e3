"""Long work that an interrupt can stop.

C++ called from Python cannot be interrupted, so long work runs in slices of 50 ms: between two of them Python looks for
signals, and Ctrl-C or the notebook's Interrupt raises KeyboardInterrupt in less than 100 ms.
"""

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

from .flag import Flag, Thread

SLICE = 0.05  # seconds
_Answer = TypeVar("_Answer")


class StopFlag(Flag):
    """A request to end soon, which C++ reads too, as an atomic bool at `address`."""

    def __init__(self) -> None:
        super().__init__()
        self._raised = ctypes.c_bool(False)
        self.address = ctypes.addressof(self._raised)

    def set(self) -> None:
        """Request it."""
        self._raised.value = True
        super().set()


def in_threads(work: Callable[[StopFlag], None], count: int) -> None:
    """Call work(stop) on `count` threads and wait for all. Work must run in slices, and end soon after `stop` is set.

    An interrupt of the caller, or an exception of any thread, stops all of them and is raised when they have ended. One
    thread is the caller's own.
    """
    stop = StopFlag()
    if count == 1:
        work(stop)
        return
    errors: list[BaseException] = []
    ended = [Flag() for _ in range(count)]

    def guarded() -> None:
        try:
            work(stop)
        except BaseException as error:
            errors.append(error)
            stop.set()

    started: list[Flag] = []
    try:
        for k in range(count):
            started.append(ended[k])
            late = _begin(guarded, f"burlab-{k}", ended[k])
            if late is not None:
                raise late
        for event in ended:
            while not event.wait(SLICE):
                pass
    finally:
        stop.set()  # after an interrupt; harmless after a normal end
        for event in started:
            _wait_for(event)
    if errors:
        raise errors[0]


def _begin(work: Callable[[], None], name: str, ended: Flag) -> BaseException | None:
    """Call work() on a thread of its own, and then set `ended`.

    An exception while the thread is made, such as an interrupt, is raised where the work has not begun: it never will,
    and `ended` is set. Where it has begun the exception is the answer.
    """
    claim = threading.Lock()

    def once() -> None:
        if claim.acquire(blocking=False):
            try:
                work()
            finally:
                ended.set()

    try:
        Thread(once, name, daemon=False).start()
    except BaseException as error:
        if claim.acquire(blocking=False):
            ended.set()
            raise
        return error
    return None


def _wait_for(event: Flag) -> None:
    """Wait through further interrupts: the threads use memory that the caller is about to free.

    Not by Thread.join: interrupted, it takes a running thread for a dead one (Python 3.11 to 3.12).
    """
    while not event.is_set():
        try:
            event.wait(SLICE)
        except KeyboardInterrupt:
            continue


def shielded(work: Callable[[], _Answer]) -> _Answer:
    """work(), which must not be left halfway, on a thread that no interrupt reaches. One that comes is raised after it.

    >>> shielded(lambda: 6 * 7)
    42
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    answers: list[_Answer] = []
    errors: list[BaseException] = []
    done = Flag()

    def guarded() -> None:
        try:
            answers.append(work())
        except BaseException as error:
            errors.append(error)

    try:
        interrupt = _begin(guarded, "burlab-shielded", done)
    except RuntimeError:  # the interpreter is about to end, or the system gives no more threads
        return work()
    while not done.is_set():
        try:
            done.wait(SLICE)
        except KeyboardInterrupt as error:
            interrupt = error
    if errors:
        raise errors[0]
    if interrupt is not None:
        raise interrupt
    return answers[0]
