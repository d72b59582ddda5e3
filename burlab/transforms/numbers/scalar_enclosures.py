"""Enclosures of scalar operations: for each a rule from intervals to an interval.

Roots are rounded correctly, so one step outwards is enough. Functions are stepped by their worst error
(docs/internals/numbers.md), in units in the last place, rounded up.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from burlab.graph.node import Node

from .arithmetic_enclosures import absolute, add, div, mul, neg, power, square, sub
from .pairs import Pair, Value, choose, down, hull, largest, least, magnitudes, number, op, outwards, pair, up, within


class Monotone(NamedTuple):
    """A function that rises, or falls, between its domain's ends. steps: its error."""

    steps: int
    rises: bool = True
    start: float = -math.inf
    end: float = math.inf


MONOTONE: dict[str, Monotone] = {
    "sqrt": Monotone(1, start=0.0), "cbrt": Monotone(1), "cube": Monotone(2),
    "exp": Monotone(2), "exp2": Monotone(2), "expm1": Monotone(3), "exprel": Monotone(4),
    "log": Monotone(1, start=0.0), "log2": Monotone(2, start=0.0), "log10": Monotone(2, start=0.0),
    "log1p": Monotone(1, start=-1.0),
    "sinh": Monotone(2), "tanh": Monotone(2), "arctan": Monotone(2), "arcsinh": Monotone(3),
    "arctanh": Monotone(2, start=-1.0, end=1.0), "arccosh": Monotone(4, start=1.0),
    "arcsin": Monotone(3, start=-1.0, end=1.0), "arccos": Monotone(3, rises=False, start=-1.0, end=1.0),
    "erf": Monotone(2), "erfc": Monotone(4, rises=False), "sigmoid": Monotone(3), "softplus": Monotone(2),
    "erfinv": Monotone(3, start=-1.0, end=1.0), "erfcinv": Monotone(3, rises=False, start=0.0, end=2.0),
    "ndtri": Monotone(5, start=0.0, end=1.0), "log_ndtr": Monotone(5), "mills": Monotone(5, rises=False),
    "digamma": Monotone(3, start=0.0),
    "floor": Monotone(0), "ceil": Monotone(0), "rint": Monotone(0), "trunc": Monotone(0), "sign": Monotone(0),
    "relu": Monotone(0), "lower_bound": Monotone(0), "upper_bound": Monotone(0),
}  # fmt: skip
"""Functions by their intervals of monotonicity."""


class Valley(NamedTuple):
    """A function that falls up to a place and rises from there. least: a number just below its smallest value."""

    steps: int
    place: float
    least: float
    start: float = -math.inf


VALLEYS: dict[str, Valley] = {
    "cosh": Valley(2, 0.0, 1.0),
    "silu": Valley(4, -1.2784645427610738, -0.2784645427610738),
    "gelu": Valley(0, -0.7517915246935645, -0.16997120747990366),
    "gamma": Valley(5, 1.4616321449683622, 0.8856031944108887, start=0.0),
    "gammaln": Valley(3, 1.4616321449683622, -0.12148629053584961, start=0.0),
}
"""Functions with one minimum. A place is that of the minimum as a float, off by less than the minimum shows."""


def monotone(name: str, x: Value) -> Pair:
    """The function at both ends."""
    row, x = MONOTONE[name], pair(x)
    ends = (op(name, x.low), op(name, x.high)) if row.rises else (op(name, x.high), op(name, x.low))
    return _on_domain(outwards(*ends, row.steps), x, row.start, row.end)


def valley(name: str, x: Value) -> Pair:
    """The function at both ends, and its minimum where it is inside."""
    row, x = VALLEYS[name], pair(x)
    a, b = (_gelu(end) if name == "gelu" else pair(op(name, end)) for end in x)
    found = outwards(*hull(a, b), row.steps)
    place = number(row.place, x.low)
    inside = op("logical_and", op("less_equal", x.low, place), op("greater_equal", x.high, place))
    low = op("where", inside, down(number(row.least, x.low)), found.low)
    return _on_domain(Pair(low, found.high), x, row.start, math.inf)


def _gelu(x: Node) -> Pair:
    """x Phi(x) at a number: that x / sqrt(2) is rounded costs x^2 / 2 units, so it is an interval here."""
    root = number(-math.sqrt(0.5), x)
    return mul(mul(x, number(0.5, x)), monotone("erfc", mul(x, Pair(down(root), up(root)))))


def _on_domain(found: Pair, x: Pair, start: float, end: float) -> Pair:
    """nan where the domain is left. An end at which a function is infinite belongs to it, as in NumPy."""
    inside: list[Node] = []
    if start > -math.inf:
        inside.append(op("greater_equal", x.low, number(start, x.low)))
    if end < math.inf:
        inside.append(op("less_equal", x.high, number(end, x.low)))
    for mask in inside:
        found = within(mask, found)
    return found


# Choices, comparisons and logic.


def compared(name: str, x: Value, y: Value) -> Pair:
    """A comparison: whether it surely holds, and whether it may."""
    (a, b), (c, d) = pair(x), pair(y)
    if name in ("greater", "greater_equal"):
        (a, b), (c, d) = (c, d), (a, b)
        name = {"greater": "less", "greater_equal": "less_equal"}[name]
    if name in ("less", "less_equal"):
        return Pair(op(name, b, c), op(name, a, d))
    same = op("logical_and", op("equal", a, d), op("equal", b, c))
    meet = op("logical_and", op("less_equal", a, d), op("less_equal", c, b))
    return Pair(same, meet) if name == "equal" else Pair(op("logical_not", meet), op("logical_not", same))


def at_ends(name: str) -> Callable[..., Pair]:
    """An operation that rises in every argument, and is exact."""

    def rule(*xs: Value) -> Pair:
        return Pair(op(name, *(pair(x).low for x in xs)), op(name, *(pair(x).high for x in xs)))

    return rule


def logical_not(x: Value) -> Pair:
    """Surely, where it may not."""
    a, b = pair(x)
    return Pair(op("logical_not", b), op("logical_not", a))


def isfinite(x: Value) -> Pair:
    """Surely where both ends are."""
    a, b = pair(x)
    return Pair(op("logical_and", op("isfinite", a), op("isfinite", b)), op("less_equal", a, b))


def isnan(x: Value) -> Pair:
    """Only where a domain was left."""
    return Pair(op("isnan", pair(x).low), op("isnan", pair(x).high))


# Functions with several intervals of monotonicity.


def _between(x: Pair, shift: float) -> Pair:
    """The whole numbers k from low to high with (k + shift) pi in x, a few more where rounding leaves it open."""
    inverse, half = number(1 / math.pi, x.low), number(-shift, x.low)

    def scaled(end: Node, sign: float) -> Node:
        turns = op("mul", end, inverse)
        margin = op("mul", op("add", op("abs", turns), number(1.0, turns)), number(sign * 1e-15, turns))
        if turns.dtype == np.float32:
            margin = op("mul", margin, number(1e9, turns))
        return op("add", op("add", turns, half), margin)

    return Pair(op("ceil", scaled(x.low, -1.0)), op("floor", scaled(x.high, 1.0)))


def wave(name: str, x: Value) -> Pair:
    """Sine and cosine: at the ends, and 1 or -1 where there is an even or an odd number of half turns between them."""
    x = pair(x)
    first, last = _between(x, 0.5 if name == "sin" else 0.0)
    a, b = op(name, x.low), op(name, x.high)
    found = outwards(op("minimum", a, b), op("maximum", a, b))
    one, half = number(1.0, a), number(0.5, a)
    any_, several = op("greater_equal", last, first), op("greater", last, first)
    odd = op("not_equal", op("mul", first, half), op("floor", op("mul", first, half)))
    top = op("logical_or", several, op("logical_and", any_, op("logical_not", odd)))
    bottom = op("logical_or", several, op("logical_and", any_, odd))
    low = op("maximum", op("where", bottom, op("neg", one), found.low), op("neg", one))
    high = op("minimum", op("where", top, one, found.high), one)
    return _known_for(x, Pair(low, high), 1.0)


def _known_for(x: Pair, found: Pair, bound: float) -> Pair:
    """[-bound, bound] where an end is infinite, and nan where x is."""
    infinite = op("less", op("maximum", op("abs", x.low), op("abs", x.high)), number(np.inf, x.low))
    most = number(bound, x.low)
    wide = within(op("less_equal", x.low, x.high), Pair(op("neg", most), most))
    return Pair(op("where", infinite, found.low, wide.low), op("where", infinite, found.high, wide.high))


def tan(x: Value) -> Pair:
    """All numbers where a pole is inside."""
    x = pair(x)
    first, last = _between(x, 0.5)
    low, high = outwards(op("tan", x.low), op("tan", x.high))
    infinite = number(np.inf, low)
    pole = op("greater_equal", last, first)
    found = Pair(op("where", pole, op("neg", infinite), low), op("where", pole, infinite, high))
    return _known_for(x, found, math.inf)


def arctan2(y: Value, x: Value) -> Pair:
    """At the corners, as an angle of a box is; all angles where the box meets the negative x-axis or 0."""
    (c, d), (a, b) = pair(y), pair(x)
    corners = [op("arctan2", v, u) for v in (c, d) for u in (a, b)]
    low, high = outwards(least(corners), largest(corners), 2)
    zero, turn = number(0.0, a), number(3.1415926535897936, a)
    crosses = op("logical_and", op("less_equal", c, zero), op("greater_equal", d, zero))
    crosses = op("logical_and", crosses, op("less_equal", a, zero))
    return Pair(op("where", crosses, op("neg", up(turn)), low), op("where", crosses, up(turn), high))


def copysign(x: Value, y: Value) -> Pair:
    """|x|, its opposite, or both where the sign is open, as that of 0 is."""
    size, (c, d) = magnitudes(x), pair(y)
    zero = number(0.0, c)
    minus = Pair(op("less", d, zero), op("less_equal", c, zero))
    return pair(choose(minus, neg(size), size))


def floor_divide(x: Value, y: Value) -> Pair:
    """The whole numbers below the quotient."""
    low, high = div(x, y)
    return Pair(op("floor", low), op("floor", high))


def remainder(x: Value, y: Value) -> Pair:
    """x - y q where the quotient q is known, else all that a remainder can be."""
    quotient = floor_divide(x, y)
    exact = sub(x, mul(y, quotient.low))
    y = pair(y)
    zero = number(0.0, y.low)
    range_ = Pair(op("minimum", y.low, zero), op("maximum", y.high, zero))
    cut = Pair(op("maximum", exact.low, range_.low), op("minimum", exact.high, range_.high))
    known = op("equal", quotient.low, quotient.high)
    return Pair(op("where", known, cut.low, range_.low), op("where", known, cut.high, range_.high))


def fmod(x: Value, y: Value) -> Pair:
    """No larger than x and y, with the sign of x."""
    x = pair(x)
    most = op("minimum", magnitudes(y).high, magnitudes(x).high)
    zero = number(0.0, most)
    low = op("where", op("less", x.low, zero), op("neg", most), zero)
    return Pair(low, op("where", op("greater", x.high, zero), most, zero))


def sinc(x: Value) -> Pair:
    """It falls from 0 to 1; beyond it is between its smallest value and 1 / (pi |x|)."""
    near, far = magnitudes(x)
    low, high = outwards(op("sinc", far), op("sinc", near), 4)
    one, bound = number(1.0, low), down(number(-0.21723362821122166, low))
    falls, rest = op("less_equal", far, one), op("div", number(0.3183098861837908, low), op("maximum", near, one))
    beyond = op("where", op("less_equal", near, one), high, up(rest, 2))
    return Pair(op("where", falls, low, bound), op("where", falls, op("minimum", high, one), beyond))


def xlogy(x: Value, y: Value) -> Pair:
    """x log y."""
    return mul(x, monotone("log", y))


def xlog1py(x: Value, y: Value) -> Pair:
    """x log(1 + y)."""
    return mul(x, monotone("log1p", y))


def power_exp(x: Value, y: Value, z: Value) -> Pair:
    """x^y e^z, by e^(y log x + z)."""
    return monotone("exp", add(mul(y, monotone("log", x)), z))


def ldexp(x: Value, exponent: Value) -> Pair:
    """x 2^n for a known n."""
    if isinstance(exponent, Pair):
        raise KeyError("ldexp")
    a, b = pair(x)
    return outwards(op("ldexp", a, exponent), op("ldexp", b, exponent))


def round_to(x: Value, *format_: Value) -> Pair:
    """Rounding to a known format, which rises."""
    if any(isinstance(part, Pair) for part in format_):
        raise KeyError("round_to")
    known = [part for part in format_ if isinstance(part, Node)]
    return Pair(*(op("round_to", end, *known) for end in pair(x)))


_COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
SCALAR: dict[str, Callable[..., Value]] = {
    "add": add, "sub": sub, "neg": neg, "mul": mul, "square": square, "div": div, "power": power, "where": choose,
    "abs": absolute, "sin": partial(wave, "sin"), "cos": partial(wave, "cos"), "tan": tan,
    "arctan2": arctan2, "copysign": copysign, "floor_divide": floor_divide, "remainder": remainder, "fmod": fmod,
    "sinc": sinc, "xlogy": xlogy, "xlog1py": xlog1py, "power_exp": power_exp, "ldexp": ldexp, "round_to": round_to,
    "logical_not": logical_not, "isfinite": isfinite, "isnan": isnan,
    **{name: at_ends(name) for name in ("maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or")},
    **{name: partial(monotone, name) for name in MONOTONE},
    **{name: partial(valley, name) for name in VALLEYS},
    **{name: partial(compared, name) for name in _COMPARISONS},
}  # fmt: skip
"""The rules of scalar operations: an operation without one has no enclosure."""
