"""The curves of a racer: all its seeds on one axis, with median and quartiles."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.charts.stretch_extremes import extremes
from burlab.errors import ArgumentError
from burlab.problems import FiniteSum, TestFunction
from burlab.run import Run
from burlab.run.record.digest import Digest
from burlab.run.record.recorder import COSTS, FLOPS
from burlab.runtime.checks.numbers import shown
from burlab.typing import Numbers

from .racer import Racer

AXES = {
    "step": "step",
    "gradients": "gradients",
    "flops": COSTS[FLOPS],
    "seconds": "seconds of running",
    "bytes": "bytes held",
}
"""Axes of comparison and their labels; `COSTS` are others."""
_MIN_QUARTILES = 4  # seeds from which quartiles are shown; of fewer the extremes
_POINTS = 1000  # of a curve
_NONE: Numbers = np.empty(0)


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """A racer on an axis. x, median, low, high: float64, shape (n,); a seed that failed counts as infinite.

    low, high: quartiles over the seeds, the extremes of fewer than four, the median itself of one. rests: True if the
    racer has ended where x ends, so that its last value is final.
    """

    x: Numbers
    median: Numbers
    low: Numbers
    high: Numbers
    rests: bool

    def above(self, minimum: float) -> "Curves":
        """Return the heights above a minimum; values that rounding puts below it are at it."""
        if not minimum:
            return self
        median, low, high = (np.maximum(y - minimum, 0.0) for y in (self.median, self.low, self.high))
        return Curves(self.x, median, low, high, self.rests)

    def thinned(self) -> "Curves":
        """Return as many points as a picture shows: the extremes of stretches."""
        n = self.median.size
        if n <= _POINTS:
            return self
        heights = np.where(np.isnan(self.median), np.inf, self.median)
        starts = np.linspace(0, n, _POINTS // 2).astype(int)[:-1]
        at = np.unique([0, *extremes(heights, starts), n - 1])
        return Curves(self.x[at], self.median[at], self.low[at], self.high[at], self.rests)

    def at(self, x: float) -> tuple[float, float, float]:
        """Median, low and high at a place, or at the last one before it; NaN where there is none."""
        k = int(np.searchsorted(self.x, x, side="right")) - 1
        if k < 0:
            return np.nan, np.nan, np.nan
        return float(self.median[k]), float(self.low[k]), float(self.high[k])


def spread_of(seeds: int) -> str:
    """Return a note on the meaning of a curve and its band.

    >>> spread_of(1), spread_of(3), spread_of(5)
    ('', 'median and range of 3 seeds', 'median and quartiles of 5 seeds')
    """
    band = "quartiles" if seeds >= _MIN_QUARTILES else "range"
    return f"median and {band} of {seeds} seeds" if seeds > 1 else ""


def curves_of(racer: Racer, against: str, of: str, share: float = 0.0, *, ends: bool = False) -> Curves:
    """Return the curves of a racer from its digests. share: each value is the mean over this share of the way to it.

    ends: True to add the value at the last point of a run that rests there.
    """
    digests = [digest for digest in racer.digests.get(of, []) if digest.steps.size]
    lines = [(place(digest, against), level(digest, share)) for digest in digests]
    if ends and of == "value" and not share and len(lines) == len(racer.runs):
        lines = [_with_end(*line, run, against) for line, run in zip(lines, racer.runs, strict=True)]
    if not lines or len(lines) < len(racer.runs):
        return Curves(_NONE, _NONE, _NONE, _NONE, racer.finished)
    if len(lines) == 1:
        x, y = lines[0]
        return Curves(x, y, y, y, racer.finished)
    x, seeds = _aligned(racer, lines)
    with np.errstate(invalid="ignore"):  # between a number and an infinite one
        outer = (0.25, 0.75) if len(lines) >= _MIN_QUARTILES else (0.0, 1.0)
        middle, low, high = (np.quantile(seeds, q, axis=0) for q in (0.5, *outer))
    far = [np.where(np.isnan(y), np.inf, y) for y in (middle, low, high)]
    return Curves(x, far[0], far[1], far[2], racer.finished)


def _with_end(x: Numbers, y: Numbers, run: Run, against: str) -> tuple[Numbers, Numbers]:
    """Append the point where the run rests to a line of rows. It has cost no more than the way there.

    Where the run has stopped it has a row, which may be one of several that the last point is the mean of.
    """
    view = run.engine.view()
    ahead = view.length - view.step
    if not view.rests or ahead > 1:
        return x, y
    value = run.row_value()
    if math.isnan(value) or (ahead and not math.isfinite(value)):
        return x, y
    if against == "step" and not ahead:
        return np.append(x, float(view.step)), np.append(y, value)
    return x, np.append(y[:-1], value)


def place(digest: Digest, against: str) -> Numbers:
    """Return the places of the rows of a digest on an axis."""
    check_axis(against, but="bytes")
    if against in COSTS:
        return digest.cost(against)
    if against == "step":
        return digest.steps
    return digest.evaluations if against == "gradients" else digest.seconds


def check_axis(against: str, but: str = "") -> None:
    """Raise ArgumentError unless this is an axis. but: one that is not available."""
    known = [name for name in AXES | COSTS if name != but]
    if against not in known:
        raise ArgumentError(f"against must be one of {', '.join(map(repr, known))}; got {shown(against)}.")


def label_of(against: str) -> str:
    """Return the label of an axis."""
    return AXES[against] if against in AXES else COSTS[against]


def minimum_of(problem: FiniteSum | Callable[..., Any] | None, of: str) -> float:
    """Return the known minimum from which values of a column are measured; 0 if there is none."""
    minimum = problem.minimum if isinstance(problem, TestFunction) and of == "value" else 0.0
    return minimum if math.isfinite(minimum) else 0.0


def level(digest: Digest, share: float) -> Numbers:
    """The values of a digest, each the mean of the rows of the last `share` of the way to it."""
    if not share:
        return digest.mean
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.concatenate([[0.0], np.cumsum(digest.mean * digest.rows)])
        rows = np.concatenate([[0.0], np.cumsum(digest.rows)])
        first = np.minimum(np.searchsorted(digest.steps, (1 - share) * digest.steps), np.arange(digest.steps.size))
        return (total[1:] - total[first]) / (rows[1:] - rows[first])


def _aligned(racer: Racer, lines: list[tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    """A common axis, and the value of each seed on it, shape (seeds, n), by linear interpolation.

    A run that has failed is infinite from there on, one that has ended keeps its last value; while some still step,
    the axis ends at the last place that all of these have reached.
    """
    stops = [run.stopped for run in racer.runs]
    going = [x[-1] for (x, _), stop in zip(lines, stops, strict=True) if stop is None]
    end = min(going) if going else max(x[-1] for x, _ in lines)
    axis = np.unique(np.concatenate([x[x <= end] for x, _ in lines]))
    axis = axis[np.unique(np.linspace(0, axis.size - 1, min(axis.size, _POINTS)).astype(int))] if axis.size else axis
    rows: list[Numbers] = []
    for (x, y), stop in zip(lines, stops, strict=True):
        failed = stop is not None and stop.failed
        rows.append(np.interp(axis, x, y, right=np.inf if failed else float(y[-1])))
    return axis, np.stack(rows)
