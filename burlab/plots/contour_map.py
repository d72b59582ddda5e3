"""A function of two variables as shades and level lines, with paths over it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from burlab.analysis.flat_objective import Problem
from burlab.analysis.height_map import HeightMap, height_map, known_points
from burlab.charts.grid import LEVELS
from burlab.charts.palette import INK, PALETTE, SHADES, colour
from burlab.errors import ArgumentError, ShapeError
from burlab.problems import TestFunction
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.extras import late
from burlab.runtime.plain import as_floats
from burlab.typing import ArrayLike, Numbers

from .paths import PathLike, named, path_traces
from .style import FONT, HEIGHT, LEVEL_LINES, layout

go: Any = late("plotly.graph_objects", "plots")

RESOLUTION = 141  # points along each axis: a pixel in four
_MAX_RESOLUTION = 10_000  # points along an axis: more than any screen has
_MAX_RATIO = 12.0  # of the sides of a domain, up to which both have the same scale
_SYMBOLS = {"cross": "x-thin-open", "star": "star"}
# The legend lies on the plot, below the title: in a narrow cell a plot of equal scales is lower than the figure, and
# what is left of that lies below everything. Its own title is an empty line, as high as that of the figure.
_LEGEND: dict[str, Any] = {
    "yref": "paper", "y": 1, "yanchor": "bottom",
    "title": {"text": "\u00a0", "side": "top", "font": {"size": FONT + 3}},
}  # fmt: skip


def landscape(problem: Problem, domain: ArrayLike | None = None, *, resolution: int = RESOLUTION) -> HeightMap:
    """The values of a function of two variables on a grid.

    Args:
        problem: A `TestFunction`, a `FiniteSum` or another function of x, shape (2,).
        domain: Lower and upper bound of both coordinates, shape (2, 2); needed where the problem states none.
        resolution: Points along each axis.

    Returns:
        The grid and its values, resolution x resolution points.

    >>> import burlab as bl
    >>> bl.plots.landscape(bl.problems.booth(), resolution=3).value[1, 1]
    np.float64(74.0)
    """
    resolution = whole(resolution, "resolution", 2, _MAX_RESOLUTION)
    return height_map(problem, np.zeros(2), bounds_of(problem, domain), resolution)


def landscape_traces(problem: Problem, heights: HeightMap) -> list[Any]:
    """The traces of a landscape: its level lines, and the known saddles and minima of the problem."""
    if not isinstance(heights, HeightMap):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"heights must be a result of bl.plots.landscape; got {shown(heights)}.")
    levels = levels_of(heights)
    traces: list[Any] = [
        go.Contour(
            **height_fields(problem, heights),
            autocontour=not levels,
            contours={"coloring": "heatmap", **levels},  # filled levels lie on one another: clear ones would add up
            colorscale=SHADES,
            line={"color": LEVEL_LINES, "width": 0.6},
        )
    ]
    for dots in known_points(problem):
        line = {"width": 2 if dots.shape == "cross" else 0}
        marker = {"symbol": _SYMBOLS[dots.shape], "size": 13, "color": INK, "line": line}
        group = {"name": dots.label, "legendgroup": dots.label}  # a group each: plotly stacks what has none
        traces.append(go.Scatter(x=dots.x, y=dots.y, mode="markers", marker=marker, **group))
    return traces


def contour(
    problem: Problem,
    *,
    paths: Mapping[str, PathLike] | None = None,
    domain: ArrayLike | None = None,
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

    Returns:
        A plotly figure.

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
    if 1 / _MAX_RATIO <= shape <= _MAX_RATIO:
        plane["constrain"] = "domain"
        figure.update_yaxes(scaleanchor="x", scaleratio=1, constraintoward="top")
        figure.update_layout(height=min(HEIGHT + 160, 200 + 800 * shape))  # for a cell about 800 pixels wide
    figure.update_xaxes(title="x₀", range=[left, right], constraintoward="left", **plane)
    figure.update_yaxes(title="x₁", range=[bottom, top], **plane)
    return figure


def height_fields(problem: Problem, heights: HeightMap) -> dict[str, Any]:
    """The fields of a contour and of a surface: where the heights are, what they are, and what the mouse shows."""
    return {
        "x": heights.x,
        "y": heights.y,
        "z": heights.shade,
        "customdata": heights.value,
        "name": getattr(problem, "__name__", "f"),
        "showscale": False,
        "hovertemplate": "x₀ %{x:.4g}<br>x₁ %{y:.4g}<br>f %{customdata:.6g}<extra></extra>",
    }


def levels_of(heights: HeightMap) -> dict[str, float]:
    """The first level, the last one, and the distance of two; {} where all heights are equal."""
    if not np.isfinite(heights.shade).any():
        return {}
    low, high = float(np.nanmin(heights.shade)), float(np.nanmax(heights.shade))
    return {"start": low, "end": high, "size": (high - low) / LEVELS} if high > low else {}


def bounds_of(problem: Problem, domain: ArrayLike | None) -> Numbers:
    """Lower and upper bound of both coordinates, shape (2, 2): those given, or else those of the problem. Raises.

    >>> import burlab as bl
    >>> bounds_of(bl.problems.branin(), None)
    array([[-5., 10.],
           [ 0., 15.]])
    """
    if domain is None:
        if not isinstance(problem, TestFunction):
            raise ArgumentError(
                "the problem states no domain. Pass domain=[(left, right), (bottom, top)], or a TestFunction."
            )
        domain = problem.domain
    bounds = as_floats(domain, "domain")
    if bounds.shape != (2, 2):
        raise ShapeError(
            f"the domain has shape {bounds.shape}, expected (2, 2): a contour needs a function of two variables."
        )
    if not (np.isfinite(bounds).all() and (bounds[:, 0] < bounds[:, 1]).all()):
        raise ArgumentError(f"domain={bounds.tolist()} must hold two finite bounds per coordinate, the lower first.")
    return bounds
