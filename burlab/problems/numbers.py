"""Whole numbers given by users."""

from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError


def whole(value: Any, name: str, least: int, most: int | None = None) -> int:
    """The value as an int. Raises ArgumentError where it is none, or outside of [least, most]; True is none."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        number = int(cast("Any", value))
        if number >= least and (most is None or number <= most):
            return number
    bound = f"at least {least}" if most is None else f"from {least} to {most}"
    raise ArgumentError(f"{name}={value!r} is not a whole number {bound}. Pass an int.")
