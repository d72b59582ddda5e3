"""A run's panel from its first display to its last."""

import threading
import weakref
from time import monotonic, sleep
from typing import Any

from burlab.run.loop.lifetime import at_end
from burlab.widgets import still
from burlab.widgets.page_thread import PageThread

from .page_worker import IDLE_SECONDS, PERIOD_SECONDS
from .panel_commands import Intent
from .panel_model import PanelModel
from .panel_view import PanelView

_POLL_SECONDS = 0.02  # between two polls of a landscape that is computed


class Panel:
    """The panel of one run. It works, and keeps the run alive, while a page shows it.

    When no page has spoken for two minutes it waits and holds nothing; a page that comes back wakes it. When the output
    that held it is deleted it closes, and another display of the run makes a new one.
    """

    def __init__(self, run: Any) -> None:
        self._run = weakref.ref(run)
        self._thread = PageThread(self._iterate, lambda: self._run() is not None and not self.closed)
        self._pages = self._thread.pages
        self._refreshing = threading.Lock()  # held by the thread that reads the run
        self._model: PanelModel | None = PanelModel(run)
        self._displayed = False  # whether a notebook has a picture of it
        self._pictured: Any = None  # where the run was when it was last shown at rest
        self.closed = False
        self.view = PanelView(self._model, self.on_message)
        self._gone = weakref.finalize(run, self.view.close)
        self._gone.atexit = False
        self._thread.wake()

    def show(self) -> None:
        """Display it in the cell that runs."""
        self._displayed = True
        still.show(self.view.root, self.view.picture, self._summary, self.settle)

    def settle(self, end: float) -> bool:
        """Without a page, show the present state of the run and return True if it is new. end: see `still.show`."""
        run = self._run()
        if (
            run is None
            or self.closed
            or self._pages.present
            or not self._refreshing.acquire(timeout=max(end - monotonic(), 0.0))
        ):
            return False
        try:
            model = self._model or PanelModel(run)
            if (place := _place(run, model)) == self._pictured:
                return False
            model.measure(max(end - monotonic(), 0.0))
            model.refresh()
            while (model.behind or (model.landscape is not None and model.landscape.computing)) and monotonic() < end:
                sleep(_POLL_SECONDS)
                model.refresh()
            self.view.show(model)
            self._pictured = place if not model.active else None
            return True
        finally:
            self._refreshing.release()

    def on_message(self, message: Intent) -> None:
        """Handle a message of a page: an intent, or one about the page itself. From any thread."""
        if message.get("type") == "drawn":
            self.view.drawn(int(message["tick"]))
        elif self._thread.handle(message):
            self._thread.submit({})
        else:
            if (model := self._model) is not None:
                model.commands.cut_short()
            self._thread.submit(message)

    def close(self) -> None:
        """End it: the widgets go, the run stays as it is."""
        if not self.closed:
            self.closed = True
            self._gone.detach()
            self.rest()
            self.view.close()

    def leave(self) -> None:
        """Let pages keep what they show when this Python ends: a page takes away a widget that is closed."""
        self._gone.detach()

    def rest(self, seconds: float = 0.0) -> None:
        """Stop following the run, and release it. seconds: to wait for the present iteration of the thread."""
        self._thread.rest(seconds)
        self._model = None

    def _summary(self) -> str:
        return f"the panel of {self._run()!r}"

    def _iterate(self, intents: list[Intent]) -> float:
        """Run one iteration of the worker and return the seconds from its start to the next one."""
        with self._refreshing:
            return self._refresh(intents)

    def _refresh(self, intents: list[Intent]) -> float:
        """Apply intents, refresh the model, and show it."""
        run = self._run()
        if self._pages.gone or run is None:
            self.close()
            return IDLE_SECONDS
        if self._pages.silent:
            self.rest()
            return IDLE_SECONDS
        model = self._model = self._model or PanelModel(run)
        for intent in intents:
            if intent:
                model.apply(intent)
        if any(intents) and self._pages.seen:
            self.view.answer(model)
        place = _place(run, model)
        # A picture follows a run that rests, whether someone looks or not.
        rests = self._displayed and not model.active and self._pictured != place
        seen = rests or self._pages.seen
        if seen or model.commands.speed:
            model.refresh()
        if seen and self.view.ready:
            try:
                self.view.show(model)
                self._pictured = place if rests else self._pictured
            except Exception as error:
                model.error = f"The panel could not be drawn: {type(error).__name__}: {error}"
                raise
        return PERIOD_SECONDS if model.active or model.behind else IDLE_SECONDS


def _place(run: Any, model: PanelModel) -> Any:
    """Return what identifies the present picture of a run: its step, record, parent and landscape."""
    return run.t, run.length, id(run.parent), model.landscape and model.landscape.version


_panels: "weakref.WeakKeyDictionary[Any, Panel]" = weakref.WeakKeyDictionary()


def panel_of(run: Any) -> Panel:
    """The panel of a run: the same one for every display of it."""
    panel = _panels.get(run)
    if panel is None or panel.closed:
        panel = _panels[run] = Panel(run)
    return panel


@at_end
def _leave_all() -> None:
    for panel in list(_panels.values()):
        panel.leave()
