"""Rounding by exact integers: what `bl.round_to` is held to."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import burlab as bl

Array = np.ndarray[Any, Any]
_SCALE = 1200  # all numbers of float64 are whole multiples of 2^-1200


def magnitudes(form: bl.Format, subnormals: bool = True) -> Array:
    """All numbers of a format that are not negative, from its definition, then the one that would come next."""
    known: list[float] = [0.0]
    exponent, digits = form.least_exponent, form.significand
    if subnormals:
        known += [math.ldexp(k, exponent - digits) for k in range(1, 2**digits)]
    while known[-1] <= form.largest:
        known += [math.ldexp(2**digits + k, exponent - digits) for k in range(2**digits)]
        exponent += 1
    numbers = np.array(known)
    return numbers[: np.searchsorted(numbers, form.largest, side="right") + 1 + form.one_below]


def points(numbers: Array, dtype: Any) -> Array:
    """Numbers, the middles between two, what is up to two units away from these in the dtype, and rare ones."""
    places = np.concatenate([numbers, (numbers[1:] + numbers[:-1]) / 2, [numbers[-1] * 1.5, numbers[-1] * 7]])
    with np.errstate(over="ignore"):
        rows = [places.astype(dtype)]
        for side in (np.inf, 0.0):
            near = rows[0]
            for _ in range(2):
                near = np.nextafter(near, dtype(side))
                rows.append(near)
    limits = np.finfo(dtype)
    rows.append(np.array([limits.smallest_subnormal, limits.tiny, limits.max, 1e-30, 1e30], dtype))
    positive = np.concatenate(rows)
    return np.concatenate([positive[np.isfinite(positive)], -positive[np.isfinite(positive)]])


def _whole(x: Array) -> Array:
    """Floats as multiples of 2^-1200, in Python's integers."""
    fractions, exponents = np.frexp(x.astype(np.float64))
    digits, shifts = (fractions * 2.0**53).astype(np.int64), exponents + _SCALE - 53
    return np.array([m << e for m, e in zip(digits.tolist(), shifts.tolist(), strict=True)], object)


@dataclass
class Exact:
    """Where finite numbers lie between those of a format: the nearest one towards 0, and how far away, exactly."""

    form: bl.Format
    x: Array
    subnormals: bool = True

    @cached_property
    def numbers(self) -> Array:
        return magnitudes(self.form, self.subnormals)

    @cached_property
    def below(self) -> Array:
        """The index of the largest number that is not above |x|; of what comes next, if that is not above it."""
        found = np.searchsorted(self.numbers, np.abs(self.x).astype(np.float64), side="right") - 1
        return np.minimum(found, len(self.numbers) - 1)

    @cached_property
    def distances(self) -> tuple[Array, Array]:
        """From the number towards 0, and to the one away from it."""
        whole = _whole(self.numbers)
        whole = np.append(whole, 2 * whole[-1])
        given = np.minimum(_whole(np.abs(self.x)), whole[-1])
        return given - whole[self.below], whole[self.below + 1] - given

    def rounded(self, mode: str, saturate: bool, part: tuple[Array, int] | None = None) -> Array:
        """The result of a mode. part: of "stochastic", whole numbers and the number of bits that they have."""
        left, right = self.distances
        inexact = (left != 0).astype(bool)
        near, tie = (left > right).astype(bool), (left == right).astype(bool) & inexact
        odd = self._is_odd[self.below]
        negative = self.x < 0
        away = {
            "nearest": lambda: near | (tie & odd),
            "nearest_away": lambda: near | tie,
            "nearest_zero": lambda: near,
            "nearest_odd": lambda: near | (tie & ~odd),
            "up": lambda: ~negative,
            "down": lambda: negative,
            "zero": lambda: np.zeros_like(near),
            "away": lambda: np.ones_like(near),
            "odd": lambda: ~odd,
            "stochastic": lambda: self._reaches(part),
        }[mode]()
        index = self.below + (away & inexact)
        return self._finished(index, mode, saturate)

    @cached_property
    def _is_odd(self) -> Array:
        count = np.arange(len(self.numbers) + 1)
        return (count + (0 if self.subnormals else count > 0) * (2**self.form.significand - 1)) % 2 == 1

    def _reaches(self, part: tuple[Array, int] | None) -> Array:
        """Whether the digits of the distance and a whole number are at least 1 together."""
        assert part is not None
        left, right = self.distances
        digits = (left << part[1]) // (left + right)
        return (digits > part[0].astype(object)).astype(bool)

    def _finished(self, index: Array, mode: str, saturate: bool) -> Array:
        form, negative = self.form, np.signbit(self.x)
        last = len(self.numbers) - 2 - (form.one_below & ~negative)
        leaves = {"up": ~negative, "down": negative, "zero": False, "odd": False}.get(mode, True)
        outside = np.inf if form.infinities else np.nan
        padded = np.append(self.numbers, [np.nan] * 2)
        inside = padded[np.minimum(index, last)]
        y = np.where((index > last) & (leaves & (not saturate)), outside, inside)
        y = np.copysign(y, self.x)
        return y if form.signed_zero else np.where(y == 0, 0.0, y)
