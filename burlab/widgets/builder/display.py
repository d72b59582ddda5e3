"""How a `GraphBuilder` is shown in a notebook: its widget, the same one in every cell."""

import weakref
from typing import Any

from burlab.widgets.formatters import as_displays

from .cells import history_of, running_cell

_views: "weakref.WeakKeyDictionary[Any, Any]" = weakref.WeakKeyDictionary()


def show(builder: Any) -> None:
    """Display the widget of a builder."""
    from .view import View

    if builder not in _views:
        cell = None if builder.file is not None else running_cell()
        if cell is not None:
            builder.carry_on(history_of(cell, builder.document))
        _views[builder] = View(builder, cell)
    _views[builder].show()


def register() -> None:
    """Tell IPython how to show a builder."""
    as_displays(
        {
            "burlab.widgets.builder.builder.GraphBuilder": show,
        }
    )
