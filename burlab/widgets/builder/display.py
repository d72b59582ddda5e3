"""How a `GraphBuilder` is shown in a notebook: its widget, the same one in every cell."""

import weakref
from typing import Any

from burlab.widgets.formatters import as_displays

_views: "weakref.WeakKeyDictionary[Any, Any]" = weakref.WeakKeyDictionary()


def show(builder: Any) -> None:
    """Display the widget of a builder."""
    from .view import View

    if builder not in _views:
        _views[builder] = View(builder)
    _views[builder].show()


def register() -> None:
    """Tell IPython how to show a builder."""
    as_displays(
        {
            "burlab.widgets.builder.builder.GraphBuilder": show,
        }
    )
