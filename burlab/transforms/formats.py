"""Numbers rounded to a narrower floating-point format, and kept in the dtype that they had."""

from typing import Any, NamedTuple, cast

import numpy as np

from burlab.compiler.function import Function
from burlab.errors import ArgumentError, DTypeError
from burlab.graph.handles import present
from burlab.graph.node import UFUNCS, Node, as_node
from burlab.graph.numpy_api.elementwise import copysign, maximum, where
from burlab.graph.numpy_api.promotion import FLOAT64, apply, as_dtype
from burlab.graph.operation import make_node
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.plain import as_array, as_floats, is_complex
from burlab.typing import ArrayLike, Key

from .random.fixed_distributions import uniform_node


class Format(NamedTuple):
    """A floating-point format: bits of the exponent, and of the significand without its leading one.

    largest: the largest finite number. has_infinities: False if what is too large is nan.
    """

    exponent_bits: int
    significand_bits: int
    largest: float
    has_infinities: bool = True

    @staticmethod
    def of(name: str | tuple[int, int]) -> "Format":
        """A format by name, or of IEEE 754's kind by its two numbers of bits."""
        if isinstance(name, str) and name in FORMATS:
            return FORMATS[name]
        if not isinstance(name, tuple) or len(cast("tuple[Any, ...]", name)) != 2:
            known = ", ".join(map(repr, FORMATS))
            raise ArgumentError(
                f"{location()}format is {shown(name)}, expected {known} or (exponent, significand) bits."
            )
        bits, digits = cast("tuple[Any, Any]", name)
        return _ieee(whole(bits, "exponent bits of format", 2, 11), whole(digits, "significand bits of format", 1, 52))


def _ieee(exponent: int, significand: int) -> Format:
    return Format(exponent, significand, 2.0 ** (2 ** (exponent - 1) - 1) * (2.0 - 2.0**-significand))


FORMATS = {
    "bfloat16": _ieee(8, 7),
    "float16": _ieee(5, 10),
    "e4m3": Format(4, 3, 448.0, has_infinities=False),
    "e5m2": _ieee(5, 2),
}
"""Formats by name: a new one is a row here, a name in the docstring of `round_to`, and its peer in the tests."""
_MODES = {"nearest": "rint", "up": "ceil", "down": "floor", "zero": "trunc", "stochastic": "floor"}
_BITS = {4: (8, 23), 8: (11, 52)}  # of float32 and float64


def round_to(format: str | tuple[int, int], x: ArrayLike, *, mode: str | None = None, key: Key | None = None) -> Any:  # noqa: A002 - the field's word
    """Round every entry of x, once, to a number of a narrower format, in x's shape and dtype.

    Subnormal numbers, signed zeros and nan are those of the format. The derivative is that of x: straight through
    (Bengio, Leonard and Courville 2013, arXiv:1308.3432).

    Args:
        format: "bfloat16", "float16", "e5m2", "e4m3" (of OCP: up to 448, no infinities, what is larger is nan), or
            (exponent, significand), bits of a format of IEEE 754's kind, the leading one not counted: (5, 10) is
            float16.
        x: an array or number, float32 or float64.
        mode: "nearest", of two the even one; "up", "down", "zero"; or "stochastic", up with the probability of the
            distance from below, so that the mean is x.
        key: of the random numbers of "stochastic", which it implies.

    Returns:
        An array of x's shape and dtype.

    Raises:
        ArgumentError: for a format wider than x's dtype, or a mode without its key.
        DTypeError: for complex numbers.

    >>> import numpy as np, burlab as bl
    >>> bl.round_to("bfloat16", np.array([1.01, 1e39])), float(bl.round_to((2, 1), 1.2, mode="up"))
    (array([1.0078125,       inf]), 1.5)
    >>> float(bl.grad(lambda x: bl.round_to("e4m3", x) ** 2)(1.1))
    2.25
    """
    known, rounding = Format.of(format), _mode(mode, key)
    x, key = present(x), present(key)
    if is_complex(x):
        raise DTypeError(f"{location()}x of round_to is complex, expected real numbers. Round x.real and x.imag.")
    if isinstance(x, Node) or isinstance(key, Node):
        return rounded(x, key, known, rounding)
    if not isinstance(x, float):
        array = as_array(x, "x of round_to")
        x = array if array.dtype.kind == "f" else as_floats(array, "x of round_to")
    return _kernel(x, None if key is None else as_array(key, "key of round_to"), known, rounding)


def _mode(mode: str | None, key: Key | None) -> str:
    rounding = mode if mode is not None else ("nearest" if key is None else "stochastic")
    if not isinstance(rounding, str) or rounding not in _MODES:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"{location()}mode of round_to is {shown(mode)}, expected {', '.join(map(repr, _MODES))}.")
    if (rounding == "stochastic") != (key is not None):
        what = "needs a key: key=bl.random.key(0)" if key is None else "takes no key; leave it out"
        raise ArgumentError(f"{location()}round_to in the mode {shown(rounding)} {what}.")
    return rounding


def rounded(x: ArrayLike, key: Any, form: Format, mode: str) -> Node:
    """Return x, rounded to a format, as a node."""
    x = as_node(x)
    x = x if x.dtype.kind == "f" else as_dtype(x, FLOAT64)
    if form.exponent_bits > _BITS[x.itemsize][0] or form.significand_bits > _BITS[x.itemsize][1]:
        raise ArgumentError(
            f"{location()}format has {form.exponent_bits} bits of exponent and {form.significand_bits} of significand, "
            f"which {x.dtype} has not. Pass x.astype(np.float64), or a narrower format."
        )
    known = make_node("stop_gradient", None, x)
    finite = UFUNCS["isfinite"](known)
    small = where(finite, known, 0.0)
    least = 3 - 2 ** (form.exponent_bits - 1)  # exponent of the least normal number, of which frexp says one more
    lowest = maximum(UFUNCS["frexp"](small)[1], least) - (form.significand_bits + 1)
    scaled = UFUNCS["ldexp"](small, -lowest)
    steps = apply(_MODES[mode], scaled)
    if mode == "stochastic":
        drawn = uniform_node(key, x.shape, x.dtype.name)
        steps = steps + as_dtype(drawn < scaled - steps, x.dtype)
    near = copysign(UFUNCS["ldexp"](steps, lowest), known)
    beyond = copysign(np.inf if form.has_infinities else np.nan, known)
    stays = {"zero": finite, "up": known < 0.0, "down": known > 0.0}.get(mode)
    over = beyond
    if stays is not None:
        over = where(finite & stays, copysign(form.largest, known), beyond)
    value = where(abs(near) > form.largest, over, near)
    value = where(UFUNCS["isinf"](known), beyond, value)
    return make_node("surrogate", None, where(UFUNCS["isnan"](known), known, value), x)


_kernel: Any = Function(rounded, name="round_to", reads=())
