"""The form of updates that touch the entries of one sparse row only."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

TOTALS = 6
"""Numbers of all entries of x that a step carries along: `cpp/burlab/run/step/lagging.hpp`."""


class Correction(IntEnum):
    """Correction of the gradient of a sample: `cpp/burlab/run/abi/lazy.hpp`."""

    NONE = 0
    TABLE = 1
    SNAPSHOT = 2


@dataclass(frozen=True)
class LazyForm:
    """The form of an update. refresh: steps from one snapshot to the next, 0 without. lags: whether entries lag."""

    correction: Correction
    refresh: int
    lags: bool

    @property
    def leaves(self) -> tuple[str, ...]:
        """Names of the leaves of the state, in their order."""
        return (*(("carried", "last") if self.lags else ()), *(("mean", "table") if self.correction else ()))

    def state(self, dimension: int, samples: int) -> tuple[tuple[tuple[int, ...], "np.dtype[Any]"], ...]:
        """Return the shapes and dtypes of the leaves. dimension: of x; samples: of the data."""
        sizes = {"carried": TOTALS, "last": dimension, "mean": dimension, "table": samples}
        return tuple(((sizes[name],), np.dtype(np.int64 if name == "last" else np.float64)) for name in self.leaves)
