"""The newest rows of a record, for whoever draws it while it grows."""

from dataclasses import dataclass

import numpy as np

from burlab.errors import ArgumentError

from .implicit import steps
from .recorder import FIRST, Recorder
from .tables import Array, Column, copy_all, read


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a reader is: entries and time stamps read, and the generations of the tables that they were read from."""

    entries: int
    stamps: int
    generation: int
    stamps_generation: int


def tail(
    recorder: Recorder, cursor: Cursor | None = None, columns: tuple[str, ...] | None = None
) -> tuple[dict[str, Column], Cursor, bool]:
    """What was written since `cursor`, None for everything: the entries, a new cursor, whether they begin anew.

    Entries begin anew at first, and when the record was merged or cut: forget those before. A span that is still
    growing is left for later. columns: those wanted, None for all stored ones. Besides them "step"; and of a length of
    their own "stamp_step" and "stamp_time", when steps ended, in nanoseconds of running.
    """
    names = recorder.columns if columns is None else columns
    if unknown := [name for name in names if name not in recorder.columns]:
        raise ArgumentError(f"{unknown[0]!r} is not stored; there are {', '.join(recorder.columns)}.")
    record, stamps = recorder.record, recorder.record.stamps
    while True:
        extent, moments = record.extent(), stamps.extent()
        generations = int(extent.generation), int(moments.generation)
        fresh = cursor is None or (cursor.generation, cursor.stamps_generation) != generations
        first, first_stamp = (0, 0) if cursor is None or fresh else (cursor.entries, cursor.stamps)
        closed = int(extent.slots) if extent.span == 2 else 2 * int(extent.rows // extent.span)
        read = copy_all(record, extent, [recorder.columns.index(name) for name in names], first, closed - first)
        read_stamps = copy_all(stamps, moments, (0, 1), first_stamp, int(moments.slots) - first_stamp)
        if read is not None and read_stamps is not None:
            break
    rows = {FIRST: steps(first, closed - first, int(extent.rows), int(extent.span))}
    rows |= dict(zip(names, read, strict=True))
    rows |= {"stamp_step": read_stamps[0], "stamp_time": read_stamps[1]}
    return rows, Cursor(closed, int(moments.slots), *generations), fresh


def at(recorder: Recorder, step: int) -> dict[str, float] | None:
    """The stored columns at one step; None where it has no row, or one that was merged with others."""
    record = recorder.record
    while True:
        extent = record.extent()
        if extent.span != 2 or not 0 <= step < extent.rows:
            return None
        row = copy_all(record, extent, range(len(recorder.columns)), step, 1)
        if row is not None:
            return {name: float(column[0]) for name, column in zip(recorder.columns, row, strict=True)}


def path(recorder: Recorder) -> tuple[Column, Array] | None:
    """The points that a run went through, where x has one or two entries: steps, int64 (n,), and points (n, d).

    All of them up to 65,536, then every second, fourth, ... The point that it stands at now is not among them.
    """
    trail = recorder.path
    if trail is None:
        return None
    extent, points = read(trail, range(recorder.dimension))
    steps_at = np.arange(int(extent.slots)) * int(extent.span)
    return steps_at, np.stack(points, axis=1)
