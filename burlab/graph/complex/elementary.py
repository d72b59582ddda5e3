"""Exponential, logarithm, root, circular and hyperbolic functions of complex numbers, on NumPy's principal branches."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.graph.linear import broadcast
from burlab.graph.node import UFUNCS as REAL, Node, constant
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.operation import made

from .arithmetic import absolute, angle, divide, multiply
from .array import FUNCTIONS, UFUNCS, Complex
from .parts import as_complex, pair


def exp(x: Any) -> Complex:
    """e^a (cos b + i sin b)."""
    z = as_complex(x)
    size = apply("exp", z.real)
    none, endless = apply("equal", z.real, -np.inf), apply("equal", z.real, np.inf)
    real = _times(size, apply("cos", z.imag), none, endless)
    return pair(real, _times(size, apply("sin", z.imag), none))


def _times(size: Node, turn: Node, none: Node | None = None, endless: Node | None = None) -> Node:
    """size times the sine or cosine of an angle, where one is not finite as annex G of C99 has it.

    none, endless: where the size is 0 or infinite whatever the angle.
    """
    lost, product = REAL["isnan"](turn), apply("mul", size, turn)
    unknown = apply("logical_not", REAL["isfinite"](size))
    product = apply("where", apply("logical_and", unknown, apply("equal", turn, 0.0)), turn, product)
    for known in (none, endless):
        if known is not None:
            product = apply("where", apply("logical_and", known, lost), size, product)
    return product


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
    """np.sqrt: the root of (|x| + |a|) / 2 is its larger part, which gives the other one. Large numbers are scaled."""
    z = as_complex(x)
    large = apply("greater", apply("maximum", apply("abs", z.real), apply("abs", z.imag)), _LARGE[z.real.dtype.name])
    down, up = (apply("where", large, constant(scale, z.real.dtype), 1.0) for scale in (0.25, 2.0))
    a, b = (apply("mul", part, down) for part in (z.real, z.imag))
    part = apply("where", REAL["signbit"](a), apply("neg", a), a)  # |a|, with a derivative at 0: that of its side
    size = apply("mul", 0.5, apply("add", absolute(Complex(a, b)), part))
    nothing = apply("equal", size, 0.0)
    larger = apply("sqrt", size)
    smaller = apply("div", apply("mul", 0.5, b), apply("where", nothing, 1.0, larger))
    infinite = REAL["isinf"](larger)
    smaller = apply("where", apply("logical_and", infinite, REAL["isfinite"](b)), apply("mul", 0.0, _side(b)), smaller)
    smaller = apply("where", REAL["isinf"](b), b, smaller)
    larger = apply("where", REAL["isinf"](b), np.inf, larger)
    larger, smaller = apply("mul", larger, up), apply("mul", smaller, up)
    side = _side(b)
    right = apply("logical_or", apply("logical_not", REAL["signbit"](a)), REAL["isinf"](b))
    real = apply("where", right, larger, apply("mul", side, smaller))
    return pair(real, apply("where", right, smaller, apply("mul", side, larger)))


_LARGE = {"float64": 1e307, "float32": 1e37}  # beyond, a sum of sizes may overflow


def cosh(x: Any) -> Complex:
    """The hyperbolic cosine: even and odd part of e^a, times cos b and i sin b."""
    z = as_complex(x)
    real = _times(apply("cosh", z.real), apply("cos", z.imag), endless=REAL["isinf"](z.real))
    return pair(real, _times(apply("sinh", z.real), apply("sin", z.imag), apply("equal", z.real, 0.0)))


def sinh(x: Any) -> Complex:
    """The hyperbolic sine: odd and even part of e^a, times cos b and i sin b."""
    z = as_complex(x)
    none, endless = apply("equal", z.real, 0.0), REAL["isinf"](z.real)
    real = _times(apply("sinh", z.real), apply("cos", z.imag), none, endless)
    return pair(real, _times(apply("cosh", z.real), apply("sin", z.imag)))


def tanh(x: Any) -> Complex:
    """(t (1 + s^2) + i s (1 - t^2)) / (1 + t^2 s^2), t and s being those of a and b: it never overflows."""
    z = as_complex(x)
    t, s = apply("tanh", z.real), apply("tan", z.imag)
    s = apply("where", apply("logical_and", REAL["isinf"](z.real), REAL["isnan"](s)), 0.0, s)
    t2, s2 = apply("square", t), apply("square", s)
    below = apply("add", 1.0, apply("mul", t2, s2))
    real = apply("div", apply("mul", t, apply("add", 1.0, s2)), below)
    imag = apply("div", apply("mul", s, apply("sub", 1.0, t2)), below)
    real = apply("where", apply("logical_and", apply("equal", t, 0.0), REAL["isnan"](s)), t, real)
    return pair(real, apply("where", apply("logical_and", apply("equal", s, 0.0), REAL["isnan"](t)), s, imag))


def turned(z: Complex) -> Complex:
    """i z."""
    return Complex(apply("neg", z.imag), z.real)


def turned_back(z: Complex) -> Complex:
    """z / i."""
    return Complex(z.imag, apply("neg", z.real))


def circular(f: Callable[[Any], Complex]) -> Callable[[Any], Complex]:
    """f(i x) / i: sin of sinh, tan of tanh, and their inverses."""
    return lambda x: turned_back(f(turned(as_complex(x))))


def _in_base(base: float) -> Callable[[Any], Complex]:
    return lambda x: multiply(1.0 / math.log(base), log(x))


def _cos(x: Any) -> Complex:
    return cosh(turned(as_complex(x)))


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
    "sin": circular(sinh), "tan": circular(tanh),
    "cos": _cos, "log2": _in_base(2.0), "log10": _in_base(10.0),
    "exp2": _exp2,
})  # fmt: skip
FUNCTIONS[np.sinc] = sinc
