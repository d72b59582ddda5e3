"""What parameters of operations are made of, beside plain sizes, flags and words: axes and shapes."""

from math import prod
from typing import Any

from burlab.runtime.checks import LARGEST, integer, several, size

MOST_AXES = 32

axes = several(size, MOST_AXES)
integers = several(integer, MOST_AXES)


def some_axes(value: Any) -> bool:
    """Axes, at least one."""
    return axes(value) and len(value) > 0


def shape(value: Any) -> bool:
    """Sizes of axes whose elements can be counted, those of size 0 taken as 1."""
    return axes(value) and prod(max(n, 1) for n in value) <= LARGEST
