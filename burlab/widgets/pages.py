"""The pages that show a view: if it is in sight, and when it has no page any more."""

import math
from collections.abc import Mapping
from time import monotonic
from typing import Any

_GRACE_SECONDS = 10.0  # seconds that a view without an output stays: a cell may be on the way to another place
_SILENCE_SECONDS = 120.0  # seconds after which a page that says nothing is taken for closed; pages speak every 15 s


class Pages:
    """Messages of pages about themselves, from any thread. A page is expected from the start."""

    def __init__(self) -> None:
        self._spoke = {"to come": (monotonic(), False)}  # page -> when it last spoke, whether the view is in sight
        self._left = math.inf  # when the last view was taken away

    def handle(self, message: Mapping[str, Any]) -> bool:
        """Note that a page shows the view ("watch") or has removed it ("leave"); return False for other messages.

        They, too, are signs of life, of a page that has the view in sight unless it last denied that.

        >>> pages = Pages()
        >>> pages.handle({"type": "watch", "view": "a", "visible": True}), pages.seen, pages.handle({"type": "play"})
        (True, True, False)
        """
        kind, page = message.get("type"), str(message.get("view", ""))
        if kind == "leave":
            self._spoke.pop(page, None)
            self._left = math.inf if self._spoke else monotonic()
        elif kind == "watch" or page:
            self._spoke.pop("to come", None)
            _, visible = self._spoke.get(page, (0.0, True))
            self._spoke[page] = (monotonic(), bool(message.get("visible", visible)))
            self._left = math.inf
        return kind in ("leave", "watch")

    @property
    def present(self) -> bool:
        """Return True if a page shows the view, in sight or not: it has sent a message of late."""
        now = monotonic()
        return any(
            page != "to come" and now - when <= _SILENCE_SECONDS for page, (when, _) in list(self._spoke.items())
        )

    @property
    def gone(self) -> bool:
        """Return True if no output has shown the view for a while."""
        return monotonic() - self._left > _GRACE_SECONDS

    @property
    def silent(self) -> bool:
        """Return True if all pages have been silent for so long that they are taken for closed."""
        spoke = [when for when, _ in list(self._spoke.values())]
        return bool(spoke) and monotonic() - max(spoke) > _SILENCE_SECONDS

    @property
    def seen(self) -> bool:
        """Return True if a page has the view in sight."""
        return any(visible for _, visible in list(self._spoke.values()))
