"""Numbers as they come from PyTorch, JAX, NumPy or Python."""

import math
from operator import index
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, DTypeError
from burlab.runtime.checks.numbers import shown

LAST_STEP = 2**53  # float64 tells whole numbers apart up to here


def as_number(name: str, value: Any) -> float:
    """A real number, or an array or tensor with one entry, as a float. Raises DTypeError for anything else.

    >>> import numpy as np
    >>> as_number("loss", np.float32(0.5)), as_number("loss", np.array([2])), as_number("loss", 3)
    (0.5, 2.0, 3.0)
    """
    found = value
    if not isinstance(value, (int, float)) and getattr(value, "size", 1) != 0:
        item = getattr(value, "item", None)
        try:
            found = item() if callable(item) else value
        except (TypeError, ValueError, RuntimeError):  # it has several entries, or none that can be read
            found = None
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise DTypeError(
            f"{name} is {_described(value)}, expected a real number, or an array or tensor with one entry. "
            "Log one number of it, such as its mean, or several under names of their own."
        )
    try:
        return float(found)
    except OverflowError:  # a whole number beyond all floats
        return math.inf if found > 0 else -math.inf


def as_step(step: Any) -> int:
    """The number of a step, from 0 to 2^53."""
    try:
        if not isinstance(step, (bool, np.bool_)) and 0 <= (number := index(step)) <= LAST_STEP:
            return number
    except TypeError:
        pass
    advice = "w.log(step, value=...) takes names for everything else; leave the step out to have it counted."
    raise ArgumentError(f"the step is {_described(step)}, expected a whole number from 0 on. {advice}")


def _described(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return f"{shown(value)}" if shape is None or shape == () else f"{type(value).__name__} of shape {tuple(shape)}"
