"""Losses of the parts of x."""

from collections.abc import Callable
from typing import Any, NamedTuple


class PartLosses(NamedTuple):
    """Losses of the parts of x. names: of the parts, in order. loss: (x, number, *sample) -> number, of one of them."""

    names: tuple[str, ...]
    loss: Callable[..., Any]
