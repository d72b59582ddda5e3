"""The writers' side of a run's C++ tables, for tests; Python itself only reads them."""

import ctypes
from functools import cache
from typing import Any

import numpy as np

from burlab.runtime.cling import address, declare

BODY = """
using namespace burlab::run;

struct Tables {
  Ledger ledger;
  Record record;
  Trail trail;
  Path path;
  Keyframes frames;
  Tables(std::int64_t columns, std::int64_t budget, std::int64_t capacity, std::int64_t frame,
         std::int64_t frames_budget)
      : record(ledger, Kind::history, columns, budget),
        trail(ledger, Kind::scratch, columns, capacity),
        path(ledger, std::min<std::int64_t>(columns, 2), capacity),
        frames(ledger, frame, frames_budget) {}
};

extern "C" Tables* @unit_open(std::int64_t columns, std::int64_t budget, std::int64_t capacity, std::int64_t frame,
                              std::int64_t frames_budget) {
  return new Tables(columns, budget, capacity, frame, frames_budget);
}
extern "C" void @unit_close(Tables* tables) { delete tables; }
extern "C" Ledger* @unit_ledger(Tables* tables) { return &tables->ledger; }
extern "C" Record* @unit_record(Tables* tables) { return &tables->record; }
extern "C" Trail* @unit_trail(Tables* tables) { return &tables->trail; }
extern "C" Path* @unit_path(Tables* tables) { return &tables->path; }
extern "C" Keyframes* @unit_frames(Tables* tables) { return &tables->frames; }
extern "C" std::int64_t @unit_bytes(Tables* tables, std::int64_t kind) {
  return kind < 0 ? tables->ledger.total() : tables->ledger.bytes(static_cast<Kind>(kind));
}

extern "C" std::int64_t @unit_append(Tables* tables, const double* rows, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) {
    const double* const row = rows + k * tables->record.columns();
    if (!tables->record.append(row) || !tables->trail.offer(row) || !tables->path.offer(row)) return 0;
  }
  return 1;
}
extern "C" std::int64_t @unit_stamp(Tables* tables, double time) { return tables->record.stamp(time); }
extern "C" std::int64_t @unit_cut(Tables* tables, std::int64_t rows) {
  const std::int64_t kept = tables->record.cut(rows);
  tables->trail.cut(kept);
  tables->path.cut(kept);
  return kept;
}
/// Rows (s, -s, ...) for s from the length on, a stamp 10 s at each 16th, and a cut by `back` rows at each `every`-th.
extern "C" void @unit_count(Tables* tables, std::int64_t rows, std::int64_t every, std::int64_t back) {
  double row[8];
  for (std::int64_t k = 1; k <= rows; ++k) {
    const std::int64_t step = tables->record.length();
    for (int c = 0; c < 8; ++c) row[c] = static_cast<double>(c % 2 ? -step : step);
    tables->record.append(row);
    tables->trail.offer(row);
    tables->path.offer(row);
    if (step % 16 == 0) tables->record.stamp(10.0 * static_cast<double>(step));
    if (k % every == 0) @unit_cut(tables, step - back);
  }
}
extern "C" std::int64_t @unit_restore(Tables* tables, const Extent* extent, const double* const* columns,
                                      const Extent* stamps, const double* const* times) {
  return tables->record.restore({*extent, columns}, {*stamps, times});
}
/// A copy of the first rows, trail included: how many it holds, or -1.
extern "C" std::int64_t @unit_copy(Tables* tables, Tables* other, std::int64_t rows) {
  const std::int64_t kept = tables->record.copy_to(other->record, rows);
  return kept >= 0 && tables->trail.copy_to(other->trail, kept) ? kept : -1;
}
/// A path of its own, of what a path held.
extern "C" std::int64_t @unit_restore_path(Tables* tables, const Extent* extent, const double* const* columns) {
  return tables->path.restore({*extent, columns});
}
extern "C" std::int64_t @unit_copy_path(Tables* tables, Tables* other) { return tables->path.copy_to(other->path); }
extern "C" char* @unit_add(Tables* tables, std::int64_t step) { return tables->frames.add(step); }
"""

_INT, _POINTER = ctypes.c_int64, ctypes.c_void_p
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "open": (_POINTER, _INT, _INT, _INT, _INT, _INT),
    "close": (None, _POINTER),
    "ledger": (_POINTER, _POINTER),
    "record": (_POINTER, _POINTER),
    "trail": (_POINTER, _POINTER),
    "path": (_POINTER, _POINTER),
    "frames": (_POINTER, _POINTER),
    "bytes": (_INT, _POINTER, _INT),
    "append": (_INT, _POINTER, _POINTER, _INT),
    "stamp": (_INT, _POINTER, ctypes.c_double),
    "cut": (_INT, _POINTER, _INT),
    "count": (None, _POINTER, _INT, _INT, _INT),
    "restore": (_INT, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER),
    "copy": (_INT, _POINTER, _POINTER, _INT),
    "restore_path": (_INT, _POINTER, _POINTER, _POINTER),
    "copy_path": (_INT, _POINTER, _POINTER),
    "add": (_POINTER, _POINTER, _INT),
}


@cache
def _exports() -> dict[str, Any]:
    unit = declare(
        BODY, tuple(f"burlab/run/record/{name}.hpp" for name in ("record", "path", "keyframes")), name="tables"
    )
    return {name: ctypes.CFUNCTYPE(*signature)(address(f"{unit}_{name}")) for name, signature in _SIGNATURES.items()}


class Writer:
    """A record of `columns` columns, a trail, a path, a store of keyframes, and the ledger that counts them."""

    def __init__(self, columns: int, budget: int, capacity: int = 64, frame: int = 64, frames_budget: int = 1 << 20):
        self.handle = self("open", columns, budget, capacity, frame, frames_budget, first=())
        self.columns = columns

    def __call__(self, name: str, *args: Any, first: tuple[Any, ...] | None = None) -> Any:
        return _exports()[name](*((self.handle,) if first is None else first), *args)

    def append(self, rows: np.ndarray) -> None:
        rows = np.ascontiguousarray(rows, float).reshape(-1, self.columns)
        assert self("append", rows.ctypes.data, len(rows)) == 1

    def __del__(self) -> None:
        self("close")
