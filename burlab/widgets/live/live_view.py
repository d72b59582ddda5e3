"""A widget with a chart that follows something while a page looks: a race, a tree of branches."""

import threading
import weakref
from collections.abc import Callable
from time import monotonic
from typing import Any, Protocol, cast

import traitlets

from burlab.charts import Chart
from burlab.charts.svg import svg
from burlab.runtime.extras import late
from burlab.widgets import still
from burlab.widgets.assets import CHART_STYLE, WIDGETS
from burlab.widgets.chart.chart_view import split
from burlab.widgets.chart.encode_chart import encode
from burlab.widgets.kernel_messages import receive_during_cells
from burlab.widgets.page_thread import PageThread
from burlab.widgets.panel.page_worker import IDLE_SECONDS, PERIOD_SECONDS, Intent
from burlab.widgets.update_flow import UpdateFlow

anywidget: Any = late("anywidget", "lab")

STYLES = ("panel/panel.css", CHART_STYLE, "live/live.css")
_EMPTY_CHART: dict[str, Any] = encode(Chart(()))


class LiveModel(Protocol):
    """The model of a live view. It knows no screen: a test calls it as the view does."""

    def apply(self, intent: Intent) -> None:
        """Carry out an intent of a control; errors are part of the state."""
        ...

    def refresh(self) -> bool:
        """Read what is new, do what is due, and return True if there is something new to draw."""
        ...

    def state(self) -> dict[str, Any]:
        """All that is shown besides the chart, as JSON."""
        ...

    def chart(self) -> Chart:
        """The chart."""
        ...

    @property
    def active(self) -> bool:
        """Return True while it changes by itself."""
        ...


def style(*names: str) -> str:
    """Return the style sheets of a live view, and its own ones."""
    return "\n".join((WIDGETS / name).read_text(encoding="utf-8") for name in (*STYLES, *names))


class LiveView(anywidget.AnyWidget):
    """Shows a subject through a model of it. The subject is held only while a page shows the view.

    When no page has spoken for two minutes, nothing works and nothing is held; a page that comes back wakes it. Ten
    seconds after the last output with it is deleted, it closes.
    """

    state = traitlets.Dict().tag(sync=True)
    data = traitlets.Dict().tag(sync=True)
    heights = traitlets.Dict().tag(sync=True)

    def __init__(self, subject: Any, make: Callable[[Any], LiveModel]) -> None:
        model = make(subject)
        widget: Any = super()
        widget.__init__(state=model.state() | {"tick": 0}, data=_EMPTY_CHART, heights={})
        self._subject = weakref.ref(subject)
        self._shown = model.chart()  # for its picture
        self._make = make
        self._model: LiveModel | None = None
        self._thread = PageThread(self._iterate, lambda: self._subject() is not None and not self.closed)
        self._pages = self._thread.pages
        self._refreshing = threading.Lock()  # held by the thread that reads the subject
        self._flow = UpdateFlow()
        self._stale = True  # whether there is something new to draw
        self._displayed = False  # whether a notebook has a picture of it
        self.closed = False
        this = cast("Any", self)
        this.add_class("burlab-panel")
        this.on_msg(self._on_message)
        receive_during_cells(this)
        self._gone = weakref.finalize(subject, self.close)
        self._gone.atexit = False
        self._thread.wake()

    def show(self) -> None:
        """Display it in the cell that runs, with a picture for pages without its kernel."""
        self._displayed = True
        still.show(self, self.picture, lambda: self._shown.about or "a panel", self.settle)

    def picture(self) -> str:
        """The chart that was shown last, as SVG. From any thread."""
        return svg(self._shown)

    def settle(self, end: float) -> bool:
        """Without a page, show the present state and return True if it is new. end: see `still.show`."""
        subject = self._subject()
        if (
            subject is None
            or self.closed
            or self._pages.present
            or not self._refreshing.acquire(timeout=max(end - monotonic(), 0.0))
        ):
            return False
        try:
            fresh = self._model is None
            model = self._model or self._make(subject)
            new = model.refresh() or fresh or self._stale
            while monotonic() < end and not model.active and model.refresh():
                new = True
            self._stale = new
            self._show(model)
            return new
        finally:
            self._refreshing.release()

    def close(self) -> None:
        """End it: it leaves the pages that show it."""
        if not self.closed:
            self.closed = True
            self._gone.detach()
            self.rest()
            widget: Any = super()
            widget.close()

    def rest(self, seconds: float = 0.0) -> None:
        """Stop following the subject, and release it. seconds: to wait for the present iteration of the thread."""
        self._thread.rest(seconds)
        self._model = None  # this may be the end of the subject, and then of the view

    def _on_message(self, _widget: Any, message: Intent, _buffers: Any) -> None:
        if message.get("type") == "drawn":
            self._flow.drawn(int(message["tick"]))
        else:
            self._thread.submit({} if self._thread.handle(message) else message)

    def _iterate(self, intents: list[Intent]) -> float:
        """Run one iteration of the worker and return the seconds until the next one."""
        with self._refreshing:
            return self._refresh(intents)

    def _refresh(self, intents: list[Intent]) -> float:
        """Apply intents, refresh the model, and show it."""
        subject = self._subject()
        if self._pages.gone or subject is None:
            self.close()
            return IDLE_SECONDS
        if self._pages.silent:
            self.rest()
            return IDLE_SECONDS
        self._stale |= self._model is None
        model = self._model = self._model or self._make(subject)
        for intent in intents:
            if intent:
                model.apply(intent)
        seen = self._pages.seen
        if any(intents) and seen:
            self._answer(model)
        pictured = self._displayed and not model.active  # a picture follows what rests, whether someone looks or not
        if seen or model.active or pictured:
            self._stale |= model.refresh()
        if self._flow.ready and (seen or (pictured and self._stale)):
            self._show(model)
        return PERIOD_SECONDS if model.active else IDLE_SECONDS

    def _answer(self, model: LiveModel) -> None:
        """Send the state even where the page does not keep up with the chart: it answers an intent."""
        if (state := model.state()) != self._sent_state():
            self.state = state | {"tick": self._flow.tick}

    def _sent_state(self) -> dict[str, Any]:
        return {name: value for name, value in self.state.items() if name != "tick"}

    def _show(self, model: LiveModel) -> None:
        state = model.state()
        if not self._stale and state == self._sent_state():
            return
        tick = self._flow.send()
        with cast("Any", self).hold_sync():
            if self._stale:
                self._shown = model.chart()
                data, heights = split(encode(self._shown), self.heights)
                if heights is not self.heights:
                    self.heights = heights
                self.data = data
                self._stale = False
            self.state = state | {"tick": tick}
        if not model.active:
            still.refresh(self)
