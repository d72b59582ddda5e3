"""Threads that compute what a panel will show; Python waits for them at its end."""

import threading
import weakref
from collections.abc import Callable

from burlab.run.loop.lifetime import at_end

_EXIT_SECONDS = 5.0  # seconds that Python waits for each at its end
_threads: "weakref.WeakSet[threading.Thread]" = weakref.WeakSet()


def in_background(work: Callable[[], None], what: str) -> threading.Thread:
    """Start work in a thread. what: its name, after "burlab"."""
    thread = threading.Thread(target=work, name=f"burlab {what}", daemon=True)
    _threads.add(thread)
    thread.start()
    return thread


@at_end
def _wait_for_all() -> None:
    for thread in list(_threads):
        if thread.is_alive():
            thread.join(_EXIT_SECONDS)
