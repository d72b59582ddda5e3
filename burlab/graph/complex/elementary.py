"""Exponential, logarithm, root, circular and hyperbolic functions of complex numbers, on NumPy's principal branches."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.graph.linear import broadcast
from burlab.graph.node import UFUNCS as REAL, Node, constant
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.operation import made

from .arithmetic import absolute, add, angle, divide, multiply, negative, square, subtract
from .array import FUNCTIONS, UFUNCS, Complex
from .parts import as_complex, pair


def exp(x: Any) -> Complex:
    """e^a (cos b + i sin b)."""
    z = as_complex(x)
    size = apply("exp", z.real)
    return pair(apply("mul", size, apply("cos", z.imag)), apply("mul", size, apply("sin", z.imag)))


def expm1(x: Any) -> Complex:
    """e^x - 1, whose real part is (e^a - 1) cos b - 2 sin^2 (b / 2): nothing is lost near 0."""
    z = as_complex(x)
    less = apply("mul", 2.0, apply("square", apply("sin", apply("mul", z.imag, 0.5))))
    real = apply("sub", apply("mul", apply("expm1", z.real), apply("cos", z.imag)), less)
    return pair(real, apply("mul", apply("exp", z.real), apply("sin", z.imag)))


def log(x: Any) -> Complex:
    """log |x| + i angle(x)."""
    z = as_complex(x)
    return pair(apply("log", absolute(z)), angle(z))


def log1p(x: Any) -> Complex:
    """The logarithm of 1 + x, whose real part is that of 1 + 2 a + |x|^2, halved: nothing is lost near 0."""
    z = as_complex(x)
    more = apply("add", apply("mul", z.real, apply("add", z.real, 2.0)), apply("square", z.imag))
    near = apply("less", apply("abs", more), 0.5)
    small = apply("mul", 0.5, apply("log1p", apply("where", near, more, 0.0)))
    far = log(Complex(apply("add", z.real, 1.0), z.imag))
    return pair(apply("where", near, small, far.real), far.imag)


def _side(x: Node) -> Node:
    """1 or -1 by the sign bit, as a constant to derivatives."""
    return REAL["copysign"](broadcast(constant(1, x.dtype), x.shape), made("stop_gradient", None, x))


def sqrt(x: Any) -> Complex:
    """np.sqrt: the root of (|x| + |a|) / 2 is its larger part, which gives the other one."""
    z = as_complex(x)
    size = apply("mul", 0.5, apply("add", absolute(z), apply("abs", z.real)))
    nothing = apply("equal", size, 0.0)
    larger = apply("sqrt", size)
    smaller = apply("div", apply("mul", 0.5, z.imag), apply("where", nothing, 1.0, larger))
    side = _side(z.imag)
    right = apply("logical_not", REAL["signbit"](z.real))
    real = apply("where", right, larger, apply("mul", side, smaller))
    return pair(real, apply("where", right, smaller, apply("mul", side, larger)))


def cosh(x: Any) -> Complex:
    """The hyperbolic cosine: even and odd part of e^a, times cos b and i sin b."""
    z = as_complex(x)
    real = apply("mul", apply("cosh", z.real), apply("cos", z.imag))
    return pair(real, apply("mul", apply("sinh", z.real), apply("sin", z.imag)))


def sinh(x: Any) -> Complex:
    """The hyperbolic sine: odd and even part of e^a, times cos b and i sin b."""
    z = as_complex(x)
    real = apply("mul", apply("sinh", z.real), apply("cos", z.imag))
    return pair(real, apply("mul", apply("cosh", z.real), apply("sin", z.imag)))


def tanh(x: Any) -> Complex:
    """(t (1 + s^2) + i s (1 - t^2)) / (1 + t^2 s^2), t and s being those of a and b: it never overflows."""
    z = as_complex(x)
    t, s = apply("tanh", z.real), apply("tan", z.imag)
    t2, s2 = apply("square", t), apply("square", s)
    below = apply("add", 1.0, apply("mul", t2, s2))
    real = apply("div", apply("mul", t, apply("add", 1.0, s2)), below)
    return pair(real, apply("div", apply("mul", s, apply("sub", 1.0, t2)), below))


def arctanh(x: Any) -> Complex:
    """(log1p(x) - log1p(-x)) / 2."""
    return multiply(0.5, subtract(log1p(x), log1p(negative(x))))


def arcsinh(x: Any) -> Complex:
    """log(x + sqrt(x^2 + 1)) of the x with a real part of 0 or more, by log1p: nothing is lost near 0."""
    z = as_complex(x)
    side = _side(z.real)
    turned = multiply(side, z)
    more = square(turned)
    return multiply(side, log1p(add(turned, divide(more, add(1.0, sqrt(add(more, 1.0)))))))


def arccosh(x: Any) -> Complex:
    """2 log(sqrt((x + 1) / 2) + sqrt((x - 1) / 2)), Kahan 1987, Branch cuts for complex elementary functions."""
    z = as_complex(x)
    plus, minus = (sqrt(multiply(0.5, add(z, one))) for one in (1.0, -1.0))
    return multiply(2.0, log(add(plus, minus)))


def arccos(x: Any) -> Complex:
    """pi / 2 - arcsin(x)."""
    return subtract(math.pi / 2, arcsin(x))


def _turned(z: Complex) -> Complex:
    """i z."""
    return Complex(apply("neg", z.imag), z.real)


def _turned_back(z: Complex) -> Complex:
    """z / i."""
    return Complex(z.imag, apply("neg", z.real))


def _circular(f: Callable[[Any], Complex]) -> Callable[[Any], Complex]:
    """f(i x) / i: sin of sinh, tan of tanh, and their inverses."""
    return lambda x: _turned_back(f(_turned(as_complex(x))))


arcsin = _circular(arcsinh)


def _in_base(base: float) -> Callable[[Any], Complex]:
    return lambda x: multiply(1.0 / math.log(base), log(x))


def _cos(x: Any) -> Complex:
    return cosh(_turned(as_complex(x)))


def _exp2(x: Any) -> Complex:
    return exp(multiply(math.log(2.0), x))


def sinc(x: Any) -> Complex:
    """sin(pi x) / (pi x), and 1 at 0."""
    z = multiply(math.pi, as_complex(x))
    nothing: Node = UFUNCS["equal"](z, 0.0)
    value = divide(UFUNCS["sin"](z), Complex(apply("where", nothing, 1.0, z.real), z.imag))
    return pair(apply("where", nothing, 1.0, value.real), value.imag)


UFUNCS.update({
    "exp": exp, "expm1": expm1, "log": log, "log1p": log1p, "sqrt": sqrt, "cosh": cosh, "sinh": sinh, "tanh": tanh,
    "arctanh": arctanh, "arcsinh": arcsinh, "arccosh": arccosh, "arccos": arccos, "arcsin": arcsin,
    "sin": _circular(sinh), "tan": _circular(tanh), "arctan": _circular(arctanh),
    "cos": _cos, "log2": _in_base(2.0), "log10": _in_base(10.0),
    "exp2": _exp2,
})  # fmt: skip
FUNCTIONS[np.sinc] = sinc
