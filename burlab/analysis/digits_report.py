"""The table that `digits` returns: right digits of each operation, and the operations that lose them."""

import math
from dataclasses import dataclass

from burlab.runtime.checks.text_table import columns
from burlab.runtime.displayed import Pictured
from burlab.typing import Shape, Tree

LARGE_LOSS = 4.0  # digits, from which an operation is marked
_SHOWN = 12  # rows at most, those that lose most


@dataclass(frozen=True, slots=True)
class DigitsRow:
    """An operation, or a line.

    place: the user's line. digits: right digits of its result, relative to the largest entry; inf for whole numbers and
    masks that are the same in all runs. loss: how many more the least right of its operands has. shadow, rounding: the
    digits by the shadow, nan where it does not know all rounding errors, and by random rounding. matters: whether a
    result that it is a part of has lost four digits or more.
    """

    op: str
    place: str
    scope: str
    shape: Shape
    digits: float
    loss: float
    shadow: float
    rounding: float
    matters: bool

    @property
    def differs(self) -> bool:
        """True if the two counts are four digits or more apart."""
        return abs(self.shadow - self.rounding) >= LARGE_LOSS


@dataclass(frozen=True, slots=True)
class DigitsReport(Pictured):
    """The digits that are right: text when printed, drawn in a notebook.

    value: what the function returns. digits: a tree like it, with the right decimal digits of each entry; inf for whole
    numbers and masks that are the same in all runs. rows: of all operations, in order. lines: for each line of the
    user's code the operation that loses most, with the digits that the line loses as a whole. unknown: operations whose
    rounding errors the shadow does not know, with their lines: from there on, the lower count holds.
    """

    name: str
    value: Tree
    digits: Tree
    rows: tuple[DigitsRow, ...]
    lines: tuple[DigitsRow, ...]
    unknown: tuple[str, ...]

    @property
    def losses(self) -> tuple[DigitsRow, ...]:
        """The lines that lose four digits or more, and a result with them; those that lose most first."""
        found = (row for row in self.lines if row.loss >= LARGE_LOSS and row.matters)
        return tuple(sorted(found, key=lambda row: -row.loss))

    @property
    def title(self) -> str:
        """The result as a sentence."""
        losses = self.losses
        if not losses:
            return f"{self.name}: no line loses {LARGE_LOSS:g} digits or more"
        return (
            f"{self.name}: {losses[0].op} at {losses[0].place or 'an unknown line'} loses {losses[0].loss:.1f} digits"
        )

    @property
    def shown(self) -> tuple[DigitsRow, ...]:
        """The lines of the table: those that lose most digits."""
        return tuple(sorted(self.lines, key=lambda row: -row.loss)[:_SHOWN])

    def cells(self) -> list[tuple[str, ...]]:
        """The table as text, its head first."""
        head = ("operation", "line", "module", "shape", "right digits", "lost", "by shadow", "by rounding")
        return [head, *(_cells(row) for row in self.shown)]

    @property
    def notes(self) -> list[str]:
        """Sentences below the table: where the counts differ, and what the shadow does not know."""
        apart = [row for row in self.lines if row.differs]
        found = [f"{row.op} at {row.place or 'an unknown line'}: {_difference(row)}" for row in apart]
        if self.unknown:
            found.append(f"The shadow knows no rounding errors of {', '.join(self.unknown)}.")
        return found

    def __str__(self) -> str:
        head, *lines = columns(self.cells(), "<<<<>>>>")
        return "\n".join([self.title, head, "-" * len(head), *lines, *self.notes])

    __repr__ = __str__


def _cells(row: DigitsRow) -> tuple[str, ...]:
    counts = map(_count, (row.shadow, row.rounding))
    return row.op, row.place, row.scope, str(row.shape), _count(row.digits), f"{row.loss:.1f}", *counts


def _count(digits: float) -> str:
    return "all" if math.isinf(digits) else "-" if math.isnan(digits) else f"{digits:.1f}"


def _difference(row: DigitsRow) -> str:
    """Return a sentence on the two counts of a line, and on the one that holds."""
    counts = f"{_count(row.shadow)} digits by the shadow, {_count(row.rounding)} by random rounding"
    if row.rounding < 1 <= row.shadow:
        return f"{counts}. So much is lost that the shadow has no digits left: none is right."
    if row.shadow > row.rounding:
        return f"{counts}. The errors cancel for these arguments: expect fewer digits for others."
    return f"{counts}. The three runs agree by chance, or all took another branch."
