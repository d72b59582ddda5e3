"""Aggregators: one vector of many, of which some may be anything."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import whole

Vector = Any  # an array, traced or not


class Aggregator(ABC):
    """A map of rows, shape (clients, d), to one vector, shape (d,). All can be traced.

    >>> import numpy as np, burlab as bl
    >>> rows = np.array([[1.0], [2.0], [4.0], [1000.0]])
    >>> [float(a(rows)[0]) for a in (bl.robust.Median(), bl.robust.TrimmedMean(1), bl.robust.Krum(1))]
    [3.0, 3.0, 1.0]
    """

    @abstractmethod
    def __call__(self, rows: Vector) -> Vector:
        """One vector."""


@dataclass(frozen=True)
class Median(Aggregator):
    """The median of every coordinate: Yin, Chen, Ramchandran and Bartlett 2018, arXiv:1803.01498.

    >>> import numpy as np, burlab as bl
    >>> bl.robust.Median()(np.array([[0.0, 5.0], [1.0, 6.0], [9.0, -9.0]]))
    array([1., 5.])
    """

    def __call__(self, rows: Vector) -> Vector:
        """The middle of each column, of two the mean."""
        return np.median(rows, axis=0)


@dataclass(frozen=True)
class _Bounded(Aggregator):
    """An aggregator for at most `liars` Byzantine clients."""

    liars: int

    def __post_init__(self) -> None:
        whole(self.liars, f"liars of {type(self).__name__}", 0)

    def _others(self, rows: Vector, least: int) -> int:
        """Return the number of honest clients. Raises ArgumentError if it is below `least`."""
        others = rows.shape[0] - self.liars
        if others < least:
            name = type(self).__name__
            most = rows.shape[0] - least
            remedy = f"Pass at most {most}." if most >= 0 else f"{name} needs more clients."
            raise ArgumentError(f"liars of {name} is {self.liars}, but there are {rows.shape[0]} clients. {remedy}")
        return others


@dataclass(frozen=True)
class TrimmedMean(_Bounded):
    """The mean of every coordinate without its `liars` smallest and largest entries: Yin et al. 2018, arXiv:1803.01498.

    >>> import numpy as np, burlab as bl
    >>> bl.robust.TrimmedMean(1)(np.array([[0.0], [1.0], [3.0], [99.0]]))
    array([2.])
    """

    def __call__(self, rows: Vector) -> Vector:
        """The mean of the middle."""
        others = self._others(rows, self.liars + 1)
        return np.mean(np.sort(rows, axis=0)[self.liars : others], axis=0)


@dataclass(frozen=True)
class Krum(_Bounded):
    """The row that is nearest to its neighbours: Blanchard, El Mhamdi, Guerraoui and Stainer 2017, arXiv:1703.02757.

    Of every row the squared distances to its m - liars - 2 nearest others are added; the row with the least sum is
    taken, the first of those that tie.

    >>> import numpy as np, burlab as bl
    >>> bl.robust.Krum(1)(np.array([[0.0], [0.1], [0.3], [99.0]]))
    array([0.])
    """

    def __call__(self, rows: Vector) -> Vector:
        """One of the rows."""
        near = self._others(rows, 3) - 2
        sums = np.sum(np.sort(squared_distances(rows, rows), axis=1)[:, 1 : near + 1], axis=1)
        return rows[np.argmin(sums)]


@dataclass(frozen=True)
class NearestMean(_Bounded):
    """The mean of the m - liars rows that are nearest to one: nearest neighbour averaging, Farhadkhani et al. 2023.

    Robust Collaborative Learning with Linear Gradient Overhead, arXiv:2209.10931. At a server, that one is the row of
    the first client; `bl.optim.MoNNA` takes each client's own.

    >>> import numpy as np, burlab as bl
    >>> bl.robust.NearestMean(1)(np.array([[0.0], [1.0], [2.0], [99.0]]))
    array([1.])
    """

    def __call__(self, rows: Vector) -> Vector:
        """The mean around the first row."""
        return self.around(rows[:1], rows)[0]

    def around(self, points: Vector, rows: Vector) -> Vector:
        """The means around points, shape (p, d), in the same order. Of rows that tie, the first are taken."""
        others = self._others(rows, 1)
        order = np.argsort(squared_distances(points, rows), axis=1, kind="stable")
        return np.mean(rows[order[:, :others]], axis=1)


def squared_distances(points: Vector, rows: Vector) -> Vector:
    """Return the squared distances of all pairs, shape (p, r)."""
    return np.sum((points[:, None] - rows[None]) ** 2, axis=-1)
