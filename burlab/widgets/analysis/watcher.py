"""Work that is done now and then while a page shows its view, on a small part of one core."""

from collections.abc import Callable
from time import thread_time

from burlab.widgets.page_thread import PageThread
from burlab.widgets.page_worker import IDLE_SECONDS, Intent

_CORE_SHARE = 0.02  # of a core: what the work may take
_PERIOD_SECONDS = 1 / 10  # seconds between two iterations, at least


class Watcher(PageThread):
    """A thread that calls `work` while a page has the view in sight; it rests otherwise.

    work: does a little work and returns True if there was any.
    """

    def __init__(self, work: Callable[[], bool]) -> None:
        super().__init__(self._once)
        self._work = work

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
