"""The contents of a loop for another one with other kernels, which goes on from its step."""

import math
from dataclasses import replace

import numpy as np

from burlab.run.record.recorder import COUNTERS, SAMPLES
from burlab.runtime.coerce import Array
from burlab.runtime.structs import CStanding

from .setup import Setup
from .snapshot import Saved, TableContents


def handed_over(saved: Saved, old: Setup, new: Setup, cells: list[Array]) -> Saved:
    """Return the contents of a loop of another setup: at the same step, with the same rows and changes.

    Args:
        saved: The contents of the loop that did the steps so far, which has no later rows.
        old: Its setup.
        new: The setup of the loop that goes on, which has the same hyperparameters.
        cells: x, the leaves of the optimizer's state and those of the loss's, for the new loop.

    A row of the present step, at which a criterion stopped the old loop, is left out: the new loop computes it again.
    """
    step = int(saved.standing.step)
    places = [list(new.rule.hyper).index(name) for name in old.rule.hyper]
    moments, hypers, values = saved.events
    tables = saved.tables
    return Saved(
        CStanding(step=step, done=step, reason=0, elapsed=saved.standing.elapsed, value=math.nan, norm=math.nan),
        replace(
            tables,
            record=_record(tables.record, old, new, step),
            stamps=_stamps(tables.stamps, step),
            path=None if tables.path is None else _path(tables.path, step),
        ),
        (moments, np.array([places[k] for k in hypers], np.int64), values),
        np.array([step] if new.budgets[1] else [], np.int64),
        [cell[None][: 1 if new.budgets[1] else 0] for cell in cells],
        cells,
    )


def counted(name: str, record: TableContents, batch: int) -> Array:
    """Return a column of counters that a record does not store: of each step a gradient of its batch, and no more."""
    slots = np.arange(record.columns[0].size)
    if name != SAMPLES:
        return np.zeros(slots.size)
    pairs = np.where(slots % 2, np.minimum((slots // 2 + 1) * record.span, record.rows), slots // 2 * record.span + 1)
    return (slots + 1 if record.span == 2 else pairs) * np.float64(batch)


def _record(record: TableContents, old: Setup, new: Setup, rows: int) -> TableContents:
    """Return the rows with the columns of the new setup; NaN for what the old one did not log."""
    slots = rows if record.span == 2 else -(-rows // record.span) * 2
    known = dict(zip(old.columns, record.columns, strict=True))

    def column(name: str) -> Array:
        if name in known:
            return known[name]
        return (
            counted(name, record, int(old.stream.batch))
            if name in COUNTERS
            else np.full(len(record.columns[0]), np.nan)
        )

    return TableContents(rows, record.span, [column(name)[:slots] for name in new.columns])


def _stamps(stamps: TableContents, step: int) -> TableContents:
    slots = int(np.searchsorted(stamps.columns[0], step))
    if slots == len(stamps.columns[0]):
        return stamps
    return TableContents(
        max((slots - 1) * stamps.span + 1, 0), stamps.span, [column[:slots] for column in stamps.columns]
    )


def _path(path: TableContents, step: int) -> TableContents:
    slots = int(np.searchsorted(path.columns[0], step))
    return TableContents(min(path.rows, step), path.span, [column[:slots] for column in path.columns])
