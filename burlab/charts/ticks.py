"""Ticks of an axis, and their labels."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from .chart import Axis

_PREFIXES = ("p", "n", "µ", "m", "", "k", "M", "G", "T")
_MIDDLE = _PREFIXES.index("")
_MIN_DECADES = 1.48  # beyond it a logarithmic axis has powers of ten only
_MAX_PLAIN_POWER = 3  # of ten, up to which numbers are written out
_MIN_LABELS = 3  # of a logarithmic axis within a decade or two
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis, in its own numbers, and its label; "" for a line without one."""

    at: float
    label: str


def ticks(axis: Axis, low: float, high: float, most: int) -> list[Tick]:
    """At most `most` labelled ticks between the ends of an axis, at round numbers.

    >>> [tick.label for tick in ticks(Axis(), 0.0, 1.0, 5)], [tick.label for tick in ticks(Axis(log=True), 1e-6, 1, 4)]
    (['0', '0.2', '0.4', '0.6', '0.8', '1.0'], ['10⁻⁶', '10⁻⁴', '10⁻²', '1'])
    >>> [tick.label for tick in ticks(Axis(log=True), 1.6, 28, 12)]
    ['2', '5', '10', '20']
    """
    if axis.log and math.log10(high) - math.log10(low) > _MIN_DECADES:
        first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
        every = max(math.ceil((last - first + 1) / most), 1)
        return [Tick(10.0**power, _power(axis, power)) for power in range(first, last + 1) if power % every == 0]
    if axis.log and len(found := _several_per_decade(low, high)) >= _MIN_LABELS:
        return [Tick(digit * 10.0**power, _multiple(axis, digit, power)) for digit, power in found]
    step = _step((high - low) / most)
    label = _linear(axis, step, max(abs(low), abs(high)))
    places = [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    return [Tick(place, label(place)) for place in places if place > 0 or not axis.log]


def quantity(value: float, unit: str, digits: int = 4) -> str:
    """Return a number with its unit and an SI prefix.

    >>> quantity(1234567.0, "B"), quantity(3.2e-7, "s"), quantity(0.5, ""), quantity(0.0, "s")
    ('1.235 MB', '320 ns', '0.5', '0 s')
    """
    if not unit or not math.isfinite(value) or value == 0:
        return f"{value:.{digits}g} {unit}".strip().replace("-", "−")
    k = _prefix(value, unit)
    return f"{value / 10.0 ** (3 * k):.{digits}g} {_PREFIXES[k + _MIDDLE]}{unit}".replace("-", "−")


def _prefix(value: float, unit: str) -> int:
    """The power of a thousand that a number is written in; there are no parts of a byte."""
    k = math.floor(math.log10(abs(value) * (1 + 1e-12)) / 3)
    return min(max(k, 0 if unit == "B" else -_MIDDLE), len(_PREFIXES) - 1 - _MIDDLE)


def _step(least: float) -> float:
    """The first of 1, 2, 5 times a power of ten that is not less, apart from rounding."""
    power = 10.0 ** math.floor(math.log10(least))
    return power * next(digit for digit in (1, 2, 5, 10) if digit * power >= least * (1 - 1e-9))


def _power(axis: Axis, power: int) -> str:
    if axis.unit:
        return quantity(10.0**power, axis.unit)
    return {0: "1", 1: "10"}.get(power) or "10" + str(power).translate(_SUPERSCRIPT)


def _several_per_decade(low: float, high: float) -> list[tuple[int, int]]:
    """The digits 1, 2, 5 and powers of ten between the ends of an axis."""
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    pairs = [(digit, power) for power in powers for digit in (1, 2, 5)]
    return [(digit, power) for digit, power in pairs if low * 0.9999 <= digit * 10.0**power <= high * 1.0001]


def _multiple(axis: Axis, digit: int, power: int) -> str:
    if axis.unit or abs(power) <= _MAX_PLAIN_POWER:
        return quantity(digit * 10.0**power, axis.unit)
    return (f"{digit}·" if digit > 1 else "") + _power(axis, power)


def _linear(axis: Axis, step: float, largest: float) -> Callable[[float], str]:
    """Labels of one precision: that of the step, in thousands or millions where the numbers are long."""
    k = _prefix(largest, axis.unit) if axis.unit else math.floor(math.log10(largest) / 3) if largest >= 1e4 else 0
    if not axis.unit and (largest < 1e-4 or k > _MIDDLE):
        needs = math.ceil(math.log10(largest / step)) + 1
        return lambda value: f"{0.0 if abs(value) < step / 2 else value:.{needs}g}".replace("-", "−")
    scale = 10.0 ** (3 * k)
    digits = max(-math.floor(math.log10(step / scale) + 1e-9), 0)
    mark = (" " if axis.unit else "") + _PREFIXES[k + _MIDDLE] + axis.unit

    def label(value: float) -> str:
        zero = abs(value) < step / 2
        return "0" if zero else f"{value / scale:.{digits}f}{mark}".replace("-", "−")

    return label
