"""Ranges of sliders for hyperparameters: decades around a value, as places between 0 and 1."""

import math
from dataclasses import dataclass
from functools import cache
from typing import Literal

from burlab.runtime.ranges import Range
from burlab.widgets.live.readable import exact

_SLIDER_STOPS = 200  # of a slider: the steps from one end to the other
_DECADES = 3  # on either side of the start value
_WIDE_RATIO = 100  # the ratio of the ends of a range that is spread by decades
_DECADES_BELOW_ONE = 5  # of 1 - b
_ZERO_PLACES = 0.03  # the places at the left end that mean zero
RATES = ("lr", "learning_rate", "rate", "eta", "step_size")  # how names of what is no decay factor begin
_DECAYS = {"b", "b1", "b2", "beta", "beta1", "beta2", "mu", "momentum", "rho", "alpha", "decay", "gamma"}


@dataclass(frozen=True, slots=True)
class SliderScale:
    """Values between low and high, spread over the places 0 to 1.

    log: evenly in log v. counts: as log, in whole numbers. near one: evenly in log(1 - v), for decay factors such as
    0.9, 0.99, 0.999. log from zero: as log, and the left end means exactly 0. linear: evenly in v. Values found by
    place have two significant digits, whole numbers all.

    >>> lr, beta = scale_for("lr", 1e-3), scale_for("b2", 0.999)
    >>> [lr.value(p) for p in (0, 0.5, 1)], [beta.value(p) for p in (0, 0.6, 1)]
    ([1e-06, 0.001, 1.0], [0.0, 0.999, 0.99999])
    """

    kind: Literal["log", "counts", "near one", "log from zero", "linear"]
    low: float
    high: float

    def value(self, place: float) -> float:
        """The value at a place between 0 and 1."""
        place = min(max(place, 0.0), 1.0)
        if self.kind == "linear":
            return _rounded(self.low + place * (self.high - self.low), digits=3)
        if self.kind == "near one":
            rest = (1 - self.low) * ((1 - self.high) / (1 - self.low)) ** place
            return round(1 - _rounded(rest), 12)
        if self.kind == "log from zero":
            if place < 0.999 * _ZERO_PLACES:
                return 0.0
            place = (place - _ZERO_PLACES) / (1 - _ZERO_PLACES)
        if self.kind == "counts":
            return float(round(self.low * (self.high / self.low) ** place))
        return _rounded(self.low * (self.high / self.low) ** place)

    def place(self, value: float) -> float:
        """Return the place of a value: between 0 and 1, at an end if it lies beyond."""
        if self.kind == "linear":
            part = (value - self.low) / (self.high - self.low)
        elif self.kind == "near one":
            part = 1.0 if value >= 1 else math.log((1 - value) / (1 - self.low), (1 - self.high) / (1 - self.low))
        else:
            part = -1.0 if value <= 0 else math.log(value / self.low, self.high / self.low)
            if self.kind == "log from zero" and value > 0:
                part = _ZERO_PLACES + (1 - _ZERO_PLACES) * part
        return min(max(part, 0.0), 1.0)

    @property
    def decades(self) -> int:
        """The powers of ten that it covers evenly; 0 for other scales."""
        if self.kind == "log":
            return round(math.log10(self.high / self.low))
        return round(math.log10((1 - self.low) / (1 - self.high))) if self.kind == "near one" else 0

    def holds(self, value: float) -> bool:
        """Return True if a value lies on the scale."""
        return self.low <= value <= self.high or (self.kind == "log from zero" and value == 0)


def scale_for(name: str, value: float) -> SliderScale:
    """The scale for a hyperparameter of this name whose value is now `value`.

    Decay factors (0.5 to 1 and not called like a rate, or called like one) are spread near one; positive numbers cover
    three decades on either side; zero can be left for 1e-6 to 1; what is negative lies on a line.
    """
    if not math.isfinite(value):
        value = 1e-3
    called = name.lower()
    near_one = 0.5 <= value < 1 and not called.startswith(RATES)
    if near_one or (0 <= value < 1 and called in _DECAYS):
        return SliderScale("near one", 0.0, max(1 - 10.0**-_DECADES_BELOW_ONE, value))
    if value > 0:
        middle = math.floor(math.log10(value) + 1e-9)
        top = middle + (0 if math.isclose(value, 10.0**middle) else 1)
        return SliderScale("log", 10.0 ** max(middle - _DECADES, -300), 10.0 ** min(top + _DECADES, 300))
    if value == 0:
        return SliderScale("log from zero", 1e-6, 1.0)
    return SliderScale("linear", 3 * value, -3 * value)


def scale_of(allowed: Range) -> SliderScale:
    """Return the scale of a range with two ends: by decades where both are positive and far apart.

    >>> scale_of(Range(0.01, 10.0)).kind, scale_of(Range(0.0, 1.0)).kind
    ('log', 'linear')
    """
    wide = allowed.low > 0 and allowed.high >= _WIDE_RATIO * allowed.low
    return SliderScale("log" if wide else "linear", allowed.low, allowed.high)


@cache
def texts(scale: SliderScale) -> tuple[str, ...]:
    """Return the text of a field at each stop of its slider, from left to right.

    A page that has them shows a number as soon as its slider moves; they are what Python will answer.

    >>> found = texts(SliderScale("linear", 0.0, 1.0))
    >>> len(found), found[:3], found[-1]
    (201, ('0', '0.005', '0.01'), '1')
    """
    return tuple(exact(scale.value(k / _SLIDER_STOPS)) for k in range(_SLIDER_STOPS + 1))


def _rounded(value: float, digits: int = 2) -> float:
    return float(f"{value:.{digits - 1}e}")
