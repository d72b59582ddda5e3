"""The thread of a panel: it carries out what the controls ask for, and looks at the run about 20 times a second."""

import logging
import threading
import weakref
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from time import monotonic, thread_time
from typing import Any

from burlab.run.loop.lifetime import at_end

from .panel_commands import Intent

_log = logging.getLogger(__name__)
PERIOD = 1 / 20  # seconds between two looks at a run that plays
REST = 0.2  # between two looks at one that rests
_AFTER_FAILURE = 1.0
_DUTY = 1  # a turn that worked for a second is followed by one of doing nothing
_PARTING = 2.0  # seconds that a turn may take when Python ends


class PageWorker:
    """Calls `turn(intents)` in a thread of its own until it is closed, or Python ends.

    turn: gives the seconds from its start to the next one. What it raises is logged, and it is called again; where it
    was closed meanwhile, what it works on may be gone, and nobody is told.
    """

    def __init__(self, turn: Callable[[list[Intent]], float]) -> None:
        self._turn = turn
        self._asked: SimpleQueue[Any] = SimpleQueue()
        self._open = True
        self._thread = threading.Thread(target=self._work, name="burlab panel", daemon=True)
        _workers.add(self)
        self._thread.start()

    def ask(self, intent: Intent) -> None:
        """Have an intent carried out soon; from any thread."""
        self._asked.put(intent)

    def close(self) -> None:
        """End the thread, after the turn that it is in."""
        self._open = False
        self._asked.put({})

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
                wait = self._turn(list(latest(intents)))
            except Exception:  # a page must not freeze for ever because of one turn
                if not self._open:
                    break
                _log.exception("the panel of a run could not be brought up to date")
                wait = _AFTER_FAILURE
            wait = max(wait - (monotonic() - start), _DUTY * (thread_time() - busy))
        del self._turn  # what it holds is free, even if someone keeps this

    def _drained(self, wait: float) -> list[Intent]:
        found: list[Intent] = []
        try:
            found.append(self._asked.get(timeout=wait) if wait else self._asked.get_nowait())
            while True:
                found.append(self._asked.get_nowait())
        except Empty:
            return found


_workers: "weakref.WeakSet[PageWorker]" = weakref.WeakSet()


@at_end
def _end_all() -> None:
    ending = list(_workers)
    for worker in ending:
        worker.close()
    for worker in ending:
        worker.join(_PARTING)


def latest(intents: Iterable[Intent]) -> Iterable[Intent]:
    """Without those that a later one of the same kind makes pointless: of a drag, the last place counts.

    >>> [i["step"] for i in latest([{"type": "seek", "step": 1}, {"type": "seek", "step": 2}])]
    [2]
    """
    kept: list[Intent] = []
    for intent in intents:
        if kept and intent.get("type") in ("seek", "slide") and _same(kept[-1], intent):
            kept.pop()
        kept.append(intent)
    return kept


def _same(a: Intent, b: Intent) -> bool:
    return a.get("type") == b.get("type") and a.get("name") == b.get("name")
