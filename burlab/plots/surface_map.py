"""A function of two variables as a surface, which is turned by the mouse, with paths over it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from burlab.analysis.flat_objective import Problem
from burlab.analysis.height_map import HeightMap
from burlab.charts.palette import HIGH, INK, LOW, colour
from burlab.charts.relief import TALL, Pose, interpolated
from burlab.runtime.extras import late
from burlab.typing import ArrayLike, Numbers

from .contour_map import RESOLUTION, height_fields, landscape, levels_of
from .paths import PathLike, apart, named, points_of
from .style import HEIGHT, layout

go: Any = late("plotly.graph_objects", "plots")

_LINE_POINTS = 120  # of a straight line across the plane
_MAX_RATIO = 4.0  # of the sides of a domain, up to which both have the same scale
OPENS = Pose(lift=52.0)  # steep enough to see the floor of a valley
_DISTANCE = 1.75  # of the camera, in sides of the plane


def surface(
    problem: Problem,
    *,
    paths: Mapping[str, PathLike] | None = None,
    domain: ArrayLike | None = None,
    title: str = "",
    resolution: int = RESOLUTION,
) -> Any:
    """A figure of a function of two variables as a surface, turned by dragging, and paths that lie on it.

    The height is what `contour` colours by: the logarithm of the height above the minimum, so that valleys show detail;
    the function itself where it has no minimum.

    Args:
        problem, paths, domain, resolution: As for `contour`.

    Returns:
        A plotly figure.

    >>> import burlab as bl
    >>> figure = bl.plots.surface(bl.problems.himmelblau(), paths={"step": [[0, 0], [1, 1]]}, resolution=21)
    >>> [trace.type for trace in figure.data]
    ['surface', 'scatter3d', 'scatter3d']
    """
    heights = landscape(problem, domain, resolution=resolution)
    figure: Any = go.Figure(layout=layout(title=title))
    lines = {"show": True, "color": "rgba(20, 40, 80, 0.35)", "width": 1, **levels_of(heights)}
    figure.add_surface(**height_fields(problem, heights), colorscale=[[0, LOW], [1, HIGH]], contours={"z": lines})
    for k, (name, path) in enumerate(named(paths).items()):
        figure.add_traces(_path(name, path, heights, colour(k)))
    axis: dict[str, Any] = {"showbackground": False, "color": INK, "gridcolor": INK, "showspikes": False}
    sides = np.array([np.ptp(heights.x), np.ptp(heights.y)])
    across, along = sides / sides.max() if sides.max() <= _MAX_RATIO * sides.min() else np.ones(2)
    figure.update_scenes(
        xaxis={"title": "x₀", "range": [heights.x[0], heights.x[-1]], **axis},
        yaxis={"title": "x₁", "range": [heights.y[0], heights.y[-1]], **axis},
        zaxis={"title": "", "showticklabels": False, "showgrid": False, **axis},
        aspectmode="manual",
        aspectratio={"x": across, "y": along, "z": TALL},
        camera={
            "eye": dict(zip("xyz", _DISTANCE * np.array(OPENS.eye), strict=True)),
            "center": {"x": 0, "y": 0, "z": -0.1},
        },
    )
    return figure.update_layout(height=HEIGHT + 60, margin={"l": 0, "r": 0, "t": 40 if title else 0, "b": 20})


def _path(name: str, path: PathLike, heights: HeightMap, line_colour: str) -> list[Any]:
    """The line of a path on the surface, and a dot where it ends; what leaves the plane is not drawn."""
    points = points_of(name, path)
    places = _dense(points, np.array([np.ptp(heights.x), np.ptp(heights.y)]))
    above = 0.006 * float(np.nanmax(heights.shade) - np.nanmin(heights.shade))  # else the surface hides half of it
    traces: list[Any] = []
    for mode, part in (("lines", places), ("markers", points[-1:])):
        z = interpolated(heights.shade, heights.y, heights.x, part) + above
        style = {"line": {"color": line_colour, "width": 5}, "marker": {"color": line_colour, "size": 5}}
        more = {"legendgroup": name, "showlegend": mode == "lines", "hovertemplate": "x₀ %{x:.4g}<br>x₁ %{y:.4g}"}
        traces.append(go.Scatter3d(x=part[:, 0], y=part[:, 1], z=z, name=name, mode=mode, **style, **more))
    return traces


def _dense(points: Numbers, sides: Numbers) -> Numbers:
    """Points of a path, shape (n, 2), with more between those that are far apart: the line has to follow the ground."""
    seen = np.where(np.isfinite(points), points, np.nan)[apart(points)]
    moved = np.abs(np.diff(seen, axis=0)) / sides
    parts = np.clip(
        np.ceil(_LINE_POINTS * np.nan_to_num(moved, posinf=0.0).max(axis=1, initial=0.0)), 1, _LINE_POINTS
    ).astype(int)
    starts = np.repeat(np.arange(len(parts)), parts)
    share = (np.arange(len(starts)) - np.repeat(np.cumsum(parts) - parts, parts)) / parts[starts]
    between = np.where(
        share[:, None] == 0, seen[starts], (1 - share[:, None]) * seen[starts] + share[:, None] * seen[starts + 1]
    )
    return np.concatenate([between, seen[-1:]])
