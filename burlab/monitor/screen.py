"""The screen of a watched loop: a line in a terminal; a notebook registers its panel."""

import sys
from collections.abc import Callable
from contextlib import closing
from typing import Any, Protocol

from burlab.run.progress import TextBar


class WatchScreen(Protocol):
    """A view of a loop. Both methods are called in the loop's own thread."""

    def poll(self) -> None:
        """Draw again; called about 20 times a second, while the loop logs or waits."""
        ...

    def close(self) -> None:
        """End the view after the loop."""
        ...


_screens: list[Callable[[Any], WatchScreen | None]] = []


def register_screen(open_screen: Callable[[Any], WatchScreen | None]) -> None:
    """Let a notebook show loops: `open_screen(monitor)` gives a screen, or None without a page."""
    _screens.insert(0, open_screen)


def open_screen(monitor: Any, wanted: bool | None) -> WatchScreen | None:
    """A screen for a loop that begins. wanted: True for one in any case, None where someone sees it."""
    for one in _screens:
        if (screen := one(monitor)) is not None:
            return screen
    return WatchBar(monitor) if wanted or sys.stderr.isatty() else None


class WatchBar:
    """A line on standard error: steps, steps per second, and the value of the last one."""

    def __init__(self, monitor: Any) -> None:
        self._monitor = monitor
        self._first = monitor.t
        self._bar = TextBar(None, sys.stderr)

    def poll(self) -> None:
        """Write the line again."""
        self._bar.update(self._monitor.t - self._first, self._monitor.last_value)

    def close(self) -> None:
        """Write the last state."""
        with closing(self._bar):
            self.poll()
