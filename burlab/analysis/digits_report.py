"""The table that `digits` returns: right digits of each operation, and the operations that lose them."""

import math
from dataclasses import dataclass

from burlab.runtime.checks.text_table import columns
from burlab.runtime.displayed import Pictured
from burlab.typing import Shape, Tree

LARGE_LOSS = 4.0  # digits
_SHOWN = 12  # rows at most, those that lose most


@dataclass(frozen=True, slots=True)
class DigitsRow:
    """An operation, or a line.

    place: the user's line. digits: right digits of its result, relative to the largest entry; inf for whole numbers and
    masks that are the same in all runs. loss: how many more the least right of its operands has.
    """

    op: str
    place: str
    scope: str
    shape: Shape
    digits: float
    loss: float


@dataclass(frozen=True, slots=True)
class DigitsReport(Pictured):
    """How many digits are right: text when printed, drawn in a notebook.

    value: what the function returns. digits: a tree like it, with the right decimal digits of each entry; inf for whole
    numbers and masks that are the same in all runs. rows: of all operations, in order. lines: for each line of the
    user's code the operation that loses most, with the digits that the line loses as a whole.
    """

    name: str
    value: Tree
    digits: Tree
    rows: tuple[DigitsRow, ...]
    lines: tuple[DigitsRow, ...]

    @property
    def losses(self) -> tuple[DigitsRow, ...]:
        """The lines that lose four digits or more, those that lose most first."""
        return tuple(sorted((row for row in self.lines if row.loss >= LARGE_LOSS), key=lambda row: -row.loss))

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
        head = ("operation", "line", "module", "shape", "right digits", "lost")
        return [head, *(_cells(row) for row in self.shown)]

    def __str__(self) -> str:
        head, *lines = columns(self.cells(), "<<<<>>")
        return "\n".join([self.title, head, "-" * len(head), *lines])

    __repr__ = __str__


def _cells(row: DigitsRow) -> tuple[str, ...]:
    right = "all" if math.isinf(row.digits) else f"{row.digits:.1f}"
    return row.op, row.place, row.scope, str(row.shape), right, f"{row.loss:.1f}"
