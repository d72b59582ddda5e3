"""The widget of what changes while a page shows it: a run, a watched loop, a race, a tree of branches, a spectrum."""

import threading
import weakref
from collections.abc import Callable
from time import monotonic, sleep
from typing import Any, cast

import traitlets

from burlab.charts.svg import svg
from burlab.run.loop.lifetime import at_end
from burlab.runtime.displayed import Displayed
from burlab.runtime.extras import late
from burlab.widgets import still
from burlab.widgets.assets import CHART_STYLE, styles
from burlab.widgets.chart.chart_view import split
from burlab.widgets.chart.encode_chart import encode
from burlab.widgets.kernel_messages import receive_during_cells
from burlab.widgets.page_thread import PageThread
from burlab.widgets.page_worker import IDLE_SECONDS, PERIOD_SECONDS, Intent
from burlab.widgets.update_flow import UpdateFlow

from .live_model import LiveModel

anywidget: Any = late("anywidget", "lab")
ipywidgets: Any = late("ipywidgets", "lab")

_POLL_SECONDS = 0.02  # between two refreshes of a model that is behind
_HIDDEN_SECONDS = 2.0  # between two iterations for a subject that rests in a page that nobody sees


def style(*names: str) -> str:
    """Return the style sheets of a live view, and those of these names."""
    return styles("panel/panel.css", CHART_STYLE, "live/live.css", *names)


class LiveView(Displayed, anywidget.AnyWidget):
    """Shows a subject through a model of it, in any number of cells. It holds the subject only while a page shows it.

    When no page has spoken for two minutes, nothing works and nothing is held; a page that comes back wakes it. Ten
    seconds after the last output with it is deleted, it closes.

    Attributes:
        state: What the page shows besides the chart: words and numbers, and `tick`, the number of the update.
        texts: By slider, the text of its field at each of its places.
        data: The chart, as `ChartView` has it; heights: those of its maps.
        root: The widget that cells display: JupyterLab marks a box when its kernel is gone, and no anywidget.
        closed: Whether it has left its pages for good.
    """

    state = traitlets.Dict().tag(sync=True)
    texts = traitlets.Dict().tag(sync=True)
    data = traitlets.Dict().tag(sync=True)
    heights = traitlets.Dict().tag(sync=True)

    def __init__(self, subject: Any, make: Callable[[Any], LiveModel]) -> None:
        """Create a view.

        Args:
            subject: What is shown; a weak reference to it must be possible.
            make: Makes its model.
        """
        model = self._model = make(subject)
        self._sent, self._shown = _state_of(model), model.chart()
        data, heights = split(encode(self._shown), {})
        widget: Any = super()
        widget.__init__(state=self._sent | {"tick": 0}, texts=dict(model.texts), data=data, heights=heights)
        self._subject = weakref.ref(subject)
        self._make = make
        self._thread = PageThread(self._iterate, lambda: self._subject() is not None and not self.closed)
        self._pages = self._thread.pages
        self._refreshing = threading.Lock()  # held by the thread that reads the subject
        self._flow = UpdateFlow()
        self._stale = True  # whether there may be something new to draw
        self._displayed = False  # whether a notebook has a picture of it
        self.closed = False
        this = cast("Any", self)
        this.on_msg(self._receive)
        receive_during_cells(this)
        self.root: Any = ipywidgets.VBox([self])
        self._gone = weakref.finalize(subject, self._leave_pages)
        self._gone.atexit = False
        _views.add(self)
        self._thread.wake()

    def show(self) -> None:
        """Display it in the cell that runs, with a picture for pages without its kernel."""
        self._displayed = True
        still.show(self.root, self.picture, self.summary, self.settle)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._subject()!r}>"

    def picture(self) -> str:
        """Return the chart that was shown last, as SVG. From any thread."""
        return svg(self._shown)

    def summary(self) -> str:
        """Return a line of text for pages that show neither widgets nor pictures."""
        return self._shown.about or "a panel"

    def settle(self, end: float) -> bool:
        """Without a page, show the present state.

        Args:
            end: When to give up what is not there yet, as of `monotonic`.

        Returns:
            True if it is new.
        """
        subject = self._subject()
        if (
            subject is None
            or self.closed
            or self._pages.present
            or not self._refreshing.acquire(timeout=max(end - monotonic(), 0.0))
        ):
            return False
        try:
            model = self._model or self._make(subject)
            model.wait(max(end - monotonic(), 0.0))
            self._stale |= model.refresh()
            while model.behind and not model.active and monotonic() < end:
                sleep(_POLL_SECONDS)
                model.refresh()
            return self._show(model)
        finally:
            self._refreshing.release()

    def on_message(self, message: Intent) -> None:
        """Handle a message of a page: an intent, or one about the page itself. From any thread."""
        if message.get("type") == "drawn":
            self._flow.drawn(int(message["tick"]))
        elif self._thread.handle(message):
            self._thread.submit({})
        else:
            if (model := self._model) is not None:
                model.interrupt()
            self._thread.submit(message)

    def close(self) -> None:
        """End it: it leaves the pages that show it, and the subject stays as it is."""
        if not self.closed:
            self.closed = True
            self.detach()
            self.rest()
            self._leave_pages()

    def detach(self) -> None:
        """Let pages keep what they show when the subject is gone: they take away a widget that is closed."""
        self._gone.detach()

    def rest(self, seconds: float = 0.0) -> None:
        """Stop following the subject, and release it.

        Args:
            seconds: The time to wait for the present iteration of the thread.
        """
        self._thread.rest(seconds)
        self._model = None  # this may be the end of the subject, and then of the view

    def _leave_pages(self) -> None:
        widget: Any = super()
        widget.close()
        self.root.close()

    def _receive(self, _widget: Any, message: Intent, _buffers: Any) -> None:
        self.on_message(message)

    def _iterate(self, intents: list[Intent]) -> float:
        """Run one iteration of the worker and return the seconds from its start to the next one."""
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
        if seen or model.driven or pictured:
            self._stale |= model.refresh()
        if self._flow.ready and (seen or (pictured and self._stale)):
            self._show(model)
        if model.active or model.behind:
            return PERIOD_SECONDS
        return IDLE_SECONDS if seen else _HIDDEN_SECONDS

    def _answer(self, model: LiveModel) -> None:
        """Send the state even where the page does not keep up with the chart: it answers an intent."""
        if (state := _state_of(model)) != self._sent:
            with cast("Any", self).hold_sync():
                self._send_state(state, model)

    def _show(self, model: LiveModel) -> bool:
        """Send what has changed and return True if anything has."""
        try:
            state, chart = _state_of(model), model.chart() if self._stale else self._shown
        except Exception as error:
            model.error = f"The panel could not be drawn: {type(error).__name__}: {error}"
            raise
        self._stale = False
        self._place(model.beside)
        if chart is self._shown and state == self._sent:
            return False
        self._flow.send()
        with cast("Any", self).hold_sync():
            self._send_state(state, model)
            if chart is not self._shown:
                data, heights = split(encode(chart), self.heights)
                if heights is not self.heights:
                    self.heights = heights
                self.data = data
        self._shown = chart
        if not model.active:
            still.refresh(self.root)
        return True

    def _place(self, beside: Any) -> None:
        """Show a widget below this one; None for none."""
        children = (self,) if beside is None else (self, beside)
        if self.root.children != children:
            before, self.root.children = self.root.children, children
            for gone in set(before) - set(children):
                gone.close()

    def _send_state(self, state: dict[str, Any], model: LiveModel) -> None:
        if model.texts != self.texts:
            self.texts = dict(model.texts)
        self.state = state | {"tick": self._flow.tick}
        self._sent = state


def _state_of(model: LiveModel) -> dict[str, Any]:
    return model.state() | {"handled": dict(model.handled)}


_views: "weakref.WeakSet[LiveView]" = weakref.WeakSet()


@at_end
def _detach_all() -> None:
    for view in list(_views):
        view.detach()
