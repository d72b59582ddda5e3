"""The plots of a panel: one plotly figure, changed in place and only where something is new."""

import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go  # pyright: ignore[reportMissingTypeStubs] - plotly ships none

from . import contour
from .arrangement import Place, arranged
from .lines import Lines
from .look import BLUE, GREEN, GREY, ORANGE, axis_of, cursor, layout
from .model import Model, Plot
from .pyramid import NOTHING

_BREAK = np.array([np.nan])  # where a drawn line stops and another one starts
_OFTEN = {"x", "y", "mode"}
_FEW = 60  # points that are drawn as dots
_EVENTS = 300  # changes of hyperparameters that are marked, the last ones

Change = tuple[Any, Callable[[], dict[str, Any]]]  # a version, and what a trace gets when it is new


class Figure:
    """A plotly figure of a model, of a class of the caller's choice: go.Figure, or go.FigureWidget in a notebook."""

    def __init__(self, model: Model, kind: type[Any] = go.Figure) -> None:
        self._arrangement = arranged(model.plots, square=model.ground is not None)
        self.widget: Any = kind(layout=layout(self._arrangement, f"path over {model.problem}"))
        self._traces: dict[str, int] = {}
        self._shown: dict[str, Any] = {}  # name -> version
        self._model = weakref.ref(model)  # whose versions these are
        for place in self._arrangement.places:
            for name, look in _looks(place.plot):
                self._add(name, go.Scatter(x=NOTHING, y=NOTHING, xaxis=place.x, yaxis=place.y, **look))
        if self._arrangement.square:
            for name, trace in contour.traces(*self._arrangement.square):
                self._add(name, trace)
        self.draw(model)

    def draw(self, model: Model) -> bool:
        """Show what is new, in one message; whether there was anything."""
        if model is not self._model():
            self._model = weakref.ref(model)
            self._shown.clear()
        changes = [*self._curves(model), ("events", _events(model))]
        if self._arrangement.square:
            changes += contour.changes(model)
        traces = {name: make() for name, (version, make) in changes if self._is_new(name, version)}
        frame: dict[str, Any] = {}
        for name, version, value in self._frame(model):
            if self._is_new(name, version):
                frame |= value
        try:
            self._send({name: look for name, look in traces.items() if look}, frame)
        except BaseException:
            self._shown.clear()  # nobody knows what has arrived
            raise
        return bool(traces or frame)

    def _send(self, traces: dict[str, dict[str, Any]], frame: dict[str, Any]) -> None:
        """One message for all that changes often, past plotly's validation, which takes ten times as long."""
        often = {self._traces[name]: traces.pop(name) for name in list(traces) if traces[name].keys() <= _OFTEN}
        if traces:
            with self.widget.batch_update():
                for name, look in traces.items():
                    self.widget.data[self._traces[name]].update(look)
        if often or frame:
            looks = [{"mode": self.widget.data[k].mode} | look for k, look in often.items()]
            data: dict[str, Any] = {"mode": [look["mode"] for look in looks]} if looks else {}
            for axis in ("x", "y") if looks else ():
                data[axis] = [np.ascontiguousarray(look[axis], np.float64) for look in looks]  # as messages must be
            self.widget.plotly_update(data, frame, list(often))

    def _add(self, name: str, trace: Any) -> None:
        self._traces[name] = len(self.widget.data)
        self.widget.add_trace(trace)

    def _is_new(self, name: str, version: Any) -> bool:
        known = name in self._shown and self._shown[name] == version
        self._shown[name] = version
        return not known

    def _curves(self, model: Model) -> Iterator[tuple[str, Change]]:
        old = tuple((id(line), line.version) for line in model.old)
        for place, plot in self._now(model):
            for name in plot.columns:
                yield name, ((model.lines.version, plot.log), _curve([model.lines], name, place.points, plot.log))
            main = plot.columns[0]
            yield f"old {main}", ((old, plot.log), _curve(model.old, main, place.points, plot.log))

    def _frame(self, model: Model) -> Iterator[tuple[str, Any, dict[str, Any]]]:
        """Name and version of what the layout says, and what to change in it."""
        for place, plot in self._now(model):
            axis = axis_of(plot)
            yield place.y, axis, {f"yaxis{place.y[1:]}.{key}": value for key, value in axis.items()}
        t, length = int(model.run.t), int(model.run.length)
        whole = length < 5  # no fractions of steps
        yield "x", whole, {"xaxis.dtick": 1 if whole else None}
        ahead = (t, length) if t < length else None
        yield "shapes", ahead, {"shapes": [shape for x in self._arrangement.columns for shape in cursor(x, t, length)]}
        if self._arrangement.square:
            yield from contour.frame(model, *self._arrangement.square)

    def _now(self, model: Model) -> Iterator[tuple[Place, Plot]]:
        """Each place with its plot as it is now."""
        plots = {plot.name: plot for plot in model.plots}
        return ((place, plots[place.plot.name]) for place in self._arrangement.places)


def _curve(lines: list[Lines], name: str, count: int, log: bool) -> Callable[[], dict[str, Any]]:
    """The points of a column, of several runs one after the other."""

    def make() -> dict[str, Any]:
        pieces = [line.curves[name].points(count, log=log) for line in lines if name in line.curves]
        if len(pieces) > 1:
            pieces = [part for piece in pieces for part in (piece, (_BREAK, _BREAK))]
        x = np.concatenate([NOTHING, *(x for x, _ in pieces)])
        y = np.concatenate([NOTHING, *(y for _, y in pieces)])
        return {"x": x, "y": y, "mode": "lines+markers" if x.size <= _FEW else "lines"}

    return make


def _events(model: Model) -> Change:
    """Where hyperparameters were changed, on the curve of the value."""
    events = model.events[-_EVENTS:]

    def make() -> dict[str, Any]:
        rows = [(event, model.run.at(event.step)) for event in events]
        marked = [(event, row["value"]) for event, row in rows if row]
        return {
            "x": np.array([float(event.step) for event, _ in marked]),
            "y": np.array([value for _, value in marked]),
            "hovertext": [
                f"{event.name} follows its schedule" if np.isnan(event.value) else f"{event.name} = {event.value:.6g}"
                for event, _ in marked
            ],
        }

    return (
        len(events),
        events[-1:] and (events[-1].step, model.run.length > events[-1].step),
        id(model.run.parent),
    ), make


def _looks(plot: Plot) -> Iterator[tuple[str, dict[str, Any]]]:
    """The traces of a plot, from back to front."""
    common = {"showlegend": False, "marker": {"size": 4}, "hovertemplate": "%{y:.6g}<extra></extra>"}
    before = {"line": {"color": GREY, "width": 1.2}, "opacity": 0.75, "hoverinfo": "skip", "hovertemplate": None}
    yield f"old {plot.columns[0]}", common | before
    for name, colour in zip(plot.columns, (BLUE, GREEN), strict=False):
        yield name, common | {"line": {"color": colour, "width": 1.5}}
    if plot.name == "value":
        marker = {"symbol": "diamond", "size": 7, "color": ORANGE, "line": {"color": "white", "width": 1}}
        hover = {"mode": "markers", "marker": marker, "hovertemplate": "%{hovertext}<extra></extra>"}
        yield "events", common | hover
