"""The widgets of a panel: a head, the plots, the controls."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any, cast

import traitlets

from burlab.runtime.extras import late

from .figure import Figure
from .model import Model
from .plots import Plots
from .state import state_of

anywidget: Any = late("anywidget", "lab")
ipywidgets: Any = late("ipywidgets", "lab")

_HERE = Path(__file__).parent
_HEAD = ("title", "step", "length", "playing", "speed", "axis", "tone", "status", "readouts")
_CONTROLS = ("knobs", "memory")
_PATIENCE, _MOST_PATIENCE = 0.5, 2.0  # seconds for which an update waits for a page that has not drawn the last one
_CONFIG = {
    "responsive": True,
    "displaylogo": False,
    "showSendToCloud": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "sendChartToCloud"],
}


class Head(anywidget.AnyWidget):
    """Buttons, status line, read-outs, and the slider over the record."""

    _esm = _HERE / "head.js"
    _css = _HERE / "panel.css"
    state = traitlets.Dict().tag(sync=True)


class Controls(anywidget.AnyWidget):
    """Knobs and memory."""

    _esm = _HERE / "controls.js"
    state = traitlets.Dict().tag(sync=True)


class View:
    """The widgets of one panel, which any number of cells may show. `hear` gets what the controls send."""

    def __init__(self, model: Model, hear: Callable[[dict[str, Any]], None]) -> None:
        self._tick = 0
        self._drawn = 0
        self._sent = 0.0
        self._patience = _PATIENCE
        self._told: dict[str, Any] = {}
        self._tell(state_of(model))
        self.head = Head(state=self._part(_HEAD))
        self.controls = Controls(state=self._part(_CONTROLS))
        self.figure = Figure(model, Plots)
        self.figure.widget.set_trait("_config", _CONFIG)
        self.root: Any = ipywidgets.VBox([self.head, self.figure.widget, self.controls])
        self.root.add_class("burlab-panel")
        for control in (self.head, self.controls):
            cast("Any", control).on_msg(_passed_to(hear))
            _heard_while_a_cell_runs(control)

    @property
    def ready(self) -> bool:
        """Whether the browser has drawn what it was sent, or has had enough time for it."""
        return self._drawn >= self._tick or monotonic() - self._sent > self._patience

    def drawn(self, tick: int) -> None:
        """The browser has drawn an update."""
        self._drawn = max(self._drawn, tick)
        self._patience = _PATIENCE

    def show(self, model: Model) -> None:
        """Send what has changed."""
        with self.figure.widget.gate:
            model.zoom(self.figure.window)
            moved = self.figure.draw(model)
        state = state_of(model)
        if not (moved or state != self._told):
            return
        if self._drawn < self._tick:
            self._patience = min(2 * self._patience, _MOST_PATIENCE)
        self._tick += 1
        self._sent = monotonic()
        self._tell(state)
        self.head.state = self._part(_HEAD)
        self.controls.state = {name: state[name] for name in _CONTROLS}

    def close(self) -> None:
        """Take the widgets out of the kernel and of the pages that show them."""
        for widget in (self.root, self.head, self.controls, self.figure.widget):
            widget.close()

    def _tell(self, state: dict[str, Any]) -> None:
        self._told = state

    def _part(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {name: self._told[name] for name in names} | {"tick": self._tick}


def _heard_while_a_cell_runs(widget: Any) -> None:
    """Let the kernel deliver what a page sends where the page wants it: JupyterLab names a subshell, another thread.

    ipykernel 7.4 overrides that: what concerns a widget waits in the shell that opened it, behind the cell that runs.
    """

    def as_the_page_says(_data: Any, subshell: Any) -> Any:
        return subshell

    if hasattr(widget.comm, "__dict__"):
        vars(widget.comm)["_reply_subshell_for"] = as_the_page_says


def _passed_to(hear: Callable[[dict[str, Any]], None]) -> Any:
    """A widget's callback that hands on what was said."""

    def callback(_widget: Any, message: Any, _buffers: Any) -> None:
        hear(message)

    return callback
