"""A run as plain values, taken out of a C++ loop and put into another one: `cpp/burlab/run/abi/saved_run.hpp`.

The ctypes structures mirror the C++ structs of the same names, field by field; a test compares them with the compiler.
"""

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from burlab.run.record.live import path
from burlab.run.record.recorder import Recorder
from burlab.run.record.tables import Column, RecordTable, read
from burlab.runtime.coerce import Array
from burlab.runtime.exports import exports
from burlab.runtime.memory import rounded
from burlab.runtime.structs import CEvent, CExtent, CPlan, CSaved, CSavedTable, CStanding

_EVENT: np.dtype[Any] = np.dtype(CEvent)
_INT, _POINTER = ctypes.c_int64, ctypes.c_void_p
Address = ctypes.c_void_p
"""Of a C++ loop."""
Buffers = Sequence[tuple[tuple[int, ...], "np.dtype[Any]"]]
"""Shapes and dtypes of x and of the leaves of the state."""


@dataclass(frozen=True, eq=False)
class TableContents:
    """The contents of a table: number of rows written, the span (see `Extent.span`), and the columns."""

    rows: int
    span: int
    columns: list[Column]


@dataclass(frozen=True, eq=False)
class Tables:
    """The contents of the tables of a run. path: in one or two dimensions."""

    record: TableContents
    stamps: TableContents
    path: TableContents | None
    traces: TableContents


@dataclass(frozen=True, eq=False)
class Saved:
    """The contents of a run, besides its recipe.

    events: steps, hyperparameters by number, values. frame_steps: of the keyframes, the first, if any, is 0. frames: of
    each buffer (x, then the state) one array with the keyframes along its first axis; buffers: where it stands.
    """

    standing: CStanding
    tables: Tables
    events: tuple[Array, Array, Array]
    frame_steps: Column
    frames: list[Array]
    buffers: list[Array]


@cache
def _exports() -> dict[str, Callable[..., Any]]:
    loop, back = _POINTER, ctypes.POINTER(_POINTER)
    return exports(
        "burlab/run/abi/saved_run.hpp",
        "burlab::run",
        {
            "loop_clone": (_INT, loop, ctypes.POINTER(CPlan), back, _INT),
            "loop_standing": (None, loop, ctypes.POINTER(CStanding)),
            "loop_frames": (_INT, loop),
            "loop_frame_bytes": (_INT, loop),
            "loop_frame": (_INT, loop, _INT, _POINTER),
            "loop_restore": (_INT, loop, ctypes.POINTER(CSaved), _INT),
        },
    )


def clone(loop: Address, plan: Any, back: Any, milliseconds: int) -> bool:
    """Write a copy of a C++ loop to `back`; null if there is no memory. False: call again."""
    return bool(_exports()["loop_clone"](loop, plan, back, milliseconds))


def take(loop: Address, buffers: Buffers, tables: Tables, events: tuple[Array, Array, Array], most: int) -> Saved:
    """Everything of a C++ loop at rest. most: bytes of keyframes, besides the first and the last."""
    standing = CStanding()
    _exports()["loop_standing"](loop, ctypes.byref(standing))
    size = int(_exports()["loop_frame_bytes"](loop))
    chosen = _chosen(int(_exports()["loop_frames"](loop)), most // size)
    block = np.empty((len(chosen) + 1, size), np.uint8)
    steps = [_exports()["loop_frame"](loop, k, row.ctypes.data) for k, row in zip((*chosen, -1), block, strict=True)]
    frames = _split(block, buffers)
    first, last = [frame[:-1] for frame in frames], [frame[-1] for frame in frames]
    return Saved(standing, tables, events, np.array(steps[:-1], np.int64), first, last)


def put(loop: Address, saved: Saved, milliseconds: int) -> int:
    """Restore into a loop that was just opened: 1; 2 where there is no memory; 0: call again."""
    rows = np.empty(len(saved.events[0]), _EVENT)
    rows["step"], rows["hyper"], rows["value"] = saved.events
    block = _joined([*zip(*saved.frames, strict=True), tuple(saved.buffers)])
    steps = np.ascontiguousarray(saved.frame_steps, np.int64)
    held = saved.tables
    tables = [_c_table(kept) for kept in (held.record, held.stamps, held.path, held.traces)]
    (record, _), (stamps, _), (path, _), (traces, _) = tables
    plain = CSaved(
        standing=saved.standing, record=record, stamps=stamps, path=path, traces=traces, events=len(rows),
        frames=len(steps), event=rows.ctypes.data, frame_steps=steps.ctypes.data, frame=block.ctypes.data,
        buffers=block[-1].ctypes.data,
    )  # fmt: skip
    return int(_exports()["loop_restore"](loop, ctypes.byref(plain), milliseconds))


def contents_of(table: RecordTable, columns: int) -> TableContents:
    """Return the present contents of a table."""
    extent, read_columns = read(table, range(columns))
    return TableContents(int(extent.rows), int(extent.span), read_columns)


def path_contents(recorder: Recorder) -> TableContents | None:
    """Return the path of a run at rest: the columns step and coordinates, the newest point last."""
    if recorder.path is None or (found := path(recorder)) is None:
        return None
    extent, (steps, points) = recorder.path.extent(), found
    return TableContents(int(extent.rows), int(extent.span), [steps.astype(np.float64), *points.T])


def _chosen(count: int, most: int) -> list[int]:
    """Numbers of keyframes: the first, the last, and about `most` between them, evenly."""
    return sorted({round(k) for k in np.linspace(0, count - 1, min(count, max(most, 0) + 2))})


def _c_table(held: TableContents | None) -> tuple[CSavedTable, Any]:
    """A table for C++, and the objects that must live as long."""
    if held is None:
        return CSavedTable(), None
    slots = len(held.columns[0])
    columns = [np.ascontiguousarray(column, np.float64) for column in held.columns]
    pointers = (_POINTER * len(columns))(*(column.ctypes.data for column in columns))
    extent = CExtent(rows=held.rows, span=held.span, slots=slots, generation=0)
    table = CSavedTable(extent=extent, columns=ctypes.addressof(pointers))
    return table, (columns, pointers)


def _split(block: Array, buffers: Buffers) -> list[Array]:
    """Frames in rows of bytes, each buffer at a multiple of 64, as one array per buffer."""
    arrays: list[Array] = []
    place = 0
    for shape, dtype in buffers:
        size = math.prod(shape) * dtype.itemsize
        part = np.ascontiguousarray(block[:, place : place + size])
        arrays.append(part.view(dtype).reshape(len(block), *shape))
        place += rounded(max(size, 1))
    return arrays


def _joined(frames: list[tuple[Array, ...]]) -> Array:
    """The reverse of `_split`."""
    rows: list[bytes] = []
    for buffers in frames:
        raw = [np.ascontiguousarray(buffer).tobytes() for buffer in buffers]
        rows.append(b"".join(buffer.ljust(rounded(max(len(buffer), 1)), b"\0") for buffer in raw))
    return np.frombuffer(b"".join(rows), np.uint8).reshape(len(frames), -1)
