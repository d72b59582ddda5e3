"""Figures of several trials: the mean of each method, and the range over its seeds."""

from collections.abc import Mapping
from typing import Any

from burlab.charts.palette import colour, faded
from burlab.errors import ArgumentError, ShapeError
from burlab.runtime.checks.numbers import shown
from burlab.runtime.extras import late
from burlab.runtime.plain import as_floats
from burlab.typing import ArrayLike

from .style import layout, line, log_axis

go: Any = late("plotly.graph_objects", "plots")


def bands(
    x: ArrayLike,
    trials: Mapping[str, ArrayLike],
    *,
    title: str = "",
    x_title: str = "",
    y_title: str = "",
    log_x: bool = False,
    log_y: bool = False,
) -> Any:
    """A figure of methods that were tried with several seeds: lines of their means over bands from least to most.

    Args:
        x: Where the values were taken, such as steps or densities. Shape (n,).
        trials: By method, the values of each seed. Shape (seeds, n); NaN leaves a gap.
        title, x_title, y_title: What the figure and its axes are called.
        log_x, log_y: Whether an axis is logarithmic.

    Returns:
        A plotly figure.

    Raises:
        ShapeError: The values of a method are not of shape (seeds, n).
        ArgumentError: `trials` is no mapping, or empty.

    >>> import numpy as np, burlab as bl
    >>> figure = bl.plots.bands([1, 2], {"two seeds": [[1.0, 2.0], [3.0, 2.0]]})
    >>> [trace.y for trace in figure.data]
    [array([1., 2.]), array([3., 2.]), array([2., 2.])]
    """
    if not isinstance(trials, Mapping) or not trials:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"trials is {shown(trials)}, expected values by name, such as {{'Adam': [[1.0, 0.5]]}}.")
    places = as_floats(x, "x of bands")
    figure: Any = go.Figure(layout=layout(title=title))
    figure.update_layout(xaxis_title=x_title, yaxis_title=y_title)
    for k, (name, given) in enumerate(trials.items()):
        values = as_floats(given, f"trials[{shown(name)}]")
        if places.ndim != 1 or values.ndim != 2 or values.shape[1] != places.size or not len(values):
            raise ShapeError(
                f"bands got x {places.shape} and trials[{shown(name)}] {values.shape}, expected (n,) and (seeds, n): "
                "a row of values for each seed."
            )
        group = {"legendgroup": name, "hoverinfo": "skip", "showlegend": False, "mode": "lines", "line": {"width": 0}}
        figure.add_scatter(x=places, y=values.min(axis=0), name=name, **group)
        figure.add_scatter(
            x=places, y=values.max(axis=0), name=name, fill="tonexty", fillcolor=faded(colour(k)), **group
        )
        figure.add_scatter(x=places, y=values.mean(axis=0), name=name, legendgroup=name, line=line(k))
    if log_x:
        figure.update_xaxes(**log_axis([places]))
    if log_y:
        figure.update_yaxes(**log_axis(trace.y for trace in figure.data))
    return figure
