"""How a profile looks in a notebook: a chart of what lives when, and a table."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from burlab.widgets.formatters import as_displays, as_html
from burlab.widgets.profile_view import profile_html, profile_markdown

if TYPE_CHECKING:
    from burlab.compiler.inspection.profile import Profile

_NAME = "burlab.compiler.inspection.profile.Profile"


def show(profile: "Profile") -> None:
    """Display a profile: the view where its kernel lives, with a still table for pages that have none."""
    from .view import ProfileView

    root = ProfileView(profile).root
    view = {"version_major": 2, "version_minor": 0, "model_id": root.model_id}
    still = {"text/html": profile_html(profile), "text/markdown": profile_markdown(profile), "text/plain": str(profile)}
    screen: Any = import_module("IPython.display")
    screen.display({"application/vnd.jupyter.widget-view+json": view} | still, raw=True)


def register() -> None:
    """Tell IPython how to show a profile: in a notebook's kernel the view, elsewhere the still table."""
    as_html({_NAME: profile_html})
    as_displays({_NAME: show})
