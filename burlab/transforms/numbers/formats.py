"""Formats of numbers: the one table, and what a format consists of."""

import math
import re
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import real, shown, whole

_IN_BLOCKS: dict[str, Any] = {"saturates": True, "infinities": False}


@dataclass(frozen=True, slots=True)
class Format:
    """A format of numbers, as data: which numbers it has.

    They are the multiples of a unit up to `largest`: the unit is 2^-significand times the power of two below |x|, or
    times 2^least_exponent where |x| is smaller. Fixed-point numbers have one unit, so 2^least_exponent is beyond them.
    `Format.ieee`, `Format.fixed`, `Format.integer` and `Format.blocks` make formats; `FORMATS` is the table of names.

    Args:
        significand: bits of the significand without its leading one, 1 to 63.
        least_exponent: exponent of the least normal number.
        largest: the largest finite number.
        infinities: True if what is too large is infinite; False if it is nan.
        signed_zero: True if there is -0.
        saturates: True if what is too large becomes the largest number; so it is where a format has neither infinities
            nor nan.
        one_below: True if there is one number more below zero, as in two's complement.
        scale: what numbers are multiplied by, a positive float: that of integers.
        block: how many numbers along the last axis share a power of two as their scale; 0: none do.

    >>> import numpy as np, burlab as bl
    >>> bl.round_to(bl.Format.fixed(3, 2), np.array([1.3, -7.9, 100.0]))
    array([ 1.25, -8.  ,  7.75])
    >>> bl.round_to(bl.Format.integer(8, scale=0.5), np.array([1.3, 100.0]))
    array([ 1.5, 63.5])
    """

    significand: int
    least_exponent: int
    largest: float
    infinities: bool = True
    signed_zero: bool = True
    saturates: bool = False
    one_below: bool = False
    scale: float = 1.0
    block: int = 0

    @staticmethod
    def ieee(exponent: int, significand: int, *, bias: int | None = None) -> "Format":
        """Return a format of IEEE 754's kind, with subnormal numbers, infinities and nan.

        Args:
            exponent: bits of the exponent, 2 to 11.
            significand: bits of the significand without its leading one, 1 to 52.
            bias: of the exponent, 2^(exponent - 1) - 1 if not given.

        Raises:
            ArgumentError: for other numbers.
        """
        bits = whole(exponent, "exponent bits of format", 2, 11)
        digits = whole(significand, "significand bits of format", 1, 52)
        offset = 2 ** (bits - 1) - 1 if bias is None else whole(bias, "bias of format", -1000, 1023)
        top = 2**bits - 2 - offset
        return Format(digits, 1 - offset, math.ldexp(2.0 - 2.0**-digits, top) if top < 1024 else math.inf)

    @staticmethod
    def fixed(integer: int, fraction: int) -> "Format":
        """Return fixed-point numbers in two's complement: multiples of 2^-fraction in [-2^integer, 2^integer).

        Args:
            integer: bits before the point, without the sign.
            fraction: bits behind the point.

        Raises:
            ArgumentError: for negative numbers, or none or more than 53 bits together.
        """
        before = whole(integer, "integer bits of format", 0, 53)
        behind = whole(fraction, "fraction bits of format", 0, 53)
        bits = whole(before + behind, "integer and fraction bits of format together", 1, 53)
        largest = math.ldexp(2.0**bits - 1, -behind)
        return Format(bits, before, largest, infinities=False, signed_zero=False, saturates=True, one_below=True)

    @staticmethod
    def integer(bits: int = 8, *, scale: float = 1.0) -> "Format":
        """Return the multiples of a scale by the integers of so many bits, -2^(bits - 1) to 2^(bits - 1) - 1.

        x is divided by the scale, rounded, and multiplied again, each once in x's dtype, as PyTorch's fake_quantize
        does. For one scale for each channel, round x / scale to "int8" and multiply.

        Args:
            bits: 2 to 32.
            scale: a positive float.

        Raises:
            ArgumentError: for other numbers.
        """
        count = whole(bits, "bits of format", 2, 32)
        factor = real(scale, "scale of format")
        if not 0.0 < factor < math.inf:
            raise ArgumentError(f"{location()}scale of format must be a positive number, got {shown(scale)}.")
        return replace(Format.fixed(count - 1, 0), scale=factor)

    @staticmethod
    def blocks(element: "str | tuple[int, int] | Format", size: int = 32) -> "Format":
        """Return a microscaling format: blocks of numbers along the last axis that share a power of two as their scale.

        The scale is 2 to the exponent of the largest of them, less the exponent of the largest number of the element
        format; the numbers divided by it are rounded and saturate (OCP Microscaling Formats MX v1.0, section 6.3). It
        is in the range of E8M0, 2^-127 to 2^127. The last block of an axis may be shorter.

        Args:
            element: the format of the numbers.
            size: how many share a scale.

        Raises:
            ArgumentError: for an element that has blocks or a scale itself.
        """
        inner = Format.of(element)
        if inner.block or inner.scale != 1.0:
            raise ArgumentError(f"{location()}element of a block format must be a format without blocks or a scale.")
        return replace(inner, block=whole(size, "size of blocks", 1, 2**31), **_IN_BLOCKS)

    @staticmethod
    def of(name: "str | tuple[int, int] | Format") -> "Format":
        """Return a format by name, by (exponent, significand) bits, or as it is. Raises ArgumentError for others."""
        if isinstance(name, Format):
            return name
        if isinstance(name, str):
            if name in FORMATS:
                return FORMATS[name]
            if fixed := re.fullmatch(r"q(\d{1,2})\.(\d{1,2})", name):
                return Format.fixed(int(fixed[1]), int(fixed[2]))
        if not isinstance(name, tuple) or len(cast("tuple[Any, ...]", name)) != 2:
            known = ", ".join(map(repr, FORMATS))
            raise ArgumentError(
                f'{location()}format is {shown(name)}, expected {known}, "q7.8" and its kin, (exponent, significand) '
                "bits, or a bl.Format."
            )
        return Format.ieee(*cast("tuple[Any, Any]", name))

    def __str__(self) -> str:
        known = {form: name for name, form in FORMATS.items()}
        digits, exponent = self.significand, self.least_exponent
        if self in known:
            return known[self]
        if self.block:
            plain = (form for form in FORMATS.values() if not form.block)
            elements = (form for form in plain if replace(form, block=self.block, **_IN_BLOCKS) == self)
            return f"blocks of {self.block} of {next(elements, replace(self, block=0))}"
        if self.scale != 1.0:
            return f"{replace(self, scale=1.0)} times {self.scale:g}"
        if self.is_fixed:
            return f"q{exponent}.{digits - exponent}"
        bits = (1 - exponent).bit_length() + 1  # of an exponent whose bias is the usual one
        usual = 2 <= bits <= 11 and self == Format.ieee(bits, min(digits, 52))
        return f"({bits}, {digits})" if usual else f"{digits + 1} bits from 2^{exponent} to {self.largest:g}"

    @property
    def is_fixed(self) -> bool:
        """True if all numbers have one unit, as integers and fixed-point numbers do."""
        return self.largest < 2.0**self.least_exponent

    @property
    def is_symmetric(self) -> bool:
        """True if each number has an opposite, 0 too."""
        return self.signed_zero and not self.one_below

    @property
    def unit(self) -> float:
        """The distance of the numbers next to 0, without the scale."""
        return math.ldexp(1.0, self.least_exponent - self.significand)

    @property
    def lowest(self) -> float:
        """The lowest finite number, without the scale."""
        return -self.largest - self.unit if self.one_below else -self.largest

    def fits(self, dtype: "np.dtype[Any]") -> bool:
        """Return True if a dtype, float32 or float64, has all of its numbers."""
        own = np.finfo(dtype)
        if self.is_fixed:  # which are integers times a unit
            return self.significand <= own.nmant + 1 and self.unit >= own.smallest_normal
        exponents = self.least_exponent >= own.minexp and self.largest <= float(own.max)
        return exponents and self.significand <= own.nmant


def _narrow(exponent: int, significand: int, largest: float, bias: int | None = None, *, zero: bool = True) -> Format:
    """A format of 8 bits without infinities, which has nan instead."""
    return replace(Format.ieee(exponent, significand, bias=bias), largest=largest, infinities=False, signed_zero=zero)


def _finite(exponent: int, significand: int, largest: float) -> Format:
    """A format of fewer bits, with neither infinities nor nan."""
    return replace(_narrow(exponent, significand, largest), saturates=True)


_E4M3, _E3M2, _E2M3, _E2M1 = _narrow(4, 3, 448.0), _finite(3, 2, 28.0), _finite(2, 3, 7.5), _finite(2, 1, 6.0)
FORMATS: dict[str, Format] = {
    "float32": Format.ieee(8, 23),
    "tf32": Format.ieee(8, 10),
    "bfloat16": Format.ieee(8, 7),
    "float16": Format.ieee(5, 10),
    "e5m2": Format.ieee(5, 2),
    "e4m3": _E4M3,
    "e3m4": Format.ieee(3, 4),
    "e5m2fnuz": _narrow(5, 2, 57344.0, 16, zero=False),
    "e4m3fnuz": _narrow(4, 3, 240.0, 8, zero=False),
    "e4m3b11fnuz": _narrow(4, 3, 30.0, 11, zero=False),
    "e3m2": _E3M2,
    "e2m3": _E2M3,
    "e2m1": _E2M1,
    "int8": Format.integer(8),
    "int4": Format.integer(4),
    "mxfp8_e5m2": Format.blocks(Format.ieee(5, 2)),
    "mxfp8_e4m3": Format.blocks(_E4M3),
    "mxfp6_e3m2": Format.blocks(_E3M2),
    "mxfp6_e2m3": Format.blocks(_E2M3),
    "mxfp4": Format.blocks(_E2M1),
    "mxint8": Format.blocks(Format.fixed(1, 6)),
}
"""Formats by name: a new one is a row here, a name in the docstring of `round_to`, and its peer in the tests."""
