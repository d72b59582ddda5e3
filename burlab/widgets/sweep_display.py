"""Sweeps in a notebook: a table while they work, and after it with the race of the best."""

from html import escape
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from burlab.experiments.sweep_progress import SweepScreen

from .drawing import framed
from .html_table import table as html_table
from .ipython_shell import ipython_shell, notebook_kernel

if TYPE_CHECKING:
    from burlab.experiments.sweep_table import SweepTable
    from burlab.experiments.sweeps import Sweep

_PERIOD_SECONDS = 0.1  # seconds between two pictures of the table
_cells: "WeakKeyDictionary[Sweep, int]" = WeakKeyDictionary()  # the number of the cell that has the live table


def table_html(table: "SweepTable") -> str:
    """A row per run, the best first, under a bar of how many are done.

    >>> from burlab.experiments.sweep_table import SweepTable
    >>> text = table_html(SweepTable(("run", "value"), (("0", "<1"),), 1, 0, 2))
    >>> "&lt;1" in text, "1 of 2 runs done" in text, "and 1 more" in text
    (True, True, True)
    """
    style = "width:min(20em,30%);vertical-align:middle"
    bar = f'<progress style="{style}" value="{table.done}" max="{table.total}"></progress>'
    rest = f"<div>{table.rest}</div>" if table.rest else ""
    rows = html_table(table.head, table.cells, sides="<" * len(table.head))
    grid = framed(rows + rest, "runs of the sweep")
    losses = "".join(f"<div>{escape(line)}</div>" for line in table.losses)
    return f"<div>{bar} <span>{escape(table.title)}</span>{grid}{losses}</div>"


class LiveTable:
    """The table of a sweep that works: a piece of HTML that is replaced in place."""

    def __init__(self, sweep: "Sweep") -> None:
        screen: Any = import_module("IPython.display")  # late: a terminal may have none
        self._sweep = sweep
        self._html = screen.HTML
        self._drawn = monotonic()
        if shell := ipython_shell():
            _cells[sweep] = shell.execution_count
        self._shown = screen.display(self._html(table_html(sweep.table)), display_id=True)

    def update(self) -> None:
        """Replace the table, unless it was replaced a moment ago."""
        if monotonic() - self._drawn > _PERIOD_SECONDS:
            self._draw()

    def close(self) -> None:
        """The last state stays."""
        self._draw()

    def _draw(self) -> None:
        self._drawn = monotonic()
        self._shown.update(self._html(table_html(self._sweep.table)))


def live_table(sweep: "Sweep") -> SweepScreen | None:
    """A live table if this process is a notebook's kernel, else None."""
    return None if notebook_kernel() is None else LiveTable(sweep)


def show_table(sweep: "Sweep") -> None:
    """Display the table, unless it stands in this cell already."""
    screen: Any = import_module("IPython.display")
    shell = ipython_shell()
    if shell is None or _cells.get(sweep) != shell.execution_count:
        screen.display(screen.HTML(table_html(sweep.table)))
