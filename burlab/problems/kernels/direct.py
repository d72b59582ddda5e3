"""Questions about a finite sum that were asked before: from the second time on, the C gate answers them.

`FiniteSum` checks and converts what it is given, which costs many times what a small batch does. A question that comes
again, about a batch of the same size, goes through the gate instead, which checks as much in a fraction of a
microsecond. What it refuses goes the first way, and is converted or explained there.
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
"""A question, the size of the batch or None for all samples, and how many threads work on it."""


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
        """What `oracle.mean` answers; None where the arguments are of another kind, or the kernel fails."""
        leaves, structure = tree.flatten(shared)
        if structure != self._shared:
            return None
        more = [] if indices is None else [indices]
        if self._keyed or key is not None:  # which is one input too many where the loss takes none
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
    """What the gate calls where it says no."""


class Directs:
    """The ways through the gate that were made so far, and the kernels of questions that were asked once."""

    def __init__(self) -> None:
        self.found: dict[Place, Loss | Direct] = {}

    def answer(self, place: Place, shared: tuple[Any, ...], indices: Array | None, key: Any) -> Any:
        """The answer, or None where the question has to go the long way."""
        direct = self.found.get(place)
        return direct(shared, indices, key) if isinstance(direct, Direct) else None

    def remember(self, place: Place, loss: Loss, make: Callable[[], Direct]) -> None:
        """A question went the long way; where it did so twice in a row with the same kernels, make a shorter one."""
        before = self.found.get(place)
        if before is loss:
            self.found[place] = make()
        elif not (isinstance(before, Direct) and before.loss is loss):
            self.found[place] = loss
