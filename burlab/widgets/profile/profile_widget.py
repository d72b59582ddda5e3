"""A profile in a notebook: bytes over time, the time line of the steps, and a table that is sorted by a click."""

from pathlib import Path
from typing import Any

import traitlets

from burlab.compiler.inspection.profile import Profile
from burlab.runtime.extras import late
from burlab.widgets.assets import module
from burlab.widgets.chart.chart_view import ChartView

from .profile_chart import live_chart, row_at

anywidget: Any = late("anywidget", "lab")
ipywidgets: Any = late("ipywidgets", "lab")

_FOLDER = Path(__file__).parent
Intent = dict[str, Any]


class ProfileTable(anywidget.AnyWidget):
    """The rows of a profile. row: the one that is marked, -1 for none."""

    _esm = module("profile/table.js")
    _css = (_FOLDER / "table.css").read_text(encoding="utf-8")
    data = traitlets.Dict().tag(sync=True)
    row = traitlets.Int(-1).tag(sync=True)


class ProfileView:
    """The chart and the table of a profile. root: the widget. The row under the mouse is marked in both.

    >>> import numpy as np, burlab as bl
    >>> view = ProfileView(bl.compile(lambda x: np.sum(x @ x), np.ones((8, 8))).profile(np.ones((8, 8))))
    >>> view.mark(0)
    >>> view.table.row, view.chart.chart.parts[0].marks[0].label
    (0, 'contract ab,bc->ac')
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.chart = ChartView(live_chart(profile))
        self.chart.add_class("burlab-profile-chart")
        self.table: Any = ProfileTable(data=_data(profile))
        self.root: Any = ipywidgets.VBox([self.chart, self.table])
        self.table.on_msg(self._hover)
        self.chart.on_intent(self._point)

    def mark(self, row: int) -> None:
        """Mark a row in the table and its time in the chart."""
        self.table.row = row
        self.chart.chart = live_chart(self.profile, row)

    def _hover(self, _widget: Any, intent: Intent, _buffers: Any) -> None:
        self.mark(int(intent["row"]))

    def _point(self, intent: Intent) -> None:
        if intent["type"] in ("pick", "seek"):
            self.mark(row_at(self.profile, float(intent["x"])))


def _data(profile: Profile) -> dict[str, Any]:
    rows = [
        {
            "index": k,
            "start": r.start if r.phase != "residual" else -1,
            "nanoseconds": r.nanoseconds,
            "nbytes": r.nbytes,
            "name": r.name,
            "phase": r.phase,
            "shape": " x ".join(map(str, r.shape)),
            "lines": ", ".join(r.lines),
            "scope": r.scope,
        }
        for k, r in enumerate(profile.rows)
    ]
    phases = dict.fromkeys(r.phase for r in profile.rows)
    sums = ", ".join(f"{phase} {profile.nanoseconds(phase) / 1e3:,.2f} µs" for phase in phases)
    return {"rows": rows, "total": max(profile.total, 1), "head": f"{profile.name}, {profile.gear}: {sums}"}
