"""Work that is done now and then while a page shows its view, on a small part of one core."""

import threading
from collections.abc import Callable, Mapping
from time import thread_time
from typing import Any

from burlab.widgets.pages import Pages
from burlab.widgets.panel.page_worker import IDLE_SECONDS, Intent, PageWorker

_CORE_SHARE = 0.02  # of a core: what the work may take
_PERIOD_SECONDS = 1 / 10  # seconds between two iterations, at least


class Watcher:
    """Calls `work` in a thread of its own while a page shows the view and someone sees it; it rests otherwise.

    work: does a little work; gives whether there was any. pages: what pages have said of themselves.
    """

    def __init__(self, work: Callable[[], bool]) -> None:
        self._work = work
        self.pages = Pages()
        self._worker: PageWorker | None = None
        self._lock = threading.Lock()

    @property
    def works(self) -> bool:
        """Return True if there is a thread."""
        return self._worker is not None

    def handle(self, message: Mapping[str, Any]) -> bool:
        """Handle a message of a page about itself, and wake; return False for other messages. See `Pages.handle`."""
        handled = self.pages.handle(message)
        if handled:
            with self._lock:
                if self._worker is None:
                    self._worker = PageWorker(self._once)
        return handled

    def rest(self, seconds: float = 0.0) -> None:
        """End the thread; a page that speaks wakes it again. seconds: to wait for its present iteration."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()
            worker.join(seconds)

    def _once(self, _intents: list[Intent]) -> float:
        """Work once and return the seconds until the next time."""
        if self.pages.gone or self.pages.silent:
            self.rest()
            return IDLE_SECONDS
        if not self.pages.seen:
            return IDLE_SECONDS
        start = thread_time()
        did = self._work()
        return max(_PERIOD_SECONDS if did else IDLE_SECONDS, (thread_time() - start) / _CORE_SHARE)
