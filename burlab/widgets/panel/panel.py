"""A run's panel from the first display to the last: who looks at it, and what that costs while nobody does."""

import threading
import weakref
from time import monotonic, sleep
from typing import Any

from burlab.run.loop.lifetime import at_end
from burlab.widgets import still
from burlab.widgets.pages import Pages

from .page_worker import PERIOD, REST, PageWorker
from .panel_commands import Intent
from .panel_model import PanelModel
from .panel_view import PanelView

_BRIEFLY = 0.02  # seconds between two looks for what is on its way


class Panel:
    """The panel of one run. It works, and keeps the run alive, while a page shows it.

    When no page has spoken for two minutes it waits and holds nothing; a page that comes back wakes it. When the output
    that held it is deleted it closes, and another display of the run makes a new one.
    """

    def __init__(self, run: Any) -> None:
        self._run = weakref.ref(run)
        self._pages = Pages()
        self._lock = threading.Lock()  # held while the worker comes or goes
        self._turning = threading.Lock()  # held by who looks at the run
        self._model: PanelModel | None = PanelModel(run)
        self._worker: PageWorker | None = None
        self._displayed = False  # whether a notebook has a picture of it
        self._pictured: Any = None  # where the run was when it was last shown at rest
        self.closed = False
        self.view = PanelView(self._model, self.hear)
        self._gone = weakref.finalize(run, self.view.close)
        self._gone.atexit = False
        self._wake()

    def show(self) -> None:
        """Display it in the cell that runs."""
        self._displayed = True
        still.show(self.view.root, self.view.picture, self._summary, self.settle)

    def settle(self, end: float) -> bool:
        """Where no page shows it, show where the run is now; whether that is new. end: see `still.show`."""
        run = self._run()
        if (
            run is None
            or self.closed
            or self._pages.here
            or not self._turning.acquire(timeout=max(end - monotonic(), 0.0))
        ):
            return False
        try:
            model = self._model or PanelModel(run)
            if (place := _place(run, model)) == self._pictured:
                return False
            model.measure(max(end - monotonic(), 0.0))
            model.look()
            while (model.behind or (model.landscape is not None and model.landscape.looking)) and monotonic() < end:
                sleep(_BRIEFLY)
                model.look()
            self.view.show(model)
            self._pictured = place if not model.active else None
            return True
        finally:
            self._turning.release()

    def hear(self, message: Intent) -> None:
        """What a page says: an intent, or something about itself. From any thread."""
        if message.get("type") == "drawn":
            self.view.drawn(int(message["tick"]))
        elif self._pages.hear(message):
            self._wake()
            self._ask({})
        else:
            self._ask(message)

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
        """Stop looking at the run, and hold it no longer. seconds: to wait for the turn that its thread is in."""
        with self._lock:
            worker, self._worker, self._model = self._worker, None, None
        if worker is not None:
            worker.close()
            worker.join(seconds)

    def _summary(self) -> str:
        return f"the panel of {self._run()!r}"

    def _wake(self) -> None:
        with self._lock:
            if self._worker is None and self._run() is not None and not self.closed:
                self._worker = PageWorker(self._turn)

    def _ask(self, intent: Intent) -> None:
        worker, model = self._worker, self._model
        if intent and model is not None:
            model.commands.cut_short()
        if worker is not None:
            worker.ask(intent)

    def _turn(self, intents: list[Intent]) -> float:
        """One turn of the worker. Gives the seconds from its start to the next one."""
        with self._turning:
            return self._look(intents)

    def _look(self, intents: list[Intent]) -> float:
        """Obey, look, show."""
        run = self._run()
        if self._pages.gone or run is None:
            self.close()
            return REST
        if self._pages.silent:
            self.rest()
            return REST
        model = self._model = self._model or PanelModel(run)
        for intent in intents:
            if intent:
                model.obey(intent)
        if any(intents) and self._pages.seen:
            self.view.answer(model)
        place = _place(run, model)
        # A picture follows a run that rests, whether someone looks or not.
        rests = self._displayed and not model.active and self._pictured != place
        seen = rests or self._pages.seen
        if seen or model.commands.speed:
            model.look()
        if seen and self.view.ready:
            try:
                self.view.show(model)
                self._pictured = place if rests else self._pictured
            except Exception as error:
                model.error = f"The panel could not be drawn: {type(error).__name__}: {error}"
                raise
        return PERIOD if model.active or model.behind else REST


def _place(run: Any, model: PanelModel) -> Any:
    """Where a run is, and what lies below its path."""
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
