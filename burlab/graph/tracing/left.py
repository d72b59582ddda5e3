"""Changes that traced functions make themselves, as a counter: they alone do not cause another trace.

What anybody else puts there counts as ever. So the last value that a trace left in a place is remembered, for all
functions that change it.
"""

import weakref
from collections.abc import Mapping
from typing import Any

from .insides import Reading

Place = tuple[int, Any]
_BY_A_TRACE = "left by a trace"


class LeftByTraces:
    """The value that the last trace left in a place. It counts while this object is referenced."""

    __slots__ = ("__weakref__", "container", "content")

    def __init__(self, container: object) -> None:
        self.container = container  # lest another takes its address
        self.content: Any = None


_places: "weakref.WeakValueDictionary[Place, LeftByTraces]" = weakref.WeakValueDictionary()


def place_of(reading: Reading) -> Place:
    """Return the place of a value: its container, by identity, and the key in it."""
    return id(reading.container), reading.key


def leave(reading: Reading, content: object) -> LeftByTraces:
    """A trace left this content in the place that a reading is of."""
    place = place_of(reading)
    left = _places.get(place)
    if left is None:
        left = _places[place] = LeftByTraces(reading.container)
    left.content = content
    return left


def left_by_traces(reading: Reading, content: object, left: Mapping[Place, LeftByTraces]) -> Any:
    """The content, or in its place one word for whatever a trace has left there. left: what the function changes."""
    mine = left.get(place_of(reading)) if reading.key is not None else None
    return _BY_A_TRACE if mine is not None and mine.content == content else content
