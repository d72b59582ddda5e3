"""How races and trees of branches are shown in a notebook: as their panels."""

from importlib import import_module
from typing import Any

from burlab.widgets.formatters import as_displays


def show_race(race: Any) -> None:
    """Display the panel of a race."""
    view = import_module("burlab.widgets.race.view")
    view.RaceView(race).show()


def show_branches(branches: Any) -> None:
    """Display the panel of a tree of branches."""
    view = import_module("burlab.widgets.branches.view")
    view.BranchesView(branches).show()


def register() -> None:
    """Tell IPython how to show them."""
    as_displays(
        {
            "burlab.experiments.races.Race": show_race,
            "burlab.experiments.branch_tree.Branches": show_branches,
        }
    )
