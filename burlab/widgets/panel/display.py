"""How a `Run` is shown in a notebook: its panel, with a picture of it for pages without its kernel."""

from typing import Any

from burlab.widgets.formatters import as_displays


def show(run: Any) -> None:
    """Display the panel of a run."""
    from .panel import panel_of

    panel_of(run).show()


def register() -> None:
    """Tell IPython how to show what has a panel."""
    as_displays(
        {
            "burlab.run.run.Run": show,
            "burlab.monitor.monitor.Monitor": show,
        }
    )
