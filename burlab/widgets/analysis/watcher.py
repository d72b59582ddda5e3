"""Work that is done now and then while a page looks, and takes a small part of one core."""

import threading
from collections.abc import Callable, Mapping
from time import thread_time
from typing import Any

from burlab.widgets.pages import Pages
from burlab.widgets.panel.page_worker import REST, Intent, PageWorker

_SHARE = 0.02  # of a core: what the work may take
_PERIOD = 1 / 10  # seconds between two turns, at least


class Watcher:
    """Calls `turn` in a thread of its own while a page shows the view and someone sees it; it rests otherwise.

    turn: does a little work; gives whether there was any. pages: what pages have said of themselves.
    """

    def __init__(self, turn: Callable[[], bool]) -> None:
        self._turn = turn
        self.pages = Pages()
        self._worker: PageWorker | None = None
        self._lock = threading.Lock()

    @property
    def works(self) -> bool:
        """Whether there is a thread."""
        return self._worker is not None

    def hear(self, message: Mapping[str, Any]) -> bool:
        """Take in what a page says of itself, and wake; False for anything else. See `Pages.hear`."""
        heard = self.pages.hear(message)
        if heard:
            with self._lock:
                if self._worker is None:
                    self._worker = PageWorker(self._once)
        return heard

    def rest(self, seconds: float = 0.0) -> None:
        """End the thread; a page that speaks wakes it again. seconds: to wait for the turn that it is in."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()
            worker.join(seconds)

    def _once(self, _intents: list[Intent]) -> float:
        """One turn. Gives the seconds until the next one."""
        if self.pages.gone or self.pages.silent:
            self.rest()
            return REST
        if not self.pages.seen:
            return REST
        start = thread_time()
        did = self._turn()
        return max(_PERIOD if did else REST, (thread_time() - start) / _SHARE)
