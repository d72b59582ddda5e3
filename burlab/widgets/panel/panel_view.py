"""The widget of a panel: a head, the chart, the controls."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import traitlets

from burlab.charts import Map, Plot
from burlab.charts.svg import svg
from burlab.runtime.extras import late
from burlab.widgets import still
from burlab.widgets.assets import CHART_STYLE, module, styles
from burlab.widgets.chart import encode
from burlab.widgets.chart.chart_view import split
from burlab.widgets.kernel_messages import receive_during_cells
from burlab.widgets.update_flow import UpdateFlow

from .panel_chart import PanelChart, same
from .panel_model import PanelModel
from .panel_state import state_of
from .scales import SliderScale, texts

anywidget: Any = late("anywidget", "lab")
ipywidgets: Any = late("ipywidgets", "lab")


class PanelWidget(anywidget.AnyWidget):
    """The widget of a panel.

    state: words and numbers. texts: by knob, as `scales.texts`. data and heights: the chart, as `ChartView` has them.
    """

    _esm = module("panel/panel.js")
    _css = styles(CHART_STYLE, "panel/panel.css")
    state = traitlets.Dict().tag(sync=True)
    texts = traitlets.Dict().tag(sync=True)
    data = traitlets.Dict().tag(sync=True)
    heights = traitlets.Dict().tag(sync=True)


class PanelView:
    """The widget of one panel, which any number of cells may show. `on_message` gets what the controls send."""

    def __init__(self, model: PanelModel, on_message: Callable[[dict[str, Any]], None]) -> None:
        self._flow = UpdateFlow()
        self._picture = PanelChart()
        self._sent_state: dict[str, Any] = state_of(model)
        self._shown = self._picture.chart(model)
        data, heights = split(encode(self._shown), {})
        self._scales = dict(model.scales)
        self.face: Any = PanelWidget(
            state=self._sent_state | {"tick": 0}, texts=_texts(self._scales), data=data, heights=heights
        )
        self.root: Any = ipywidgets.VBox([self.face])  # which JupyterLab marks when its kernel is gone
        self.face.on_msg(_callback(on_message))
        receive_during_cells(self.face)

    @property
    def ready(self) -> bool:
        """Return True if the browser has drawn the last updates, or has had enough time for them."""
        return self._flow.ready

    def drawn(self, tick: int) -> None:
        """Note that the browser has drawn an update."""
        self._flow.drawn(tick)

    def answer(self, model: PanelModel) -> None:
        """Send the state even where the page does not keep up with the chart: it answers an intent."""
        state = state_of(model)
        if state != self._sent_state:
            with self.face.hold_sync():
                self._send_state(state, model)

    def show(self, model: PanelModel) -> None:
        """Send what has changed."""
        state, chart = state_of(model), self._picture.chart(model)
        changed = not same(chart, self._shown)
        if not (changed or state != self._sent_state):
            return
        self._flow.send()
        with self.face.hold_sync():
            self._send_state(state, model)
            if changed:
                data, heights = split(encode(chart), self.face.heights)
                if heights is not self.face.heights:
                    self.face.heights = heights
                self.face.data = data
        self._shown = chart
        if not model.active:
            still.refresh(self.root)

    def picture(self) -> str:
        """Return the last chart as SVG; of a run without steps its start. From any thread."""
        chart = self._shown
        parts = [part for part in chart.parts if isinstance(part, Map) or _holds(part)] or chart.parts[:1]
        return svg(
            replace(chart, parts=tuple(parts), title=f"{self._sent_state['title']}. {self._sent_state['status']}")
        )

    def _send_state(self, state: dict[str, Any], model: PanelModel) -> None:
        """Send the state, and the texts of knobs where their scales have changed."""
        if model.scales != self._scales:
            self._scales = dict(model.scales)
            self.face.texts = _texts(self._scales)
        self.face.state = state | {"tick": self._flow.tick}
        self._sent_state = state

    def close(self) -> None:
        """Take the widgets out of the kernel and of the pages that show them."""
        self.face.close()
        self.root.close()


def _texts(scales: dict[str, SliderScale]) -> dict[str, tuple[str, ...]]:
    return {name: texts(scale) for name, scale in scales.items()}


def _holds(plot: Plot) -> bool:
    """Return True if a plot holds any points."""
    return any(one.x.size for one in (*plot.curves, *plot.bands, *plot.dots))


def _callback(on_message: Callable[[dict[str, Any]], None]) -> Any:
    """Return a callback of a widget that passes messages on."""

    def callback(_widget: Any, message: Any, _buffers: Any) -> None:
        on_message(message)

    return callback
