"""Positions of the numbers of a plot in a picture."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.typing import ArrayLike, Numbers

from .chart import Axis, Map, Plot

_MIN_LOG, _MAX_LOG = 5e-324, 1.7e308  # ends of a logarithmic axis


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis laid along pixels: `low` at `start`, `high` at `stop`."""

    axis: Axis
    low: float
    high: float
    start: float
    stop: float

    def place(self, values: ArrayLike) -> Numbers:
        """Pixels of numbers; NaN for what a logarithm cannot show. A 0 stands on the floor, where there is one."""
        v = np.asarray(values, np.float64)
        low, high = self.low, self.high
        if self.axis.log:
            v = np.where(v == 0, self.axis.floor, v) if self.axis.floor else v
            v = np.log10(np.where(v > 0, v, np.nan))
            low, high = math.log10(low), math.log10(high)
        return self.start + (v - low) / (high - low) * (self.stop - self.start)


def scales(part: Plot | Map, left: float, right: float, top: float, bottom: float) -> tuple[Scale, Scale]:
    """The scales of a plot or a map in a rectangle of pixels."""
    x = _ends(part.x, _all(part, "x"))
    y = _ends(part.y, _all(part, "y"), 0.06 if isinstance(part, Plot) else 0.0)
    if isinstance(part, Map) and part.equal:
        unit = max((x[1] - x[0]) / (right - left), (y[1] - y[0]) / (bottom - top))
        width, height = (x[1] - x[0]) / unit, (y[1] - y[0]) / unit
        left, right = (left + right - width) / 2, (left + right + width) / 2
        top, bottom = (top + bottom - height) / 2, (top + bottom + height) / 2
    return Scale(part.x, *x, left, right), Scale(part.y, *y, bottom, top)


def right_scale(plot: Plot, upwards: Scale) -> Scale | None:
    """The scale of its right axis, as long as the one upwards; None where it has none."""
    if plot.right is None:
        return None
    numbers = [np.asarray(curve.y, np.float64) for curve in plot.curves if curve.right]
    return Scale(plot.right, *_ends(plot.right, np.concatenate([np.empty(0), *numbers])), upwards.start, upwards.stop)


def _all(part: Plot | Map, axis: str) -> Numbers:
    """All numbers of a part along an axis, end to end; upwards without those of the right axis."""
    curves = [curve for curve in part.curves if axis == "x" or not curve.right]
    found: list[Numbers] = [getattr(curve, axis) for curve in (*curves, *part.dots)]
    if isinstance(part, Plot):
        for band in part.bands:
            found += [band.x] if axis == "x" else [band.low, band.high]
    return np.concatenate([np.empty(0), *(np.asarray(v, np.float64).ravel() for v in found)])


def _ends(axis: Axis, values: Numbers, spare: float = 0.0) -> tuple[float, float]:
    """The ends of an axis: those given, or those of the numbers that it can show, with some room around."""
    shown = values[np.isfinite(values) & ((values > 0) | (not axis.log))]
    low, high = (float(shown.min()), float(shown.max())) if shown.size else (1.0, 10.0) if axis.log else (0.0, 1.0)
    if axis.log:
        low = axis.floor or low
        high = high if axis.high is None else axis.high
        room = 10.0 ** (max(math.log10(high) - math.log10(low), 0.1) * spare)
        low, high = max(low / room, _MIN_LOG), min(high * room, _MAX_LOG)
    else:
        room = ((high - low) or abs(high) or 1.0) * spare
        low, high = low - room, high + room
    low, high = (low if axis.low is None else axis.low), (high if axis.high is None else axis.high)
    return (low, high) if high > low else _around(low, axis.log)


def _around(value: float, log: bool) -> tuple[float, float]:
    if log:
        return value / 2, value * 2
    reach = abs(value) / 2 or 0.5
    return value - reach, value + reach


def runs(keep: "np.ndarray[Any, np.dtype[np.bool_]]") -> Iterable[slice]:
    """The stretches in which all is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], keep, [False]]).astype(np.int8)))
    return (slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True))
