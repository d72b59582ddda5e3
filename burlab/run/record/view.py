"""The state of an engine."""

from typing import NamedTuple

from .stop import Stopped


class EngineState(NamedTuple):
    """The state of an engine.

    step: steps done at the current point. length: rows of the record, at least `step`. rests: whether it has nothing
    left to do. stopped: why it stopped by itself, if it did. elapsed: nanoseconds of running, up to the last pause.
    """

    step: int
    length: int
    rests: bool
    stopped: Stopped | None
    elapsed: float
