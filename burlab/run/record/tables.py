"""The tables that a run writes in C++, read from Python at any time: `cpp/burlab/run/abi/record.hpp`.

The writer does not wait for readers, but sometimes it rewrites its slots. A reader passes the generation of a table,
and starts again if that one is gone.
"""

import ctypes
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np

from burlab.runtime.exports import exports
from burlab.runtime.structs import CExtent

Column = np.ndarray[tuple[int], np.dtype[Any]]

KINDS = (
    "parameters", "gradients", "activations", "optimizer_state", "scratch", "history", "events", "keyframes", "path",
    "traces",
)  # fmt: skip
"""What memory is for: the names of the C++ enumeration `Kind`, in its order."""

_INT, _POINTER = ctypes.c_int64, ctypes.c_void_p


@cache
def _exports() -> dict[str, Callable[..., Any]]:
    extent, copy = (None, _POINTER, ctypes.POINTER(CExtent)), (_INT, _POINTER, _INT, _INT, _INT, _INT, _POINTER)
    return exports(
        "burlab/run/abi/record.hpp",
        "burlab::run",
        {
            "record_extent": extent,
            "record_copy": copy,
            "record_stamps": (_POINTER, _POINTER),
            "trail_extent": extent,
            "trail_copy": copy,
            "path_extent": extent,
            "path_copy": copy,
            "path_newest": (_INT, _POINTER, _POINTER),
            "ledger_bytes": (_INT, _POINTER, _INT),
            "ledger_peak": (_INT, _POINTER),
        },
    )


class TableReader(Protocol):
    """Columns of float64 that another thread may write meanwhile."""

    def extent(self) -> CExtent:
        """Return the present extent."""
        ...

    def copy(self, extent: CExtent, column: int, first: int, count: int) -> Column | None:
        """Slots [first, first + count) of a column, or None where they have been rewritten since `extent`."""
        ...


class PathColumns(TableReader, Protocol):
    """The points of a run: the columns step and coordinates."""

    def newest(self) -> Column | None:
        """The row that was written last, kept or not; None where there is none."""
        ...


class RecordColumns(TableReader, Protocol):
    """The columns of a record."""

    @property
    def stamps(self) -> TableReader:
        """The times at which rows ended: the columns row and nanoseconds."""
        ...


class RecordTable:
    """The columns of a C++ object. Its owner stays alive as long as this does."""

    def __init__(self, kind: str, address: int, owner: object) -> None:
        """kind: "record", "trail" or "path"; address: of the object; owner: the Python object that frees it."""
        self._kind = kind
        self._address = address
        self._owner = owner

    @property
    def stamps(self) -> "RecordTable":
        """Of a record: when rows ended, a trail with the columns row and nanoseconds."""
        return RecordTable("trail", _exports()["record_stamps"](self._address), self._owner)

    def extent(self) -> CExtent:
        """Return the present extent."""
        extent = CExtent()
        _exports()[f"{self._kind}_extent"](self._address, ctypes.byref(extent))
        return extent

    def copy(self, extent: CExtent, column: int, first: int, count: int) -> Column | None:
        """Slots [first, first + count) of a column, or None where they have been rewritten since `extent`."""
        out = np.empty(count)
        copy = _exports()[f"{self._kind}_copy"]
        return out if copy(self._address, extent.generation, column, first, count, out.ctypes.data) else None


class RecordPath(RecordTable):
    """The points of a run in one or two dimensions."""

    def __init__(self, address: int, owner: object) -> None:
        """address: of the C++ object; owner: the Python object that frees it."""
        super().__init__("path", address, owner)

    def newest(self) -> Column | None:
        """The row that was written last, kept or not; None where there is none."""
        row = np.empty(3)
        return row if _exports()["path_newest"](self._address, row.ctypes.data) else None


def copy_all(
    table: TableReader, extent: CExtent, columns: Iterable[int], first: int, count: int
) -> list[Column] | None:
    """Slots [first, first + count) of several columns, or None where they have been rewritten since `extent`."""
    copies: list[Column] = []
    for column in columns:
        copied = table.copy(extent, column, first, count)
        if copied is None:
            return None
        copies.append(copied)
    return copies


def read(table: TableReader, columns: Sequence[int]) -> tuple[CExtent, list[Column]]:
    """Columns as they are at one moment."""
    while True:
        extent = table.extent()
        copies = copy_all(table, extent, columns, 0, extent.slots)
        if copies is not None:
            return extent, copies


def nbytes(ledger: int) -> dict[str, int]:
    """The bytes that a C++ ledger has given, by kind, their total, and the largest total so far."""
    kinds = {kind: int(_exports()["ledger_bytes"](ledger, k)) for k, kind in enumerate(KINDS)}
    return kinds | {"total": sum(kinds.values()), "peak": int(_exports()["ledger_peak"](ledger))}
