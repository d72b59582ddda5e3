"""The table of a sweep as cells and as text: the best rows first."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from burlab.run.record.recorder import FLOPS
from burlab.runtime.checks.text_table import columns
from burlab.runtime.displayed import Pictured

from .sweep_rows import SweepRow
from .trials import hyper_text

MAX_ROWS = 30
MAX_LETTERS = 100  # of a reason
MAX_REASONS = 10


@dataclass(frozen=True, slots=True)
class SweepTable(Pictured):
    """Results of a sweep: `head`, `cells` for each row that is shown, and how many rows there are of each kind.

    losses: why rows have failed, a line for each optimizer and reason, as the rows themselves may not be shown.
    Rows are sorted: the lowest value first, those that wait after them, those that failed last. A notebook shows a
    table, `print` text.
    """

    head: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    done: int
    failed: int
    total: int
    losses: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The progress of the sweep in words."""
        failures = f", {self.failed} failed" if self.failed else ""
        return f"{self.done} of {self.total} runs done{failures}"

    @property
    def rest(self) -> str:
        """The number of hidden rows in words."""
        return f"and {self.total - len(self.cells):,} more" if self.total > len(self.cells) else ""

    def lines(self) -> list[str]:
        """The rows in columns, what is not shown, and why rows have failed: a line each."""
        return [*columns([self.head, *self.cells]), *([self.rest] if self.rest else []), *self.losses]

    def __str__(self) -> str:
        return "\n".join([self.title, *self.lines()])

    __repr__ = __str__


def table_of(rows: Sequence[SweepRow], hypers: Sequence[str]) -> SweepTable:
    """The table of rows. hypers: the columns of hyperparameters.

    >>> row = SweepRow(0, "GD", {"lr": 0.1}, 3, 0.25, 100, 0.5, {"flops": 2000}, "steps")
    >>> print(table_of([row], ["lr"]))
    1 of 1 runs done
    run  optimizer  lr   seed  value  steps  flops  seconds  ended by
    0    GD         0.1  3     0.25   100    2e+03  0.5      steps
    """
    ordered = sorted(rows, key=rank)
    values = ("value", "validation") if any(row.validation is not None for row in rows) else ("value",)
    head = ("run", "optimizer", *hypers, "seed", *values, "steps", "flops", "seconds", "ended by")
    cells = tuple(_cells(row, hypers, values) for row in ordered[:MAX_ROWS])
    failures = Counter((row.name, _why(row)) for row in rows if row.failed)
    losses = [f"{count:,} of {name} failed: {why}" for (name, why), count in failures.items()]
    more = (f"and {len(losses) - MAX_REASONS:,} other reasons",) if len(losses) > MAX_REASONS else ()
    return SweepTable(
        head, cells, sum(row.done for row in rows), sum(failures.values()), len(rows), (*losses[:MAX_REASONS], *more)
    )


def rank(row: SweepRow, by: str = "value") -> tuple[int, float, int]:
    """Return a sort key: rows by their value or "validation", then those that wait, then those that failed."""
    if row.failed:
        return 2, 0.0, row.number
    return (0, number_of(row, by), row.number) if row.done else (1, 0.0, row.number)


def number_of(row: SweepRow, by: str) -> float:
    """Return a value of a row; inf if it is missing or NaN."""
    number: float | None = getattr(row, by)
    return math.inf if number is None or math.isnan(number) else number


def _cells(row: SweepRow, hypers: Sequence[str], values: Sequence[str]) -> tuple[str, ...]:
    chosen = [hyper_text(row.hypers[name]) if name in row.hypers else "" for name in hypers]
    numbers: list[float | None] = [getattr(row, name) for name in values]
    shown = ["" if number is None or math.isnan(number) else f"{number:.6g}" for number in numbers]
    flops = f"{row.counts[FLOPS]:.3g}" if FLOPS in row.counts else ""
    end = (f"{row.steps:,}", flops, f"{row.seconds:.3g}") if row.done else ("", "", "")
    end_text = _summary(row) if row.reason == "error" else row.reason
    return (str(row.number), row.name, *chosen, str(row.seed), *shown, *end, end_text)


def _summary(row: SweepRow) -> str:
    return row.message.partition("\n")[0][:MAX_LETTERS]


def _why(row: SweepRow) -> str:
    return _summary(row) if row.reason == "error" else "the value is not finite"
