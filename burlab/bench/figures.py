"""Lines as plotly figures: time and memory, over the size where there are several, else as bars."""

from collections.abc import Callable, Sequence
from typing import Any

from burlab.charts.palette import INK, colour
from burlab.plots.style import layout
from burlab.runtime.extras import late

from .measure import VariantResult
from .problem import Case, label
from .table import limit

go: Any = late("plotly.graph_objects", "plots")

# What a figure can show: the title of its axis, and the number that a line has for it.
QUANTITIES: dict[str, tuple[str, Callable[[VariantResult], float | None]]] = {
    "time": ("seconds", lambda line: line.seconds),
    "memory": ("bytes of the process, at most", lambda line: line.facts.get("peak_rss")),
    "arrays": ("bytes of arrays", lambda line: line.facts.get("arrays")),
}


def figures(case: Case, lines: Sequence[VariantResult]) -> list[Any]:
    """Return the figures of a case."""
    if not case.axis:
        return [bars(case, lines)]
    drawn = [against_size(case, lines, quantity) for quantity in QUANTITIES]
    return [figure for figure in drawn if figure.data]


def bars(case: Case, lines: Sequence[VariantResult]) -> Any:
    """The time of every variant that passed its gate, the kernel written by hand as a line."""
    timed = [line for line in lines if line.seconds is not None]
    words = [", ".join(filter(None, (line.engine, line.variant, label(line.size)))) for line in timed]
    engines = list(dict.fromkeys(line.engine for line in timed))
    colours = [colour(engines.index(line.engine)) for line in timed]
    figure: Any = go.Figure(go.Bar(x=[line.seconds for line in timed], y=words, orientation="h", marker_color=colours))
    alike = all(line.size == lines[0].size for line in lines)  # else each size has a limit of its own
    if alike and (best := limit(lines)):
        figure.add_vline(x=best, line={"dash": "dot", "color": INK})
    height = 160 + 28 * len(timed)
    figure.update_layout(layout(title=case.title, showlegend=False, height=height))
    figure.update_xaxes(type="log", title=f"time of one {case.unit}", ticksuffix="s", exponentformat="SI")
    return figure.update_yaxes(autorange="reversed")


def against_size(case: Case, lines: Sequence[VariantResult], quantity: str) -> Any:
    """One curve for each variant, and for each other size, over the size that the case is about."""
    title, number = QUANTITIES[quantity]
    curves: dict[str, list[tuple[int, float]]] = {}
    engines: dict[str, str] = {}
    for line in lines:
        found = number(line) if line.seconds is not None else None
        if found is not None:
            rest = label({name: size for name, size in line.size.items() if name != case.axis})
            name = ", ".join(filter(None, (line.engine, line.variant, rest)))
            curves.setdefault(name, []).append((line.size[case.axis], found))
            engines[name] = line.engine
    figure: Any = go.Figure()
    order = list(dict.fromkeys(engines.values()))
    dashes = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
    for name, points in curves.items():
        alike = [other for other in curves if engines[other] == engines[name]]
        x, y = zip(*sorted(points), strict=True)
        style = {"color": colour(order.index(engines[name])), "dash": dashes[alike.index(name) % len(dashes)]}
        figure.add_scatter(x=x, y=y, name=name, mode="lines+markers", line=style)
    figure.update_layout(layout(title=f"{case.title}: {quantity}", height=480))
    figure.update_xaxes(type="log", title=case.axis)
    units: dict[str, Any] = {"ticksuffix": "s" if quantity == "time" else "B", "exponentformat": "SI"}
    return figure.update_yaxes(type="log", title=title, rangemode="tozero", **units)
