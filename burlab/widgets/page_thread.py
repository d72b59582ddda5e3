"""A thread that works for a view while a page shows it: any message of a page starts it, silence ends it."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

from .page_worker import Intent, PageWorker
from .pages import Pages


class PageThread:
    """A thread that works for a view while a page shows it.

    pages: the pages that show the view. iterate: see `PageWorker`. may_work: returns False where no thread may start
    any more.
    """

    def __init__(self, iterate: Callable[[list[Intent]], float], may_work: Callable[[], bool] = lambda: True) -> None:
        self.pages = Pages()
        self._iterate = iterate
        self._may_work = may_work
        self._worker: PageWorker | None = None
        self._lock = threading.Lock()  # held while the worker comes or goes

    @property
    def works(self) -> bool:
        """Return True if there is a thread."""
        return self._worker is not None

    def handle(self, message: Mapping[str, Any]) -> bool:
        """Handle a message of a page about itself, and wake; return False for other messages. See `Pages.handle`."""
        handled = self.pages.handle(message)
        if handled:
            self.wake()
        return handled

    def wake(self) -> None:
        """Start the thread, if there is none."""
        with self._lock:
            if self._worker is None and self._may_work():
                self._worker = PageWorker(self._iterate)

    def submit(self, intent: Intent) -> None:
        """Queue an intent, and wake: a computer that slept may send one before it reports that its page is there."""
        self.wake()
        worker = self._worker
        if worker is not None:
            worker.submit(intent)

    def rest(self, seconds: float = 0.0) -> None:
        """End the thread; a message of a page starts another one. seconds: to wait for the present iteration."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()
            worker.join(seconds)
