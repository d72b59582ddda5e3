"""The record of a minimizer written in Python: its rows, its path, its points."""

import math
from dataclasses import dataclass

import numpy as np

from burlab.run.record.tables import KINDS, read
from burlab.run.record.traces import SAMPLED
from burlab.runtime.coerce import Array

from .rows import GrowingTable, ScipyPath, ScipyRows


class Iterates:
    """The point after each step. Over the budget every second one is dropped, again and again; the newest stays.

    A budget of 0 stores the newest alone.

    >>> import numpy as np
    >>> iterates = Iterates(dimension=2, budget=48)
    >>> for step in range(5): iterates.append(np.full(2, float(step)))
    >>> iterates.stride, iterates.at(2), iterates.at(3), iterates.at(4)
    (2, array([2., 2.]), None, array([4., 4.]))
    """

    def __init__(self, dimension: int, budget: int) -> None:
        self.dimension = dimension
        self.budget = budget
        self._stored: list[Array] = []  # every stride-th one
        self._newest: Array | None = None
        self._count = 0
        self.stride = 1

    @property
    def nbytes(self) -> int:
        """Bytes of the points."""
        return sum(x.nbytes for x in self._stored)

    def append(self, x: Array) -> None:
        """The next point; it must not change any more."""
        if self.budget and self._count % self.stride == 0:
            self._stored.append(x)
        self._newest = x
        self._count += 1
        while len(self._stored) > 2 and self.nbytes > self.budget:
            self._stored = self._stored[::2]
            self.stride *= 2

    def at(self, step: int) -> Array | None:
        """The point after a step; None if it was dropped."""
        if step == self._count - 1:
            return self._newest
        return self._stored[step // self.stride] if self.budget and step % self.stride == 0 else None

    def copy(self, count: int) -> "Iterates":
        """The first ones. The last of them must be there."""
        other = Iterates(self.dimension, self.budget)
        other.stride, other._count, other._newest = self.stride, count, self.at(count - 1)
        other._stored = self._stored[: (count - 1) // self.stride + 1]
        return other


COLUMNS = ("value", "gradient_norm", "step_norm", "samples")


@dataclass(frozen=True, slots=True)
class Measured:
    """A point and its measurements. x: shape (d,), float64."""

    x: Array
    value: float
    gradient_norm: float


@dataclass(frozen=True, slots=True)
class Log:
    """The tables of a run. points: after each step, the start first; rows: a row per step from one to the next.

    A row without its step is the last one: the run stopped at a measured point.
    """

    rows: ScipyRows
    path: ScipyPath | None
    points: Iterates
    traces: GrowingTable

    @classmethod
    def empty(cls, dimension: int, budget: int) -> "Log":
        """Tables for points of shape (dimension,). budget: bytes of points."""
        path = ScipyPath(1 + dimension) if dimension <= 2 else None
        return cls(ScipyRows(len(COLUMNS)), path, Iterates(dimension, budget), GrowingTable(len(SAMPLED)))

    @property
    def steps(self) -> int:
        """Rows so far."""
        return self.rows.extent().rows

    @property
    def spent(self) -> tuple[int, int]:
        """Samples used so far, and nanoseconds of running."""
        rows = self.steps
        if not rows:
            return 0, 0
        (_, columns), (_, times) = read(self.rows, [COLUMNS.index("samples")]), read(self.rows.stamps, [1])
        return int(columns[0][-1]), int(times[0][-1])

    def write(self, before: Measured, after: Array | None, samples: int, time: float) -> dict[str, Array]:
        """Write the row of a step, and return it. after: None if the step is not done yet. samples: used so far.

        time: nanoseconds of running.
        """
        length = math.nan if after is None else float(np.linalg.norm(after - before.x))
        step, row = self.steps, (before.value, before.gradient_norm, length, samples)
        self.rows.append(row)
        self.rows.stamp(time)
        if self.path is not None:
            self.path.append([step, *(float(v) for v in before.x)])
        return {"step": np.array([step])} | {name: np.array([v]) for name, v in zip(COLUMNS, row, strict=True)}

    def cut(self, rows: int) -> None:
        """Forget all but the first rows."""
        self.rows.cut(rows)
        self.traces.cut(self.traces.below(rows))
        if self.path is not None:
            self.path.cut(rows)

    def copy(self, steps: int) -> "Log":
        """The first steps, and the points up to after them."""
        trail = None if self.path is None else ScipyPath(1 + self.points.dimension)
        other = Log(ScipyRows(len(COLUMNS)), trail, self.points.copy(steps + 1), self.traces.copy_below(steps))
        columns = read(self.rows, range(len(COLUMNS)))[1]
        times = read(self.rows.stamps, (1,))[1][0]
        for k in range(steps):
            other.rows.append([float(column[k]) for column in columns])
            other.rows.stamp(float(times[k]))
        if self.path is not None and trail is not None:
            points = read(self.path, range(1 + self.points.dimension))[1]
            for k in range(steps):
                trail.append([float(column[k]) for column in points])
        return other

    @property
    def nbytes(self) -> dict[str, int]:
        """Bytes by purpose, and their total."""
        held = {"history": self.rows.nbytes, "keyframes": self.points.nbytes, "traces": self.traces.nbytes}
        if self.path is not None:
            held["path"] = self.path.nbytes
        kinds = {kind: held.get(kind, 0) for kind in KINDS}
        total = sum(kinds.values())  # it only grows
        return kinds | {"total": total, "peak": total}
