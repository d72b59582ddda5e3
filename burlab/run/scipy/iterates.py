"""The points that a minimizer went through, as far as a byte budget goes."""

from burlab.runtime.coerce import Array


class Iterates:
    """The point after each step. Over the budget every second one is dropped, again and again; the newest stays.

    >>> import numpy as np
    >>> iterates = Iterates(dimension=2, budget=48)
    >>> for step in range(5): iterates.append(np.full(2, float(step)))
    >>> iterates.stride, iterates.at(2), iterates.at(3), iterates.at(4)
    (2, array([2., 2.]), None, array([4., 4.]))
    """

    def __init__(self, dimension: int, budget: int) -> None:
        self.dimension = dimension
        self._budget = budget
        self._kept: list[Array] = []  # every stride-th one
        self._newest: Array | None = None
        self._count = 0
        self.stride = 1

    @property
    def nbytes(self) -> int:
        """Bytes of the points."""
        return sum(x.nbytes for x in self._kept)

    def append(self, x: Array) -> None:
        """The next point; it must not change any more."""
        if self._count % self.stride == 0:
            self._kept.append(x)
        self._newest = x
        self._count += 1
        while len(self._kept) > 2 and self.nbytes > self._budget:
            self._kept = self._kept[::2]
            self.stride *= 2

    def at(self, step: int) -> Array | None:
        """The point after a step; None where it was dropped."""
        if step == self._count - 1:
            return self._newest
        return None if step % self.stride else self._kept[step // self.stride]

    def copy(self, count: int) -> "Iterates":
        """The first ones. The last of them must be there."""
        other = Iterates(self.dimension, self._budget)
        other.stride, other._count, other._newest = self.stride, count, self.at(count - 1)
        other._kept = self._kept[: (count - 1) // self.stride + 1]
        return other
