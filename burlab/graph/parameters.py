"""What parameters of operations are made of: checks of types and ranges, for what comes from a file.

A check answers for a value of any type. Tuples are checked whole: with every element, and nothing besides.
"""

import re
from collections.abc import Callable, Collection
from typing import Any, cast

Check = Callable[[Any], bool]
LARGEST = 1 << 40
"""Elements of a value, or of an axis, or steps along one: more fit into no machine."""
MOST_AXES = 32


def nothing(value: Any) -> bool:
    """No parameter."""
    return value is None


def size(value: Any) -> bool:
    """Of an axis, or a number of things."""
    return type(value) is int and 0 <= value <= LARGEST


def integer(value: Any) -> bool:
    """A position or a step, which may be negative."""
    return type(value) is int and -LARGEST <= value <= LARGEST


def flag(value: Any) -> bool:
    """True or False, and no other number."""
    return type(value) is bool


def text(value: Any) -> bool:
    """A name."""
    return type(value) is str


def optional(check: Check) -> Check:
    """None, or what a check says."""
    return lambda value: value is None or check(value)


def one_of(words: Collection[str]) -> Check:
    """One of some words."""
    return lambda value: type(value) is str and value in words


def matching(pattern: str) -> Check:
    """A text that a regular expression describes whole."""
    compiled = re.compile(pattern)
    return lambda value: type(value) is str and compiled.fullmatch(value) is not None


def several(check: Check) -> Check:
    """A tuple of any number of such values, but not of more than there can be axes."""
    return lambda value: type(value) is tuple and len(_items(value)) <= MOST_AXES and all(map(check, _items(value)))


def record(*checks: Check) -> Check:
    """A tuple with one value for each check."""

    def fits(value: Any) -> bool:
        return (
            type(value) is tuple
            and len(_items(value)) == len(checks)
            and all(check(item) for check, item in zip(checks, _items(value), strict=True))
        )

    return fits


def _items(value: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", value)


def some(value: Any) -> bool:
    """Axes, at least one."""
    return axes(value) and value != ()


axes = several(size)
integers = several(integer)


def shape(value: Any) -> bool:
    """Sizes of axes whose elements can be counted, those of size 0 taken as 1."""
    if not axes(value):
        return False
    count = 1
    for n in _items(value):
        count *= max(n, 1)
    return count <= LARGEST
