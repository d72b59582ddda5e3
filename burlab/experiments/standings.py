"""Ranks and leads: racers compared at the last place on an axis that all of them have reached."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burlab.runtime.checks.text_table import columns

from .curves import Curves, label_of
from .racer import Racer

_MAX_EVEN_RATIO = 1.005  # of heights, up to which nobody leads


@dataclass(frozen=True, slots=True)
class Standing:
    """A racer's row. value, low, high: median and band over its seeds at the place `at` of the axis, above the minimum.

    rank: from 1; 0 for one that has failed or not started. behind: its height over that of the leader, NaN if one is
    negative. step: that all its runs have done. message: why it ended, "" while it races. flops: floating-point
    operations of a run so far, the mean over the seeds.
    """

    name: str
    rank: int
    value: float
    low: float
    high: float
    behind: float
    at: float
    step: int
    message: str
    flops: float = math.nan


@dataclass(frozen=True, slots=True)
class Lead:
    """The first, and by what it leads the second. factor: second over first; inf where the first is at the minimum.

    >>> print(Lead("Adam", "GD", 3.21, 500.0, "gradients"))
    Adam leads GD by 3.2 times at 500 gradients
    """

    name: str
    second: str
    factor: float
    at: float
    against: str

    def __str__(self) -> str:
        where = _where(self.at, self.against)
        if not self.second:
            return f"{self.name} alone is in the race, {where}"
        if self.against == "bytes":
            more = f"{self.second} holds {self.factor:.3g} times as much"
            return (
                f"{self.name} holds the least; {more}"
                if self.factor > 1
                else f"{self.name} and {self.second} hold as much"
            )
        if self.factor < _MAX_EVEN_RATIO:
            return f"{self.name} and {self.second} are even {where}"
        if math.isinf(self.factor):
            return f"{self.name} is at the minimum {where}, {self.second} is not"
        by = "" if math.isnan(self.factor) else f" by {_times(self.factor)}"
        return f"{self.name} leads {self.second}{by} {where}"


def standings_text(rows: Sequence[Standing]) -> str:
    """Return standings as a table.

    >>> failed = Standing("GD", 0, *4 * [math.nan], math.nan, 0, "inf")
    >>> print(standings_text([Standing("Adam", 1, 0.25, 0.25, 0.25, 1.0, 10.0, 12, ""), failed]))
    rank  racer  value  times the first  step  flops  ended by
    1     Adam   0.25   1                12    -
    -     GD     -      -                0     -      inf
    """
    head = ("rank", "racer", "value", "times the first", "step", "flops", "ended by")
    cells = [
        (
            *(str(row.rank or "-"), row.name, _cell(row.value), _cell(row.behind, 4)),
            *(f"{row.step:,}", _cell(row.flops, 3), row.message),
        )
        for row in rows
    ]
    return "\n".join(columns([head, *cells]))


def _cell(value: float, digits: int = 6) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}g}"


def standings(racers: list[Racer], curves: Mapping[str, Curves]) -> list[Standing]:
    """All racers, the lowest first and those that failed last. curves: by name."""
    able = [racer for racer in racers if not racer.failed and curves[racer.name].x.size]
    at = common(able, curves)
    heights = {racer.name: curves[racer.name].at(at) for racer in able}
    able.sort(key=lambda racer: (_last(heights[racer.name][0]), racer.colour))
    first = heights[able[0].name][0] if able else math.nan
    rows: list[Standing] = []
    for k, racer in enumerate(able):
        value, low, high = heights[racer.name]
        rows.append(
            Standing(
                racer.name, k + 1, value, low, high, ratio(value, first), at, racer.step, racer.message, racer.flops
            )
        )
    none = math.nan
    rest = [racer for racer in racers if racer not in able]
    return rows + [Standing(r.name, 0, none, none, none, none, none, r.step, r.message, r.flops) for r in rest]


def common(racers: list[Racer], curves: Mapping[str, Curves]) -> float:
    """The last place that all have reached; those that have ended have reached every place."""
    ends = {racer.name: float(curves[racer.name].x[-1]) for racer in racers}
    going = [ends[racer.name] for racer in racers if not curves[racer.name].rests]
    return min(going) if going else max(ends.values(), default=math.nan)


def ratio(value: float, first: float) -> float:
    """Return the ratio of two heights; NaN if one is negative or unknown.

    >>> ratio(6.0, 2.0), ratio(1.0, 0.0), ratio(0.0, 0.0), ratio(-1.0, -2.0)
    (3.0, inf, 1.0, nan)
    """
    if not (value >= 0 and first >= 0):
        return math.nan
    if first == 0 or math.isinf(value):
        return 1.0 if value == first else math.inf
    return value / first


def _last(value: float) -> float:
    return math.inf if math.isnan(value) else value


def _times(factor: float) -> str:
    """Return a factor in words.

    >>> _times(3.2), _times(1.02), _times(123.4), _times(2.5e7)
    ('3.2 times', '2%', '123 times', '2.5e7 times')
    """
    if factor < 1.1:
        return f"{100 * (factor - 1):.2g}%"
    if factor < 1e4:
        return f"{factor:.{2 if factor < 100 else 3}g} times"
    digits, _, power = f"{factor:.1e}".partition("e")
    return f"{digits}e{int(power)} times"


def _where(at: float, against: str) -> str:
    """A place on an axis, in words."""
    if against == "seconds":
        scale, unit = next(((s, u) for s, u in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")) if at >= s), (1e-9, "ns"))
        return f"after {at / scale:.3g} {unit}"
    return f"at step {at:,.0f}" if against == "step" else f"at {at:,.0f} {label_of(against)}"
