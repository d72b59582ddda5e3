"""The chart of a playground: what the network says over the plane, and the loss over the steps."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from burlab.charts import Axis, Chart, Curve, Dots, Map, Plot
from burlab.charts.chart import DotShape
from burlab.charts.grid import axes
from burlab.typing import Numbers
from burlab.widgets.panel.curves_of_run import RunCurves
from burlab.widgets.panel.panel_model import PanelModel

from .network_pictures import SIZE, PlaneGrid

if TYPE_CHECKING:
    from burlab.run import Run

_MAX_POINTS = 600  # of an earlier loss
_LOSS = "loss of a batch"
_TALL = 1.3  # of the loss, in heights of ordinary plots
_CLASSES: tuple[tuple[str, int, DotShape], ...] = (("class -1", 0, "dot"), ("class 1", 1, "triangle"))


def plane_map(plane: PlaneGrid, answer: Numbers, dots: tuple[Dots, ...], title: str, version: int) -> Map:
    """Return the map of an answer, shape (SIZE^2,), in two colours that part at 0."""
    x, y = axes((plane.a[[0, -1]], plane.b[[0, -1]]), ("", ""))
    return Map("plane", title, x, y, answer.reshape(SIZE, SIZE), version, dots=dots, middle=0.0)


def points_of(points: Numbers, classes: Numbers, plane: PlaneGrid) -> tuple[Dots, ...]:
    """Return the points that the map shows, a colour and a shape for each class."""
    low, high = [plane.a[0], plane.b[0]], [plane.a[-1], plane.b[-1]]
    inside = ((points >= low) & (points <= high)).all(axis=1)
    chosen = [points[inside & (np.sign(classes) == side)] for side in (-1.0, 1.0)]
    return tuple(
        Dots(some[:, 0], some[:, 1], label, colour, shape)
        for some, (label, colour, shape) in zip(chosen, _CLASSES, strict=True)
    )


class LossPlot:
    """The loss of a run, as its panel draws it, with the losses of the runs before it. Cached until one changes."""

    def __init__(self) -> None:
        self._read: dict[int, RunCurves] = {}
        self._key: object = None
        self._plot = Plot("value", _LOSS, Axis("step"), Axis(), tall=_TALL)

    def plot(self, panel: PanelModel | None, earlier: "list[tuple[str, Run]]") -> Plot:
        """Return the plot: the same object as long as nothing in it has changed."""
        parts = () if panel is None else panel.chart().parts
        own = next((part for part in parts if isinstance(part, Plot) and part.name == "value"), None)
        key = (own, [label for label, _ in earlier], [id(run) for _, run in earlier])
        if key != self._key:
            self._key = key
            own = own or Plot("value", "", Axis("step"), Axis(log=True))
            before = tuple(self._curve(k, label, run, own) for k, (label, run) in enumerate(earlier))
            now = tuple(replace(curve, label=_LOSS) if curve.label == own.title else curve for curve in own.curves)
            self._plot = replace(own, title=_LOSS, tall=_TALL, curves=(*before, *now))
        return self._plot

    def _curve(self, k: int, label: str, run: "Run", own: Plot) -> Curve:
        lines = self._read.setdefault(id(run), RunCurves(run))
        lines.read()
        x, y = lines.curves["value"].along(_MAX_POINTS, log=own.y.log, log_steps=own.x.log)
        return Curve(x, y, label, 2 + k, faint=True)


def chart_of(plot: Plot, plane: Map, about: str) -> Chart:
    """Return the chart of both."""
    return Chart((plot, plane), about=about)
