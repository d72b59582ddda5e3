"""What the traces of a panel's plots get: made only when it is to be drawn."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .column import place_of
from .lines import Lines
from .model import Model, Plot
from .pyramid import NOTHING

_BREAK = np.array([np.nan])  # where a drawn line stops and another one starts
_FEW = 60  # points that are drawn as dots
_EVENTS = 300  # changes of hyperparameters that are marked, the last ones

Make = Callable[[], dict[str, Any]]
Change = tuple[Any, Make]  # a version, and what a trace gets when it is new


def curve(lines: list[Lines], name: str, count: int, log: bool, log_steps: bool) -> Make:
    """The points of a column, of several runs one after the other."""

    def make() -> dict[str, Any]:
        pieces = [line.curves[name].along(count, log=log, log_steps=log_steps) for line in lines if name in line.curves]
        if len(pieces) > 1:
            pieces = [part for piece in pieces for part in (piece, (_BREAK, _BREAK))]
        x = np.concatenate([NOTHING, *(x for x, _ in pieces)])
        y = np.concatenate([NOTHING, *(y for _, y in pieces)])
        return {"x": x, "y": y, "mode": "lines+markers" if x.size <= _FEW else "lines"}

    return make


def zeros(lines: Lines, plot: Plot, count: int, log_steps: bool) -> Make:
    """The rows of a plot's main column that are exactly 0, on the floor of an axis with logarithms."""

    def make() -> dict[str, Any]:
        curve, floor = lines.curves.get(plot.columns[0]), plot.floor
        x = NOTHING if curve is None or floor is None else curve.zeros(count)
        return {"x": place_of(x, log_steps), "y": np.full(x.size, floor or 0.0)}

    return make


def finer(make: Make, fine: Lines | None, name: str, count: int, log: bool) -> Make:
    """The same curve, with more points where someone has zoomed in."""
    if fine is None or fine.window is None or name not in fine.curves:
        return make
    (first, last), inside = fine.window, fine.curves[name]

    def mixed() -> dict[str, Any]:
        coarse, (x, y) = make(), inside.points(count, log=log)
        before, after = coarse["x"] < first, coarse["x"] > last
        return {
            "x": np.concatenate([coarse["x"][before], x, coarse["x"][after]]),
            "y": np.concatenate([coarse["y"][before], y, coarse["y"][after]]),
            "mode": "lines",
        }

    return mixed


def events(model: Model) -> Change:
    """Where hyperparameters were changed, on the curve of the value."""
    marked_events = model.events[-_EVENTS:]

    def make() -> dict[str, Any]:
        value = model.lines.curves["value"]
        rows = [(event, model.run.at(event.step)) for event in marked_events if event.step < model.run.length]
        marked = [(event, row["value"] if row else value.around(event.step)[1]) for event, row in rows]
        return {
            "x": place_of(np.array([float(event.step) for event, _ in marked]), model.log_steps),
            "y": np.array([value for _, value in marked]),
            "hovertext": [
                f"{event.name} follows its schedule" if np.isnan(event.value) else f"{event.name} = {event.value:.6g}"
                for event, _ in marked
            ],
        }

    done = bool(marked_events) and model.run.length > marked_events[-1].step  # its row is there
    return (len(model.events), done, id(model.run.parent), model.log_steps), make
