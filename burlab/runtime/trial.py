"""Trial of a call in a copy of this process, which it may end."""

import faulthandler
import os
import resource
import signal
import time
import warnings
from collections.abc import Callable
from pathlib import Path

_STUCK = 5.0  # seconds without work after which a copy waits for a thread that it does not have
_ALIVE = 77  # what the copy ends with, and no call of exit() is likely to
_LONGEST_NAP = 0.02  # seconds between two looks


def death_in(do: Callable[[], object]) -> str:
    """Return the signal that ends a copy of this process in this call, "" if none. The copy's terminal output is lost.

    >>> death_in(lambda: 1 + 1), death_in(lambda: os.kill(os.getpid(), signal.SIGSEGV))
    ('', 'SIGSEGV')
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that other threads stay behind: a copy that waits for one is given up
        copy = os.fork()
    if copy == 0:
        _try(do)
    try:
        code = _end_of(copy)
    except BaseException:
        os.kill(copy, signal.SIGKILL)
        os.waitpid(copy, 0)
        raise
    if code is None or code == _ALIVE:
        return ""
    return signal.Signals(-code).name if code < 0 else f"exit({code})"


def _try(do: Callable[[], object]) -> None:
    """Call it in the copy and exit, without what Python does at its end."""
    try:
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for name in ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGINT"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        do()
    finally:  # an error, too, which is told where it is done in earnest
        os._exit(_ALIVE)


def _end_of(copy: int) -> int | None:
    """Return a process's exit code, below 0 the signal; None if it hung and was killed."""
    nap, worked, since = 0.001, -1.0, time.monotonic()
    while True:
        found, status = os.waitpid(copy, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(nap)
        nap = min(1.5 * nap, _LONGEST_NAP)
        if (work := _work_of(copy)) != worked:
            worked, since = work, time.monotonic()
        elif time.monotonic() - since > _STUCK:
            os.kill(copy, signal.SIGKILL)
            os.waitpid(copy, 0)
            return None


def _work_of(process: int) -> float:
    """Ticks of CPU time that a process has had."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return -1.0
    return float(fields[11]) + float(fields[12])
