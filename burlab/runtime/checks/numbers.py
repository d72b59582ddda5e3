"""Numbers given by users."""

import math
from collections.abc import Iterable
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError

MAX_STEPS = 2**53  # that a float64 counts one by one


def shown(value: Any) -> str:
    """The value in a message: its repr, of 80 characters at most.

    >>> shown(0.5), shown(10**10000)
    ('0.5', 'an int of 33220 bits')
    """
    try:
        text = repr(value)
    except Exception:  # Python writes no int of more than 4,300 digits, and a user's __repr__ may do anything
        return f"an int of {value.bit_length()} bits" if isinstance(value, int) else f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."


def whole(value: object, name: str, least: int, most: int | None = None) -> int:
    """The value as an int. Raises ArgumentError where it is none, or outside of [least, most]; True is none."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        number = int(cast("Any", value))
        if number >= least and (most is None or number <= most):
            return number
    bound = f"at least {shown(least)}" if most is None else f"from {shown(least)} to {shown(most)}"
    raise ArgumentError(f"{name}={shown(value)} is not a whole number {bound}. Pass an int.")


def real(value: object, name: str, least: float = -math.inf) -> float:
    """The value as a float. Raises ArgumentError where it is no real number, or below `least`; inf is one, NaN none."""
    number = math.nan
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        try:
            number = float(cast("Any", value))
        except OverflowError as error:
            raise ArgumentError(
                f"{name} is beyond 1.8e308, the largest float64. Pass a smaller one, or inf."
            ) from error
    if math.isnan(number):
        raise ArgumentError(f"{name}={shown(value)} is not a real number. Pass one such as 0.5.")
    if number < least:
        raise ArgumentError(f"{name}={shown(value)} is too small. Pass a number that is at least {least:g}.")
    return number


def truth(value: object, name: str) -> bool:
    """The value as a bool. Raises ArgumentError where it is none: text such as "no" would count as True."""
    if isinstance(value, (bool, np.bool_)):
        return bool(cast("Any", value))
    raise ArgumentError(f"{name}={shown(value)} is neither True nor False. Pass one of the two.")


def one_of(value: object, known: Iterable[str], name: str) -> str:
    """The value. Raises ArgumentError where it is none of these words."""
    words = tuple(known)
    if isinstance(value, str) and value in words:
        return value
    raise ArgumentError(f"{name} is {shown(value)}, expected one of {', '.join(map(repr, words))}.")


def flag(value: object, name: str) -> bool:
    """The value as Python counts it, true or not. Raises ArgumentError for what counts as neither, as an array."""
    try:
        return bool(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} is {shown(value)}, expected True or False.") from None


def probabilities(values: object, name: str, count: int) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """The values as float64 of shape (count,). Raises ArgumentError where one is not above 0, or their sum is not 1."""
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} is {shown(values)}, expected {count} numbers above 0 of sum 1.") from None
    if found.shape != (count,):
        raise ArgumentError(f"{name} has shape {found.shape}, expected ({count},), one number for each.")
    if not np.all(found > 0):  # nan is not, either
        raise ArgumentError(f"{name} holds {found[~(found > 0)][0]}. Every one has to be above 0.")
    if abs(found.sum() - 1) > 1e-9 * count:
        raise ArgumentError(f"{name} sum to {found.sum():g}, expected 1. Divide them by their sum.")
    return found
