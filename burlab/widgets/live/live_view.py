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
from burlab.widgets.kernel_messages import heard_while_a_cell_runs
from burlab.widgets.pages import Pages
from burlab.widgets.panel.page_worker import PERIOD, REST, Intent, PageWorker
from burlab.widgets.update_flow import UpdateFlow

anywidget: Any = late("anywidget", "lab")

STYLES = ("panel/panel.css", CHART_STYLE, "live/live.css")
_NOTHING: dict[str, Any] = encode(Chart(()))


class LiveModel(Protocol):
    """What a live view shows. It knows no screen: a test obeys and looks as the view does."""

    def obey(self, intent: Intent) -> None:
        """Carry out what a control asks for; what goes wrong is part of the state."""
        ...

    def look(self) -> bool:
        """Take in what is new, do what is due; whether there is something new to draw."""
        ...

    def state(self) -> dict[str, Any]:
        """All that is shown besides the chart, as JSON."""
        ...

    def chart(self) -> Chart:
        """The chart."""
        ...

    @property
    def active(self) -> bool:
        """Whether it changes by itself now."""
        ...


def style(*names: str) -> str:
    """The style sheets of a live view, and its own ones."""
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
        widget.__init__(state=model.state() | {"tick": 0}, data=_NOTHING, heights={})
        self._subject = weakref.ref(subject)
        self._shown = model.chart()  # for its picture
        self._make = make
        self._model: LiveModel | None = None
        self._worker: PageWorker | None = None
        self._pages = Pages()
        self._lock = threading.Lock()
        self._turning = threading.Lock()  # held by who looks at the subject
        self._flow = UpdateFlow()
        self._stale = True  # whether there is something new to draw
        self._displayed = False  # whether a notebook has a picture of it
        self.closed = False
        this = cast("Any", self)
        this.add_class("burlab-panel")
        this.on_msg(self._hear)
        heard_while_a_cell_runs(this)
        self._gone = weakref.finalize(subject, self.close)
        self._gone.atexit = False
        self._wake()

    def show(self) -> None:
        """Display it in the cell that runs, with a picture for pages without its kernel."""
        self._displayed = True
        still.show(self, self.picture, lambda: self._shown.about or "a panel", self.settle)

    def picture(self) -> str:
        """The chart that was shown last, as SVG. From any thread."""
        return svg(self._shown)

    def settle(self, end: float) -> bool:
        """Where no page shows it, show what there is now; whether that is new. end: see `still.show`."""
        subject = self._subject()
        if (
            subject is None
            or self.closed
            or self._pages.here
            or not self._turning.acquire(timeout=max(end - monotonic(), 0.0))
        ):
            return False
        try:
            fresh = self._model is None
            model = self._model or self._make(subject)
            new = model.look() or fresh or self._stale
            while monotonic() < end and not model.active and model.look():
                new = True
            self._stale = new
            self._show(model)
            return new
        finally:
            self._turning.release()

    def close(self) -> None:
        """End it: it leaves the pages that show it."""
        if not self.closed:
            self.closed = True
            self._gone.detach()
            self.rest()
            widget: Any = super()
            widget.close()

    def rest(self, seconds: float = 0.0) -> None:
        """Stop following the subject, and hold it no longer. seconds: to wait for what is being drawn."""
        with self._lock:
            worker, self._worker = self._worker, None
        self._model = None  # outside of the lock: this may be the end of the subject, and then of the view
        if worker is not None:
            worker.close()
            worker.join(seconds)

    def _hear(self, _widget: Any, message: Intent, _buffers: Any) -> None:
        if message.get("type") == "drawn":
            self._flow.drawn(int(message["tick"]))
        elif self._pages.hear(message):
            self._wake()
            self._ask({})
        else:
            self._ask(message)

    def _wake(self) -> None:
        with self._lock:
            if self._worker is None and self._subject() is not None and not self.closed:
                self._worker = PageWorker(self._turn)

    def _ask(self, intent: Intent) -> None:
        worker = self._worker
        if worker is not None:
            worker.ask(intent)

    def _turn(self, intents: list[Intent]) -> float:
        """One turn of the worker. Gives the seconds until the next one."""
        with self._turning:
            return self._look(intents)

    def _look(self, intents: list[Intent]) -> float:
        """Obey, look, show."""
        subject = self._subject()
        if self._pages.gone or subject is None:
            self.close()
            return REST
        if self._pages.silent:
            self.rest()
            return REST
        self._stale |= self._model is None
        model = self._model = self._model or self._make(subject)
        for intent in intents:
            if intent:
                model.obey(intent)
        seen = self._pages.seen
        if any(intents) and seen:
            self._answer(model)
        pictured = self._displayed and not model.active  # a picture follows what rests, whether someone looks or not
        if seen or model.active or pictured:
            self._stale |= model.look()
        if self._flow.ready and (seen or (pictured and self._stale)):
            self._show(model)
        return PERIOD if model.active else REST

    def _answer(self, model: LiveModel) -> None:
        """Send words and numbers, whether the page keeps up with the chart or not: somebody has pressed something."""
        if (state := model.state()) != self._told():
            self.state = state | {"tick": self._flow.tick}

    def _told(self) -> dict[str, Any]:
        return {name: told for name, told in self.state.items() if name != "tick"}

    def _show(self, model: LiveModel) -> None:
        state = model.state()
        if not self._stale and state == self._told():
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
