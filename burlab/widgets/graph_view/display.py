"""How a `GraphView` is shown in a notebook: with a picture of it for pages without its kernel."""

from typing import Any

from burlab.charts.palette import INK
from burlab.widgets import still
from burlab.widgets.formatters import as_displays


def show(view: Any) -> None:
    """Display it."""
    still.show(view, lambda: alone(view.svg()), lambda: f"a view of {view.model.network.title}")


def alone(svg: str) -> str:
    """A picture in the colours of its page, as one that has no page around it: legible on white and on black."""
    return svg.replace("<svg ", f'<svg color="{INK}" ', 1)


def register() -> None:
    """Tell IPython, by name."""
    as_displays(
        {
            "burlab.widgets.graph_view.view.GraphView": show,
        }
    )
