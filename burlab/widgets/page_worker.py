"""The thread of a live view: it applies intents of the controls, and refreshes the model about 20 times a second."""

import logging
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from queue import Empty, SimpleQueue
from time import monotonic, thread_time
from typing import Any

from burlab.run.loop.lifetime import at_end

Intent = Mapping[str, Any]
"""What a control of a page wants: a dict with a `type`."""
_log = logging.getLogger(__name__)
PERIOD_SECONDS = 1 / 20  # seconds between two iterations for a run that plays
IDLE_SECONDS = 0.2  # between two iterations for a run that rests
_RETRY_SECONDS = 1.0
_DUTY_FACTOR = 1  # an iteration that worked for a second is followed by one of rest
_EXIT_SECONDS = 2.0  # seconds that an iteration may take when Python ends


class PageWorker:
    """A thread that calls `iterate(intents)` until it is closed, or Python ends.

    iterate: returns the seconds from its start to the next call. What it raises is logged, and it is called again;
    where the worker was closed meanwhile, its subject may be gone, and nothing is logged.
    """

    def __init__(self, iterate: Callable[[list[Intent]], float]) -> None:
        self._iterate = iterate
        self._intents: SimpleQueue[Any] = SimpleQueue()
        self._open = True
        self._thread = threading.Thread(target=self._work, name="burlab panel", daemon=True)
        _workers.add(self)
        self._thread.start()

    def submit(self, intent: Intent) -> None:
        """Queue an intent; from any thread."""
        self._intents.put(intent)

    def close(self) -> None:
        """End the thread, after its present iteration."""
        self._open = False
        self._intents.put({})

    def join(self, seconds: float) -> None:
        """Wait for the thread to end."""
        if threading.current_thread() is not self._thread:
            self._thread.join(seconds)

    def _work(self) -> None:
        wait = 0.0
        while self._open:
            intents = self._drained(wait)
            if not self._open:
                break
            start, busy = monotonic(), thread_time()
            try:
                wait = self._iterate(list(latest(intents)))
            except Exception:  # a page must not freeze for ever because of one error
                if not self._open:
                    break
                _log.exception("the panel of a run could not be brought up to date")
                wait = _RETRY_SECONDS
            wait = max(wait - (monotonic() - start), _DUTY_FACTOR * (thread_time() - busy))
        del self._iterate  # what it holds is free, even if someone keeps this

    def _drained(self, wait: float) -> list[Intent]:
        found: list[Intent] = []
        try:
            found.append(self._intents.get(timeout=wait) if wait else self._intents.get_nowait())
            while True:
                found.append(self._intents.get_nowait())
        except Empty:
            return found


_workers: "weakref.WeakSet[PageWorker]" = weakref.WeakSet()


@at_end
def _end_all() -> None:
    ending = list(_workers)
    for worker in ending:
        worker.close()
    for worker in ending:
        worker.join(_EXIT_SECONDS)


def latest(intents: Iterable[Intent]) -> Iterable[Intent]:
    """Return the intents without those that a later one of the same kind replaces: of a drag, the last place counts.

    >>> [i["step"] for i in latest([{"type": "seek", "step": 1}, {"type": "seek", "step": 2}])]
    [2]
    """
    retained: list[Intent] = []
    for intent in intents:
        if retained and intent.get("type") in ("seek", "slide") and _same(retained[-1], intent):
            retained.pop()
        retained.append(intent)
    return retained


def _same(a: Intent, b: Intent) -> bool:
    return all(a.get(key) == b.get(key) for key in ("type", "name", "drag"))
