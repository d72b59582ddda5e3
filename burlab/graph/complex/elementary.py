"""Exponential, logarithm, root, circular and hyperbolic functions of complex numbers, on NumPy's principal branches."""

import math
from collections.abc import Callable

import numpy as np

from burlab.graph.linear_nodes import broadcast
from burlab.graph.node import UFUNCS as REAL, Node, constant
from burlab.graph.numpy_api import elementwise as reals
from burlab.graph.numpy_api.elementwise import cos, maximum, sin, square, tan, where
from burlab.graph.operation import make_node
from burlab.typing import ArrayLike

from .array import FUNCTIONS, UFUNCS, Complex
from .complex_arithmetic import absolute, angle, divide, multiply
from .parts import as_complex, pair


def exp(x: ArrayLike) -> Complex:
    """Return e^a (cos b + i sin b)."""
    z = as_complex(x)
    size = reals.exp(z.real)
    vanishes, infinite = z.real == -np.inf, z.real == np.inf
    real = _times(size, cos(z.imag), vanishes, infinite)
    return pair(real, _times(size, sin(z.imag), vanishes))


def _times(size: Node, wave: Node, vanishes: Node | None = None, infinite: Node | None = None) -> Node:
    """Return size times the sine or cosine of an angle, with the values of C99, annex G, where one is not finite.

    vanishes, infinite: where the size is 0 or infinite whatever the angle.
    """
    undefined, product = REAL["isnan"](wave), size * wave
    product = where(~REAL["isfinite"](size) & (wave == 0.0), wave, product)
    for mask in (vanishes, infinite):
        if mask is not None:
            product = where(mask & undefined, size, product)
    return product


def expm1(x: ArrayLike) -> Complex:
    """Return e^x - 1. Its real part is (e^a - 1) cos b - 2 sin^2 (b / 2), which does not cancel near 0."""
    z = as_complex(x)
    less = 2.0 * square(sin(z.imag * 0.5))
    real = reals.expm1(z.real) * cos(z.imag) - less
    return pair(real, reals.exp(z.real) * sin(z.imag))


def log(x: ArrayLike) -> Complex:
    """Return log |x| + i angle(x)."""
    z = as_complex(x)
    return pair(reals.log(absolute(z)), angle(z))


def log1p(x: ArrayLike) -> Complex:
    """Return log(1 + x). Its real part is log(1 + 2 a + |x|^2) / 2, which does not cancel near 0."""
    z = as_complex(x)
    more = z.real * (z.real + 2.0) + square(z.imag)
    near = abs(more) < 0.5
    small = 0.5 * reals.log1p(where(near, more, 0.0))
    far = log(Complex(z.real + 1.0, z.imag))
    return pair(where(near, small, far.real), far.imag)


def side_of(x: Node) -> Node:
    """Return 1 or -1, the sign bit, whose derivative is 0."""
    return REAL["copysign"](broadcast(constant(1, x.dtype), x.shape), make_node("stop_gradient", None, x))


def sqrt(x: ArrayLike) -> Complex:
    """Return the root, whose larger part is that of (|x| + |a|) / 2 and gives the other. Large numbers are scaled."""
    z = as_complex(x)
    large = maximum(abs(z.real), abs(z.imag)) > _MAX_UNSCALED[z.real.dtype.name]
    down, up = (where(large, constant(scale, z.real.dtype), 1.0) for scale in (0.25, 2.0))
    a, b = (part * down for part in (z.real, z.imag))
    magnitude = where(REAL["signbit"](a), -a, a)  # |a|, whose derivative at 0 is that of the zero's sign
    size = 0.5 * (absolute(Complex(a, b)) + magnitude)
    is_zero = size == 0.0
    larger = reals.sqrt(size)
    smaller = 0.5 * b / where(is_zero, 1.0, larger)
    infinite = REAL["isinf"](larger)
    smaller = where(infinite & REAL["isfinite"](b), 0.0 * side_of(b), smaller)
    smaller = where(REAL["isinf"](b), b, smaller)
    larger = where(REAL["isinf"](b), np.inf, larger)
    larger, smaller = larger * up, smaller * up
    side = side_of(b)
    right = ~REAL["signbit"](a) | REAL["isinf"](b)
    real = where(right, larger, side * smaller)
    return pair(real, where(right, smaller, side * larger))


_MAX_UNSCALED = {"float64": 1e307, "float32": 1e37}  # beyond it, |x| + |a| may overflow


def cosh(x: ArrayLike) -> Complex:
    """Return cosh a cos b + i sinh a sin b."""
    z = as_complex(x)
    real = _times(reals.cosh(z.real), cos(z.imag), infinite=REAL["isinf"](z.real))
    return pair(real, _times(reals.sinh(z.real), sin(z.imag), z.real == 0.0))


def sinh(x: ArrayLike) -> Complex:
    """Return sinh a cos b + i cosh a sin b."""
    z = as_complex(x)
    vanishes, infinite = z.real == 0.0, REAL["isinf"](z.real)
    real = _times(reals.sinh(z.real), cos(z.imag), vanishes, infinite)
    return pair(real, _times(reals.cosh(z.real), sin(z.imag)))


def tanh(x: ArrayLike) -> Complex:
    """Return (t (1 + s^2) + i s (1 - t^2)) / (1 + t^2 s^2) with t = tanh a and s = tan b, which never overflows."""
    z = as_complex(x)
    t, s = reals.tanh(z.real), tan(z.imag)
    s = where(REAL["isinf"](z.real) & REAL["isnan"](s), 0.0, s)
    t2, s2 = square(t), square(s)
    divisor = 1.0 + t2 * s2
    real = t * (1.0 + s2) / divisor
    imag = s * (1.0 - t2) / divisor
    real = where((t == 0.0) & REAL["isnan"](s), t, real)
    return pair(real, where((s == 0.0) & REAL["isnan"](t), s, imag))


def times_i(z: Complex) -> Complex:
    """Return i z."""
    return Complex(-z.imag, z.real)


def over_i(z: Complex) -> Complex:
    """Return z / i."""
    return Complex(z.imag, -z.real)


def circular(f: Callable[[ArrayLike], Complex]) -> Callable[[ArrayLike], Complex]:
    """Return x -> f(i x) / i, which is sin for sinh, tan for tanh, and so on for their inverses."""
    return lambda x: over_i(f(times_i(as_complex(x))))


def _in_base(base: float) -> Callable[[ArrayLike], Complex]:
    return lambda x: multiply(1.0 / math.log(base), log(x))


def _cos(x: ArrayLike) -> Complex:
    return cosh(times_i(as_complex(x)))


def _exp2(x: ArrayLike) -> Complex:
    return exp(multiply(math.log(2.0), x))


def sinc(x: ArrayLike) -> Complex:
    """Return sin(pi x) / (pi x), 1 at 0, as np.sinc."""
    z = multiply(math.pi, as_complex(x))
    is_zero: Node = UFUNCS["equal"](z, 0.0)
    value = divide(UFUNCS["sin"](z), Complex(where(is_zero, 1.0, z.real), z.imag))
    return pair(where(is_zero, 1.0, value.real), value.imag)


UFUNCS.update({
    "exp": exp, "expm1": expm1, "log": log, "log1p": log1p, "sqrt": sqrt, "cosh": cosh, "sinh": sinh, "tanh": tanh,
    "sin": circular(sinh), "tan": circular(tanh),
    "cos": _cos, "log2": _in_base(2.0), "log10": _in_base(10.0),
    "exp2": _exp2,
})  # fmt: skip
FUNCTIONS[np.sinc] = sinc
