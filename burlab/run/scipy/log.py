"""What a minimizer written in Python leaves behind: its rows, its path, its points."""

import math
from dataclasses import dataclass

import numpy as np

from burlab.run.record.tables import KINDS, read
from burlab.run.record.traces import SAMPLED
from burlab.runtime.coerce import Array

from .iterates import Iterates
from .rows import Path, Rows, Trail

COLUMNS = ("value", "gradient_norm", "step_norm", "samples")


@dataclass(frozen=True, slots=True)
class Measured:
    """A point and what was measured there. x: shape (d,), float64."""

    x: Array
    value: float
    gradient_norm: float


@dataclass(frozen=True, slots=True)
class Log:
    """The tables of a run. points: after each step, the start first; rows: a row per step from one to the next.

    A row without its step is the last one: where the run came to rest at a point that was measured.
    """

    rows: Rows
    path: Path | None
    points: Iterates
    traces: Trail

    @classmethod
    def empty(cls, dimension: int, budget: int) -> "Log":
        """Tables for points of shape (dimension,). budget: bytes of points."""
        path = Path(1 + dimension) if dimension <= 2 else None
        return cls(Rows(len(COLUMNS)), path, Iterates(dimension, budget), Trail(len(SAMPLED)))

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
        """Write the row of a step, and give it. after: None where the step is not done yet. samples: used so far.

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
        trail = None if self.path is None else Path(1 + self.points.dimension)
        other = Log(Rows(len(COLUMNS)), trail, self.points.copy(steps + 1), self.traces.copy_below(steps))
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
        """Bytes by what they are for, and their total."""
        held = {"history": self.rows.nbytes, "keyframes": self.points.nbytes, "traces": self.traces.nbytes}
        if self.path is not None:
            held["path"] = self.path.nbytes
        kinds = {kind: held.get(kind, 0) for kind in KINDS}
        return kinds | {"total": sum(kinds.values())}
