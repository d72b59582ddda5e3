"""Enclosures of special functions: those that rise or fall in each argument, and Bessel functions, by their slopes.

The error of each was measured against 40 to 120 digits, and is rounded up here, in units of 2^-53 of the value.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from burlab.graph.node import Node
from burlab.transforms.numbers.arithmetic_enclosures import add, power, square
from burlab.transforms.numbers.pairs import Pair, Value, down, magnitudes, number, op, pair, rounding_unit, up, within

INFINITY = math.inf
ABOVE, UNIT, REAL = (0.0, INFINITY), (0.0, 1.0), (-INFINITY, INFINITY)


class Directed(NamedTuple):
    """A function that rises (+) or falls (-) in each argument; in those of ? it must be known.

    units: its error. domains: of each argument. least, most: its smallest and largest value.
    """

    directions: str
    units: float
    domains: tuple[tuple[float, float], ...]
    least: float = 0.0
    most: float = INFINITY


DIRECTED: dict[str, Directed] = {
    "gammainc": Directed("-+", 160, (ABOVE, ABOVE), most=1.0),
    "gammaincc": Directed("+-", 160, (ABOVE, ABOVE), most=1.0),
    "betainc": Directed("-++", 4, (ABOVE, ABOVE, UNIT), most=1.0),
    "betaincc": Directed("+--", 4, (ABOVE, ABOVE, UNIT), most=1.0),
    "gammaincinv": Directed("++", 4, (ABOVE, UNIT)),
    "gammainccinv": Directed("+-", 4, (ABOVE, UNIT)),
    "betaincinv": Directed("+-+", 4, (ABOVE, ABOVE, UNIT), most=1.0),
    "betainccinv": Directed("+--", 4, (ABOVE, ABOVE, UNIT), most=1.0),
    "beta": Directed("--", 16, (ABOVE, ABOVE)),
    "betaln": Directed("--", 8, (ABOVE, ABOVE), least=-INFINITY),
    "mills_excess": Directed("+", 128, (REAL,)),
    "kv": Directed("?-", 32, (REAL, ABOVE)),
    "kve": Directed("?-", 32, (REAL, ABOVE)),
}  # fmt: skip
"""Functions by their directions."""


def with_error(x: Pair, units: float) -> Pair:
    """Ends moved outwards by units of rounding of themselves, and by the least normal number; inf is too large."""
    most = float(np.finfo(x.low.dtype).max)
    low, high = op("minimum", x.low, number(most, x.low)), op("maximum", x.high, number(-most, x.low))
    by, floor = number(units * rounding_unit(x.low.dtype), x.low), number(float(np.finfo(x.low.dtype).tiny), x.low)
    below, above = (op("add", op("mul", op("abs", end), by), floor) for end in (low, high))
    return Pair(down(op("sub", low, below)), up(op("add", high, above)))


def cut(x: Pair, least_: float, most: float) -> Pair:
    """An interval cut off at two numbers; nan stays."""
    low, high = number(least_, x.low), number(most, x.low)
    return Pair(*(op("minimum", op("maximum", end, low), high) for end in x))


def inside(x: Pair, domain: tuple[float, float]) -> list[Node]:
    """Masks: whether an interval is in a domain."""
    start, end = domain
    below = [op("greater_equal", x.low, number(start, x.low))] if start > -INFINITY else []
    return below + ([op("less_equal", x.high, number(end, x.low))] if end < INFINITY else [])


def directed(name: str, *xs: Value) -> Pair:
    """The function at the two corners where it is smallest and largest."""
    row = DIRECTED[name]
    known = [x for x, sign in zip(xs, row.directions, strict=True) if sign == "?"]
    if any(isinstance(x, Pair) for x in known):
        raise KeyError(f"{name} by its order")
    pairs = [pair(x) for x in xs]
    corners = [x if sign == "+" else Pair(x.high, x.low) for x, sign in zip(pairs, row.directions, strict=True)]
    found = with_error(Pair(*(op(name, *(x[end] for x in corners)) for end in range(2))), row.units)
    found = cut(found, row.least, row.most)
    for x, domain in zip(pairs, row.domains, strict=True):
        for mask in inside(x, domain):
            found = within(mask, found)
    return found


def at_both_ends(name: str, units: float, *xs: Value) -> Pair:
    """A function that rises or falls in its last argument, above 0, for known others."""
    *known, x = xs
    if any(isinstance(k, Pair) for k in known):
        raise KeyError(f"{name} by its first argument")
    fixed, x = [pair(k).low for k in known], pair(x)
    ends = [op(name, *fixed, end) for end in x]
    found = with_error(Pair(op("minimum", *ends), op("maximum", *ends)), units)
    return within(op("greater_equal", x.low, number(0.0, x.low)), found)


def zeta(s: Value, q: Value) -> Pair:
    """It falls in q. In s each term falls but the first, q^-s, which rises where q is below 1."""
    later = add(q, number(1.0, pair(q).low)) if isinstance(s, Pair) else pair(q)
    s_, one = pair(s), number(1.0, pair(s).low)
    found = with_error(Pair(op("zeta", s_.high, later.high), op("zeta", s_.low, later.low)), 16)
    if isinstance(s, Pair):
        found = add(found, power(q, Pair(op("neg", s.high), op("neg", s.low))))
    allowed = op("logical_and", op("greater_equal", s_.low, one), op("greater_equal", pair(q).low, number(0.0, one)))
    return within(allowed, cut(found, 0.0, INFINITY))


def riemann_zeta(n: Value, s: Value) -> Pair:
    """zeta(s), which falls for s above 1. Below, and of derivatives, it is not bounded here."""
    if isinstance(n, Pair) or (known := n.known) is None or np.any(known):
        raise KeyError("a derivative of zeta")
    a, b = pair(s)
    found = with_error(Pair(op("riemann_zeta", n, b), op("riemann_zeta", n, a)), 16)
    falls, infinite = op("greater_equal", a, number(1.0, a)), number(INFINITY, a)
    clean = op("less_equal", a, b)
    wide = within(clean, Pair(op("neg", infinite), infinite))
    return Pair(op("where", falls, found.low, wide.low), op("where", falls, found.high, wide.high))


def stdtr(df: Value, t: Value) -> Pair:
    """It rises with t; with df it falls for t below 0, and rises above."""
    return _by_sign("stdtr", pair(df), pair(t), 0.0, REAL, 64, rises=True)


def stdtrit(df: Value, p: Value) -> Pair:
    """It rises with p; with df it rises for p below 1/2, and falls above."""
    return _by_sign("stdtrit", pair(df), pair(p), 0.5, UNIT, 8, rises=False)


def _by_sign(name: str, df: Pair, x: Pair, turn: float, domain: tuple[float, float], units: float, rises: bool) -> Pair:
    def at(end: int) -> Node:
        above = op("greater_equal", x[end], number(turn, x.low))
        small, large = df if (end == 0) == rises else (df.high, df.low)
        return op(name, op("where", above, small, large), x[end])

    found = with_error(Pair(at(0), at(1)), units)
    if name == "stdtr":
        found = cut(found, 0.0, 1.0)
    for mask in (*inside(df, ABOVE), *inside(x, domain)):
        found = within(mask, found)
    return found


def rel_entr(x: Value, y: Value) -> Pair:
    """x log(x / y): it falls in y. In x it has its minimum, -y / e, at y / e."""
    (a, b), (c, d) = pair(x), pair(y)
    zero, inverse = number(0.0, a), number(math.exp(-1), a)
    place = op("mul", d, inverse)
    ends = [op("rel_entr", end, d) for end in (a, b)], [op("rel_entr", end, c) for end in (a, b)]
    met = op("logical_and", op("less_equal", a, up(place, 2)), op("greater_equal", b, down(place, 2)))
    lowest = op("where", met, op("neg", up(place, 2)), op("minimum", *ends[0]))
    found = with_error(Pair(lowest, op("maximum", *ends[1])), 8)
    by = up(op("mul", b, number(8 * rounding_unit(a.dtype), a)))
    found = Pair(down(op("sub", found.low, by)), up(op("add", found.high, by)))
    allowed = op("logical_and", op("greater_equal", a, zero), op("greater_equal", c, zero))
    return within(allowed, found)


def erfcx(x: Value) -> Pair:
    """It falls; below 0 its error is that of e^(x^2), which grows with x^2."""
    x = pair(x)
    ends: list[tuple[Node, Node]] = []
    for value, at in ((op("erfcx", x.high), x.high), (op("erfcx", x.low), x.low)):
        units = op("mul", op("square", op("minimum", at, number(0.0, at))), number(4 * rounding_unit(at.dtype), at))
        by = up(op("mul", op("minimum", value, number(float(np.finfo(at.dtype).max), at)), units))
        ends.append((value, by))
    (low, below), (high, above) = ends
    found = with_error(Pair(low, high), 16)
    return cut(Pair(down(op("sub", found.low, below)), up(op("add", found.high, above))), 0.0, INFINITY)


# Bessel functions of known orders.


def _order(name: str, n: Value) -> Node:
    if isinstance(n, Pair):
        raise KeyError(f"{name} by its order")
    return n


def iv(n: Value, x: Value) -> Pair:
    """It rises or falls on each side of 0."""
    n, x = _order("iv", n), pair(x)
    ends = [op("iv", n, end) for end in x]
    around = op("logical_and", op("less", x.low, number(0.0, x.low)), op("greater", x.high, number(0.0, x.low)))
    middle = op("where", around, op("iv", n, number(0.0, x.low)), ends[0])
    found = Pair(op("minimum", op("minimum", *ends), middle), op("maximum", op("maximum", *ends), middle))
    return with_error(found, 16)


def ive(n: Value, x: Value) -> Pair:
    """Its slopes are between -1 and 1, its values too; of order 0 it falls with |x|."""
    n, x = _order("ive", n), pair(x)
    near, far = magnitudes(x)
    ends = with_error(Pair(op("ive", n, far), op("ive", n, near)), 16)
    low, high = _along(x, op("ive", n, _middle(x)), number(1.0, x.low), number(0.0, x.low))
    is_first = op("equal", n, number(0.0, n))
    found = Pair(op("where", is_first, ends.low, low), op("where", is_first, ends.high, high))
    return cut(found, -1.0, 1.0)


def _middle(x: Pair) -> Node:
    half = number(0.5, x.low)
    middle = op("add", op("mul", x.low, half), op("mul", x.high, half))
    return op("minimum", op("maximum", middle, x.low), x.high)


def _along(x: Pair, value: Node, slope: Node, error: Node, units: float = 16) -> Pair:
    """A value, off by some units of itself and by an error, and what a slope adds up to each end of the interval."""
    middle = _middle(x)
    radius = up(op("maximum", op("sub", x.high, middle), op("sub", middle, x.low)))
    by = up(op("add", up(op("mul", radius, slope)), error), 2)
    found = with_error(Pair(value, value), units)
    return Pair(down(op("sub", found.low, by)), up(op("add", found.high, by)))


def jv(n: Value, x: Value) -> Pair:
    """J_n at the middle with its slope there; its second derivative is between -1 and 1, as all of them are."""
    n, x = _order("jv", n), pair(x)
    middle, one = _middle(x), number(1.0, x.low)
    after, before = op("jv", op("add", n, one), middle), op("jv", op("sub", n, one), middle)
    unit = rounding_unit(x.low.dtype)
    radius = up(op("maximum", op("sub", x.high, middle), op("sub", middle, x.low)))
    slope = op("mul", op("abs", op("sub", before, after)), number(0.5, x.low))
    slope = up(op("add", slope, op("add", op("mul", radius, number(0.5, x.low)), number(64 * unit, x.low))), 2)
    error = op("mul", op("abs", after), number(64 * unit, x.low))
    low, high = _along(x, op("jv", n, middle), op("minimum", slope, one), error, 64)
    return _finite(x, cut(Pair(low, high), -1.0, 1.0), 1.0)


def yv(n: Value, x: Value) -> Pair:
    """Y_n at the middle. |Y_n| and its slope are bounded by J_n^2 + Y_n^2, which falls with x (Nicholson's formula)."""
    n, x = _order("yv", n), pair(x)
    one, middle, half = number(1.0, x.low), _middle(x), number(0.5, x.low)
    before, after = op("sub", n, one), op("add", n, one)

    def most(order: Node) -> Node:
        squares = add(square(op("jv", order, x.low)), square(op("yv", order, x.low)))
        return with_error(Pair(*(op("sqrt", end) for end in squares)), 256).high

    unit = rounding_unit(x.low.dtype)
    slope = up(op("mul", op("add", most(before), most(after)), half), 2)
    error = op("mul", op("minimum", op("abs", op("yv", before, middle)), one), number(64 * unit, x.low))
    low, high = _along(x, op("yv", n, middle), slope, error, 64)
    bound = most(n)
    found = Pair(op("fmax", low, op("neg", bound)), op("fmin", high, bound))
    return within(op("greater_equal", x.low, number(0.0, x.low)), _finite(x, found, INFINITY))


def _finite(x: Pair, found: Pair, most: float) -> Pair:
    """[-most, most] where an end is infinite or the bounds are not known, nan where x is."""
    bound = number(most, x.low)
    wide = within(op("less_equal", x.low, x.high), Pair(op("neg", bound), bound))
    bounded = op("less", op("maximum", op("abs", x.low), op("abs", x.high)), number(INFINITY, x.low))
    known = op("logical_and", bounded, op("less_equal", found.low, found.high))
    return Pair(op("where", known, found.low, wide.low), op("where", known, found.high, wide.high))


SPECIAL: dict[str, Callable[..., Value]] = {
    **{name: partial(directed, name) for name in DIRECTED},
    "polygamma": partial(at_both_ends, "polygamma", 16), "zeta": zeta, "riemann_zeta": riemann_zeta, "stdtr": stdtr,
    "stdtrit": stdtrit, "rel_entr": rel_entr, "erfcx": erfcx, "iv": iv, "ive": ive, "jv": jv, "yv": yv,
}  # fmt: skip
"""The rules of special functions."""
LIMITED = frozenset(name for name, row in DIRECTED.items() if any(domain != REAL for domain in row.domains)) | {
    "polygamma", "zeta", "stdtr", "stdtrit", "rel_entr", "yv",
}  # fmt: skip
"""Special functions whose domain can be left."""
