"""Ranges of numbers, and the error for a number outside of one."""

import math
from typing import Any, NamedTuple, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown


class Range(NamedTuple):
    """From low to high, both of the range unless it is open there. infinite: whether infinity may be, for no bound."""

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False
    infinite: bool = False

    def __contains__(self, number: object) -> bool:
        x = cast("float", number)
        above = x > self.low if self.open_low else x >= self.low
        below = x < self.high if self.open_high else x <= self.high
        return above and below and (self.infinite or math.isfinite(x))

    def __str__(self) -> str:
        low, high = ("above" if self.open_low else "at least"), ("below" if self.open_high else "at most")
        ends = [f"{low} {self.low:g}"] * math.isfinite(self.low) + [f"{high} {self.high:g}"] * math.isfinite(self.high)
        return f"a number {' and '.join(ends)}" if ends else "a finite number"


FINITE = Range(-math.inf, math.inf)
POSITIVE = Range(0.0, math.inf, open_low=True)
NOT_NEGATIVE = Range(0.0, math.inf)
BOUND = Range(0.0, math.inf, open_low=True, infinite=True)
DECAY = Range(0.0, 1.0, open_high=True)
SHARE = Range(0.0, 1.0)
PROBABILITY = Range(0.0, 1.0, open_low=True)
BETWEEN = Range(0.0, 1.0, open_low=True, open_high=True)
ABOVE_ONE = Range(1.0, math.inf, open_low=True)


def number_in(range_: Range, value: object, name: str) -> float:
    """The value as a float. Raises ArgumentError where it is no real number of the range.

    >>> number_in(DECAY, 1.5, "b1 of Adam")
    Traceback (most recent call last):
        ...
    burlab.errors.ArgumentError: b1 of Adam is 1.5, expected a number at least 0 and below 1.
    """
    is_real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    try:
        if is_real and value in range_:
            return float(cast("Any", value))
    except OverflowError:  # an int beyond all floats
        pass
    raise ArgumentError(f"{name} is {shown(value)}, expected {range_}.")
