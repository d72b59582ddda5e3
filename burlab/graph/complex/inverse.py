"""Inverse circular and hyperbolic functions of complex numbers by Kahan's formulas.

Kahan 1987, "Branch cuts for complex elementary functions": they lose no digits near 0 or a branch point, and never
overflow. Values at infinities are the limits of C99, annex G.
"""

import math

from burlab.graph.node import UFUNCS as REAL, Node
from burlab.graph.numpy_api.elementwise import arctan2, log, log1p, maximum, square, where
from burlab.typing import ArrayLike

from .array import UFUNCS, Complex
from .complex_arithmetic import absolute, angle, reciprocal
from .elementary import circular, over_i, side_of, sqrt, times_i
from .parts import as_complex, pair

_MAX_FINITE = {"float64": 1e100, "float32": 1e12}  # beyond it, arctanh is its limit to the last digit


def _infinite(z: Complex) -> Node:
    return REAL["isinf"](z.real) | REAL["isinf"](z.imag)


def _finite(z: Complex, infinite: Node) -> Complex:
    """Return z, but 1 + i where it is infinite, so that the branch that is not taken has finite derivatives."""
    return Complex(*(where(infinite, 1.0, part) for part in (z.real, z.imag)))


def _chosen(mask: Node, z: Complex, w: Complex) -> Complex:
    return pair(where(mask, z.real, w.real), where(mask, z.imag, w.imag))


def _one_plus_minus(z: Complex) -> tuple[Complex, Complex]:
    """Return sqrt(1 - z) and sqrt(1 + z). A real number minus z keeps the sign of a zero imaginary part."""
    return sqrt(Complex(1.0 - z.real, -z.imag)), sqrt(Complex(1.0 + z.real, z.imag))


def _real_of_product(z: Complex, w: Complex) -> Node:
    """Return the real part of conj(z) w."""
    return z.real * w.real + z.imag * w.imag


def _imag_of_product(z: Complex, w: Complex) -> Node:
    """Return the imaginary part of conj(z) w."""
    return z.real * w.imag - z.imag * w.real


def _arcsinh_at_infinity(z: Complex) -> Complex:
    """Return log |z| with the sign of the real part, + i times an angle between -pi / 2 and pi / 2."""
    side = side_of(z.real)
    imag = side * angle(Complex(abs(z.real), side * z.imag))
    return pair(side * absolute(z), imag)


def arcsin(x: ArrayLike) -> Complex:
    """Return atan2(a, Re(s t)) + i arcsinh(Im(conj(s) t)) with s = sqrt(1 - x) and t = sqrt(1 + x)."""
    z = as_complex(x)
    infinite = _infinite(z)
    near = _finite(z, infinite)
    s, t = _one_plus_minus(near)
    divisor = _real_of_product(Complex(s.real, -s.imag), t)
    value = Complex(arctan2(near.real, divisor), REAL["arcsinh"](_imag_of_product(s, t)))
    return _chosen(infinite, over_i(_arcsinh_at_infinity(times_i(z))), value)


def arccos(x: ArrayLike) -> Complex:
    """Return 2 atan2(Re s, Re t) + i arcsinh(Im(conj(t) s)), s and t as for `arcsin`."""
    z = as_complex(x)
    infinite = _infinite(z)
    near = _finite(z, infinite)
    s, t = _one_plus_minus(near)
    real = 2.0 * arctan2(s.real, t.real)
    far = over_i(_arcsinh_at_infinity(times_i(z)))
    far = Complex(math.pi / 2 - far.real, -far.imag)
    return _chosen(infinite, far, Complex(real, REAL["arcsinh"](_imag_of_product(t, s))))


def arccosh(x: ArrayLike) -> Complex:
    """Return arcsinh(Re(conj(s) t)) + 2 i atan2(Im s, Re t) with s = sqrt(x - 1) and t = sqrt(x + 1)."""
    z = as_complex(x)
    infinite = _infinite(z)
    near = _finite(z, infinite)
    s, t = (sqrt(Complex(near.real + one, near.imag)) for one in (-1.0, 1.0))
    imag = 2.0 * arctan2(s.imag, t.real)
    return _chosen(infinite, pair(absolute(z), angle(z)), Complex(REAL["arcsinh"](_real_of_product(s, t)), imag))


def arctanh(x: ArrayLike) -> Complex:
    """Return log1p(4 |a| / ((1 - |a|)^2 + b^2)) / 4, signed as a, + i atan2(2 b, (1 - |a|) (1 + |a|) - b^2) / 2."""
    z = as_complex(x)
    size = maximum(abs(z.real), abs(z.imag))
    infinite = _infinite(z)
    large = infinite | (size > _MAX_FINITE[size.dtype.name])
    near, side = _finite(z, large), side_of(z.real)
    a, b = side_of(near.real) * near.real, near.imag
    gap = 1.0 - a
    squares = square(gap) + square(b)
    real = 0.25 * side_of(near.real) * log1p(4.0 * a / squares)
    distance = REAL["hypot"](gap, b)
    near_pole = distance < 1.0 / _MAX_FINITE[size.dtype.name]  # there the square of the distance may be 0
    at_pole = -0.5 * log(0.5 * where(near_pole, distance, 1.0))
    real = where(near_pole, side_of(near.real) * at_pole, real)
    divisor = gap * (1.0 + a) - square(b)
    imag = 0.5 * arctan2(2.0 * b, divisor)
    far = where(infinite, 0.0 * side, reciprocal(_finite(z, infinite)).real)
    return _chosen(large, pair(far, math.pi / 2 * side_of(z.imag)), Complex(real, imag))


UFUNCS.update({
    "arcsin": arcsin, "arccos": arccos, "arccosh": arccosh, "arctanh": arctanh,
    "arcsinh": circular(arcsin), "arctan": circular(arctanh),
})  # fmt: skip
