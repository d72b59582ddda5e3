"""Checks of parameters of operations that are more than sizes, flags and names: axes and shapes."""

from typing import Any

from burlab.runtime.checks.stored import integer, several, size
from burlab.runtime.memory import ADDRESSABLE, volume

MAX_AXES = 32
MAX_PLACES = 16  # of a row that are found together

axes = several(size, MAX_AXES)
integers = several(integer, MAX_AXES)
_places = several(size, MAX_PLACES)


def some_axes(value: Any) -> bool:
    """Axes, at least one."""
    return axes(value) and len(value) > 0


def some_places(value: Any) -> bool:
    """Places of a row, at least one."""
    return _places(value) and len(value) > 0


def shape(value: Any) -> bool:
    """Sizes of axes, no more elements than a process can name bytes."""
    return axes(value) and volume(tuple(value)) <= ADDRESSABLE
