"""What a run has written down: a column per quantity, a row per step; and the changes made while it ran."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .engine import COLUMNS
from .loop import Loop

Column = np.ndarray[tuple[int], np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Event:
    """A change: from step `step` on, the hyperparameter `name` has the value `value`."""

    step: int
    name: str
    value: float


class History(Mapping[str, Column]):
    """The record of a run up to the moment it was asked for; columns are NumPy arrays with one entry per step.

    step: which one, from 0, int64. value: of the batch at the step's start, regularizer included. gradient_norm,
    step_norm: Euclidean norms of the batch's gradient and of x's change. samples: sample gradients used so far, int64.
    time: nanoseconds of running until the step's end; short steps share a clock read and are interpolated. Then one
    column per hyperparameter, with the value that the step used.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(0.25), steps=2).history["value"]
    array([2. , 0.5])
    """

    def __init__(self, loop: Loop, hypers: tuple[str, ...]) -> None:
        self._loop = loop
        self._names = (*COLUMNS, *hypers)
        self._rows = loop.length(0)
        self._elapsed = loop.view().elapsed
        self._columns: dict[str, Column] = {}

    @property
    def steps(self) -> int:
        """The number of steps recorded."""
        return self._rows

    def __getitem__(self, name: str) -> Column:
        if name not in self._columns:
            if name not in self._names:
                raise KeyError(f"{name!r} is no column; there are {', '.join(self._names)}.")
            column = self._loop.column(0, self._names.index(name), 0, self._rows)
            if name in ("step", "samples"):
                column = column.astype(np.int64)
            self._columns[name] = self._interpolated(column) if name == "time" else column
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<History of {self._rows} steps: {', '.join(self._names)}>"

    def _interpolated(self, stamps: Column) -> Column:
        """A stamp for every step, from those that have one."""
        rows = np.arange(self._rows)
        known = np.isfinite(stamps)
        if self._rows == 0 or known.all():
            return stamps
        at, times = rows[known], stamps[known]
        if not known[-1] and self._elapsed >= (times[-1] if times.size else 0.0):
            at, times = np.append(at, rows[-1]), np.append(times, self._elapsed)
        return np.interp(rows, at, times)


def events(loop: Loop, hypers: tuple[str, ...]) -> list[Event]:
    """The event log so far."""
    loop.settle()  # so that a change told just now is in it
    rows = loop.length(1)
    steps, names, values = (loop.column(1, k, 0, rows) for k in range(3))
    return [Event(int(s), hypers[int(k)], float(v)) for s, k, v in zip(steps, names, values, strict=True)]
