"""`load_run(path, data)`: a run from a file, verified before anything of it runs."""

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from burlab.errors import BurlabError, FileError, UnregisteredError
from burlab.graph import tree
from burlab.problems.alternating import arrays_of_parts
from burlab.problems.point import is_float
from burlab.run.file.form import check_document, with_current_names
from burlab.run.file.formats_json import formats_from_json
from burlab.run.file.recipe import Given, bits, rebuild
from burlab.run.file.save_run import BEFORE, KIND, STANDING
from burlab.run.loop.continued_loop import ContinuedLoop
from burlab.run.loop.hand_over import counted
from burlab.run.loop.loop import RunLoop
from burlab.run.loop.setup import Setup
from burlab.run.loop.snapshot import Saved, TableContents, Tables
from burlab.run.record.stop import Stop, check_norm, check_stop, check_when
from burlab.run.record.tables import KINDS
from burlab.run.record.traces import MAX_SAMPLES, SAMPLED
from burlab.runtime.coerce import Array
from burlab.runtime.structs import CStanding
from burlab.typing import ArrayLike, DTypeLike

from .file import container
from .run import Run

_LEVELS = 2100  # of `cpp/burlab/run/record/path.hpp`


def load_run(
    path: str | os.PathLike[str],
    data: Mapping[str, Any] | tuple[ArrayLike, ...] | ArrayLike | None = None,
    *,
    validation: tuple[ArrayLike, ...] | ArrayLike | None = None,
    like: tree.Tree = None,
    stop: Stop | None = None,
) -> Run:
    """Return the run that `run.save(path)` wrote, at rest at its step; it continues bit for bit.

    Everything is verified before anything runs. Functions and classes of the program that saved the run need not exist.
    A predicate (`Stop.when`) and `run.parent` are not saved. It warns if steps may differ in their last bits from those
    in the file, because this burlab or this CPU computes them with other instructions.

    Args:
        path: The file.
        data: The data of the `FiniteSum`, an array or a tuple of arrays, of which the file holds checksums; of an
            `Alternating` with data for each part the same dict.
        validation: The data of the validation problem, if the run has one.
        like: A tree with x's structure, needed if x holds classes or keys that no file can hold.
        stop: A `Stop` in place of the saved one.

    Returns:
        The run.

    Raises:
        FileError: If the file is missing, damaged or from another version, or data are not those of the run.

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
    given = arrays_of_parts(data) if isinstance(data, Mapping) else data
    document, arrays = container.read(path, KIND)
    try:
        document = with_current_names(document)
        check_document(document)
        engine = _restored(document, arrays, Given(given, validation, like, stop))
    except FileError as error:
        raise FileError(f"{path}: {error}") from error
    except UnregisteredError as error:
        raise UnregisteredError(f"{path}: {error}") from None
    except BurlabError as error:
        raise FileError(f"{path} is malformed: {error} Use another copy.") from error
    setup = engine.now.setup if isinstance(engine, ContinuedLoop) else engine.setup
    check_norm(setup.stop.grad_norm, setup.stop.of, setup.knows_norm, "stop", "Stop(value=), or Stop(when=)")
    setup.norm_column(setup.stop.of)
    check_when(setup.stop, setup.budgets[1])
    _warn(path, document["recipe"], setup, stop)
    return Run(engine, setup.part or setup.start, setup.rule.schedules, None, None)


def _restored(document: dict[str, Any], arrays: dict[str, Array], given: Given) -> RunLoop | ContinuedLoop:
    """Return the engine of a document, with the loops that did its steps in other formats of numbers."""
    before = None
    if "before" in document:
        earlier = {name.removeprefix(BEFORE): array for name, array in arrays.items() if name.startswith(BEFORE)}
        before = _restored(document["before"], earlier, given)
    first = 0 if before is None else before.view().length
    saved = _saved(document, arrays)
    setup = rebuild(document["recipe"], arrays, _start(saved), given)
    setup = replace(setup, formats=formats_from_json(document.get("formats")))
    saved = _counting(saved, setup)
    _verify(saved, setup, first)
    loop = RunLoop.restored(setup, saved)
    if before is None:
        return loop
    step, engine = before.view().step, ContinuedLoop(before, loop, first)
    if step < first:
        engine.seek(step)
    return engine


def _saved(document: dict[str, Any], arrays: dict[str, Array]) -> Saved:
    measured = _named(arrays, "standing", np.float64)
    if measured.shape != (3,) or not measured[0] >= 0:
        raise FileError("it has no position of the run. Use another copy.")
    elapsed, value, norm = measured.tolist()
    counts = {name: document["standing"][name] for name in STANDING}
    standing = CStanding(**counts, elapsed=elapsed, value=value, norm=norm)

    def table(name: str) -> TableContents:
        rows, span = document["tables"][name]
        return TableContents(rows, span, _numbered(arrays, name))

    none = TableContents(0, 1, [np.empty(0)] * len(SAMPLED))
    traces = table("traces") if "traces" in document["tables"] else none
    path = None if document["tables"]["path"] is None else _with_steps(table("path"), cells=_numbered(arrays, "cells"))
    whole, real = np.int64, np.float64
    events = _named(arrays, "events/0", whole), _named(arrays, "events/1", whole), _named(arrays, "events/2", real)
    steps, frames, cells = _named(arrays, "frames", whole), _numbered(arrays, "frames"), _numbered(arrays, "cells")
    if steps.ndim != 1 or any(frame.ndim == 0 or len(frame) != len(steps) for frame in frames):
        raise FileError("its keyframes are malformed. Use another copy.")
    tables = Tables(table("record"), table("stamps"), path, traces)
    return Saved(standing, tables, events, steps, frames, cells)


def _start(saved: Saved) -> list[Array]:
    """Return x and the state where a run begins: at step 0, or at its present step if it has no keyframes."""
    frames = saved.frames if saved.frame_steps.size else [cell[None] for cell in saved.buffers]
    return [frame[0].copy() for frame in frames]  # a view would keep all keyframes


def _are_keyframes(steps: Array, first: int, done: int) -> bool:
    return steps.size > 0 and _rising(steps, first, done) and steps[0] == first and bool((np.diff(steps) > 0).all())


def _with_steps(path: TableContents, cells: list[Array]) -> TableContents:
    """Return a path with a column of steps; older files have none and hold every span-th point."""
    if not path.columns or not cells or len(path.columns) > cells[0].size or path.span < 1:
        return path
    steps = np.arange(len(path.columns[0]), dtype=np.float64) * path.span
    return TableContents(path.rows, 1, [steps, *path.columns])


def _counting(saved: Saved, setup: Setup) -> Saved:
    """Return a record with the counters of queries, which older files do not have."""
    old, missing = saved.tables.record, setup.counters
    if not missing or len(old.columns) != len(setup.columns) - len(missing) or old.columns[0].ndim != 1:
        return saved
    counts = [counted(name, old, int(setup.stream.batch)) for name in missing]
    record = TableContents(old.rows, old.span, [*old.columns, *counts])
    return replace(saved, tables=replace(saved.tables, record=record))


def _named(arrays: dict[str, Array], name: str, dtype: DTypeLike) -> Array:
    if name not in arrays or arrays[name].dtype != dtype:
        raise FileError(f"it has no array {name} of {np.dtype(dtype)}. Use another copy.")
    return arrays[name]


def _numbered(arrays: dict[str, Array], name: str) -> list[Array]:
    found: list[Array] = []
    while f"{name}/{len(found)}" in arrays:
        found.append(arrays[f"{name}/{len(found)}"])
    return found


def _verify(saved: Saved, setup: Setup, first: int) -> None:
    """Raise FileError unless tables, events and keyframes fit each other and the recipe, as C++ relies on.

    first: the step that keyframes begin with.
    """
    at, tables = saved.standing, saved.tables
    rows, span = tables.record.rows, tables.record.span
    slots = rows if span == 2 else -(-rows // max(span, 1)) * 2
    steps, hypers, values = saved.events
    frames, x = saved.frame_steps, setup.start.leaves[0]
    rules = {
        "cursor": first <= at.step <= at.done <= rows <= at.done + 1,
        "reason": 0 <= at.reason <= 6,
        "record": _fits(tables.record, len(setup.columns), slots) and _doubling(span, 2),
        "time stamps": _is_strided(tables.stamps, 2) and bool((np.diff(tables.stamps.columns[0]) > 0).all()),
        "path": (tables.path is None) == (setup.dimension > 2),
        "path's columns": tables.path is None or _is_path(tables.path, setup.dimension, rows),
        "traces": _are_traces(tables.traces, rows),
        "events": steps.shape == hypers.shape == values.shape and _rising(steps, 0, at.done),
        "event's hyperparameters": bool(((hypers >= 0) & (hypers < len(setup.rule.hyper))).all()),
        "columns": len(set(setup.columns)) == len(setup.columns),
        "keyframes": _are_keyframes(frames, first, at.done) or (setup.budgets[1] == 0 and not frames.size),
        "keyframes' cells": [(c.shape, c.dtype) for c in saved.frames]
        == [((len(frames), *shape), dtype) for shape, dtype in setup.buffers],
        "cells": [(cell.shape, cell.dtype) for cell in saved.buffers] == setup.buffers,
        "x": is_float(x.dtype),
    }
    if broken := [name for name, holds in rules.items() if not holds]:
        raise FileError(f"it is malformed: its {broken[0]} do not fit the rest. Use another copy.")


def _fits(table: TableContents, columns: int, slots: int) -> bool:
    return len(table.columns) == columns and all(c.shape == (slots,) and c.dtype == np.float64 for c in table.columns)


def _is_strided(table: TableContents, columns: int) -> bool:
    return _doubling(table.span, 1) and table.rows >= 0 and _fits(table, columns, -(-table.rows // table.span))


def _is_path(path: TableContents, dimension: int, rows: int) -> bool:
    if not (path.rows == rows and 1 <= path.span <= _LEVELS and len(path.columns) == 1 + dimension):
        return False
    steps = path.columns[0]
    whole = bool(((steps == np.floor(steps)) & (steps >= 0) & (steps < rows)).all()) if steps.ndim == 1 else False
    return whole and bool((np.diff(steps) > 0).all()) and _fits(path, 1 + dimension, len(steps))


def _are_traces(traces: TableContents, rows: int) -> bool:
    if not _is_strided(traces, len(SAMPLED)) or len(traces.columns[0]) > MAX_SAMPLES:
        return False
    steps, kinds = traces.columns[0], np.stack(traces.columns[-len(KINDS) :])
    whole = bool(((steps == np.floor(steps)) & (steps >= 0) & (steps < rows)).all() and (np.diff(steps) > 0).all())
    return whole and bool(((kinds >= 0) & (kinds < 2**63)).all())


def _doubling(number: int, least: int) -> bool:
    return number >= least and number & (number - 1) == 0


def _rising(steps: Array, least: int, most: int) -> bool:
    inside = steps.ndim == 1 and bool(((steps >= least) & (steps <= most)).all())
    return inside and bool((np.diff(steps) >= 0).all())


def _warn(path: str | os.PathLike[str], recipe: dict[str, Any], setup: Setup, stop: Stop | None) -> None:
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
