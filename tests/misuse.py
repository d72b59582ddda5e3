"""One way to go wrong, and what the tables of them have in common."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

X = np.array([1.0, 2.0, 3.0])


def squares(x: Any) -> Any:
    """Of all entries, added up."""
    return np.sum(x**2)


class Misuse(NamedTuple):
    """One way to go wrong. what: in words; do: the program; error: what it raises; says: what its message holds."""

    what: str
    do: Callable[[], Any]
    error: type[Exception]
    says: str
