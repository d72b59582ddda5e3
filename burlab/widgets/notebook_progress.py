"""The progress bar of a notebook: one line of HTML that is replaced in place, and stays in the saved notebook."""

import math
import time
from html import escape
from importlib import import_module
from typing import Any

from burlab.run.progress import time_left

from .ipython_shell import notebook_kernel


class NotebookBar:
    """Shows steps, speed and value below the cell. A message to the browser per update, no widget and no comm.

    name: of what does the steps. start: when it began, on the clock `perf_counter`.
    """

    def __init__(self, total: int) -> None:
        screen: Any = import_module("IPython.display")  # late: a terminal may have none
        self._total = total
        self.name, self.start = "", time.perf_counter()
        self._done, self._value = 0, float("nan")
        self._html = screen.HTML
        self._shown = screen.display(self._html(self._line(0, float("nan"))), display_id=True)

    def update(self, done: int, value: float) -> None:
        """Replace the line."""
        self._done, self._value = done, value
        self._shown.update(self._html(self._line(done, value)))

    def close(self) -> None:
        """One grey line stays."""
        value = "" if math.isnan(self._value) else f", value {self._value:.6g}"
        name = f"{escape(self.name)}: " if self.name else ""
        took = f"{time.perf_counter() - self.start:,.1f} s"
        self._shown.update(
            self._html(f'<span style="opacity:0.6">{name}{self._done:,} of {self._total:,} steps{value}, {took}</span>')
        )

    def _line(self, done: int, value: float) -> str:
        seconds = time.perf_counter() - self.start
        left = f", {text}" if (text := time_left(done, self._total, seconds)) else ""
        speed = f"{done / max(seconds, 1e-9):,.0f} per second{left}"
        text = f"{done:,} of {self._total:,} steps, {speed}, value {value:.6g}" if done else "starting"
        return (
            f'<progress class="burlab-progress" style="width:min(20em,30%);vertical-align:middle" value="{done}" '
            f'max="{self._total}"></progress> <span>{text}</span>'
        )


def notebook_bar(total: int) -> NotebookBar | None:
    """A bar if this process is a notebook's kernel, else None."""
    return None if notebook_kernel() is None else NotebookBar(total)
