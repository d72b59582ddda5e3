"""Checks of types and ranges, for what comes from a file: each answers for a value of any type, and never raises.

Lists, tuples and objects are checked whole: with every element, and nothing besides.
"""

import math
import re
from collections.abc import Callable, Collection
from typing import Any, cast

from burlab.runtime.memory import ADDRESSABLE

Check = Callable[[Any], bool]
LONGEST = (1 << 63) - 1  # iterations or steps, as C++ counts them


def nothing(value: object) -> bool:
    """Null."""
    return value is None


def whole(least: int, most: int) -> Check:
    """An integer within bounds; True and False are none."""
    return lambda value: type(value) is int and least <= value <= most


size = whole(0, ADDRESSABLE)
integer = whole(-ADDRESSABLE, ADDRESSABLE)


def flag(value: object) -> bool:
    """True or False, and no other number."""
    return type(value) is bool


def text(value: object) -> bool:
    """A name, of any characters."""
    return type(value) is str


def positive(value: object) -> bool:
    """A positive finite float."""
    return type(value) is float and 0 < value < math.inf


def optional(check: Check) -> Check:
    """Null, or a value that passes a check."""
    return lambda value: value is None or check(value)


def either(*checks: Check) -> Check:
    """A value that passes one of the checks."""
    return lambda value: any(check(value) for check in checks)


def one_of(texts: Collection[str]) -> Check:
    """One of some texts."""
    return lambda value: type(value) is str and value in texts


def matching(pattern: str) -> Check:
    """A text that a regular expression describes whole."""
    compiled = re.compile(pattern)
    return lambda value: type(value) is str and compiled.fullmatch(value) is not None


def several(check: Check, most: float = math.inf) -> Check:
    """A list or tuple of such values."""
    return lambda value: _is_row(value) and len(_items(value)) <= most and all(map(check, _items(value)))


def record(*checks: Check) -> Check:
    """A list or tuple with one value for each check."""

    def fits(value: object) -> bool:
        same = _is_row(value) and len(_items(value)) == len(checks)
        return same and all(check(item) for check, item in zip(checks, _items(value), strict=True))

    return fits


def fields(**checks: Check) -> Check:
    """An object with one value for each check, by name."""

    def fits(value: Any) -> bool:
        same = type(value) is dict and cast("dict[Any, Any]", value).keys() == checks.keys()
        return same and all(check(value[name]) for name, check in checks.items())

    return fits


def _is_row(value: object) -> bool:
    return type(value) in (list, tuple)


def _items(value: Any) -> list[Any]:
    return cast("list[Any]", value)
