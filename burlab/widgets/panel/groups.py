"""Groups of columns of a record that share a plot, and the axis of each."""

import math
import re
from dataclasses import dataclass
from typing import Any

from burlab.run.record.recorder import COUNTERS

from .curves_of_run import NOT_DRAWN, PACE, RunCurves

_DECADE = 10.0
_SHARES = re.compile(r"(?i)(^|[^a-z])(acc(uracy)?|auc|f1|precision|recall)([^a-z]|$)")
_DIVERGED, _SHOWN = 1e12, 1e4  # times the first value: what nobody needs to see, and what is shown of it
TITLES = {
    "value": "value",
    "gradient_norm": "gradient norm",
    "step_norm": "step norm",
    PACE: "time per step",
    "validation_value": "validation value",
}


def title_of(run: Any, name: str) -> str:
    """Return the title of a column of a record: the values of a run may be those of batches."""
    return getattr(run, "value_name", "value") if name == "value" else TITLES.get(name, name)


@dataclass(frozen=True, slots=True)
class Group:
    """Columns that one plot shows, the main one first.

    low, high: their extremes so far. least: the lowest positive value. first: the size of the first value.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    low: float
    high: float
    least: float
    first: float

    @property
    def top(self) -> float | None:
        """The end of the axis of a run that has diverged; None for others."""
        return _SHOWN * self.first if self.is_far(max(abs(self.low), abs(self.high))) else None

    def is_far(self, size: float) -> bool:
        """Return True if values of this size have diverged."""
        return size > _DIVERGED * self.first > 0

    @property
    def floor(self) -> float | None:
        """The place of exact zeros on a logarithmic axis: a decade below the other values."""
        return 10.0 ** max(math.floor(math.log10(self.least)) - 1, -320) if self.log and self.low == 0 else None

    @property
    def log(self) -> bool:
        """Return True if its axis is logarithmic: nothing is negative, and a user's own column spans several decades.

        Shares are read from 0 on.
        """
        if _SHARES.search(self.name):
            return False
        known = self.name in TITLES
        return self.low >= 0 and 0 < self.least <= self.high / (1 if known else _DECADE)


def shown_columns(lines: RunCurves) -> list[str]:
    """Return the names of the columns that are shown: all but counters of what was never evaluated."""
    return [name for name, curve in lines.curves.items() if name not in COUNTERS or curve.high > 0]


def groups_of(family: list[RunCurves], end: float | None = None) -> list[Group]:
    """The groups of a run, in order: the value with its validation, the norms, the time, then other columns.

    family: its own lines, and those of the runs that it branched from. end: the value where it rests, if no row has it.
    """
    known = shown_columns(family[0])
    main = tuple(name for name in ("value", "validation_value") if name in known)
    columns = [(name, (name,)) for name in ("gradient_norm", "step_norm", PACE) if name in known]
    columns = [(main[0], main), *columns] if main else columns
    columns += [(name, (name,)) for name in known if name not in TITLES and name not in NOT_DRAWN]
    run = family[0].run
    titles = [title_of(run, name) if name in TITLES else name.replace("_", " ") for name, _ in columns]
    ends = [end if name == "value" else None for name, _ in columns]
    return [
        Group(name, title, of, *_extremes(family, of, more))
        for (name, of), title, more in zip(columns, titles, ends, strict=True)
    ]


def _extremes(
    family: list[RunCurves], columns: tuple[str, ...], more: float | None
) -> tuple[float, float, float, float]:
    curves = [line.curves.get(name) for line in family for name in columns]
    found = [(c.low, c.high, c.least, abs(c.first)) for c in curves if c is not None and not math.isnan(c.low)]
    if more is not None and math.isfinite(more):
        found.append((more, more, more if more > 0 else math.inf, 0.0 if found else abs(more)))
    lows, highs, leasts, firsts = zip(*found, strict=True) if found else ([math.nan],) * 4
    return min(lows), max(highs), min(leasts), max(firsts)
