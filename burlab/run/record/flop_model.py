"""Floating-point operations of a run, from its steps and counters: no step does anything for them."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .recorder import COUNTERS

Numbers = np.ndarray[Any, np.dtype[np.float64]]


class FlopRates(NamedTuple):
    """Floating-point operations of each step besides what its counters count, and of each count, by counters."""

    step: float
    counts: Mapping[str, float]


class FlopModel:
    """Totals for steps and counts. The rates are computed at the first use.

    >>> model = FlopModel(lambda: FlopRates(10.0, {"samples": 3.0}))
    >>> model.totals(np.arange(3), lambda _: np.array([4, 8, 12]))
    array([22., 44., 66.])
    """

    def __init__(self, rates: Callable[[], FlopRates]) -> None:
        self._make = rates

    @cached_property
    def rates(self) -> FlopRates:
        """The rates."""
        return self._make()

    def totals(self, steps: Any, count: Callable[[str], Any]) -> Numbers:
        """Return the operations up to the end of these steps, whole numbers.

        steps: from 0. count: the counts up to there of a counter, by its name.
        """
        rates = self.rates
        total = rates.step * (np.asarray(steps, np.float64) + 1)
        for name in COUNTERS:
            if rate := rates.counts.get(name):
                total = total + rate * count(name)
        return np.rint(total)
