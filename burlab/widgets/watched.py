"""A watched loop in a notebook: its panel, and messages of pages while its cell runs."""

import threading
from importlib import import_module
from typing import Any

from . import still
from .ipython_shell import notebook_kernel
from .kernel_messages import Inbox, inbox


class PanelScreen:
    """The panel below the cell. Messages are handled while the loop logs or rests."""

    def __init__(self, monitor: Any, messages: Inbox | None) -> None:
        self._messages = messages
        self._monitor = monitor
        import_module("IPython.display").display(monitor)

    def poll(self) -> None:
        """Handle messages of pages."""
        if self._messages is not None:
            self._messages.poll()

    def close(self) -> None:
        """Show the end in the picture; other messages are handled when the cell ends."""
        still.settle(import_module("burlab.widgets.panel.panel_view").panel_of(self._monitor).root)
        if self._messages is not None:
            self._messages.close()


def panel_screen(monitor: Any) -> PanelScreen | None:
    """A panel if this process is a notebook's kernel, else None."""
    if notebook_kernel() is None:
        return None
    return PanelScreen(monitor, inbox() if threading.current_thread() is threading.main_thread() else None)
