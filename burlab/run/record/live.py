"""The new rows of a record that is drawn while it grows."""

from dataclasses import dataclass

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.coerce import Array
from burlab.runtime.structs import CExtent

from .derived import steps
from .recorder import FIRST, Recorder
from .tables import Column, copy_all, read


@dataclass(frozen=True, slots=True)
class RecordCursor:
    """Position of a reader: numbers of rows and time stamps read, and the extents of the tables then."""

    rows: int
    stamps: int
    tables: tuple[CExtent, CExtent]


def rows_since(
    recorder: Recorder,
    cursor: RecordCursor | None = None,
    columns: tuple[str, ...] | None = None,
    *,
    most: int | None = None,
) -> tuple[dict[str, Column], RecordCursor, bool]:
    """Return the entries since `cursor` (None: all), a new cursor, and True if entries begin anew.

    They begin anew at first and after the record was cut: drop earlier ones. After a merge they continue, and a reader
    keeps the finer ones that it has. A span that is still growing comes later.
    columns: names, None for all stored ones. Besides them there are "step", and of another length "stamp_step" and
    "stamp_time": nanoseconds of running when steps ended. most: entries at once, at least two.
    """
    if not isinstance(cursor, RecordCursor | None):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"expected cursor=None or the second result of tail, got {shown(cursor)}.")
    most = None if most is None else whole(most, "most", 2)
    names = recorder.columns if columns is None else columns
    if unknown := [name for name in names if name not in recorder.columns]:
        raise ArgumentError(f"{shown(unknown[0])} is not stored; there are {', '.join(recorder.columns)}.")
    record, stamps = recorder.record, recorder.record.stamps
    while True:
        extent, moments = record.extent(), stamps.extent()
        fresh = cursor is None or not all(map(_continues, cursor.tables, (extent, moments)))
        known, known_stamps = (0, 0) if cursor is None or fresh else (cursor.rows, cursor.stamps)
        span = int(extent.span)
        first = known if span == 2 else 2 * (known // span)
        closed = int(extent.slots) if span == 2 else 2 * int(extent.rows // span)
        closed = closed if most is None else min(closed, first + most // 2 * 2)
        first_stamp = -(-known_stamps // int(moments.span))
        read = copy_all(record, extent, [recorder.columns.index(name) for name in names], first, closed - first)
        read_stamps = copy_all(stamps, moments, (0, 1), first_stamp, int(moments.slots) - first_stamp)
        if read is not None and read_stamps is not None:
            break
    rows = {FIRST: np.maximum(steps(first, closed - first, int(extent.rows), span), known)}
    rows |= dict(zip(names, read, strict=True))
    rows |= {"stamp_step": read_stamps[0], "stamp_time": read_stamps[1]}
    after = RecordCursor(
        closed if span == 2 else closed // 2 * span, int(moments.slots * moments.span), (extent, moments)
    )
    return rows, after, fresh


def _continues(before: CExtent, now: CExtent) -> bool:
    """Return True unless a table was cut: a merge doubles the span with each generation, a cut does not."""
    return now.generation - before.generation == int(now.span).bit_length() - int(before.span).bit_length()


def at(recorder: Recorder, step: int) -> dict[str, float] | None:
    """Return the stored columns at one step; None if it has no row, or one that was merged with others."""
    if isinstance(step, bool) or not isinstance(step, (int, np.integer)):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"step={shown(step)} is not a whole number. Pass an int such as run.t - 1.")
    record = recorder.record
    while True:
        extent = record.extent()
        if extent.span != 2 or not 0 <= step < extent.rows:
            return None
        row = copy_all(record, extent, range(len(recorder.columns)), step, 1)
        if row is not None:
            return {name: float(column[0]) for name, column in zip(recorder.columns, row, strict=True)}


def path(recorder: Recorder) -> tuple[Column, Array] | None:
    """Return the points of a run in d = 1 or 2 dimensions, as many as `Run.path` keeps: steps, int64 (n,), and (n, d).

    None for other dimensions. The last point written is included.
    """
    kept = recorder.path
    if kept is None:
        return None
    while True:
        before, newest = kept.extent(), kept.newest()  # first: what is kept later is in order behind it
        extent, rows = read(kept, range(1 + recorder.dimension))
        if extent.generation == before.generation:
            break
    table = np.stack(rows)
    if newest is not None and (not extent.slots or newest[0] > table[0, -1]):
        table = np.append(table, newest[: len(table), None], axis=1)
    return table[0].astype(np.int64), np.ascontiguousarray(table[1:].T)
