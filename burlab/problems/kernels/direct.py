"""Repeated queries to a finite sum: from the second time on, they go through the C gate.

`FiniteSum` checks and converts its arguments in Python, which costs many times as much as a small batch. The same query
about a batch of the same size goes through the gate, which checks them in a fraction of a microsecond. Arguments that
the gate refuses are converted, or explained, in Python.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from burlab.graph import tree
from burlab.problems.point import Point
from burlab.problems.sampling import Stream, full
from burlab.runtime.coerce import Array

from .loss import Loss

Place = tuple[str, int | None, int]
"""A query, the size of the batch (None: all samples), and the number of threads."""


class Direct:
    """The mean over batches of one size, for shared arguments of one structure, by builtin functions."""

    def __init__(self, loss: Loss, shared: Sequence[Point], stream: Stream, threads: int) -> None:
        self.loss = loss
        self._shared = tree.flatten(tuple(point.tree for point in shared))[1]
        self._result = loss.samples.structure
        self._samples = loss.samples.gate(stream, threads, _refuse)
        self._regularizer = loss.regularizer.gate(full(1), 1, _refuse) if loss.regularizer else None
        self._keyed = loss.samples.keyed

    def __call__(self, shared: tuple[Any, ...], indices: Array | None, key: Any) -> Any:
        """Return the answer of `oracle.mean`; None for other arguments, or if the kernel fails."""
        leaves, structure = tree.flatten(shared)
        if structure != self._shared:
            return None
        more = [] if indices is None else [indices]
        if self._keyed or key is not None:  # too many inputs for a loss without a key: the gate refuses
            more.append(key)
        results = self._samples(*leaves, *more)
        terms = None if self._regularizer is None else self._regularizer(*leaves)
        if results is None or (terms is None and self._regularizer is not None):
            return None
        arrays = [np.asarray(y) for y in results]
        for total, term in zip(arrays, terms or (), strict=False):
            np.add(total, term, out=total, casting="same_kind")
        return tree.unflatten(self._result, arrays)


def _refuse(*_arguments: Any) -> None:
    """The gate calls this in place of a kernel for arguments that it refuses."""


class Directs:
    """The gate functions of repeated queries, and the kernels of queries that came once."""

    def __init__(self) -> None:
        self.found: dict[Place, Loss | Direct] = {}

    def answer(self, place: Place, shared: tuple[Any, ...], indices: Array | None, key: Any) -> Any:
        """Return the answer, or None if the query has to be checked in Python."""
        direct = self.found.get(place)
        return direct(shared, indices, key) if isinstance(direct, Direct) else None

    def remember(self, place: Place, loss: Loss, make: Callable[[], Direct]) -> None:
        """Store a query that Python checked. The second in a row with the same kernels gets a gate function."""
        before = self.found.get(place)
        if before is loss:
            self.found[place] = make()
        elif not (isinstance(before, Direct) and before.loss is loss):
            self.found[place] = loss
