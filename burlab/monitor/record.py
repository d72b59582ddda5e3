"""Rows that a loop in Python writes, in bounded memory: a list that one thread fills, and a table that others read."""

import math
import threading
from collections.abc import Iterable
from struct import Struct, error as StructError

import numpy as np

from burlab.runtime.coerce import Array

_BATCH = 1024  # rows that wait to be put into the table together
_FEWEST = 1024  # entries of a column at least, whatever the memory; all numbers of entries are multiples of four
_ROW_BYTES = 48  # of a row that waits, beside its numbers


class Record:
    """Columns of float64, all of one length, NaN where nothing was written.

    An entry per row, until that takes more than `most` bytes: then `span` rows have two entries, the minimum and the
    maximum of every column, and the span doubles whenever there is no more room. NaN is no extreme.

    >>> record = Record(("a", "b"), most=1 << 20)
    >>> record.append([1.0, 5.0]); record.append([2.0, math.nan])
    >>> record.read()["b"]
    array([ 5., nan])
    """

    def __init__(self, names: Iterable[str], most: int) -> None:
        self.names = list(names)
        self.span = 2  # rows that two entries stand for
        self._most = most
        self._waiting: list[bytes] = []
        self._packed = Struct(f"{len(self.names)}d").pack
        self._lock = threading.Lock()  # held while the table is used
        self._table = np.empty((len(self.names), _FEWEST))
        self._slots = 0  # entries that are final
        self._part = np.empty((len(self.names), 2))  # minimum and maximum of the span that is still growing
        self._held = 0  # rows in it

    def add(self, name: str) -> None:
        """Another column: NaN in the rows before."""
        with self._lock:
            self._settle()
            self.names.append(name)
            self._packed = Struct(f"{len(self.names)}d").pack
            self._table = np.vstack((self._table, np.full((1, self._table.shape[1]), np.nan)))
            self._part = np.vstack((self._part, np.full((1, 2), np.nan)))

    def append(self, row: list[float]) -> None:
        """Write a row: a number per column."""
        try:
            self._waiting.append(self._packed(*row))
        except StructError:  # of a thread that did not know of a new column yet
            self.append(row + [math.nan] * (len(self.names) - len(row)))
        if len(self._waiting) >= _BATCH:
            with self._lock:
                self._settle()

    @property
    def nbytes(self) -> int:
        """Bytes of the table, and of rows on the way to it."""
        return self._table.nbytes + len(self._waiting) * (_ROW_BYTES + 8 * len(self.names))

    def read(self) -> dict[str, Array]:
        """A copy of all columns, by name; a span that is still growing included."""
        with self._lock:
            self._settle()
            table = self._table[:, : self._slots]
            whole = np.hstack((table, self._part)) if self._held else table.copy()
            return dict(zip(self.names, whole, strict=True))

    def since(self, row: int, most: int | None) -> tuple[dict[str, Array], int]:
        """The final entries from a row on, at most so many, and the row after them.

        Where rows have been merged the first entries may begin before the row.
        """
        with self._lock:
            self._settle()
            first = row if self.span == 2 else 2 * (row // self.span)
            last = self._slots if most is None else min(self._slots, first + most // 2 * 2)
            entries = self._table[:, first:last].copy()
            after = last if self.span == 2 else last // 2 * self.span
            return dict(zip(self.names, entries, strict=True)), max(row, after)

    def where(self, column: str, value: float) -> dict[str, Array] | None:
        """The rows whose entry of a rising column is `value`; None where rows have been merged."""
        with self._lock:
            self._settle()
            if self.span > 2:
                return None
            rising = self._table[self.names.index(column), : self._slots]
            first, last = np.searchsorted(rising, value, "left"), np.searchsorted(rising, value, "right")
            return dict(zip(self.names, self._table[:, first:last].copy(), strict=True))

    def _settle(self) -> None:
        """Put what waits into the table. Another thread may go on to append meanwhile."""
        count = len(self._waiting)
        if count:
            rows = b"".join(self._waiting[:count])
            del self._waiting[:count]
            self._take(np.frombuffer(rows).reshape(count, -1).T)

    def _take(self, rows: Array) -> None:
        """Add rows, shape (columns, n)."""
        while count := rows.shape[1]:
            if self._slots == self._table.shape[1]:
                self._make_room()
            room = self._table.shape[1] - self._slots
            if self.span == 2:
                taken = min(count, room)
                self._put(rows[:, :taken])
            elif self._held or count < self.span:
                taken = min(count, self.span - self._held)
                self._part = _extremes(np.hstack((self._part, rows[:, :taken])) if self._held else rows[:, :taken])
                self._held += taken
                if self._held == self.span:
                    self._held = 0
                    self._put(self._part)
            else:
                spans = min(count // self.span, room // 2)
                taken = spans * self.span
                self._put(_extremes(rows[:, :taken].reshape(-1, spans, self.span)).reshape(-1, 2 * spans))
            rows = rows[:, taken:]

    def _put(self, entries: Array) -> None:
        """Add final entries, for which there is room."""
        end = self._slots + entries.shape[1]
        self._table[:, self._slots : end] = entries
        self._slots = end

    def _make_room(self) -> None:
        """Double a table that is full, or join the neighbours in it. No span is growing then: it has its room."""
        slots = self._slots
        most = max(self._most // (8 * len(self.names)) // 4 * 4, _FEWEST)
        if slots < most:
            table = np.empty((len(self.names), min(2 * slots, most)))
            table[:, :slots] = self._table
            self._table = table
            return
        merged = _extremes(self._table.reshape(-1, slots // 4, 4))
        self._slots = slots // 2
        self._table[:, : self._slots] = merged.reshape(-1, self._slots)
        self.span *= 2


def _extremes(rows: Array) -> Array:
    """Minimum and maximum along the last axis, NaN left out: shape (..., n) to (..., 2)."""
    return np.stack((np.fmin.reduce(rows, axis=-1), np.fmax.reduce(rows, axis=-1)), axis=-1)
