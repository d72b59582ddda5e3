"""How burlab's figures look: one palette, one layout."""

from typing import Any

# Okabe and Ito 2008, distinguishable with every kind of colour vision, without the yellow that white paper swallows.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
HEIGHTS = ((0.0, "#fdfdfe"), (0.5, "#dfe6ef"), (1.0, "#a9b9cf"))  # from low to high: paths stand out on all of it
LEVEL_LINES = "#8ea2bd"


def colour(k: int) -> str:
    """The k-th colour, from the first again after the last."""
    return COLOURS[k % len(COLOURS)]


def layout(**more: Any) -> dict[str, Any]:
    """The layout of a figure, with what is particular to it."""
    common: dict[str, Any] = {
        "template": "plotly_white",
        "showlegend": True,
        "margin": {"l": 60, "r": 20, "t": 50, "b": 50},
        "hoverlabel": {"namelength": -1},
    }
    return common | more
