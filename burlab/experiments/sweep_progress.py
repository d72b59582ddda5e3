"""Progress of a sweep: a line on standard error in a terminal; a notebook registers a live table."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from burlab.run.progress import ProgressBar, open_bar

if TYPE_CHECKING:
    from .sweeps import Sweep


class SweepScreen(Protocol):
    """A display of a sweep at work. `update` is called when a run has ended, `close` once, also after an interrupt."""

    def update(self) -> None:
        """Show a new row."""
        ...

    def close(self) -> None:
        """End the display."""
        ...


_screens: "list[Callable[[Sweep], SweepScreen | None]]" = []


def register_screen(open_table: "Callable[[Sweep], SweepScreen | None]") -> None:
    """Let a notebook show sweeps: `open_table(sweep)` gives one, or None without a screen. The newest is first."""
    _screens.insert(0, open_table)


def open_screen(sweep: "Sweep", wanted: bool | None) -> SweepScreen | None:
    """Return the display of a sweep. wanted: True for always, False for never, None for a terminal or a notebook."""
    if wanted is False:
        return None
    for screen in _screens:
        if (found := screen(sweep)) is not None:
            return found
    bar = open_bar(len(sweep), wanted, "runs", "sweep")
    return None if bar is None else SweepBar(sweep, bar)


class SweepBar:
    """A bar of the runs that are done, with the best value."""

    def __init__(self, sweep: "Sweep", bar: ProgressBar) -> None:
        self._sweep = sweep
        self._bar = bar

    def update(self) -> None:
        """Write the line anew."""
        rows = self._sweep.rows
        best = min((row.value for row in rows if row.done and not row.failed), default=math.nan)
        self._bar.update(sum(row.done for row in rows), best)

    def close(self) -> None:
        """Leave the last state on the screen."""
        self._bar.close()
