"""Long work that an interrupt can stop.

C++ called from Python cannot be interrupted, so long work runs in slices of 50 ms: between two of them Python looks for
signals, and Ctrl-C or the notebook's Interrupt raises KeyboardInterrupt in less than 100 ms.
"""

import threading
from collections.abc import Callable

SLICE = 0.05  # seconds


def in_threads(work: Callable[[threading.Event], None], count: int) -> None:
    """Call work(stop) on `count` threads and wait for all. Work must run in slices, and end soon after `stop` is set.

    An interrupt of the caller, or an exception of any thread, stops all of them and is raised when they have ended. One
    thread is the caller's own.
    """
    stop = threading.Event()
    if count == 1:
        work(stop)
        return
    errors: list[BaseException] = []

    def guarded() -> None:
        try:
            work(stop)
        except BaseException as error:
            errors.append(error)
            stop.set()

    threads = [threading.Thread(target=guarded, name=f"burlab-{k}") for k in range(count)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(SLICE)
    finally:
        stop.set()  # after an interrupt; after a normal end nobody looks
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    if errors:
        raise errors[0]
