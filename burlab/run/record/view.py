"""The state of an engine."""

from typing import NamedTuple

from .stop import Stopped


class EngineState(NamedTuple):
    """The state of an engine.

    step: steps done at the current point. length: rows of the record, at least `step`. rests: whether it has nothing
    left to do. stopped: why it rests, where it did so by itself. elapsed: nanoseconds of running, up to the last rest.
    """

    step: int
    length: int
    rests: bool
    stopped: Stopped | None
    elapsed: float
