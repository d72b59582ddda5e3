"""The plots of a panel: one plotly figure, changed in place and only where something is new."""

import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from burlab.runtime.extras import late

from . import contour
from .arrangement import Place, arranged
from .column import place_of
from .curves import Change, curve, events, finer, zeros
from .model import Model, Plot
from .pyramid import NOTHING
from .theme import BLUE, GREEN, GREY, ORANGE, around, axis_of, cursor, floor_line, layout, ticks, words

go: Any = late("plotly.graph_objects", "lab")

_OFTEN = {"x", "y", "mode"}


class Figure:
    """A plotly figure of a model, of a class of the caller's choice: go.Figure, or go.FigureWidget in a notebook."""

    def __init__(self, model: Model, kind: type[Any] = go.Figure) -> None:
        self._arrangement = arranged(model.plots, square=model.landscape is not None)
        self.widget: Any = kind(layout=layout(self._arrangement))
        self._traces: dict[str, int] = {}
        self._shown: dict[str, Any] = {}  # name -> version
        self._model = weakref.ref(model)  # whose versions these are
        self._log_steps = False
        self._sent: dict[str, Any] = {}  # axis -> the range that was sent, where it was not left to plotly
        for place in self._arrangement.places:
            for name, look in _looks(place.plot):
                self._add(name, go.Scatter(x=NOTHING, y=NOTHING, xaxis=place.x, yaxis=place.y, **look))
        if self._arrangement.square:
            for name, trace in contour.traces(*self._arrangement.square):
                self._add(name, trace)
        for place in self._arrangement.places:
            look = {"mode": "markers", "marker": {"size": 4, "color": BLUE}, "hovertemplate": "0<extra></extra>"}
            look |= {"name": f"{place.plot.name} is 0", "showlegend": False, "xaxis": place.x, "yaxis": place.y}
            self._add(f"zeros {place.plot.name}", go.Scatter(x=NOTHING, y=NOTHING, **look))
        self.draw(model)

    @property
    def window(self) -> tuple[float, float] | None:
        """The first and the last step in sight, where someone has zoomed in."""
        seen = self._zoom("x")
        return (10 ** seen[0], 10 ** seen[1]) if seen and self._log_steps else seen

    def draw(self, model: Model) -> bool:
        """Show what is new, in one message; whether there was anything."""
        if model is not self._model():
            self._model = weakref.ref(model)
            self._shown.clear()
        changes = [*self._curves(model), ("events", events(model))]
        if self._arrangement.square:
            changes += contour.changes(model)
        traces = {name: make() for name, (version, make) in changes if self._is_new(name, version)}
        frame = self._given_up() | self._turned(model.log_steps)
        for name, version, value in self._frame(model):
            if self._is_new(name, version):
                frame |= value
        try:
            self._send({name: look for name, look in traces.items() if look}, frame)
        except BaseException:
            self._shown.clear()  # nobody knows what has arrived
            raise
        return bool(traces or frame)

    def _zoom(self, name: str) -> tuple[float, float] | None:
        """What is in sight along an axis, where that was chosen by hand."""
        axis = self.widget.layout[_long(name)]
        if axis.range is None or axis.autorange or [*axis.range] == self._sent.get(name):
            return None
        return float(axis.range[0]), float(axis.range[1])

    def _given_up(self) -> dict[str, Any]:
        """What undoes a choice that a double click has ended: the range stays there else, and hides the next choice."""
        frame: dict[str, Any] = {}
        for name in (*self._arrangement.columns, *(place.y for place in self._arrangement.places)):
            axis = self.widget.layout[_long(name)]
            if axis.autorange and axis.range is not None:
                frame |= {f"{_long(name)}.range": None, f"{_long(name)}.autorange": None}
                self._shown.pop(name, None)  # one whose range is sent gets it again
        return frame

    def _turned(self, log_steps: bool) -> dict[str, Any]:
        """What makes axes of steps linear or logarithmic; a part that was chosen is given up."""
        if log_steps == self._log_steps:
            return {}
        self._log_steps = log_steps
        self._shown.pop("x", None)
        new = {"type": "log" if log_steps else "linear", "range": None, "autorange": True}
        return {f"{_long(x)}.{key}": value for x in self._arrangement.columns for key, value in new.items()}

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
        log_steps = model.log_steps
        for place, plot in self._now(model):
            fine = model.fine and (id(model.fine), model.fine.version)
            for name in plot.columns:
                make = curve([model.lines], name, place.points, plot.log, log_steps)
                make = finer(make, model.fine, name, place.points, plot.log)
                yield name, ((model.lines.version, plot.log, fine, log_steps), make)
            main = plot.columns[0]
            yield f"old {main}", ((old, plot.log, log_steps), curve(model.old, main, place.points, plot.log, log_steps))
            yield (
                f"zeros {plot.name}",
                ((model.lines.version, plot.floor, log_steps), zeros(model.lines, plot, place.points, log_steps)),
            )

    def _frame(self, model: Model) -> Iterator[tuple[str, Any, dict[str, Any]]]:
        """Name and version of what the layout says, and what to change in it."""
        for place, plot in self._now(model):
            axis = axis_of(plot, self._zoom(place.y))
            if "range" not in axis and self._sent.get(place.y):
                axis |= {"range": None, "autorange": None}  # left to plotly again
            self._sent[place.y] = axis.get("range", self._sent.get(place.y))
            yield place.y, axis, {f"{_long(place.y)}.{key}": value for key, value in axis.items()}
        t, length = int(model.run.t), int(model.run.length)
        drawn = [length, *(int(line.run.length) for line in model.old)]
        whole = max(drawn) < 5  # no fractions of steps
        every = 1 if whole or model.log_steps else None
        yield "x", every, {f"xaxis.{key}": value for key, value in ticks(every).items()}
        ends = [float(place_of(step, model.log_steps)) for step in (t, length)]
        shapes = [shape for x in self._arrangement.columns for shape in cursor(x, *ends)]
        shapes += [floor_line(place, plot) for place, plot in self._now(model)]
        floors = [plot.floor for _, plot in self._now(model)]
        yield "shapes", (ends if t < length else None, floors), {"shapes": shapes}
        said = [word for place, plot in self._now(model) for word in words(place, plot)]
        said += around(self._arrangement, f"path over {model.problem}", model.log_steps)
        yield "words", said, {"annotations": said}
        if self._arrangement.square:
            yield from contour.frame(model, *self._arrangement.square)

    def _now(self, model: Model) -> Iterator[tuple[Place, Plot]]:
        """Each place with its plot as it is now."""
        plots = {plot.name: plot for plot in model.plots}
        return ((place, plots[place.plot.name]) for place in self._arrangement.places)


def _long(name: str) -> str:
    """What the layout calls an axis.

    >>> _long("y2")
    'yaxis2'
    """
    return f"{name[0]}axis{name[1:]}"


def _looks(plot: Plot) -> Iterator[tuple[str, dict[str, Any]]]:
    """The traces of a plot, from back to front."""
    common = {"showlegend": False, "marker": {"size": 4}, "hovertemplate": "%{y:.6g}<extra></extra>"}
    before = {"line": {"color": GREY, "width": 1.2}, "opacity": 0.75, "hoverinfo": "skip", "hovertemplate": None}
    yield f"old {plot.columns[0]}", common | before | {"name": f"{plot.columns[0]} of a parent"}
    for name, colour in zip(plot.columns, (BLUE, GREEN), strict=False):
        yield name, common | {"name": name, "line": {"color": colour, "width": 1.5}}
    if plot.name == "value":
        marker = {"symbol": "diamond", "size": 7, "color": ORANGE, "line": {"color": "white", "width": 1}}
        hover = {"mode": "markers", "marker": marker, "hovertemplate": "%{hovertext}<extra></extra>"}
        yield "events", common | hover | {"name": "changes"}
