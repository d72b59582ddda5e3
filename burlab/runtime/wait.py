"""Long work that an interrupt can stop.

C++ called from Python cannot be interrupted, so long work runs in slices of 50 ms: between two of them Python looks for
signals, and Ctrl-C or the notebook's Interrupt raises KeyboardInterrupt in less than 100 ms.
"""

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

SLICE = 0.05  # seconds
_Answer = TypeVar("_Answer")


class Stop(threading.Event):
    """A request to end soon, which C++ reads too, as an atomic bool at `address`."""

    def __init__(self) -> None:
        super().__init__()
        self._raised = ctypes.c_bool(False)
        self.address = ctypes.addressof(self._raised)

    def set(self) -> None:
        """Request it."""
        self._raised.value = True
        super().set()


def in_threads(work: Callable[[Stop], None], count: int) -> None:
    """Call work(stop) on `count` threads and wait for all. Work must run in slices, and end soon after `stop` is set.

    An interrupt of the caller, or an exception of any thread, stops all of them and is raised when they have ended. One
    thread is the caller's own.
    """
    stop = Stop()
    if count == 1:
        work(stop)
        return
    errors: list[BaseException] = []
    ended = [threading.Event() for _ in range(count)]

    def guarded(k: int) -> None:
        try:
            work(stop)
        except BaseException as error:
            errors.append(error)
            stop.set()
        finally:
            ended[k].set()

    started: list[threading.Event] = []
    try:
        for k in range(count):
            started.append(ended[k])
            try:
                threading.Thread(target=guarded, args=(k,), name=f"burlab-{k}").start()
            except RuntimeError:  # the system gives no more threads
                ended[k].set()
                raise
        for event in ended:
            while not event.wait(SLICE):
                pass
    finally:
        stop.set()  # after an interrupt; after a normal end nobody looks
        for event in started:
            _wait_for(event)
    if errors:
        raise errors[0]


def _wait_for(event: threading.Event) -> None:
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
    done = threading.Event()

    def guarded() -> None:
        try:
            answers.append(work())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    try:
        threading.Thread(target=guarded, name="burlab-shielded").start()
    except RuntimeError:  # the interpreter is about to end, or the system gives no more threads
        return work()
    interrupt: KeyboardInterrupt | None = None
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
