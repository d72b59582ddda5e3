"""The form of a problem of Moré, Garbow and Hillstrom."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

stack: Any = np.stack  # NumPy's, whose types know no traced values
where: Any = np.where


@dataclass(frozen=True)
class MghForm:
    """Residuals, the standard start, the sum of squares at the minimum, nan where none is published, and minimizers."""

    residuals: Callable[[Any], Any]
    start: Any
    squares: float = 0.0
    minimizers: tuple[Any, ...] = ()
