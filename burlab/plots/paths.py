"""The path of an optimizer in the plane, with no more points than can be seen."""

from collections.abc import Mapping
from typing import Any

from burlab.charts.limits import along
from burlab.errors import ArgumentError, ShapeError
from burlab.run import Run
from burlab.runtime.checks.numbers import shown
from burlab.runtime.extras import late
from burlab.runtime.plain import as_floats
from burlab.typing import ArrayLike, Indices, Numbers

go: Any = late("plotly.graph_objects", "plots")

PathLike = ArrayLike | Run
"""Points in order, shape (n, 2), or a run, whose whole record is drawn."""
_MAX_DOTS = 80  # points of a path that are drawn as dots, too


def path_traces(name: str, path: PathLike, line_colour: str) -> list[Any]:
    """Two traces of a path: its line, and dots where it starts and ends. path: points in order, (n, 2), or a run.

    Points too close to each other to be seen apart are left out.
    """
    points = points_of(name, path)
    seen = points[apart(points)]
    few = len(seen) <= _MAX_DOTS
    line: Any = go.Scatter(
        x=seen[:, 0],
        y=seen[:, 1],
        name=name,
        legendgroup=name,
        mode="lines+markers" if few else "lines",
        line={"color": line_colour, "width": 2},
        marker={"size": 4, "color": line_colour},
    )
    ends = points[[0, -1]] if len(points) else points
    marker = {"size": [6, 11], "color": line_colour, "line": {"width": 0}}
    more = {"mode": "markers", "marker": marker, "showlegend": False, "hoverinfo": "skip"}
    return [line, go.Scatter(x=ends[:, 0], y=ends[:, 1], name=name, legendgroup=name, **more)]


def named(paths: Mapping[str, PathLike] | None) -> dict[str, PathLike]:
    """Return paths by name; none for None. Raises ArgumentError unless it is a mapping."""
    if paths is not None and not isinstance(paths, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - users
        raise ArgumentError(f"paths must be a mapping of names, such as {{'Adam': run}}; got {shown(paths)}.")
    return dict(paths or {})


def points_of(name: str, path: PathLike) -> Numbers:
    """The points of a path, in order, shape (n, 2). path: points, or a run. Raises ShapeError for other shapes.

    >>> points_of("step", [[0, 0], [1, 2]]).shape
    (2, 2)
    """
    points = as_floats(_recorded(path) if isinstance(path, Run) else path, f"the path {shown(name)}")
    if points.ndim != 2 or points.shape[1] != 2:
        raise ShapeError(f"the path {shown(name)} has shape {points.shape}, expected (n, 2): a row per point.")
    return points


def _recorded(run: Run) -> Numbers:
    """The points of the whole record of a run."""
    found = run.path
    if found is None:
        raise ShapeError("a run has a path where x has one or two entries. Pass points, shape (n, 2), for others.")
    return found[1]


def apart(points: Numbers) -> Indices:
    """Positions of points, the first and the last among them, such that a line through them looks like all of it.

    >>> import numpy as np
    >>> apart(np.ones((1000, 2)))
    array([  0, 999])
    """
    return along(points_of("points", points))
