"""The protocol of a live view, what is shown and what controls do, which a run, a watched loop and a race fill."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from burlab.charts import Chart
from burlab.widgets.page_worker import Intent

from .fields import one_of

_START_SPEED, _TENFOLD_SECONDS = 5.0, 5.0  # of a growing speed: steps per second at the start, seconds for a decade
GROWING = -1.0
"""A speed that can be watched: on a logarithmic axis a run moves evenly, ten times as far in every five seconds."""


def growing_pace(done: float) -> float:
    """Return the steps per second of a growing speed after so many steps."""
    return _START_SPEED + done * math.log(10) / _TENFOLD_SECONDS


class LiveModel(ABC):
    """The model of a live view. It knows no screen, and one thread uses it: a test calls it as the view does.

    An intent {type: "step", ...} of a control calls the method `_do_step`. What a subject lacks, such as a way back,
    is absent from `state`, and the page hides its controls.

    Attributes:
        error: What went wrong with the last intent, "" for nothing.
        handled: By view of a page, the number of its last intent that was carried out.
        behind: Whether there is more to read or to compute for the chart.
        beside: A widget that is shown below the view; None for none.
        texts: By slider, the text of its field at each of its places.
    """

    behind = False
    beside: Any = None
    texts: Mapping[str, tuple[str, ...]] = {}

    def __init__(self) -> None:
        self.error = ""
        self.handled: dict[str, int] = {}

    def apply(self, intent: Intent) -> None:
        """Carry out an intent of a control; errors become part of the state.

        Args:
            intent: A dict with a `type`, as a page sends it.
        """
        if "serial" in intent:
            self.handled[str(intent["view"])] = int(intent["serial"])
        try:
            self._act(intent)
        except Exception as error:  # whatever a run raises is shown, and the panel lives on
            self.error = f"{type(error).__name__}: {error}"

    def _act(self, intent: Intent) -> None:
        self.error = ""
        dispatch(self, intent)

    def interrupt(self) -> None:  # noqa: B027 - most models never wait
        """Interrupt what takes long, because another intent has come; from any thread."""

    def wait(self, seconds: float) -> None:  # noqa: B027 - most models have all at once
        """Wait for what `refresh` does not wait for, such as the value where a run rests.

        Args:
            seconds: The longest time to wait.
        """

    @abstractmethod
    def refresh(self) -> bool:
        """Read what is new, do what is due, and return True if there may be something new to draw."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return all that is shown besides the chart, as JSON."""

    @abstractmethod
    def chart(self) -> Chart:
        """Return the chart: the same object as long as nothing in it has changed."""

    @property
    @abstractmethod
    def active(self) -> bool:
        """Return True while the subject changes by itself."""

    @property
    def driven(self) -> bool:
        """Return True while the subject needs `refresh` to go on, whether someone looks or not."""
        return False


def dispatch(owner: Any, intent: Intent) -> None:
    """Call the method of `owner` for the type of an intent.

    Raises:
        ArgumentError: There is none.
    """
    known = (name.removeprefix("_do_") for name in dir(owner) if name.startswith("_do_"))
    getattr(owner, "_do_" + one_of(intent.get("type"), known, "the type of an intent"))(intent)
