"""The samples of a step, and what else an update knows of it without a query."""

from collections import Counter
from typing import Any

import numpy as np

from burlab.graph import Node
from burlab.graph.node import constant
from burlab.graph.numpy_api.indexing import take
from burlab.graph.query import Question

from .batches import Batches, Known, PairedRows
from .part_places import PartPlace
from .step_log import StepLog


class StepFacts(StepLog):
    """The samples, the key and the sizes of a step."""

    def __init__(self, known: Known, batches: Batches, size: Node | None) -> None:
        """size: number of its samples, where that varies."""
        super().__init__()
        self._known, self._batches, self._size = known, batches, size
        self._used: Counter[Question] = Counter()

    @property
    def indices(self) -> Any:
        """The samples of this step by number, int64 of shape (b,): what the step's gradient is the mean over."""
        self._used[Question("indices")] += 1
        return self._known.indices

    @property
    def weights(self) -> Any:
        """Weights of the step's samples in its gradient and in queries, shape (b,): 1 each, or 1 / (n p_i)."""
        known, x = self._batches.weights, self._known.x
        return np.ones(self._batches.batch, x.dtype) if known is None else take(constant(known), self.indices)

    @property
    def key(self) -> Any:
        """The key of step t, uint64 of shape (2,): bl.random.fold_in(bl.random.key(seed), t), for `bl.random`."""
        self._used[Question("key")] += 1
        return self._known.key

    @property
    def batch(self) -> Any:
        """Number of samples of a step: an int, or traced where that varies (`bl.Batch`)."""
        return self._batches.batch if self._size is None else self._size

    @property
    def samples(self) -> int:
        """Number of samples of the problem; 1 for a function of x alone."""
        return self._batches.samples

    @property
    def full(self) -> bool:
        """True if a step uses all samples."""
        return self._batches.full

    @property
    def elsewhere(self) -> bool:
        """True if the samples are on other machines."""
        return self._batches.elsewhere

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of x that have losses of their own, in order."""
        return tuple(place.name for place in self._batches.parts)

    @property
    def part_places(self) -> tuple[PartPlace, ...]:
        """The same parts with their places in the vector of x."""
        return self._batches.parts

    @property
    def tables(self) -> PairedRows | None:
        """The two tables of unknowns of `bl.Residuals(..., pairs=True)`, else None."""
        return self._batches.tables

    @property
    def products(self) -> Any:
        """The parts of a loss that reads x by one product with a sparse row alone, where a step uses all samples.

        None for another loss. `margins(x)` are A @ x; `slope(margins, x, j)` is a partial derivative at them, for the
        price of the entries of a column; `margins_after(margins, j, step)` are those after a step along x_j.
        """
        source = self._batches.products
        return None if source is None else source.found
