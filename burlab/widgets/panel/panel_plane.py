"""The plane of two parameters: the function over it, the path of the run, and where it is now."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from burlab.analysis.coordinate_names import coordinate_names
from burlab.analysis.height_map import known_points, map_over
from burlab.charts import Curve, Dots, Map
from burlab.charts.limits import along

from .pyramid import Series

if TYPE_CHECKING:
    from .panel_model import PanelModel

Once = Callable[[str, Any, Callable[[], Any]], Any]  # (name, version, make)
_INK, _PATH = -1, 1  # colours
_BREAK = np.full((1, 2), np.nan)


def plane(model: "PanelModel", once: Once) -> Map:
    """The map of a model that has a landscape."""
    landscape: Any = model.landscape
    heights = landscape.heights
    box = (
        landscape.box if heights is None else np.array([heights.x[[0, -1]], heights.y[[0, -1]]])
    )  # new ones come later
    known = once("marks", None, lambda: known_points(model.run.problem))
    here = once("here", tuple(model.point), lambda: Dots(model.point[:1], model.point[1:], "here", _PATH))
    curves = tuple(_paths(model, box, once))
    title = f"path over {model.problem}"
    return map_over(
        box, heights, title, curves, (*known, here), name="plane", version=landscape.version, note=landscape.why,
        labels=once("labels", None, lambda: coordinate_names(model.run.x)),
    )  # fmt: skip


def _paths(model: "PanelModel", box: Series, once: Once) -> Iterator[Curve]:
    """Yield the paths of the parents, of the steps after the cursor, and of those before it."""
    steps, points = model.lines.path.steps, model.lines.path.points
    t = model.past
    seen = tuple(box.ravel())
    if model.old:
        old = tuple(id(line.path.points) for line in model.old), seen
        paths = [line.path.points for line in model.old]
        yield once("old paths", old, lambda: _line(paths, box, "before it branched", _INK, True))
    here = id(points), t, seen
    if t is not None and (steps > t).any():  # where a run has stopped it has a row, and nothing ahead
        yield once("path ahead", here, lambda: _line([points[steps >= t]], box, "ahead", _PATH, True))
    gone = points if t is None else points[steps <= t]
    yield once("path", here, lambda: _line([gone], box, "path", _PATH, False))


def _line(paths: list[Series], box: Series, label: str, colour: int, faint: bool) -> Curve:
    """Paths without the points that nobody could tell apart."""
    seen = [part for path in paths for part in (path[along(path, box=box)] if len(path) else path, _BREAK)]
    points = np.concatenate(seen[:-1])
    return Curve(points[:, 0], points[:, 1], label, colour, faint=faint)
