"""A watched loop in a notebook: its panel, and an ear for pages while its cell runs."""

import threading
from importlib import import_module
from typing import Any

from . import still
from .kernel_messages import Inbox, inbox


class PanelScreen:
    """Shows the panel below the cell, and lets messages in while the loop logs or rests."""

    def __init__(self, monitor: Any, messages: Inbox | None) -> None:
        self._messages = messages
        self._monitor = monitor
        import_module("IPython.display").display(monitor)

    def look(self) -> None:
        """Handle what pages have asked for."""
        if self._messages is not None:
            self._messages.look()

    def close(self) -> None:
        """The picture shows the end; what pages have asked for meanwhile is handled when the cell ends, as ever."""
        still.settle(import_module("burlab.widgets.panel.panel").panel_of(self._monitor).view.root)
        if self._messages is not None:
            self._messages.close()


def panel_screen(monitor: Any) -> PanelScreen | None:
    """A panel if this process is a notebook's kernel, else None."""
    messages = inbox()
    if messages is None:
        return None
    return PanelScreen(monitor, messages if threading.current_thread() is threading.main_thread() else None)
