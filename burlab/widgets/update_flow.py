"""Updates on their way to a page: no more of them than it can draw."""

from time import monotonic

_WAIT_SECONDS, _MAX_WAIT_SECONDS = 0.5, 2.0  # for a page that has not drawn the last updates
_MAX_AHEAD = 6  # updates on the way to a page: an answer takes longer than a redraw


class UpdateFlow:
    """A count of the updates that a page was sent, and of those that it has drawn.

    tick: the number of the last one sent.

    >>> flow = UpdateFlow()
    >>> [flow.send() for _ in range(6)], flow.ready
    ([1, 2, 3, 4, 5, 6], False)
    >>> flow.drawn(1)
    >>> flow.ready
    True
    """

    def __init__(self) -> None:
        self.tick = 0
        self._drawn = 0
        self._sent = 0.0
        self._wait = _WAIT_SECONDS

    @property
    def ready(self) -> bool:
        """Return True if the page keeps up, or has had enough time: it may be gone, and another one there."""
        return not self._full or monotonic() - self._sent > self._wait

    def drawn(self, tick: int) -> None:
        """Note that the page has drawn an update."""
        self._drawn = max(self._drawn, tick)
        self._wait = _WAIT_SECONDS

    def send(self) -> int:
        """Return the number of the next update, which is sent now."""
        if self._full:
            self._wait = min(2 * self._wait, _MAX_WAIT_SECONDS)
        self.tick += 1
        self._sent = monotonic()
        return self.tick

    @property
    def _full(self) -> bool:
        return self.tick - self._drawn >= _MAX_AHEAD
