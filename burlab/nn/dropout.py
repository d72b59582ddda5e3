"""Dropout."""

from dataclasses import dataclass, field

import numpy as np

from burlab.graph.tree import pytree
from burlab.runtime.plain import check_plain
from burlab.runtime.ranges import DECAY, number_in
from burlab.transforms import random
from burlab.typing import Key

from .layer import STATIC, Array, Layer


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Dropout(Layer):
    """Each entry is 0 with probability `rate`; the others are multiplied by 1 / (1 - rate) (Srivastava et al. 2014).

    The same key drops the same entries, also in a step of a run that is computed again. Without a key nothing is
    dropped, as after training.

    Args:
        rate: From 0 to less than 1.

    >>> import numpy as np, burlab as bl
    >>> drop, x = bl.nn.Dropout(0.5), np.ones(1000)
    >>> np.unique(drop(x, key=bl.random.key(3))), bool(np.all(drop(x) == x))
    (array([0., 2.]), True)
    """

    rate: float = field(metadata=STATIC)

    def __init__(self, rate: float) -> None:
        self._fill(rate=number_in(DECAY, rate, "rate of Dropout, the part of the entries that become 0,"))

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        """x, or with a key what is left of it."""
        if key is None or self.rate == 0:
            return x
        check_plain(x, "x of Dropout")
        x = x if hasattr(x, "dtype") else np.asarray(x, float)
        kept = random.uniform(key, x.shape, x.dtype) >= self.rate
        return np.where(kept, x * (1 / (1 - self.rate)), 0.0)

    def __repr__(self) -> str:
        return f"Dropout({self.rate})"
