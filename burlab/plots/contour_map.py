"""The map of a function of two variables, with paths over it."""

from collections.abc import Mapping
from typing import Any

from burlab.runtime.extras import late

from .paths import path_traces
from .style import colour, layout
from .terrain import RESOLUTION, Problem, bounds_of, landscape, landscape_traces

go: Any = late("plotly.graph_objects", "plots")


def contour(
    problem: Problem,
    *,
    paths: Mapping[str, Any] | None = None,
    domain: Any = None,
    title: str = "",
    resolution: int = RESOLUTION,
) -> Any:
    """A figure of a function of two variables: level lines, its known minima and saddles, and paths over it.

    problem, domain, resolution: as for `landscape`. paths: by name, points in order, shape (n, 2), or runs, whose
    whole record is drawn.

    >>> import burlab as bl
    >>> f = bl.problems.himmelblau()
    >>> [trace.name for trace in bl.plots.contour(f, paths={"step": [[0, 0], [1, 1]]}).data]
    ['himmelblau', 'saddle', 'minimum', 'step', 'step']
    """
    figure: Any = go.Figure(layout=layout(title=title, width=820, height=600))
    figure.add_traces(landscape_traces(problem, landscape(problem, domain, resolution=resolution)))
    for k, (name, path) in enumerate((paths or {}).items()):
        figure.add_traces(path_traces(name, path, colour(k)))
    (left, right), (bottom, top) = bounds_of(problem, domain)
    figure.update_xaxes(title="x₀", range=[left, right], zeroline=False, constrain="domain")
    figure.update_yaxes(title="x₁", range=[bottom, top], zeroline=False)
    return figure
