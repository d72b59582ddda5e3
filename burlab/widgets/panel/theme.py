"""How the plots of a panel look: legible on white and on black, and still while they move."""

import math
from typing import Any

from .arrangement import RIGHT, Arrangement, Place
from .lines import PACE
from .model import Plot
from .words import number

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#8f9aa6"
_INK, _GRID = "#5b6673", "rgba(128, 136, 148, 0.22)"
_SMALL = 11  # size of letters
_AXIS = {
    "gridcolor": _GRID, "zeroline": False, "linecolor": _GRID, "tickfont": {"size": _SMALL}, "ticks": "",
    "ticklabeloverflow": "allow",  # plotly measures every label otherwise
}  # fmt: skip
_TICKS = 4  # labels along an axis of decades


def axis_of(plot: Plot, sight: tuple[float, float] | None) -> dict[str, Any]:
    """What depends on the values that a plot shows: powers of ten only, where there are several.

    sight: the ends of its axis, where they were chosen by hand; of one with logarithms, theirs.
    """
    if not plot.log:
        wide = {} if plot.top is None or sight else {"range": [max(plot.low, -plot.top), min(plot.high, plot.top)]}
        return {"type": "linear", "tickfont": {"size": _SMALL}} | wide | ticks(None)
    if sight:
        decades = sight[1] - sight[0]
        return {"type": "log"} | ticks(None if decades < 1 else "D2" if decades < 2 else math.ceil(decades / _TICKS))
    powers = {"tickfont": {"size": _SMALL / 1.25}}  # which plotly writes larger than other numbers
    if plot.floor or plot.top:
        ends = [math.log10(plot.floor or plot.least) - 0.3, math.log10(plot.top or plot.high) + 0.2]
        return {"type": "log", "range": ends} | ticks(max(math.ceil((ends[1] - ends[0]) / _TICKS), 1)) | powers
    if plot.name == PACE:  # in whole decades: plotly labels parts of one without their unit
        ends = [math.floor(math.log10(plot.low) - 0.1), math.ceil(math.log10(plot.high) + 0.1)]
        return {"type": "log", "range": ends} | ticks(math.ceil((ends[1] - ends[0]) / _TICKS))
    decades = math.log10(plot.high / plot.least)
    return {"type": "log"} | ticks(math.ceil(decades / _TICKS) if decades > 1 else None) | powers


def ticks(every: int | str | None) -> dict[str, Any]:
    """Labels every so many steps or decades, or "D2" for 1, 2, 5, 10, ...; None where plotly is to choose.

    It does that only if it is told so; and of a decade or a little more it would write every digit, one on another.
    """
    return {"dtick": every, "tickmode": "auto" if every is None else "linear"}


def cursor(x: str, t: float, length: float) -> list[dict[str, Any]]:
    """A line at the cursor and a veil over what lies ahead of it in the record; unseen at the end of the record."""
    common = {"xref": x, "yref": "paper", "y0": 0, "y1": 1, "visible": t < length}  # shapes cannot be taken away again
    veil = {"type": "rect", "x0": t, "x1": length, "fillcolor": GREY, "opacity": 0.16, "line": {"width": 0}}
    line = {"type": "line", "x0": t, "x1": t, "line": {"color": ORANGE, "width": 1.5}}
    return [common | veil, common | line]


def words(place: Place, plot: Plot) -> list[dict[str, Any]]:
    """What stands over a plot and beside it: its title, what of it is not shown, and where 0 is."""
    beyond = [v for v in (plot.low, plot.high) if plot.top is not None and abs(v) > plot.top]
    cut = f" <i>goes on to {number(max(beyond, key=abs), 2)}</i>" if beyond else ""
    zero = {"xref": f"{place.x} domain", "x": 0, "xanchor": "right", "yref": place.y, "text": "0", "showarrow": False}
    zero |= {"y": math.log10(plot.floor or 1.0), "visible": plot.floor is not None, "font": {"size": _SMALL}}
    return [_title(place.x, place.y, plot.title + cut), zero]


def floor_line(place: Place, plot: Plot) -> dict[str, Any]:
    """The line on which an axis with logarithms shows 0."""
    at = {"xref": f"{place.x} domain", "x0": 0, "x1": 1, "yref": place.y, "y0": plot.floor or 1, "y1": plot.floor or 1}
    line = {"color": GREY, "width": 1, "dash": "dot"}
    return at | {"type": "line", "line": line, "visible": plot.floor is not None, "layer": "below"}


def around(arrangement: Arrangement, plane: str, log_steps: bool) -> list[dict[str, Any]]:
    """The words below and beside axes, and what stands over the contour, if there is one: `plane`."""
    found = [_below(x, "step, logarithmic; the start at ½" if log_steps else "step") for x in arrangement.columns]
    if arrangement.square:
        x, y = arrangement.square
        found += [_title(x, y, plane), _below(x, "x₀"), _beside(x, y, "x₁")]
    return found


def layout(arrangement: Arrangement) -> dict[str, Any]:
    """The figure without its curves and words.

    Without plotly's template, and with all words as annotations: the labels of axes that have titles are measured in
    every update, which takes longer than drawing the curves.
    """
    axes = {f"yaxis{place.y[1:]}": _upright(place) for place in arrangement.places}
    for x, (domain, anchor) in arrangement.columns.items():
        axes[f"xaxis{x[1:]}"] = _AXIS | {
            "domain": domain, "anchor": anchor, "tickformat": "~s", "rangemode": "tozero", "showspikes": True,
            "spikethickness": 1, "spikecolor": GREY, "spikedash": "dot", "spikemode": "across",
        }  # fmt: skip
        if x != "x":
            axes[f"xaxis{x[1:]}"]["matches"] = "x"
    if arrangement.square:
        x, y = arrangement.square
        common = _AXIS | {"showgrid": False, "nticks": 6}
        axes[f"xaxis{x[1:]}"] = common | {"domain": RIGHT, "anchor": y}
        axes[f"yaxis{y[1:]}"] = common | {"domain": (0.0, 1.0), "anchor": x}
    return axes | {
        "template": {}, "height": arrangement.height, "autosize": True,
        "margin": {"l": 58, "r": 14, "t": 22, "b": 40, "autoexpand": False},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "hovermode": "x", "uirevision": "same",
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": _INK},
    }  # fmt: skip


def _title(x: str, y: str, text: str) -> dict[str, Any]:
    """A line of text over the top left corner of a plot."""
    at = {"xref": f"{x} domain", "x": 0, "xanchor": "left", "yref": f"{y} domain", "y": 1, "yanchor": "bottom"}
    return at | {"text": text, "showarrow": False, "font": {"size": 12}}


def _below(x: str, text: str) -> dict[str, Any]:
    """The word for an axis from left to right."""
    at = {"xref": f"{x} domain", "x": 0.5, "xanchor": "center", "yref": "paper", "y": 0, "yanchor": "top"}
    return at | {"text": text, "showarrow": False, "yshift": -20, "font": {"size": _SMALL}}


def _beside(x: str, y: str, text: str) -> dict[str, Any]:
    """The word for an axis from bottom to top."""
    at = {"xref": f"{x} domain", "x": 0, "xanchor": "right", "yref": f"{y} domain", "y": 0.5, "yanchor": "middle"}
    return at | {"text": text, "showarrow": False, "xshift": -26, "font": {"size": _SMALL}}


def _upright(place: Place) -> dict[str, Any]:
    unit = {"tickformat": "~s", "ticksuffix": "s"} if place.plot.name == PACE else {"exponentformat": "power"}
    return _AXIS | unit | {"domain": place.domain, "anchor": place.x, "nticks": 5}
