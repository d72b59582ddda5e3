"""Numbers rounded to a narrower format, and kept in the dtype that they had."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntFlag
from typing import Any

import numpy as np

from burlab.compiler.function import Function
from burlab.errors import ArgumentError, DTypeError
from burlab.graph.handles import present
from burlab.graph.linear_nodes import pad, reshape, slice_
from burlab.graph.node import FUNCTIONS, UFUNCS, Node, as_node
from burlab.graph.numpy_api.elementwise import exponent, floor, ldexp, maximum, minimum, where
from burlab.graph.numpy_api.promotion import FLOAT64, apply, as_dtype
from burlab.graph.operation import make_node
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown, truth, whole
from burlab.runtime.plain import as_array, as_floats, is_complex
from burlab.transforms.random.fixed_distributions import uniform_node
from burlab.typing import ArrayLike, Key, Shape

from .formats import Format

FormatName = str | tuple[int, int] | Format
"""A format as users give it: `Format.of` knows it."""

Numbers = Callable[[Any, Shape, str], Node]
"""Numbers in [0, 1) by a key, with a shape and dtype."""
Draw = Callable[[Node], Node] | None
"""The same for an array, in its shape and dtype; None: none are drawn."""


class Rule(IntFlag):
    """When to go to the neighbour away from 0, and what a format has: `RoundingRule` of `numbers/format.hpp`."""

    NEAREST, TIE_OF_ODD, TIE_OF_EVEN, ABOVE, BELOW, TO_ODD, THRESHOLD = 1, 2, 4, 8, 16, 32, 64
    SUBNORMALS, INFINITIES, SATURATES, SIGNED_ZERO, ONE_BELOW, DIGITS = 128, 256, 512, 1024, 2048, 4096


MODES = {
    "nearest": Rule.NEAREST | Rule.TIE_OF_ODD,
    "nearest_away": Rule.NEAREST | Rule.TIE_OF_ODD | Rule.TIE_OF_EVEN,
    "nearest_zero": Rule.NEAREST,
    "nearest_odd": Rule.NEAREST | Rule.TIE_OF_EVEN,
    "up": Rule.ABOVE,
    "down": Rule.BELOW,
    "zero": Rule(0),
    "away": Rule.ABOVE | Rule.BELOW,
    "odd": Rule.TO_ODD,
    "stochastic": Rule.THRESHOLD,
    "stochastic_equal": Rule.THRESHOLD,
}
"""The rounding modes by name."""
_DRAWN = {4: 24, 8: 53}  # bits of a uniform number of float32 and of float64
_MIN_EXPONENT = -127.0  # of the exponents of E8M0, and its opposite the largest


@dataclass(frozen=True, slots=True)
class Rounding:
    """A rounding, all of whose options are checked.

    bits: of the random numbers of a stochastic mode; None: all that the dtype has.
    """

    format: Format
    mode: str
    subnormals: bool = True
    saturate: bool = False
    bits: int | None = None

    @staticmethod
    def of(
        format: FormatName,  # noqa: A002 - the field's word
        mode: str | None,
        has_key: bool,
        subnormals: bool = True,
        saturate: bool | None = None,
        bits: int | None = None,
        what: str = "round_to",
    ) -> "Rounding":
        """Return a rounding by what a user has given. Raises ArgumentError."""
        known = Format.of(format)
        rounding = mode if mode is not None else ("stochastic" if has_key else "nearest")
        if not isinstance(rounding, str) or rounding not in MODES:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise ArgumentError(f"{location()}mode of {what} is {shown(mode)}, expected {', '.join(map(repr, MODES))}.")
        drawn = bool(MODES[rounding] & Rule.THRESHOLD)
        if drawn != has_key:
            advice = "takes no key; leave it out" if has_key else "needs a key: key=bl.random.key(0)"
            raise ArgumentError(f"{location()}{what} in the mode {shown(rounding)} {advice}.")
        if bits is not None and rounding != "stochastic":
            raise ArgumentError(f"{location()}bits of {what} are those of the mode 'stochastic'; leave them out.")
        gradual = truth(subnormals, f"subnormals of {what}")
        if known.is_fixed and not gradual:
            raise ArgumentError(
                f"{location()}subnormals=False of {what} is for floating-point formats, expected True for one that is "
                "fixed-point."
            )
        finite = known.saturates and not known.infinities
        if saturate is not None and not truth(saturate, f"saturate of {what}") and finite:
            raise ArgumentError(
                f"{location()}saturate=False of {what} needs a format with infinities or nan for what is too large, "
                "which this one has not. Leave it out."
            )
        count = None if bits is None else whole(bits, f"bits of {what}", 1, 53)
        return Rounding(known, rounding, gradual, known.saturates if saturate is None else saturate, count)

    @property
    def is_drawn(self) -> bool:
        """True for a stochastic mode, which needs a key."""
        return bool(MODES[self.mode] & Rule.THRESHOLD)

    def rounded(self, x: ArrayLike, key: Any = None, numbers: Numbers = uniform_node) -> Node:
        """Return x, rounded, as a node whose derivative is that of x. Raises ArgumentError for too wide a format.

        numbers: gives those in [0, 1) that a stochastic mode draws, by the key.
        """
        x = as_node(x)
        x = x if x.dtype.kind == "f" else as_dtype(x, FLOAT64)
        form = self.format
        wide = not form.fits(x.dtype)
        if wide or (self.bits or 0) > _DRAWN[x.itemsize]:
            what = f"the format {form} has numbers" if wide else f"bits={self.bits} are more random bits"
            raise ArgumentError(
                f"{location()}{what} which {x.dtype} has not. Pass x.astype(np.float64), or a narrower format."
            )
        known = make_node("stop_gradient", None, x)

        def draw(like: Node) -> Node:
            return numbers(key, like.shape, like.dtype.name)

        chosen = draw if self.is_drawn else None
        value = self._in_blocks(known, chosen) if form.block else self._scaled(known, chosen)
        return make_node("surrogate", None, value, x)

    def _scaled(self, x: Node, draw: Draw) -> Node:
        scale = self.format.scale
        return self._once(x, draw) if scale == 1.0 else self._once(x / scale, draw) * scale

    def _in_blocks(self, x: Node, draw: Draw) -> Node:
        """Blocks of the last axis, behind which are zeros where the last of them is shorter."""
        size, shape = self.format.block, x.shape
        length = shape[-1] if shape else 1
        count = -(-length // size) if length else 0
        rows = reshape(x, (*shape[:-1], length))
        if count * size != length:
            wide = (*shape[:-1], count * size)
            rows = pad(rows, (0,) * len(wide), (1,) * len(wide), wide)
        rows = reshape(rows, (*shape[:-1], count, size))
        sizes = where(UFUNCS["isfinite"](rows), abs(rows), 0.0)
        largest = FUNCTIONS[np.max](sizes, axis=-1, keepdims=True)
        wanted = exponent(largest) - float(math.frexp(self.format.largest)[1])
        scale = where(largest > 0.0, minimum(maximum(wanted, _MIN_EXPONENT), -_MIN_EXPONENT), _MIN_EXPONENT)
        value = ldexp(self._once(ldexp(rows, -scale), draw), scale)
        flat = reshape(value, (*shape[:-1], count * size))
        return reshape(slice_(flat, (0,) * flat.ndim, (1,) * flat.ndim, (*shape[:-1], length)), shape)

    def _once(self, x: Node, draw: Draw) -> Node:
        form, rule = self.format, MODES[self.mode]
        flags = {
            Rule.SUBNORMALS: self.subnormals,
            Rule.INFINITIES: form.infinities,
            Rule.SATURATES: self.saturate,
            Rule.SIGNED_ZERO: form.signed_zero,
            Rule.ONE_BELOW: form.one_below,
        }
        number = int(rule) + sum(flag for flag, holds in flags.items() if holds) + Rule.DIGITS * form.significand
        threshold = 0.0 if draw is None else self._threshold(draw(x), x)
        return apply("round_to", x, threshold, float(number), 2.0**form.least_exponent, form.largest)

    def _threshold(self, drawn: Node, x: Node) -> Node:
        """Return the part of a unit from which a number goes away from 0: with as many bits as are drawn."""
        if self.mode == "stochastic_equal":
            return as_dtype(drawn < 0.5, x.dtype) * 2.0
        if self.bits is None:
            return drawn + 2.0 ** -_DRAWN[x.itemsize]
        return (floor(drawn * 2.0**self.bits) + 1.0) * 2.0**-self.bits


def round_to(
    format: FormatName,  # noqa: A002 - the field's word
    x: ArrayLike,
    *,
    mode: str | None = None,
    key: Key | None = None,
    subnormals: bool = True,
    saturate: bool | None = None,
    bits: int | None = None,
) -> Any:
    """Round every entry of x, once, to a number of a narrower format, in x's shape and dtype.

    The derivative is that of x: straight through (Bengio, Leonard and Courville 2013, arXiv:1308.3432).

    Args:
        format: a name, (exponent, significand) or a `bl.Format`. (5, 10), bits of a format of IEEE 754's kind, the
            leading one not counted, is float16. Names: "float32", "tf32", "bfloat16", "float16"; of 8 bits "e5m2" and
            "e4m3" (of OCP: up to 448, no infinities, what is larger is nan), "e3m4", and without infinities and -0
            "e5m2fnuz", "e4m3fnuz", "e4m3b11fnuz"; of 6 and 4 bits, which saturate, "e3m2", "e2m3" and "e2m1";
            "int8" and "int4"; "q7.8" and its kin, fixed-point with 7 bits before the point and 8 behind; of OCP's
            microscaling formats "mxfp8_e5m2", "mxfp8_e4m3", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4" and "mxint8", whose
            blocks of 32 along the last axis share a power of two as their scale.
        x: an array or number, float32 or float64.
        mode: "nearest", of two the even one; "nearest_away", "nearest_zero" and "nearest_odd", which differ where there
            are two; "up", "down", "zero", "away" (from zero); "odd", of the two neighbours of what is between numbers
            the odd one; or "stochastic", away from zero with the probability of the distance from below, so that the
            mean is x, and "stochastic_equal", with that of a half.
        key: of the random numbers of a stochastic mode, which it implies.
        subnormals: False to round between 0 and the least normal number, as if nothing were between.
        saturate: True for the largest number in place of what is too large, infinities too; False for infinities, or
            nan where the format has none. Formats that have neither always saturate.
        bits: of the random numbers of "stochastic", which then knows so many bits of the distance; all if not given.

    Returns:
        An array of x's shape and dtype. nan stays nan in every format.

    Raises:
        ArgumentError: for a format wider than x's dtype, a mode without its key, or other options that do not fit.
        DTypeError: for complex numbers.

    >>> import numpy as np, burlab as bl
    >>> bl.round_to("bfloat16", np.array([1.01, 1e39])), float(bl.round_to((2, 1), 1.2, mode="up"))
    (array([1.0078125,       inf]), 1.5)
    >>> float(bl.grad(lambda x: bl.round_to("e4m3", x) ** 2)(1.1))
    2.25
    """
    x, key = present(x), present(key)
    rounding = Rounding.of(format, mode, key is not None, subnormals, saturate, bits)
    if is_complex(x):
        raise DTypeError(f"{location()}x of round_to is complex, expected real numbers. Round x.real and x.imag.")
    if isinstance(x, Node) or isinstance(key, Node):
        return rounding.rounded(x, key)
    if not isinstance(x, float):
        array = as_array(x, "x of round_to")
        x = array if array.dtype.kind == "f" else as_floats(array, "x of round_to")
    return _kernel(x, None if key is None else as_array(key, "key of round_to"), rounding)


def _rounded(x: ArrayLike, key: Any, rounding: Rounding) -> Node:
    return rounding.rounded(x, key)


_kernel: Any = Function(_rounded, name="round_to", reads=())
