"""A chart in a notebook: hover, zoom, a legend, PNG and CSV."""

from collections.abc import Callable
from typing import Any, cast

import traitlets

from burlab.charts import Chart
from burlab.runtime.displayed import Displayed
from burlab.runtime.extras import late
from burlab.widgets.assets import CHART_STYLE, module, styles

from .encode_chart import encode

anywidget: Any = late("anywidget", "lab")

Intent = dict[str, Any]


class ChartView(Displayed, anywidget.AnyWidget):
    """Shows a `Chart`. Setting `chart` draws another one in its place; zoom and hidden curves stay where names do.

    shape: "contour", or "surface" to draw its map as one.

    >>> import numpy as np
    >>> from burlab.charts import Axis, Chart, Curve, Plot
    >>> steps = np.arange(100.0)
    >>> plot = Plot("loss", "Loss", Axis("step"), Axis(log=True), (Curve(steps, 0.9**steps, "Adam"),))
    >>> view = ChartView(Chart((plot,), about="the loss over the steps"))
    >>> view.on_intent(print)  # doctest: +SKIP
    """

    _esm = module("chart/view.js")
    _css = styles(CHART_STYLE)
    data = traitlets.Dict().tag(sync=True)
    heights = traitlets.Dict().tag(sync=True)
    shape = traitlets.Unicode("contour").tag(sync=True)

    def __init__(self, chart: Chart, **options: Any) -> None:
        data, heights = split(encode(chart), {})
        widget: Any = super()
        widget.__init__(data=data, heights=heights, **options)
        self._chart = chart

    def __repr__(self) -> str:
        return f"<ChartView: {self._chart.about or self._chart.title or 'a chart'}>"

    @property
    def chart(self) -> Chart:
        """The chart that is shown."""
        return self._chart

    @chart.setter
    def chart(self, chart: Chart) -> None:
        self._chart = chart
        data, heights = split(encode(chart), self.heights)
        with cast("Any", self).hold_sync():
            if heights is not self.heights:
                self.heights = heights
            self.data = data

    def on_intent(self, callback: Callable[[Intent], None]) -> None:
        """Call `callback` with the user's actions in the chart.

        {type: "zoom", part, axis, low, high}, the ends None for all of it; {type: "seek", x} where the cursor is
        dragged; {type: "pick", part, label, x, y} for a click; {type: "pose", turn, lift, zoom} for a surface that
        was turned.
        """

        def handle(_widget: Any, intent: Intent, _buffers: Any) -> None:
            callback(intent)

        cast("Any", self).on_msg(handle)


def split(data: dict[str, Any], known: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A chart without the heights of its maps, and these by name: `known` itself where their versions are the same."""
    found: dict[str, Any] = {}
    for part in data["parts"]:
        if part["kind"] == "map" and part["heights"] is not None:
            found[part["name"]] = part["heights"] | {"version": part["version"]}
            part["heights"] = None
    versions = {name: field["version"] for name, field in found.items()}
    return data, known if versions == {name: field["version"] for name, field in known.items()} else found
