"""Updates on their way to a page: no more of them than it can draw."""

from time import monotonic

_PATIENCE, _MOST_PATIENCE = 0.5, 2.0  # seconds for which an update waits for a page that has not drawn the last ones
_AHEAD = 6  # updates on the way to a page: an answer takes longer than a redraw


class UpdateFlow:
    """Counts the updates that a page was sent, and those that it says it has drawn.

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
        self._patience = _PATIENCE

    @property
    def ready(self) -> bool:
        """Whether the page keeps up, or has had enough time: it may be gone, and another one there."""
        return not self._full or monotonic() - self._sent > self._patience

    def drawn(self, tick: int) -> None:
        """The page has drawn an update."""
        self._drawn = max(self._drawn, tick)
        self._patience = _PATIENCE

    def send(self) -> int:
        """One is sent: its number."""
        if self._full:
            self._patience = min(2 * self._patience, _MOST_PATIENCE)
        self.tick += 1
        self._sent = monotonic()
        return self.tick

    @property
    def _full(self) -> bool:
        return self.tick - self._drawn >= _AHEAD
