"""The result of `Kernel.profile`: the time and the bytes of each step of a plan, measured in one call."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

from burlab.compiler.executable import Executable
from burlab.compiler.ir.plan import KernelPlan
from burlab.runtime.coerce import Array
from burlab.runtime.displayed import Displayed
from burlab.runtime.files import as_path, write_text

from .account import Phase, accounts
from .live_bytes import live_bytes
from .timed import StepTimes, TimedExecutable, fastest


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """One step of a plan.

    phase: "forward" (what the value depends on; also where a loop computes both), "backward" (the rest), "update" (of a
    run), or "residual": what the call takes beyond its steps, looking at the clock included. name: operations. shape:
    of the loop or the result. nanoseconds: measured. nbytes: read and written, each element of an array once. lines: of
    the user's code. scope: the parts of the model. start: nanoseconds from the start of the call to that of the step.
    """

    phase: Phase
    name: str
    shape: tuple[int, ...]
    nanoseconds: int
    nbytes: int
    lines: tuple[str, ...]
    scope: str
    start: int


@dataclass(frozen=True, slots=True)
class Profile(Displayed):
    """The steps of one call, in their order, and a row for what is left: their nanoseconds add up to `total`, exactly.

    name: of the function; gear: which executor ran. It is the fastest of many calls, and no number is scaled; time that
    passes while a step ends and the clock is read belongs to the residual. alone: nanoseconds of the fastest call
    that reads no clock on its way. live: bytes that live during each row but the residual, by kind, see `live_bytes`.
    """

    name: str
    gear: str
    rows: tuple[ProfileRow, ...]
    alone: int
    live: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])

    @property
    def total(self) -> int:
        """Nanoseconds of the call."""
        return sum(row.nanoseconds for row in self.rows)

    def nanoseconds(self, phase: str) -> int:
        """Of the rows of a phase."""
        return sum(row.nanoseconds for row in self.rows if row.phase == phase)

    def nbytes(self, phase: str) -> int:
        """Read and written by the rows of a phase."""
        return sum(row.nbytes for row in self.rows if row.phase == phase)

    def __str__(self) -> str:
        head = f"{self.name}, {self.gear}: {_time(self.total)}; {_time(self.alone)} without looking at the clock"
        phases = dict.fromkeys(row.phase for row in self.rows)
        sums = (f"{p} {_time(self.nanoseconds(p))}, {_size(self.nbytes(p))}" for p in phases)
        table = [("time", "%", "bytes", "phase", "step", "shape", "line", "scope"), *map(self._cells, self.rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        numbers = [str.rjust] * 3 + [str.ljust] * 5
        lines = (
            "  ".join(set_(cell, width) for set_, cell, width in zip(numbers, row, widths, strict=True)).rstrip()
            for row in table
        )
        return "\n".join([head, *sums, *lines])

    __repr__ = __str__

    def _cells(self, row: ProfileRow) -> tuple[str, ...]:
        share = 100 * row.nanoseconds / max(self.total, 1)
        shape = "x".join(map(str, row.shape))
        name = row.name if len(row.name) <= _MAX_NAME else row.name[: _MAX_NAME - 3] + "..."
        lines = ", ".join(row.lines[:3]) + (", ..." if len(row.lines) > 3 else "")
        return (_time(row.nanoseconds), f"{share:.1f}", _size(row.nbytes), row.phase, name, shape, lines, row.scope)

    def trace_events(self) -> list[dict[str, Any]]:
        """The steps as complete events of the Trace Event Format, `ts` and `dur` in microseconds, in the order of time.

        One more event spans the call; its gaps between the steps are the residual.
        """
        common = {"ph": "X", "pid": os.getpid(), "tid": 1}
        call = {"name": self.name, "cat": "call", "ts": 0.0, "dur": self.total / 1e3, "args": {"gear": self.gear}}
        return [common | call, *(common | _event(row) for row in self.rows if row.phase != "residual")]

    def to_chrome_trace(self, path: "str | os.PathLike[str]") -> None:
        """Write a file that chrome://tracing and ui.perfetto.dev open. Raises FileError."""
        document = {"traceEvents": self.trace_events(), "displayTimeUnit": "ns"}
        write_text(as_path(path), json.dumps(document, indent=1) + "\n")


_MAX_NAME = 48  # characters of a name in a table


def _event(row: ProfileRow) -> dict[str, Any]:
    what = {"bytes": row.nbytes, "line": ", ".join(row.lines), "scope": row.scope, "shape": list(row.shape)}
    return {"name": row.name, "cat": row.phase, "ts": row.start / 1e3, "dur": row.nanoseconds / 1e3, "args": what}


def _time(nanoseconds: int) -> str:
    if nanoseconds < 10_000:
        return f"{nanoseconds} ns"
    return f"{nanoseconds / 1e3:.1f} us" if nanoseconds < 10_000_000 else f"{nanoseconds / 1e6:.1f} ms"


def _size(nbytes: int) -> str:
    if nbytes < 10_000:
        return f"{nbytes} B"
    return f"{nbytes / 1e3:.1f} kB" if nbytes < 10_000_000 else f"{nbytes / 1e6:.1f} MB"


def rows_of(plan: KernelPlan, laps: StepTimes) -> list[ProfileRow]:
    """Steps with their times."""
    return [
        ProfileRow(e.phase, e.name, e.shape, took, e.nbytes, e.lines, e.scope, start)
        for e, took, start in zip(accounts(plan), laps.steps, laps.starts, strict=True)
        if e.name
    ]


def residual(total: int, rows: Sequence[ProfileRow]) -> ProfileRow:
    """Return the remainder of a total."""
    left = total - sum(row.nanoseconds for row in rows)
    return ProfileRow("residual", "call and clock", (), left, 0, (), "", 0)


def profile(executable: Executable, arrays: Sequence[Array], name: str) -> Profile:
    """Measure calls with these arrays. Raises the errors of a call."""
    executable(*arrays)
    buffers: list[Array] = [spec.empty() for spec in executable.outputs]
    laps, alone = (fastest(TimedExecutable(executable, looks), arrays, buffers) for looks in (True, False))
    rows = rows_of(executable.plan, laps)
    live = live_of(executable.plan)
    return Profile(name, executable.gear, (*rows, residual(laps.total, rows)), alone.total, live)


def live_of(plan: KernelPlan) -> dict[str, tuple[int, ...]]:
    """The bytes that live during each step that is a row of a profile."""
    shown = [bool(entry.name) for entry in accounts(plan)]
    return {kind: tuple(compress(counts, shown)) for kind, counts in live_bytes(plan).items()}
