"""The logged names, steps and numbers of a loop, as rows of a record."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown
from burlab.runtime.coerce import Array

from .columns import OTHER_NAMES, LoopHistory, column_name
from .foreign_numbers import LAST_STEP, as_number, as_step
from .record import Record

FIXED = ("step", "time", "memory")
_STEP, _TIME, _MEMORY = range(3)
_NAN = math.nan


@dataclass(frozen=True, slots=True)
class JournalCursor:
    """Position of a reader: the number of rows read, and the step of the last one."""

    rows: int
    step: float


class Journal:
    """Rows of numbers that have names, one for every call of `write`.

    t: the step after the last one. time: nanoseconds at the last row. last_value: of the column `value`; NaN
    before there is one. non_finite: column -> the first step at which it was nan or inf.
    """

    def __init__(self, hypers: Iterable[str], most: int) -> None:
        """hypers: names of columns whose value `set_hyper` sets. most: bytes, see `Record`."""
        names = (*FIXED, *hypers)
        self._record = Record(names, most)
        self._blank = [_NAN] * len(names)  # a row with nothing logged
        self._hypers = {name: len(FIXED) + k for k, name in enumerate(hypers)}
        self._places: dict[str, int] = {}  # of what is logged, by the names that the loop uses
        self._value: int | None = None  # the place of the column `value`
        self._shared = False  # whether a column is called by two names
        self.t = 0
        self.time = 0
        self.last_value = _NAN
        self.non_finite: dict[str, int] = {}

    def set_hyper(self, name: str, value: float) -> None:
        """Set the value that a hyperparameter has from the next row on."""
        self._blank[self._hypers[name]] = value

    def write(self, step: Any, time: int, memory: float, values: Mapping[str, Any]) -> bool:
        """Write a row and return True if it is the first of its step. step: None for the next. memory: NaN for none."""
        if step is None:
            step = self.t
        elif type(step) is not int or not 0 <= step <= LAST_STEP:
            step = as_step(step)
        if step < self.t - 1:
            raise ArgumentError(
                f"step {step} comes after step {self.t - 1}, but steps cannot go back. Log every step once in rising "
                "order, make another watch for another loop, or leave the step out to have it counted."
            )
        if self._shared and len({OTHER_NAMES.get(name, name) for name in values}) < len(values):
            raise ArgumentError(f"of {', '.join(values)} two are names of one column. Log one of them, or rename one.")
        row = self._blank.copy()
        row[_STEP], row[_TIME], row[_MEMORY] = step, time, memory
        for name, value in values.items():
            place = self._places.get(name)
            if place is None:
                self._learn(values)
                return self.write(step, time, memory, values)
            if type(value) is not float:
                value = as_number(name, value)  # noqa: PLW2901
            if value - value != 0.0:
                self.non_finite.setdefault(self._record.names[place], step)
            row[place] = value
        self._record.append(row)
        if self._value is not None and row[self._value] == row[self._value]:
            self.last_value = row[self._value]
        new = step >= self.t
        self.t, self.time = step + 1, time
        return new

    def read(self) -> LoopHistory:
        """Return all rows: steps, logged metrics, times, memory, hyperparameters."""
        columns = self._record.read()
        logged = [name for name in self._record.names if name not in FIXED and name not in self._hypers]
        return LoopHistory(
            {name: columns[name] for name in ("step", *logged, *FIXED[1:], *self._hypers)}, self._record.span
        )

    def tail(
        self, cursor: Any, columns: Iterable[str] | None, most: int | None
    ) -> tuple[dict[str, Array], JournalCursor, bool]:
        """Return the rows since a cursor (None: all), the new cursor, and whether rows begin anew (only if None)."""
        if not isinstance(cursor, JournalCursor | None):
            raise ArgumentError(f"expected cursor=None or the second result of tail, got {shown(cursor)}.")
        since = cursor or JournalCursor(0, -1.0)
        rows, after = self._record.since(since.rows, most)
        steps, times = np.maximum(rows.pop("step"), since.step), rows.pop("time")
        new = np.diff(steps, prepend=since.step) > 0
        stamped, stamps = steps[new], times[new]
        if cursor is None and stamped.size and stamped[0] > 0:  # a loop that goes on from elsewhere
            stamped, stamps = np.append(stamped[0] - 1, stamped), np.append(np.nan, stamps)
        wanted = [name for name in rows if name not in self._hypers] if columns is None else columns
        found = {"step": steps, **{name: rows[name] for name in wanted}, "stamp_step": stamped, "stamp_time": stamps}
        return found, JournalCursor(after, float(steps[-1]) if steps.size else since.step), cursor is None

    def at(self, step: int) -> dict[str, float] | None:
        """Return the metrics logged at a step, by column; None if it has no row, or rows were merged."""
        rows = self._record.where("step", step)
        if rows is None or not rows["step"].size:
            return None
        known = {name: column[~np.isnan(column)] for name, column in rows.items() if name not in FIXED}
        return {name: float(column[-1]) for name, column in known.items() if column.size}

    @property
    def nbytes(self) -> int:
        """Bytes of the record."""
        return self._record.nbytes

    def _learn(self, names: Iterable[str]) -> None:
        """Assign a column to every name; `OTHER_NAMES` share one."""
        for name in names:
            column = column_name(name, self._hypers)
            self._shared |= name not in self._places and column in self._record.names
            if column not in self._record.names:
                self._record.add(column)
                self._blank.append(_NAN)
            self._places[name] = self._record.names.index(column)
            if column == "value":
                self._value = self._places[name]
