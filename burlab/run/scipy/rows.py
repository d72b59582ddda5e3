"""A record that is written in Python: for minimizers that decide there, some thousand steps a second."""

import threading
from collections.abc import Sequence

import numpy as np

from burlab.run.record.tables import Column
from burlab.runtime.structs import CExtent


class GrowingTable:
    """Every row that is appended, read through the same face as the tables in C++.

    >>> trail = GrowingTable(columns=2)
    >>> trail.append((2.0, 1.0))
    >>> trail.extent().rows, trail.copy(trail.extent(), column=1, first=0, count=1)
    (1, array([1.]))
    """

    def __init__(self, columns: int, span: int = 1) -> None:
        self._table = np.empty((columns, 64))
        self._rows, self._span, self._generation = 0, span, 0
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Bytes of the table."""
        return self._table.nbytes

    def append(self, row: Sequence[float]) -> None:
        """Write the next row, a number per column."""
        with self._lock:
            if self._rows == self._table.shape[1]:
                self._table = np.concatenate([self._table, np.empty_like(self._table)], axis=1)
            self._table[:, self._rows] = row
            self._rows += 1

    def cut(self, rows: int) -> None:
        """Forget all but the first `rows` rows."""
        with self._lock:
            if rows < self._rows:
                self._rows, self._generation = rows, self._generation + 1

    def below(self, bound: float) -> int:
        """Return the number of rows whose first entry is below `bound`; the first column never falls."""
        with self._lock:
            return int(np.searchsorted(self._table[0, : self._rows], bound))

    def copy_below(self, bound: float) -> "GrowingTable":
        """Another one, with the rows that begin with a number below `bound`."""
        other = GrowingTable(len(self._table), self._span)
        rows = self.below(bound)
        for row in self._table[:, :rows].T:
            other.append(row.tolist())
        return other

    def extent(self) -> CExtent:
        """Return the present extent."""
        with self._lock:
            return CExtent(self._rows, self._span, self._rows, self._generation)

    def copy(self, extent: CExtent, column: int, first: int, count: int) -> Column | None:
        """Rows [first, first + count) of a column, or None where they have been rewritten since `extent`."""
        with self._lock:
            if extent.generation != self._generation or first + count > self._rows:
                return None
            return self._table[column, first : first + count].copy()


class ScipyPath(GrowingTable):
    """Every point of a run: the columns step and coordinates."""

    def newest(self) -> Column | None:
        """The newest row, if it is not stored: never."""
        return None


class ScipyRows:
    """A row per step, never merged, and when steps ended.

    >>> rows = ScipyRows(columns=3)
    >>> rows.append((2.0, 1.0, 0.5)); rows.stamp(350.0)
    >>> rows.extent().rows, rows.copy(rows.extent(), column=0, first=0, count=1)
    (1, array([2.]))
    """

    def __init__(self, columns: int) -> None:
        self._rows = GrowingTable(columns, span=2)
        self.stamps = GrowingTable(columns=2)

    @property
    def nbytes(self) -> int:
        """Bytes of the tables."""
        return self._rows.nbytes + self.stamps.nbytes

    def append(self, row: Sequence[float]) -> None:
        """Write the next row, a number per column."""
        self._rows.append(row)

    def stamp(self, time: float) -> None:
        """Note when the row appended last was done, in nanoseconds of running."""
        self.stamps.append((self.extent().rows - 1, time))

    def cut(self, rows: int) -> None:
        """Forget all but the first `rows` rows."""
        self._rows.cut(rows)
        self.stamps.cut(self.stamps.below(rows))

    def extent(self) -> CExtent:
        """Return the present extent."""
        return self._rows.extent()

    def copy(self, extent: CExtent, column: int, first: int, count: int) -> Column | None:
        """Rows [first, first + count) of a column, or None where they have been rewritten since `extent`."""
        return self._rows.copy(extent, column, first, count)
