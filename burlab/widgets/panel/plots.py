"""The figure widget of a panel: plotly's, for two threads, light to load, and with a state that is current."""

import gzip
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from burlab.runtime.extras import late

if TYPE_CHECKING:
    import plotly.graph_objects as go  # pyright: ignore[reportMissingTypeStubs] - plotly ships none
else:
    go = late("plotly.graph_objects", "lab")

_CURRENT = ("_widget_data", "_widget_layout")


class Plots(go.FigureWidget):
    """A figure that two threads may use: one that draws, and one in which pages are heard.

    gate: held while the figure changes. A message that arrives holds all notifications of the widget, from whatever
    thread, and would swallow those of a drawing. Plotly sends changes as messages and leaves the state as it was at
    first, which is what a page loaded anew gets: so the state is taken from what is drawn. Its script is sent to a page
    that asks for it, once, instead of with each widget.
    """

    _esm = Path(__file__).parent / "plots.js"
    gate: Any = None
    made = False

    def __init__(self, *args: Any, **options: Any) -> None:
        self.gate = threading.RLock()
        cast("Any", super()).__init__(*args, **options)
        self.made = True
        cast("Any", self).on_msg(_answer)

    def set_state(self, sync_data: Any) -> None:
        """What a page says about its view."""
        with self.gate:
            cast("Any", super()).set_state(sync_data)

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> Any:
        """The state for a page. key: the names wanted, None for all, as a page that is loaded asks for it."""
        with self.gate:
            state = cast("Any", super()).get_state(key, drop_defaults)
            if self.made and _CURRENT[0] in state:
                plain = self.trait_metadata(_CURRENT[0], "to_json")
                shown = cast("Any", self._data)  # pyright: ignore[reportUnknownMemberType] - plotly ships no types
                current = plain(shown, self), plain(cast("Any", self).to_dict()["layout"], self)
                state |= dict(zip(_CURRENT, current, strict=True))
            return state


def _answer(figure: Any, message: Any, _buffers: Any) -> None:
    """What a page asks for: plotly's script, or what the figure shows now."""
    if message["type"] == "script":
        figure.send({"type": "script"}, [_script()])
    elif message["type"] == "state":
        with figure.gate:
            figure.send_state(_CURRENT)
            figure.send({"type": "state"})


@cache
def _script() -> bytes:
    """Plotly's own script, compressed."""
    return gzip.compress(str(cast("Any", go.FigureWidget)._esm).encode(), 1)  # noqa: SLF001 - its only name
