"""The panel of a run, or of a watched loop: one for all of its displays."""

from dataclasses import replace
from typing import Any

from burlab.charts import Map, Plot
from burlab.charts.svg import svg
from burlab.widgets.assets import module
from burlab.widgets.live.live_view import LiveView, style
from burlab.widgets.live.shared_views import live_view_of

from .panel_model import PanelModel


class PanelView(LiveView):
    """The view of a run: a head, the chart, the controls."""

    _esm = module("panel/panel.js")
    _css = style()

    def __init__(self, run: Any) -> None:
        """Create a view; `panel_of` gives the one that there is already.

        Args:
            run: A `Run`, or the `Monitor` of a watched loop.
        """
        super().__init__(run, PanelModel)

    def picture(self) -> str:
        """Return the last chart as SVG; of a run without steps its start. From any thread."""
        chart = self._shown
        parts = [part for part in chart.parts if isinstance(part, Map) or _holds(part)] or chart.parts[:1]
        return svg(replace(chart, parts=tuple(parts), title=f"{self._sent['title']}. {self._sent['status']}"))

    def summary(self) -> str:
        """Return a line of text for pages that show neither widgets nor pictures."""
        return f"the panel of {self._subject()!r}"


def _holds(plot: Plot) -> bool:
    """Return True if a plot holds any points."""
    return any(one.x.size for one in (*plot.curves, *plot.bands, *plot.dots))


def panel_of(run: Any) -> PanelView:
    """Return the panel of a run: the same one for every display of it, until the last of them is deleted.

    Args:
        run: A `Run`, or the `Monitor` of a watched loop.
    """
    return live_view_of(run, PanelView)
