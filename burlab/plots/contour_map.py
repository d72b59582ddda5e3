"""The map of a function of two variables, with paths over it."""

from collections.abc import Mapping
from typing import Any

from burlab.charts.palette import INK, PALETTE, colour
from burlab.runtime.extras import late

from .paths import named, path_traces
from .style import FONT, HEIGHT, layout
from .terrain import RESOLUTION, Problem, bounds_of, landscape, landscape_traces

go: Any = late("plotly.graph_objects", "plots")

_LONGEST = 12.0  # one side of a domain over the other, up to which both have the same scale
# The legend lies on the plot, below the title: in a narrow cell a plot of equal scales is lower than the figure, and
# what is left of that lies below everything. Its own title is an empty line, as high as that of the figure.
_LEGEND: dict[str, Any] = {
    "yref": "paper", "y": 1, "yanchor": "bottom",
    "title": {"text": "\u00a0", "side": "top", "font": {"size": FONT + 3}},
}  # fmt: skip


def contour(
    problem: Problem,
    *,
    paths: Mapping[str, Any] | None = None,
    domain: Any = None,
    title: str = "",
    resolution: int = RESOLUTION,
) -> Any:
    """A figure of a function of two variables: level lines, its known minima and saddles, and paths over it.

    Both axes have one scale, so that right angles look right; not where one side of the domain is more than twelve
    times as long as the other.

    Args:
        problem, domain, resolution: As for `landscape`.
        paths: By name, points in order, shape (n, 2), or runs, whose whole record is drawn; more of them than there are
            colours share one line of the legend.

    >>> import burlab as bl
    >>> f = bl.problems.himmelblau()
    >>> [trace.name for trace in bl.plots.contour(f, paths={"step": [[0, 0], [1, 1]]}).data]
    ['himmelblau', 'saddle', 'minimum', 'step', 'step']
    """
    figure: Any = go.Figure(layout=layout(title=title, legend=_LEGEND))
    figure.add_traces(landscape_traces(problem, landscape(problem, domain, resolution=resolution)))
    paths = named(paths)
    many = len(paths) > len(PALETTE)  # colours come again: one key for all, and each name under the mouse
    for k, (name, path) in enumerate(paths.items()):
        line, ends = path_traces(name, path, colour(k))
        figure.add_traces([line.update(showlegend=not many), ends])
    if many:
        key = f"{len(paths)} paths"
        figure.add_scatter(x=[None], y=[None], name=key, legendgroup=key, mode="lines", line_color=INK)
    (left, right), (bottom, top) = bounds_of(problem, domain)
    plane: dict[str, Any] = {"zeroline": False, "showgrid": False}
    shape = (top - bottom) / (right - left)
    if 1 / _LONGEST <= shape <= _LONGEST:
        plane["constrain"] = "domain"
        figure.update_yaxes(scaleanchor="x", scaleratio=1, constraintoward="top")
        figure.update_layout(height=min(HEIGHT + 160, 200 + 800 * shape))  # for a cell about 800 pixels wide
    figure.update_xaxes(title="x₀", range=[left, right], constraintoward="left", **plane)
    figure.update_yaxes(title="x₁", range=[bottom, top], **plane)
    return figure
