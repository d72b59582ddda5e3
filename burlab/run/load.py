"""`load_run(path, data)`: a run from a file, verified before anything of it runs."""

import os
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from burlab.errors import BurlabError, FileError, UnregisteredError
from burlab.graph import tree
from burlab.run.file.form import check_document, with_current_names
from burlab.run.file.recipe import Given, bits, rebuild
from burlab.run.file.save import KIND, STANDING
from burlab.run.loop.loop import Loop
from burlab.run.loop.setup import Setup
from burlab.run.loop.snapshot import Saved, TableContents, Tables
from burlab.run.record.recorder import SAMPLES
from burlab.run.record.stop import Stop, check_norm, check_stop
from burlab.run.record.tables import KINDS
from burlab.run.record.traces import MOST, SAMPLED
from burlab.runtime.coerce import Array
from burlab.runtime.structs import CStanding

from .file import container
from .run import Run

_LEVELS = 2100  # of `cpp/burlab/run/record/path.hpp`


def load_run(
    path: str | os.PathLike[str],
    data: Any = None,
    *,
    validation: Any = None,
    like: tree.Tree = None,
    stop: Stop | None = None,
) -> Run:
    """The run that `run.save(path)` wrote, at rest at its step. It continues as if it had never stopped, bit for bit.

    data: the data of the FiniteSum, an array or a tuple of arrays; the file holds a checksum of it. validation: the
    data of the validation problem, if it had any. Functions and classes of the program that saved need not exist.
    like: any tree with x's structure, needed where it holds classes or keys that no file can hold. stop: in place of
    the one that was saved. A predicate (`Stop.when`) is never saved, nor is `run.parent`.

    Everything is verified before anything runs. Raises FileError where the file is missing, damaged or from another
    version, or the data are not those of the run. Warns where steps may differ in their last bits from those in the
    file, because this burlab or this CPU computes them with other instructions.

    >>> import tempfile, numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.25), steps=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run.save(f"{folder}/a.burlab")
    ...     again = bl.load_run(f"{folder}/a.burlab")
    >>> again.step(); again.t, again.x
    (3, array([0.125]))
    """
    if stop is not None:
        check_stop(stop)
    document, arrays = container.read(path, KIND)
    try:
        document = with_current_names(document)
        check_document(document)
        saved = _saved(document, arrays)
        start = [frame[0].copy() for frame in saved.frames]  # a view would keep all keyframes
        setup = rebuild(document["recipe"], arrays, start, Given(data, validation, like, stop))
        saved = _counting(saved, setup)
        _verify(saved, setup)
    except FileError as error:
        raise FileError(f"{path}: {error}") from error
    except UnregisteredError as error:
        raise UnregisteredError(f"{path}: {error}") from None
    except BurlabError as error:
        raise FileError(f"{path} is malformed: {error} Use another copy.") from error
    check_norm(setup.stop.grad_norm, setup.stop.of, setup.loss.has_gradient, "stop", "Stop(value=), or Stop(when=)")
    setup.norm_column(setup.stop.of)
    _warn(path, document["recipe"], setup, stop)
    return Run(Loop.restored(setup, saved), setup.part or setup.start, setup.rule.schedules, None, None)


def _saved(document: Any, arrays: dict[str, Array]) -> Saved:
    measured = _named(arrays, "standing", np.float64)
    if measured.shape != (3,) or not measured[0] >= 0:
        raise FileError("it does not say where the run stands. Use another copy.")
    elapsed, value, norm = measured.tolist()
    counts = {name: document["standing"][name] for name in STANDING}
    standing = CStanding(**counts, elapsed=elapsed, value=value, norm=norm)

    def kept(name: str) -> TableContents:
        rows, span = document["tables"][name]
        return TableContents(rows, span, _numbered(arrays, name))

    none = TableContents(0, 1, [np.empty(0)] * len(SAMPLED))
    traces = kept("traces") if "traces" in document["tables"] else none
    path = None if document["tables"]["path"] is None else _with_steps(kept("path"), cells=_numbered(arrays, "cells"))
    whole, real = np.int64, np.float64
    events = _named(arrays, "events/0", whole), _named(arrays, "events/1", whole), _named(arrays, "events/2", real)
    steps, frames, cells = _named(arrays, "frames", whole), _numbered(arrays, "frames"), _numbered(arrays, "cells")
    if steps.ndim != 1 or not steps.size or any(frame.ndim == 0 or not len(frame) for frame in frames):
        raise FileError("it has no keyframe at which a run could begin. Use another copy.")
    tables = Tables(kept("record"), kept("stamps"), path, traces)
    return Saved(standing, tables, events, steps, frames, cells)


def _with_steps(path: TableContents, cells: list[Array]) -> TableContents:
    """A path as it is kept now; one without a column of steps, as it was written before, has every span-th point."""
    if not path.columns or not cells or len(path.columns) > cells[0].size or path.span < 1:
        return path
    steps = np.arange(len(path.columns[0]), dtype=np.float64) * path.span
    return TableContents(path.rows, 1, [steps, *path.columns])


def _counting(saved: Saved, setup: Setup) -> Saved:
    """A record as it is kept now; one of a rule with queries, as it was written before, counts no samples of these."""
    kept, missing = saved.tables.record, setup.counters
    if not missing or len(kept.columns) != len(setup.columns) - len(missing) or kept.columns[0].ndim != 1:
        return saved
    slots = np.arange(kept.columns[0].size)
    pairs = np.where(slots % 2, np.minimum((slots // 2 + 1) * kept.span, kept.rows), slots // 2 * kept.span + 1)
    samples = (slots + 1 if kept.span == 2 else pairs) * np.float64(setup.stream.batch)
    counts = [samples if name == SAMPLES else 0 * samples for name in missing]
    record = TableContents(kept.rows, kept.span, [*kept.columns, *counts])
    return replace(saved, tables=replace(saved.tables, record=record))


def _named(arrays: dict[str, Array], name: str, dtype: Any) -> Array:
    if name not in arrays or arrays[name].dtype != dtype:
        raise FileError(f"it has no array {name} of {np.dtype(dtype)}. Use another copy.")
    return arrays[name]


def _numbered(arrays: dict[str, Array], name: str) -> list[Array]:
    found: list[Array] = []
    while f"{name}/{len(found)}" in arrays:
        found.append(arrays[f"{name}/{len(found)}"])
    return found


def _verify(saved: Saved, setup: Setup) -> None:
    """Check what C++ relies on: tables, events and keyframes fit each other and the recipe."""
    at, held = saved.standing, saved.tables
    rows, span = held.record.rows, held.record.span
    slots = rows if span == 2 else -(-rows // max(span, 1)) * 2
    steps, hypers, values = saved.events
    frames, first = saved.frame_steps, setup.start.leaves[0]
    rules = {
        "cursor": 0 <= at.step <= at.done <= rows <= at.done + 1,
        "reason": 0 <= at.reason <= 6,
        "record": _fits(held.record, len(setup.columns), slots) and _doubling(span, 2),
        "time stamps": _thin(held.stamps, 2) and bool((np.diff(held.stamps.columns[0]) > 0).all()),
        "path": (held.path is None) == (setup.dimension > 2),
        "path's columns": held.path is None or _is_path(held.path, setup.dimension, rows),
        "traces": _are_traces(held.traces, rows),
        "events": steps.shape == hypers.shape == values.shape and _rising(steps, 0, at.done),
        "event's hyperparameters": bool(((hypers >= 0) & (hypers < len(setup.rule.hyper))).all()),
        "columns": len(set(setup.columns)) == len(setup.columns),
        "keyframes": _rising(frames, 0, at.done) and frames[0] == 0 and bool((np.diff(frames) > 0).all()),
        "keyframes' cells": [(c.shape, c.dtype) for c in saved.frames]
        == [((len(frames), *shape), dtype) for shape, dtype in setup.buffers],
        "cells": [(cell.shape, cell.dtype) for cell in saved.buffers] == setup.buffers,
        "x": first.dtype.kind == "f",
    }
    if broken := [name for name, holds in rules.items() if not holds]:
        raise FileError(f"it is malformed: its {broken[0]} do not fit the rest. Use another copy.")


def _fits(kept: TableContents, columns: int, slots: int) -> bool:
    return len(kept.columns) == columns and all(c.shape == (slots,) and c.dtype == np.float64 for c in kept.columns)


def _thin(kept: TableContents, columns: int) -> bool:
    return _doubling(kept.span, 1) and kept.rows >= 0 and _fits(kept, columns, -(-kept.rows // kept.span))


def _is_path(path: TableContents, dimension: int, rows: int) -> bool:
    if not (path.rows == rows and 1 <= path.span <= _LEVELS and len(path.columns) == 1 + dimension):
        return False
    steps = path.columns[0]
    whole = bool(((steps == np.floor(steps)) & (steps >= 0) & (steps < rows)).all()) if steps.ndim == 1 else False
    return whole and bool((np.diff(steps) > 0).all()) and _fits(path, 1 + dimension, len(steps))


def _are_traces(traces: TableContents, rows: int) -> bool:
    if not _thin(traces, len(SAMPLED)) or len(traces.columns[0]) > MOST:
        return False
    steps, kinds = traces.columns[0], np.stack(traces.columns[-len(KINDS) :])
    whole = bool(((steps == np.floor(steps)) & (steps >= 0) & (steps < rows)).all() and (np.diff(steps) > 0).all())
    return whole and bool(((kinds >= 0) & (kinds < 2**63)).all())


def _doubling(number: int, least: int) -> bool:
    return number >= least and number & (number - 1) == 0


def _rising(steps: Array, least: int, most: int) -> bool:
    inside = steps.ndim == 1 and bool(((steps >= least) & (steps <= most)).all())
    return inside and bool((np.diff(steps) >= 0).all())


def _warn(path: Any, recipe: Any, setup: Setup, stop: Stop | None) -> None:
    if recipe["bits"] != bits(setup):
        warnings.warn(
            f"{path} comes from another version of burlab or another kind of CPU: the run goes on, but its steps may "
            "differ from those in the file in their last bits.",
            RuntimeWarning,
            stacklevel=3,
        )
    if recipe["stop"]["when"] and stop is None:
        warnings.warn(
            f"{path} does not hold the predicate Stop.when of the run. Pass load_run(..., stop=bl.Stop(when=...)).",
            RuntimeWarning,
            stacklevel=3,
        )
