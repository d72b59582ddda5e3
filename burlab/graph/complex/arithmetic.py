"""Sums, products, quotients and powers of complex numbers, their parts and their sizes, as NumPy's ufuncs.

What is real stays so: a product with a real number is two products. Quotients are scaled, lest squares overflow.
"""

from typing import Any

import numpy as np

from burlab.graph.linear import broadcast
from burlab.graph.node import FUNCTIONS as REAL_FUNCTIONS, UFUNCS as REAL, Node, constant
from burlab.graph.numpy_api.promotion import FLOAT64, apply, as_dtype
from burlab.graph.rules import Rule

from .array import FUNCTIONS, METHODS, UFUNCS, Complex
from .parts import as_complex, met, pair, parts

_FEW = 64  # a whole exponent up to which a power is a product


def add(x: Any, y: Any) -> Complex:
    """x + y."""
    (a, b), (c, d) = met(x, y)
    return pair(apply("add", a, c), d if b is None else b if d is None else apply("add", b, d))


def subtract(x: Any, y: Any) -> Complex:
    """x - y."""
    (a, b), (c, d) = met(x, y)
    imag = apply("neg", d) if b is None else b if d is None else apply("sub", b, d)
    return pair(apply("sub", a, c), imag)


def negative(x: Any) -> Any:
    """-x, of real numbers too."""
    a, b = parts(x)
    return apply("neg", a) if b is None else Complex(apply("neg", a), apply("neg", b))


def multiply(x: Any, y: Any) -> Complex:
    """x * y by four products, or two where one is real."""
    (a, b), (c, d) = met(x, y)
    if b is None or d is None:
        (a, b), c = ((a, b), c) if d is None else ((c, d), a)
        return pair(apply("mul", a, c), apply("mul", b, c))
    real = apply("sub", apply("mul", a, c), apply("mul", b, d))
    return pair(real, apply("add", apply("mul", a, d), apply("mul", b, c)))


def divide(x: Any, y: Any) -> Complex:
    """x / y, by the method of Smith 1962: a ratio of the parts of y comes first, lest squares overflow."""
    (a, b), (c, d) = met(x, y)
    if d is None:
        return pair(apply("div", a, c), apply("div", b, c))
    zero = constant(0, d.dtype) if b is None else b
    lower = apply("less", apply("abs", c), apply("abs", d))
    ratio = apply("div", apply("where", lower, c, d), apply("where", lower, d, c))
    scale = apply(
        "div", 1.0, apply("add", apply("where", lower, d, c), apply("mul", apply("where", lower, c, d), ratio))
    )
    first, second = apply("where", lower, zero, a), apply("where", lower, a, zero)
    real = apply("mul", apply("add", first, apply("mul", second, ratio)), scale)
    imag = apply("mul", apply("sub", second, apply("mul", first, ratio)), scale)
    nothing = apply("logical_and", apply("equal", c, 0.0), apply("equal", d, 0.0))
    still = apply("where", nothing, apply("abs", c), 1.0)  # not c, which may be 0: what is not chosen is differentiated
    real = apply("where", nothing, apply("div", a, still), real)
    imag = apply("where", lower, apply("neg", imag), imag)
    return pair(real, apply("where", nothing, apply("div", zero, still), imag))


def reciprocal(x: Any) -> Complex:
    """1 / x."""
    return divide(1.0, x)


def square(x: Any) -> Complex:
    """x * x."""
    a, b = parts(x)
    real = apply("mul", apply("sub", a, b), apply("add", a, b))
    return pair(real, apply("mul", apply("mul", a, 2.0), b))


def power(x: Any, y: Any) -> Complex:
    """x ** y: a product for small whole y, the root for a half, else exp(y log(x)).

    0 ** y is 1 for y = 0, else 0 where y has a positive real part, and nan elsewhere: there it has no limit.
    """
    (a, b), (c, d) = met(x, y)
    base = a if b is None else Complex(a, b)
    whole = _whole(c, d)
    if whole is not None:
        result = _product(as_complex(base), abs(whole))
        return reciprocal(result) if whole < 0 else result
    if d is None and c.is_constant and not c.shape and c.params == 0.5:
        return UFUNCS["sqrt"](base)
    base = as_complex(base)
    nothing = _equal(base, 0.0)
    safe = Complex(apply("where", nothing, 1.0, base.real), base.imag)
    exponent = c if d is None else Complex(c, d)
    value = UFUNCS["exp"](multiply(exponent, UFUNCS["log"](safe)))
    lost = apply("where", apply("greater", c, 0.0), 0.0, constant(np.nan, c.dtype))
    none = _equal(exponent, 0.0)
    at_zero = apply("where", none, 1.0, lost), apply("where", none, 0.0, lost)
    return pair(*(apply("where", nothing, *halves) for halves in zip(at_zero, parts(value), strict=True)))


def float_power(x: Any, y: Any) -> Complex:
    """np.float_power: the power in complex128."""
    (a, b), (c, d) = ([half if half is None else as_dtype(half, FLOAT64) for half in parts(z)] for z in (x, y))
    return power(a if b is None else Complex(a, b), c if d is None else Complex(c, d))


def _whole(real: Node, imag: Node | None) -> int | None:
    """A known whole exponent that is small."""
    if not real.is_constant or real.shape or not (imag is None or (imag.is_constant and imag.params == 0)):
        return None
    known = float(real.params)
    return int(known) if known.is_integer() and abs(known) <= _FEW else None


def _product(z: Complex, n: int) -> Complex:
    """z to the power of n by squaring."""
    if n == 0:
        return pair(broadcast(constant(1, z.real.dtype), z.shape), 0.0)
    half = z if n < 2 else square(_product(z, n // 2))
    return multiply(half, z) if n % 2 and n > 1 else half


def absolute(x: Any) -> Node:
    """|x| without overflow; its derivative at 0 is 0."""
    return REAL["hypot"](*parts(x))


def angle(z: Any, deg: bool = False) -> Node:
    """np.angle: between -pi and pi, from the positive real axis."""
    a, b = parts(z)
    turned = apply("arctan2", b, a)
    return REAL["degrees"](turned) if deg else turned


def conjugate(x: Any) -> Complex:
    """The conjugate."""
    z = as_complex(x)
    return Complex(z.real, apply("neg", z.imag))


def sign(x: Any) -> Complex:
    """x / |x|, and 0 at 0; of an infinite part its sign."""
    z = as_complex(x)
    size = absolute(z)
    both = apply("logical_and", REAL["isinf"](z.real), REAL["isinf"](z.imag))
    infinite = apply("logical_and", REAL["isinf"](size), apply("logical_not", both))
    value = divide(z, apply("where", apply("equal", size, 0.0), 1.0, size))
    halves = [
        apply("where", infinite, apply("where", REAL["isinf"](half), REAL["sign"](half), 0.0), found)
        for half, found in ((z.real, value.real), (z.imag, value.imag))
    ]
    return pair(*halves)


def _equal(x: Any, y: Any) -> Node:
    (a, b), (c, d) = parts(x), parts(y)
    return apply("logical_and", apply("equal", a, c), apply("equal", 0.0 if b is None else b, 0.0 if d is None else d))


def _differ(x: Any, y: Any) -> Node:
    return apply("logical_not", _equal(x, y))


def real(val: Any) -> Node:
    """np.real."""
    return parts(val)[0]


def imag(val: Any) -> Node:
    """np.imag."""
    return as_complex(val).imag


def _is_complex(x: Any) -> Node:
    return apply("not_equal", imag(x), 0.0)


def _is_real(x: Any) -> Node:
    return apply("equal", imag(x), 0.0)


def _always(answer: bool) -> Rule:
    def rule(_x: Any) -> bool:
        return answer

    return rule


def _allclose(*args: Any, **options: Any) -> Node:
    return REAL_FUNCTIONS[np.all](isclose(*args, **options))


def _both(op: str) -> Any:
    """A test that holds where it holds for both parts."""

    def rule(x: Any) -> Node:
        return apply("logical_and", *(REAL[op](part) for part in parts(x)))

    return rule


def _either(op: str) -> Any:
    def rule(x: Any) -> Node:
        return apply("logical_or", *(REAL[op](part) for part in parts(x)))

    return rule


def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Node:
    """np.isclose: by the size of the difference."""
    far, near = absolute(subtract(a, b)), absolute(as_complex(b))
    within = apply("less_equal", far, apply("add", atol, apply("mul", rtol, near)))
    close = apply("logical_or", apply("logical_and", within, REAL["isfinite"](near)), _equal(a, b))
    if not equal_nan:
        return close
    return apply("logical_or", close, apply("logical_and", UFUNCS["isnan"](a), UFUNCS["isnan"](b)))


UFUNCS.update({
    "add": add, "subtract": subtract, "multiply": multiply, "divide": divide, "negative": negative,
    "reciprocal": reciprocal, "square": square, "power": power, "float_power": float_power, "absolute": absolute,
    "conjugate": conjugate, "positive": as_complex, "sign": sign, "equal": _equal,
    "not_equal": _differ, "isfinite": _both("isfinite"),
    "isinf": _either("isinf"), "isnan": _either("isnan"),
})  # fmt: skip
FUNCTIONS.update({
    np.angle: angle, np.isclose: isclose, np.real: real, np.imag: imag, np.iscomplexobj: _always(True),
    np.isrealobj: _always(False), np.iscomplex: _is_complex, np.isreal: _is_real, np.allclose: _allclose,
})  # fmt: skip
METHODS.update({"conj": conjugate, "conjugate": conjugate})
