"""A loss over planes through its parameters, in a notebook."""

import threading
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import traitlets

from burlab.charts import Chart, Map
from burlab.charts.relief import Pose, relief
from burlab.charts.svg import svg
from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown
from burlab.runtime.displayed import Displayed
from burlab.runtime.extras import late
from burlab.widgets import still
from burlab.widgets.assets import module
from burlab.widgets.chart.chart_view import ChartView
from burlab.widgets.kernel_messages import receive_during_cells

from .explorer import PLANES, Explorer
from .watcher import Watcher

anywidget: Any = late("anywidget", "lab")
ipywidgets: Any = late("ipywidgets", "lab")

_FOLDER = Path(__file__).parent
SHAPES = ("contour", "surface")
_POLL_SECONDS = 0.02  # seconds between two polls for results
_FIRST_POINTS_SECONDS = 60.0  # timeout in seconds of the first points without a page
_COMPUTING = "computing ..."


class LandscapeBar(anywidget.AnyWidget):
    """The choice of a plane and of how it is drawn, and what is being done."""

    _esm = module("analysis/bar.js")
    _css = _FOLDER / "bar.css"
    planes = traitlets.List(traitlets.Any()).tag(sync=True)
    plane = traitlets.Unicode().tag(sync=True)
    shape = traitlets.Unicode(SHAPES[0]).tag(sync=True)
    status = traitlets.Unicode().tag(sync=True)


class LandscapeView(Displayed):
    """The landscape of a loss, refined while one looks at it, with a choice of planes, as a contour or as a surface.

    It shows results of `burlab.analysis.landscape`. A plane is computed when it is chosen, at "Again", and where the
    path of the run has left it.

    Args:
        problem: A function of x, a `FiniteSum`, or a run, at its point and with its path. The view of a run follows it
            while it does steps and a page shows it, at 2% of a core.
        x: The point at the centre, for other problems than runs.
        indices: The samples of a finite sum that count, shape (b,), int64; None for all.

    >>> import numpy as np
    >>> view = LandscapeView(lambda x: np.sum(x**4), np.ones(3))
    >>> view.wait(); view.landscape.value.shape
    (91, 91)
    """

    def __init__(self, problem: Any, x: Any = None, *, indices: Any = None) -> None:
        self._explorer = Explorer(problem, x, indices, self._show)
        planes = self._explorer.planes
        self._seed = 0
        self._pose = Pose()
        self._shown = 0  # the explorer's refinements when it was drawn last
        self._lock = threading.RLock()  # two threads display: the refining and the following one
        self._chart: Any = ChartView(Chart(()))
        self._chart.on_intent(self._posed)
        self._watcher = Watcher(self._follow)
        self.bar: Any = LandscapeBar(planes=[[name, PLANES[name]] for name in planes])
        self.bar.on_msg(self._on_message)
        receive_during_cells(self.bar)
        self.root: Any = ipywidgets.VBox([self.bar, self._chart])
        self.explore(planes[0])

    def explore(self, plane: str, seed: int = 0) -> None:
        """Show another plane, as the controls do.

        Args:
            plane: "axes", "random", "path" or "curvature"; not every problem has each of them.
            seed: The seed of a random plane.

        Raises:
            ArgumentError: The problem has no such plane.
        """
        planes = self._explorer.planes
        if plane not in planes:
            raise ArgumentError(f"plane must be one of {', '.join(map(repr, planes))}; got {shown(plane)}.")
        self._seed, self.bar.plane = seed, plane
        self.bar.status = _COMPUTING
        self._explorer.explore(plane, seed)

    def show_as(self, shape: str) -> None:
        """Draw it as a "contour" or as a "surface", as the controls do."""
        if shape not in SHAPES:
            raise ArgumentError(f"shape must be one of {', '.join(map(repr, SHAPES))}; got {shown(shape)}.")
        self.bar.shape = self._chart.shape = shape
        self._show()

    def follow(self) -> bool:
        """Read the run's point and return True if it has changed. A view on a page does so by itself."""
        if not self._explorer.follow():
            return False
        self._show()
        return True

    def wait(self) -> None:
        """Wait until the plane has its finest resolution."""
        self._explorer.wait()

    def settle(self, end: float) -> bool:
        """Without a page, follow the run, wait for the first points of a plane, and return True if any are new.

        end: see `still.show`; what has no points at all is waited for longer, as long as no page comes.
        """
        if self._watcher.pages.present:
            return False
        new = self.follow()
        end = max(end, monotonic() + _FIRST_POINTS_SECONDS) if self._explorer.found is None else end
        while self._explorer.computing and monotonic() < end and not self._watcher.pages.present:
            sleep(_POLL_SECONDS)
        found = self._explorer.refinements != self._shown  # the explorer's thread may be about to show it
        if found:
            self._show()
        return new or found

    @property
    def landscape(self) -> Any:
        """The `burlab.analysis.Landscape` that is shown: the last plane, until a new one has points; at first None."""
        return self._explorer.found

    def picture(self) -> str:
        """Return the picture that is shown as SVG: the surface as it was last turned."""
        chart: Chart = self._chart.chart
        part = next(iter(chart.parts), None)
        return relief(part, self._pose) if self.bar.shape == "surface" and isinstance(part, Map) else svg(chart)

    def __repr__(self) -> str:
        return f"<LandscapeView: {self.bar.plane}, {self.bar.status}>"

    def _on_message(self, _widget: Any, message: dict[str, Any], _buffers: Any) -> None:
        if self._watcher.handle(message):
            return
        kind = message["type"]
        if kind == "show":
            self.show_as(message["shape"])
        elif kind in ("again", "plane"):
            again = kind == "again"
            self.explore(self.bar.plane if again else message["plane"], self._seed + again)

    def _posed(self, message: dict[str, Any]) -> None:
        if message["type"] == "pose":
            self._pose = Pose(*(float(message[name]) for name in ("turn", "lift", "zoom")))
            still.refresh(self.root)

    def _follow(self) -> bool:
        return self.follow()

    def _show(self) -> None:
        with self._lock:
            count, found = self._explorer.refinements, self._explorer.found
            if found is not None:
                self._chart.chart = found.chart()
                still.refresh(self.root)
            self._shown = count
            self.bar.status = self._status_text(found)

    def _status_text(self, found: Any) -> str:
        explorer = self._explorer
        if explorer.why:
            return explorer.why
        if found is None or explorer.computing:
            return _COMPUTING
        words = [f"{found.value.size:,} points"]
        words += [f"step {explorer.step:,}"] if explorer.step >= 0 else []
        words += (
            [f"a new plane at step {explorer.left:,}: the path had left the one before"] if explorer.left >= 0 else []
        )
        return ", ".join(words)
