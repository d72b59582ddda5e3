"""The pages that show a view: whether someone looks at it, and when no one will any more."""

import math
from collections.abc import Mapping
from time import monotonic
from typing import Any

_GRACE = 10.0  # seconds that a view without an output stays: a cell may be on the way to another place
_SILENCE = 120.0  # seconds after which a page that says nothing is taken for closed; pages speak every 15 s


class Pages:
    """What pages have said of themselves, from any thread. A page is expected from the start."""

    def __init__(self) -> None:
        self._spoke = {"to come": (monotonic(), False)}  # page -> when it last spoke, whether the view is in sight
        self._left = math.inf  # when the last view was taken away

    def hear(self, message: Mapping[str, Any]) -> bool:
        """Take in that a page shows the view ("watch") or has taken it away ("leave"); False for anything else.

        >>> pages = Pages()
        >>> pages.hear({"type": "watch", "view": "a", "visible": True}), pages.seen, pages.hear({"type": "play"})
        (True, True, False)
        """
        kind, page = message.get("type"), str(message.get("view", ""))
        if kind == "leave":
            self._spoke.pop(page, None)
            self._left = math.inf if self._spoke else monotonic()
        elif kind == "watch":
            self._spoke.pop("to come", None)
            self._spoke[page] = (monotonic(), bool(message["visible"]))
            self._left = math.inf
        return kind in ("leave", "watch")

    @property
    def here(self) -> bool:
        """Whether a page shows the view, in sight or not: one has spoken of late."""
        now = monotonic()
        return any(page != "to come" and now - when <= _SILENCE for page, (when, _) in list(self._spoke.items()))

    @property
    def gone(self) -> bool:
        """Whether no output has shown the view for a while."""
        return monotonic() - self._left > _GRACE

    @property
    def silent(self) -> bool:
        """Whether there are pages, and none has spoken for so long that they are taken for closed."""
        spoke = [when for when, _ in list(self._spoke.values())]
        return bool(spoke) and monotonic() - max(spoke) > _SILENCE

    @property
    def seen(self) -> bool:
        """Whether the view is in sight of someone."""
        return any(visible for _, visible in list(self._spoke.values()))
