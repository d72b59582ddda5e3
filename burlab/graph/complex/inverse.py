"""Inverse circular and hyperbolic functions of complex numbers, by Kahan's formulas.

Kahan 1987, Branch cuts for complex elementary functions: no digit is lost near 0 or near a branch point, and nothing
overflows. At infinities the limits of C99, annex G.
"""

import math
from typing import Any

from burlab.graph.linear import broadcast
from burlab.graph.node import UFUNCS as REAL, Node, constant
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.operation import made

from .arithmetic import absolute, angle, reciprocal
from .array import UFUNCS, Complex
from .elementary import circular, sqrt, turned, turned_back
from .parts import as_complex, pair

_LARGE = {"float64": 1e100, "float32": 1e12}  # from here on arctanh is its limit, to the last digit


def _sum(z: Complex, one: float, sign: str) -> Complex:
    """one + z or one - z, the imaginary part with the sign of a zero."""
    return Complex(apply(sign, one, z.real), z.imag if sign == "add" else apply("neg", z.imag))


def _infinite(z: Complex) -> Node:
    return apply("logical_or", REAL["isinf"](z.real), REAL["isinf"](z.imag))


def _finite(z: Complex, infinite: Node) -> Complex:
    """z, and 1 + i where it is infinite: what is not chosen has finite derivatives."""
    return Complex(*(apply("where", infinite, 1.0, part) for part in (z.real, z.imag)))


def _chosen(mask: Node, z: Complex, w: Complex) -> Complex:
    return pair(apply("where", mask, z.real, w.real), apply("where", mask, z.imag, w.imag))


def _side(x: Node) -> Node:
    """1 or -1 by the sign bit, as a constant to derivatives."""
    return REAL["copysign"](broadcast(constant(1, x.dtype), x.shape), made("stop_gradient", None, x))


def _product(z: Complex, w: Complex, part: str) -> Node:
    """A part of conj(z) w."""
    if part == "real":
        return apply("add", apply("mul", z.real, w.real), apply("mul", z.imag, w.imag))
    return apply("sub", apply("mul", z.real, w.imag), apply("mul", z.imag, w.real))


def _far(z: Complex) -> Complex:
    """arcsinh of an infinite number: log |a| + i times an angle between -pi / 2 and pi / 2, with the signs of both."""
    side = _side(z.real)
    turn = apply("mul", side, angle(Complex(apply("abs", z.real), apply("mul", side, z.imag))))
    return pair(apply("mul", side, absolute(z)), turn)


def arcsin(x: Any) -> Complex:
    """atan2(a, Re(s t)) + i arcsinh(Im(conj(s) t)) with s = sqrt(1 - x) and t = sqrt(1 + x)."""
    z = as_complex(x)
    infinite = _infinite(z)
    near = _finite(z, infinite)
    s, t = sqrt(_sum(near, 1.0, "sub")), sqrt(_sum(near, 1.0, "add"))
    below = _product(Complex(s.real, apply("neg", s.imag)), t, "real")
    value = Complex(apply("arctan2", near.real, below), REAL["arcsinh"](_product(s, t, "imag")))
    return _chosen(infinite, turned_back(_far(turned(z))), value)


def arccos(x: Any) -> Complex:
    """2 atan2(Re s, Re t) + i arcsinh(Im(conj(t) s)), s and t as for `arcsin`."""
    z = as_complex(x)
    infinite = _infinite(z)
    near = _finite(z, infinite)
    s, t = sqrt(_sum(near, 1.0, "sub")), sqrt(_sum(near, 1.0, "add"))
    real = apply("mul", 2.0, apply("arctan2", s.real, t.real))
    far = turned_back(_far(turned(z)))
    far = Complex(apply("sub", math.pi / 2, far.real), apply("neg", far.imag))
    return _chosen(infinite, far, Complex(real, REAL["arcsinh"](_product(t, s, "imag"))))


def arccosh(x: Any) -> Complex:
    """arcsinh(Re(conj(s) t)) + 2 i atan2(Im s, Re t) with s = sqrt(x - 1) and t = sqrt(x + 1)."""
    z = as_complex(x)
    infinite = _infinite(z)
    near = _finite(z, infinite)
    s, t = (sqrt(Complex(apply("add", near.real, one), near.imag)) for one in (-1.0, 1.0))
    imag = apply("mul", 2.0, apply("arctan2", s.imag, t.real))
    return _chosen(infinite, pair(absolute(z), angle(z)), Complex(REAL["arcsinh"](_product(s, t, "real")), imag))


def arctanh(x: Any) -> Complex:
    """log1p(4 |a| / ((1 - |a|)^2 + b^2)) / 4 with the sign of a, + i atan2(2 b, (1 - |a|) (1 + |a|) - b^2) / 2."""
    z = as_complex(x)
    size = apply("maximum", apply("abs", z.real), apply("abs", z.imag))
    infinite = _infinite(z)
    large = apply("logical_or", infinite, apply("greater", size, _LARGE[size.dtype.name]))
    near, side = _finite(z, large), _side(z.real)
    a, b = apply("mul", _side(near.real), near.real), near.imag
    less = apply("sub", 1.0, a)
    squares = apply("add", apply("square", less), apply("square", b))
    real = apply(
        "mul", apply("mul", 0.25, _side(near.real)), apply("log1p", apply("div", apply("mul", 4.0, a), squares))
    )
    distance = REAL["hypot"](less, b)
    pole = apply("less", distance, 1.0 / _LARGE[size.dtype.name])  # there the square of the distance may be 0
    near_pole = apply("mul", -0.5, apply("log", apply("mul", 0.5, apply("where", pole, distance, 1.0))))
    real = apply("where", pole, apply("mul", _side(near.real), near_pole), real)
    other = apply("sub", apply("mul", less, apply("add", 1.0, a)), apply("square", b))
    imag = apply("mul", 0.5, apply("arctan2", apply("mul", 2.0, b), other))
    far = apply("where", infinite, apply("mul", 0.0, side), reciprocal(_finite(z, infinite)).real)
    return _chosen(large, pair(far, apply("mul", math.pi / 2, _side(z.imag))), Complex(real, imag))


UFUNCS.update({
    "arcsin": arcsin, "arccos": arccos, "arccosh": arccosh, "arctanh": arctanh,
    "arcsinh": circular(arcsin), "arctan": circular(arctanh),
})  # fmt: skip
