"""Numbers with their errors: a computed node, and what it lacks to be exact.

Both together are a sum of two doubles that is not carried out, as a double-double number is: some 30 digits. The errors
of arithmetic are exact (Dekker 1971; Knuth 1969), those of functions good to 2^-100 of the result
(`cpp/burlab/numbers/shadow.hpp`; Hida, Li and Bailey 2001; Joldes, Muller and Popescu 2017).
"""

from typing import NamedTuple

from burlab.graph.node import Node

from .pairs import number, op


class Doubled(NamedTuple):
    """A number and its error, float64 both: the exact number is their sum."""

    value: Node
    error: Node


def exact(x: Node) -> Doubled:
    """Return a number that has no error."""
    return Doubled(x, number(0.0, x))


def known(value: float, rest: float, like: Node) -> Doubled:
    """Return a constant of 32 digits."""
    return Doubled(number(value, like), number(rest, like))


def whole(x: Doubled) -> Node:
    """Return a number, corrected by its error and rounded."""
    return op("add", *x)


def error_of(x: Doubled, z: Node) -> Node:
    """Return the error of z, which should be x."""
    return op("sum_error", *x, op("neg", z), number(0.0, z), number(0.0, z))


def finite(error: Node) -> Node:
    """Return an error, or 0 where nothing is known of it."""
    return op("where", op("isfinite", error), error, number(0.0, error))


def choose(mask: Node, x: Doubled, y: Doubled) -> Doubled:
    """Return x where a mask holds, else y."""
    return Doubled(op("where", mask, x.value, y.value), op("where", mask, x.error, y.error))


def neg(x: Doubled) -> Doubled:
    """Return the opposite, which is exact."""
    return Doubled(op("neg", x.value), op("neg", x.error))


def magnitude(x: Doubled) -> Doubled:
    """Return x, or its opposite if it is negative: the value decides."""
    return choose(op("less", x.value, number(0.0, x.value)), neg(x), x)


def with_sign_of(x: Doubled, y: Node) -> Doubled:
    """Return x, which is not negative, or its opposite where y is negative."""
    return choose(op("less", y, number(0.0, y)), neg(x), x)


def plus(x: Doubled, y: Doubled) -> Doubled:
    """Return the sum."""
    z = op("add", x.value, y.value)
    return Doubled(z, op("sum_error", *x, *y, z))


def minus(x: Doubled, y: Doubled) -> Doubled:
    """Return the difference."""
    return plus(x, neg(y))


def times(x: Doubled, y: Doubled) -> Doubled:
    """Return the product."""
    z = op("mul", x.value, y.value)
    return Doubled(z, op("product_error", *x, *y, z))


def over(x: Doubled, y: Doubled) -> Doubled:
    """Return the quotient."""
    z = op("div", x.value, y.value)
    return Doubled(z, op("quotient_error", *x, *y, z))


def twice(x: Doubled) -> Doubled:
    """Return 2 x, which is exact."""
    return Doubled(op("add", x.value, x.value), op("add", x.error, x.error))


def half(x: Doubled) -> Doubled:
    """Return x / 2, which is exact."""
    part = number(0.5, x.value)
    return Doubled(op("mul", x.value, part), op("mul", x.error, part))


def of(name: str, x: Doubled) -> Doubled:
    """Return exp, expm1, sin or cos of a number."""
    z = op(name, x.value)
    return Doubled(z, op(f"{name}_error", *x, z))


def sqrt(x: Doubled) -> Doubled:
    """Return the root."""
    z = op("sqrt", x.value)
    return Doubled(z, root_error(z, x))


def root_error(z: Node, x: Doubled) -> Node:
    """Return the error of a root: ((x - z^2) + dx) / (sqrt(x + dx) + z)."""
    zero = number(0.0, z)
    left = op("sub", x.error, op("product_error", z, zero, z, zero, x.value))
    root = op("sqrt", op("maximum", whole(x), zero))
    return finite(op("div", left, op("add", root, z)))


def log1p_error(z: Node, x: Doubled) -> Node:
    """Return the error of z = log(1 + x): log1p((x - (e^z - 1)) / e^z)."""
    power = of("expm1", exact(z))
    ratio = op("div", whole(minus(x, power)), whole(plus(power, known(1.0, 0.0, z))))
    return finite(op("log1p", ratio))


def log_error(z: Node, x: Doubled) -> Node:
    """Return the error of z = log x: as that of log1p(x - 1) near 1, else log1p((x - e^z) / e^z)."""
    one, near = known(1.0, 0.0, z), of("exp", exact(z))
    away = finite(op("log1p", op("div", whole(minus(x, near)), near.value)))
    inside = op("less", op("abs", op("sub", x.value, one.value)), number(0.5, z))
    return op("where", inside, log1p_error(z, minus(x, one)), away)


def log(x: Doubled) -> Doubled:
    """Return the natural logarithm."""
    z = op("log", x.value)
    return Doubled(z, log_error(z, x))


def log1p(x: Doubled) -> Doubled:
    """Return log(1 + x)."""
    z = op("log1p", x.value)
    return Doubled(z, log1p_error(z, x))


def angle_error(y: Doubled, x: Doubled, z: Node) -> Node:
    """Return the error of z, which should be the angle of (x, y): what is left when the point is turned back by z."""
    sine, cosine = of("sin", exact(z)), of("cos", exact(z))
    across = whole(minus(times(y, cosine), times(x, sine)))
    along = whole(plus(times(x, cosine), times(y, sine)))
    return finite(op("arctan", op("div", across, along)))


LN2 = (0.6931471805599453, 2.3190468138462996e-17)
LN10 = (2.302585092994046, -2.1707562233822494e-16)
PI = (3.141592653589793, 1.2246467991473532e-16)
