"""Style of burlab's figures, on white and on black: one palette, one template, one layout.

A figure cannot ask for the theme of the page around it. So it has no ground of its own, letters in a grey as far from
white as from JupyterLab's dark ground, and colours that stand out on both.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from burlab.charts.palette import CLEAR, FAINT, INK, PALETTE, colour
from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown
from burlab.runtime.extras import late

go: Any = late("plotly.graph_objects", "plots")
pio: Any = late("plotly.io", "plots")

HEIGHTS = ((0.0, "#fdfdfe"), (0.5, "#dfe6ef"), (1.0, "#a9b9cf"))  # the same on paper, for filled levels
LEVEL_LINES = "#8ea2bd"
FONT = 13  # pixels
HEIGHT = 440  # of a figure; its width is that of the cell

_DASHES = ("solid", "dash", "dot", "dashdot")
_AXIS: dict[str, Any] = {
    "gridcolor": FAINT, "zerolinecolor": FAINT, "linecolor": INK, "tickcolor": INK, "ticks": "outside",
    "automargin": True, "title": {"standoff": 8}, "minor": {"tickcolor": FAINT},
}  # fmt: skip
_SPACE = "\u00a0"  # around words of an axis: plotly turns them as soon as they touch, which two words should not before
# A template, for `plotly.io.templates` or a figure's layout: what every figure has in common.
TEMPLATE: dict[str, Any] = {
    "layout": {
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "font": {"family": "system-ui, sans-serif", "size": FONT, "color": INK},
        # The left edge of the figure, not of its axes: in a narrow cell there is hardly room for a title.
        "title": {"x": 0, "xanchor": "left", "y": 1, "yanchor": "top", "pad": {"t": 14}, "font": {"size": FONT + 3}},
        "colorway": list(PALETTE),
        "margin": {"l": 60, "r": 20, "t": 50, "b": 50},
        "legend": {"orientation": "h", "x": 0, "yref": "container", "y": 0, "yanchor": "bottom", "bgcolor": CLEAR},
        "hoverlabel": {"namelength": -1},
        "modebar": {"bgcolor": CLEAR, "color": FAINT, "activecolor": INK, "remove": ["sendChartToCloud"]},
        "autosize": True,
        "height": HEIGHT,
        "xaxis": _AXIS | {"tickprefix": _SPACE, "ticksuffix": _SPACE},
        "yaxis": _AXIS,
        "shapedefaults": {"line": {"color": INK}},
    }
}


def theme() -> None:
    """Give every plotly figure that is made from here on burlab's look, which is legible on light and dark pages.

    >>> import burlab as bl, plotly.graph_objects as go, plotly.io as pio
    >>> before = pio.templates.default
    >>> bl.plots.theme()
    >>> go.Figure().layout.template.layout.paper_bgcolor
    'rgba(0, 0, 0, 0)'
    >>> pio.templates.default = before
    """
    pio.templates["burlab"] = go.layout.Template(TEMPLATE)
    pio.templates.default = "burlab"


def line(k: int) -> dict[str, Any]:
    """The k-th line: its colour, and another dash each time that the colours begin again."""
    return {"color": colour(k), "width": 2, "dash": _DASHES[k // len(PALETTE) % len(_DASHES)]}


def layout(**more: Any) -> dict[str, Any]:
    """The layout of a figure as wide as its place, with what is particular to it."""
    if not isinstance(more.get("title", ""), (str, dict)):
        raise ArgumentError(f"title must be a str; got {shown(more['title'])}.")
    return {"template": TEMPLATE, "showlegend": True} | more


def log_axis(values: Iterable[Any]) -> dict[str, Any]:
    """A logarithmic axis with numbers at ticks that one can read values from. values: arrays that it shows.

    Over many decades a number at some powers of ten, over few also at 2 and 5, within one in steps of a round number.

    >>> log_axis([np.array([1e-9, 1.0])])["dtick"], log_axis([np.array([2.0, 4.5])])["dtick"]
    (2, 'L0.5')
    """
    every = np.concatenate([np.asarray(part, np.float64).ravel() for part in values] or [np.empty(0)])
    every = every[np.isfinite(every) & (every > 0)]
    low, high = (float(every.min()), float(every.max())) if every.size else (1.0, 1.0)
    decades = np.log10(high) - np.log10(low)
    axis: dict[str, Any] = {"type": "log", "exponentformat": "power"}
    if decades > 2.5:
        step = int(np.ceil(decades / 8))
        return axis | {"dtick": step, "minor": {"ticks": "outside", "dtick": "D1" if step == 1 else 1}}
    if decades > 1:
        return axis | {"dtick": "D2", "minor": {"ticks": "outside", "dtick": "D1"}}
    return axis | ({"dtick": f"L{_round((high - low) / 8):g}"} if high > low else {})


def _round(step: float) -> float:
    """The first of 1, 2, 5 times a power of ten that is not less."""
    power = 10.0 ** np.floor(np.log10(step))
    return float(power * next(digit for digit in (1, 2, 5, 10) if digit * power >= step * (1 - 1e-9)))
