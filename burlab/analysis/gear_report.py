"""The table that `check_gears` returns: differences between two ways to compute the same."""

from dataclasses import dataclass

from burlab.runtime.checks.text_table import columns
from burlab.runtime.displayed import Pictured


@dataclass(frozen=True, slots=True)
class GearRow:
    """Two ways to compute the same, and how far apart their results are.

    check, against: the two ways. difference: the greatest one of an entry, relative to the largest entry of its array;
    nan where one of them raised an error. promise: the difference that is allowed. error: what was raised, or "".
    """

    check: str
    against: str
    difference: float
    promise: float
    error: str = ""

    @property
    def ok(self) -> bool:
        """True if the difference keeps its promise."""
        return not self.error and self.difference <= self.promise


@dataclass(frozen=True, slots=True)
class GearReport(Pictured):
    """A table with a row per comparison: text when printed, drawn in a notebook, with broken promises in red."""

    title: str
    rows: tuple[GearRow, ...]

    @property
    def ok(self) -> bool:
        """True if all rows keep their promises."""
        return all(row.ok for row in self.rows)

    @property
    def broken(self) -> tuple[GearRow, ...]:
        """The rows that do not keep their promises."""
        return tuple(row for row in self.rows if not row.ok)

    def cells(self) -> list[tuple[str, ...]]:
        """The table as text, its head first."""
        head = ("check", "against", "difference", "promise", "kept")
        return [head, *(_cells(row) for row in self.rows)]

    def errors(self) -> list[str]:
        """Each error once, after the checks that it ended."""
        ended: dict[str, list[str]] = {}
        for row in self.rows:
            if row.error:
                ended.setdefault(row.error, []).append(row.check)
        return [f"{'; '.join(checks)}: {error}" for error, checks in ended.items()]

    def __str__(self) -> str:
        head, *lines = columns(self.cells(), "<<>><")
        return "\n".join([self.title, head, "-" * len(head), *lines, *self.errors()])

    __repr__ = __str__


def _cells(row: GearRow) -> tuple[str, ...]:
    difference = "error" if row.error else f"{row.difference:.1e}"
    return row.check, row.against, difference, f"{row.promise:.0e}" if row.promise else "0", "yes" if row.ok else "NO"
