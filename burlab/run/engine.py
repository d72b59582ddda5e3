"""What a `Run` asks of whatever does its steps: a loop in C++ (`loop.py`), or a minimizer written in Python."""

from typing import Any, NamedTuple, Protocol

import numpy as np

from .stop import Stop, Stopped

COLUMNS = ("step", "value", "gradient_norm", "step_norm", "samples", "time")  # then the hyperparameters
Array = np.ndarray[Any, Any]


class View(NamedTuple):
    """What an engine is doing.

    step: steps done at the current point. length: rows of the record, at least `step`. rests: whether it has nothing
    left to do. stopped: why it rests, where it did so by itself. elapsed: nanoseconds of running, up to the last rest.
    """

    step: int
    length: int
    rests: bool
    stopped: Stopped | None
    elapsed: float


class Engine(Protocol):
    """An optimizer on a problem, at rest at step 0. Any thread may call it; orders return at once.

    hypers: names of the live hyperparameters. stop: when it rests by itself.
    """

    hypers: tuple[str, ...]
    stop: Stop

    def view(self) -> View:
        """What it is doing."""
        ...

    def aim(self, target: int) -> None:
        """Order: run until `target` steps are done. A failure is forgotten and its step tried again."""
        ...

    def halt(self) -> None:
        """Order: rest as soon as possible; a step in flight is left, and done anew when it goes on."""
        ...

    def rests(self, seconds: float) -> bool:
        """Wait until it rests, at most this long and at most 50 ms."""
        ...

    def check(self) -> None:
        """Raise what made the last step fail, if it did."""
        ...

    def end(self) -> None:
        """Stop for good and wait for it: what was computed stays readable."""
        ...

    def read(self) -> Array:
        """A copy of the flat x, between two steps."""
        ...

    def hyper(self, index: int) -> float:
        """A hyperparameter, as the next step will use it."""
        ...

    def set(self, index: int, value: float) -> None:
        """Order: give a hyperparameter a value, from the next step on."""
        ...

    def last_value(self) -> float:
        """The value that the last row of the record holds; NaN where there is none."""
        ...

    def nbytes(self) -> dict[str, int]:
        """Bytes by what they are for."""
        ...
