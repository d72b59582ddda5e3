"""Numbers as people type them in the fields of a live view."""

import math
import re
from collections.abc import Iterable
from typing import Any

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown


def whole_from(text: Any, what: str, least: int) -> int:
    """Return a whole number.

    Args:
        text: What the field holds.
        what: What it is called in an error.
        least: The smallest one allowed.

    Raises:
        ArgumentError: It is another text.

    >>> whole_from("1,000", "the step", 0)
    1000
    """
    found = str(text).strip()
    if re.fullmatch(r"\d{1,3}(,\d{3})+", found):  # as the panel writes thousands
        found = found.replace(",", "")
    number = _number(found)
    if not (math.isfinite(number) and number == int(number) and number >= least):
        raise ArgumentError(f"{what} is {shown(str(text))}, expected a whole number from {least} on, such as 100.")
    return int(number)


def real_from(text: Any, what: str) -> float:
    """Return a finite number, as `whole_from` does.

    >>> real_from("−1e-3", "lr")
    -0.001
    """
    number = _number(str(text).strip().replace("−", "-"))
    if not math.isfinite(number):
        raise ArgumentError(f"{what} is {shown(text)}, expected a number such as 0.01 or 1e-3.")
    return number


def one_of(value: Any, known: Iterable[str], what: str) -> str:
    """Return one of the values of a menu.

    Raises:
        ArgumentError: It is none of them.

    >>> one_of("step", ("step", "seconds"), "the axis")
    'step'
    """
    choices = list(known)
    if value not in choices:
        raise ArgumentError(f"{what} must be one of {', '.join(map(repr, choices))}; got {shown(value)}.")
    return str(value)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
