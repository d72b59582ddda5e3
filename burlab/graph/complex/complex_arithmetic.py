"""Sums, products, quotients and powers of complex numbers, their parts and absolute values, as NumPy's ufuncs.

A real operand stays real: a product with one is two real products. Quotients are scaled, so that no square overflows.
"""

from typing import Any, cast

import numpy as np

from burlab.graph.linear_nodes import broadcast
from burlab.graph.node import FUNCTIONS as REAL_FUNCTIONS, UFUNCS as REAL, Node, constant
from burlab.graph.numpy_api.elementwise import arctan2, where
from burlab.graph.numpy_api.promotion import FLOAT64, apply, as_dtype
from burlab.graph.rules import Rule
from burlab.typing import ArrayLike

from .array import FUNCTIONS, METHODS, UFUNCS, Complex
from .parts import as_complex, met, pair, parts

MAX_PRODUCT_EXPONENT = 64


def add(x: ArrayLike, y: ArrayLike) -> Complex:
    """Return x + y."""
    (a, b), (c, d) = met(x, y)
    return pair(a + c, cast("Node", b) if d is None else d if b is None else b + d)


def subtract(x: ArrayLike, y: ArrayLike) -> Complex:
    """Return x - y."""
    (a, b), (c, d) = met(x, y)
    imag = cast("Node", b) if d is None else -d if b is None else b - d
    return pair(a - c, imag)


def negative(x: ArrayLike) -> Any:
    """Return -x, also for real x."""
    a, b = parts(x)
    return -a if b is None else Complex(-a, -b)


def multiply(x: ArrayLike, y: ArrayLike) -> Complex:
    """Return x * y: four real products, or two if an operand is real."""
    (a, b), (c, d) = met(x, y)
    if b is None or d is None:
        (a, b), c = ((a, b), c) if d is None else ((c, d), a)
        return pair(a * c, b * c)
    return pair(a * c - b * d, a * d + b * c)


def divide(x: ArrayLike, y: ArrayLike) -> Complex:
    """Return x / y by Smith's method (1962): it divides by the larger part of y first, so that no square overflows."""
    (a, b), (c, d) = met(x, y)
    if d is None:
        return pair(a / c, b / c)
    zero = constant(0, d.dtype) if b is None else b
    lower = abs(c) < abs(d)
    ratio = where(lower, c, d) / where(lower, d, c)
    scale = 1.0 / (where(lower, d, c) + where(lower, c, d) * ratio)
    first, second = where(lower, zero, a), where(lower, a, zero)
    real = (first + second * ratio) * scale
    imag = (second - first * ratio) * scale
    is_zero = (c == 0.0) & (d == 0.0)
    divisor = where(is_zero, abs(c), 1.0)  # not c, which may be 0: the branch that is not taken is differentiated, too
    real = where(is_zero, a / divisor, real)
    imag = where(lower, -imag, imag)
    return pair(real, where(is_zero, zero / divisor, imag))


def reciprocal(x: ArrayLike) -> Complex:
    """Return 1 / x."""
    return divide(1.0, x)


def square(x: ArrayLike) -> Complex:
    """Return x * x."""
    a, b = parts(x)
    return pair((a - b) * (a + b), a * 2.0 * b)


def power(x: ArrayLike, y: ArrayLike) -> Complex:
    """Return x ** y: a product for a small integer y, the square root for 1/2, else exp(y log(x)).

    0 ** y is 1 for y = 0, 0 where the real part of y is positive, and nan elsewhere, where it has no limit.
    """
    (a, b), (c, d) = met(x, y)
    base = a if b is None else Complex(a, b)
    n = _small_integer(c, d)
    if n is not None:
        result = _product(as_complex(base), abs(n))
        return reciprocal(result) if n < 0 else result
    if d is None and c.is_constant and not c.shape and c.params == 0.5:
        return UFUNCS["sqrt"](base)
    base = as_complex(base)
    is_zero = _equal(base, 0.0)
    nonzero = Complex(where(is_zero, 1.0, base.real), base.imag)
    exponent = c if d is None else Complex(c, d)
    value = UFUNCS["exp"](multiply(exponent, UFUNCS["log"](nonzero)))
    limit = where(c > 0.0, 0.0, constant(np.nan, c.dtype))
    is_one = _equal(exponent, 0.0)
    at_zero = where(is_one, 1.0, limit), where(is_one, 0.0, limit)
    return pair(*(where(is_zero, *halves) for halves in zip(at_zero, parts(value), strict=True)))


def float_power(x: ArrayLike, y: ArrayLike) -> Complex:
    """Return the power in complex128, as np.float_power."""
    return power(_as_double(x), _as_double(y))


def _as_double(x: ArrayLike) -> Node | Complex:
    a, b = parts(x)
    a = as_dtype(a, FLOAT64)
    return a if b is None else Complex(a, as_dtype(b, FLOAT64))


def _small_integer(real: Node, imag: Node | None) -> int | None:
    """Return the value of a known exponent if it is a small integer, else None."""
    if not real.is_constant or real.shape or not (imag is None or (imag.is_constant and imag.params == 0)):
        return None
    known = float(real.params)
    return int(known) if known.is_integer() and abs(known) <= MAX_PRODUCT_EXPONENT else None


def _product(z: Complex, n: int) -> Complex:
    """Return z to the power n >= 0 by repeated squaring."""
    if n == 0:
        return pair(broadcast(constant(1, z.real.dtype), z.shape), 0.0)
    half = z if n < 2 else square(_product(z, n // 2))
    return multiply(half, z) if n % 2 and n > 1 else half


def absolute(x: ArrayLike) -> Node:
    """Return |x| without overflow. Its derivative at 0 is 0."""
    return REAL["hypot"](*parts(x))


def angle(z: ArrayLike, deg: bool = False) -> Node:
    """Return the angle to the positive real axis, between -pi and pi, as np.angle."""
    a, b = parts(z)
    radians = arctan2(b, a)
    return REAL["degrees"](radians) if deg else radians


def conjugate(x: ArrayLike) -> Complex:
    """Return the complex conjugate."""
    z = as_complex(x)
    return Complex(z.real, -z.imag)


def sign(x: ArrayLike) -> Complex:
    """Return x / |x|, 0 at 0, and the signs of infinite parts."""
    z = as_complex(x)
    size = absolute(z)
    both = REAL["isinf"](z.real) & REAL["isinf"](z.imag)
    infinite = REAL["isinf"](size) & ~both
    value = divide(z, where(size == 0.0, 1.0, size))
    halves = [
        where(infinite, where(REAL["isinf"](part), REAL["sign"](part), 0.0), quotient)
        for part, quotient in ((z.real, value.real), (z.imag, value.imag))
    ]
    return pair(*halves)


def _equal(x: ArrayLike, y: ArrayLike) -> Node:
    (a, b), (c, d) = parts(x), parts(y)
    return (a == c) & REAL["equal"](
        0.0 if b is None else b, 0.0 if d is None else d
    )  # Python takes 0.0 == d as d == 0.0


def _differ(x: ArrayLike, y: ArrayLike) -> Node:
    return ~_equal(x, y)


def real(val: ArrayLike) -> Node:
    """Return the real part, as np.real."""
    return parts(val)[0]


def imag(val: ArrayLike) -> Node:
    """Return the imaginary part, as np.imag."""
    return as_complex(val).imag


def _is_complex(x: ArrayLike) -> Node:
    return imag(x) != 0.0


def _is_real(x: ArrayLike) -> Node:
    return imag(x) == 0.0


def _always(answer: bool) -> Rule:
    def rule(_x: object) -> bool:
        return answer

    return rule


def _allclose(*args: Any, **options: Any) -> Node:
    return REAL_FUNCTIONS[np.all](isclose(*args, **options))


def _both(op: str) -> Rule:
    """Return a test that is true if it is true for both parts."""

    def rule(x: ArrayLike) -> Node:
        return apply("logical_and", *(REAL[op](part) for part in parts(x)))

    return rule


def _either(op: str) -> Rule:
    """Return a test that is true if it is true for either part."""

    def rule(x: ArrayLike) -> Node:
        return apply("logical_or", *(REAL[op](part) for part in parts(x)))

    return rule


def isclose(a: ArrayLike, b: ArrayLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Node:
    """Return True where |a - b| <= atol + rtol |b|, as np.isclose."""
    distance, size = absolute(subtract(a, b)), absolute(as_complex(b))
    close = ((distance <= atol + rtol * size) & REAL["isfinite"](size)) | _equal(a, b)
    if not equal_nan:
        return close
    return close | (UFUNCS["isnan"](a) & UFUNCS["isnan"](b))


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
