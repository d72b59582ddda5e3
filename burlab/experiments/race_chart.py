"""The chart of a race: its racers on a common axis."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from burlab.charts import Axis, Band, Curve, Dots, Mark, Plot
from burlab.charts.outliers import within
from burlab.charts.palette import dash_of
from burlab.charts.ticks import quantity
from burlab.typing import Numbers

from .curves import AXES, Curves, label_of
from .racer import Racer
from .standings import common

Flags = np.ndarray[Any, np.dtype[np.bool_]]
_DIVERGENCE_RATIO = 1e12  # to the first value: above it a racer has diverged
_SHOWN_RATIO, _SHOWN_RATIO_TO_OTHERS = 1e4, 10.0  # of its heights, to the first value; to the highest of all others
_MAX_LISTED = 2  # racers without a curve up to which a note names them
MAX_LINEAR_RATIO = 2000  # times the first place on an axis, from where on it is logarithmic
_UNITS = {"seconds": "s", "bytes": "B"}


def plot_of(racers: list[Racer], curves: Mapping[str, Curves], against: str, title: str, note: str) -> Plot:
    """Medians and bands on a common axis, a cross where a racer failed, and a line up to where all have come."""
    curves = {name: c.thinned() for name, c in curves.items()}
    shown = [racer for racer in racers if curves[racer.name].x.size]
    every = [curves[racer.name] for racer in shown]
    log = _is_log([c.x for c in every])
    least = min((float(c.x[c.x > 0].min()) for c in every if (c.x > 0).any()), default=1.0) / 2
    y, high = _heights([c.median for c in every])
    lines: list[Curve] = []
    bands: list[Band] = []
    dots: list[Dots] = []
    for racer in shown:
        c = curves[racer.name]
        x = np.maximum(c.x, least) if log else c.x
        finite = np.isfinite(c.median) & (c.median <= high)
        median = np.where(finite, c.median, np.nan)
        lines.append(
            Curve(
                x,
                np.where(_to_the_edge(finite), c.median, np.nan),
                racer.name,
                racer.colour,
                dashed=dash_of(racer.colour),
            )
        )
        if len(racer.runs) > 1:
            top = np.where(np.isfinite(c.high), np.minimum(c.high, high), high)
            bands.append(Band(x[finite], c.low[finite], top[finite], "", racer.colour))
        if racer.failed and finite.any():
            last = int(np.flatnonzero(finite)[-1])
            hint = (f"{racer.name}: {racer.message}",)
            dots.append(Dots(x[last : last + 1], median[last : last + 1], "", racer.colour, "cross", hint))
    able = [racer for racer in shown if not racer.failed]
    at = common(able, curves)
    ahead = any(curves[racer.name].x[-1] > at for racer in able)
    marks = (Mark(max(at, least) if log else at, "all have come here"),) if len(able) > 1 and ahead else ()
    axis = Axis(label_of(against), _UNITS.get(against, ""), log)
    undrawn = [racer.name for racer in racers if not np.isfinite(curves[racer.name].median).any()]
    note = "; ".join(filter(None, (note, _missing(undrawn), _beyond(y, every))))
    return Plot("race", title, axis, y, tuple(lines), tuple(bands), tuple(dots), marks, note, tall=2.2)


def _missing(names: list[str]) -> str:
    """Return a note on racers that have no curve, as one that failed at its start.

    >>> _missing(["GD"]), _missing(["GD", "Adam", "Lion", "SGD"])
    ('GD has no finite value', '4 have no finite value')
    """
    listed = " and ".join(names) if len(names) <= _MAX_LISTED else f"{len(names):,}"
    return f"{listed} {'has' if len(names) == 1 else 'have'} no finite value" if names else ""


def _beyond(axis: Axis, every: list[Curves]) -> str:
    """Return a note on values off an axis; "" if there are none."""
    values = np.concatenate([c.median for c in every]) if every else np.empty(0)
    low, high = (-math.inf if axis.low is None else axis.low), (math.inf if axis.high is None else axis.high)
    off = values[np.isfinite(values) & ((values < low) | (values > high))]
    if not off.size:
        return ""
    most = quantity(float(off[np.argmax(np.abs(off))]), "", 2)
    return f"goes on to {most}".replace("e+0", "e").replace("e+", "e")


def _to_the_edge(inside: Flags) -> Flags:
    """Mark the points inside of the axis, and the one after each stretch of them: the line leads out.

    >>> _to_the_edge(np.array([True, False, False, True]))
    array([ True,  True, False,  True])
    """
    return inside | np.concatenate([[False], inside[:-1]])[: inside.size]


def bytes_plot(racers: list[Racer], sizes: Mapping[str, float], curves: Mapping[str, Curves], title: str) -> Plot:
    """The value now against the bytes that a run holds, a dot for each racer, above it the way that it has come."""
    y, high = _heights([c.median for c in curves.values()])
    lines: list[Curve] = []
    dots: list[Dots] = []
    for racer in racers:
        median = curves[racer.name].median
        median = median[np.isfinite(median) & (median <= high)]
        if not median.size:
            continue
        at = sizes[racer.name]
        ends = np.array([median.max(), median[-1]])
        lines.append(Curve(np.full(2, at), ends, "", racer.colour, faint=True))
        shape = "cross" if racer.failed else "dot"
        dots.append(Dots(np.array([at]), ends[1:], racer.name, racer.colour, shape, (racer.name,)))
    axis = Axis(AXES["bytes"], "B", log=_is_log([np.array(list(sizes.values()))]))
    note = "each racer's value now, under the highest on its way"
    return Plot("race", title, axis, y, tuple(lines), (), tuple(dots), (), note, tall=2.2)


def _is_log(places: list[Numbers]) -> bool:
    every = np.concatenate(places) if places else np.empty(0)
    every = every[every > 0]
    return bool(every.size) and float(every.max()) > MAX_LINEAR_RATIO * float(every.min())


def _heights(medians: list[Numbers]) -> tuple[Axis, float]:
    """Return the axis of values, and its end, above which a racer has only diverged.

    Next to others a racer is cut where it leaves them, so that it does not press them into a line.
    """
    every = np.concatenate(medians) if medians else np.empty(0)
    every = every[np.isfinite(every)]
    if not every.size:
        return Axis(), math.inf
    first = max((float(abs(m[0])) for m in medians if m.size and np.isfinite(m[0])), default=0.0)
    high = math.inf
    if every.max() > _DIVERGENCE_RATIO * first > 0:
        tops = [float(m[np.isfinite(m)].max(initial=-np.inf)) for m in medians]
        others = [top for top in tops if 0 < top <= _DIVERGENCE_RATIO * first]
        high = _SHOWN_RATIO_TO_OTHERS * max(first, *others) if others else _SHOWN_RATIO * first
    positive = every[every > 0]
    log = every.min() >= 0 and positive.size > 0
    if not log and math.isinf(high):
        return Axis("", "", False, *within(medians)), high
    if not log:
        return Axis(high=high), high
    zero = every.min() == 0
    floor = 10.0 ** max(math.floor(math.log10(positive.min())) - 1, -320) if zero else None
    return Axis(log=True, high=high if math.isfinite(high) else None, floor=floor), high
