"""Enclosures of sums, products, quotients and powers: rounded correctly, so one step outwards is enough."""

import numpy as np

from burlab.graph.node import Node

from .pairs import Pair, Value, largest, least, magnitudes, number, op, outwards, pair, within
from .signs import is_nonnegative, is_positive


def add(x: Value, y: Value) -> Pair:
    """The sum."""
    (a, b), (c, d) = pair(x), pair(y)
    return outwards(op("add", a, c), op("add", b, d))


def sub(x: Value, y: Value) -> Pair:
    """The difference."""
    (a, b), (c, d) = pair(x), pair(y)
    return outwards(op("sub", a, d), op("sub", b, c))


def neg(x: Value) -> Pair:
    """The opposite, exact."""
    a, b = pair(x)
    return Pair(op("neg", b), op("neg", a))


def mul(x: Value, y: Value) -> Pair:
    """The product: of all products of ends the extreme ones."""
    if isinstance(y, Pair) and not isinstance(x, Pair):
        x, y = y, x
    x = pair(x)
    if not isinstance(y, Pair):
        return _multiple(x, y)
    if is_nonnegative(x.low):
        return _product_of_nonnegative(x, y)
    if is_nonnegative(y.low):
        return _product_of_nonnegative(y, x)
    products = [op("mul", end, factor) for end in x for factor in y]
    return outwards(least(products), largest(products))


def _multiple(x: Pair, y: Node) -> Pair:
    """The product with a number."""
    known, (p, q) = y.known, (op("mul", end, y) for end in x)
    if known is not None and known.size == 1 and abs(float(known)) == 1:
        return Pair(p, q) if known > 0 else Pair(q, p)
    if is_positive(y):
        return outwards(p, q)
    return outwards(q, p) if is_positive(op("neg", y)) else outwards(least([p, q]), largest([p, q]))


def _product_of_nonnegative(x: Pair, y: Pair) -> Pair:
    """The product if x is not below 0. One of 0 and infinity is none if another is a number, as for `least`."""
    (a, b), (c, d), zero = x, y, number(0.0, y.low)

    def first(p: Node, other: Node) -> Node:
        return op("where", op("isnan", p), other, p)

    if is_nonnegative(c):
        low = op("mul", a, c)
        return outwards(low, first(op("mul", b, d), low))
    low = op("mul", op("where", op("less", c, zero), b, a), c)
    high = op("mul", op("where", op("greater", d, zero), b, a), d)
    return outwards(first(low, op("mul", a, d)), first(high, op("mul", a, c)))


def absolute(x: Value) -> Pair:
    """The absolute value: `abs` tells rules that it is not below 0."""
    near, far = magnitudes(x)
    return Pair(op("abs", near), far)


def square(x: Value) -> Pair:
    """The square, which is not below 0."""
    near, far = magnitudes(x)
    return outwards(op("square", near), op("square", far))


def div(x: Value, y: Value) -> Pair:
    """The quotient: all numbers where 0 is inside of the divisor."""
    if not isinstance(y, Pair):
        low, high = (op("div", end, y) for end in pair(x))
        return outwards(low, high) if is_positive(y) else outwards(least([low, high]), largest([low, high]))
    (a, b), (c, d), zero = pair(x), y, number(0.0, y.low)
    below = op("less", c, zero)
    if is_nonnegative(c):
        return outwards(*_quotient(a, b, c, d))
    a, b = op("where", below, op("neg", b), a), op("where", below, op("neg", a), b)  # both change their signs
    near, far = op("where", below, op("sub", zero, d), op("add", c, zero)), op("where", below, op("sub", zero, c), d)
    low, high = outwards(*_quotient(a, b, near, far))
    inside, infinite = op("logical_and", below, op("greater", d, zero)), number(np.inf, a)
    return Pair(op("where", inside, op("neg", infinite), low), op("where", inside, infinite, high))


def _quotient(a: Node, b: Node, near: Node, far: Node) -> tuple[Node, Node]:
    """Of a divisor above 0, or with an end there, which is +0."""
    zero = number(0.0, a)
    low = op("div", a, op("where", op("less", a, zero), near, far))
    return low, op("div", b, op("where", op("greater", b, zero), near, far))


def power(x: Value, y: Value) -> Pair:
    """A power with a known whole exponent, or of what is not negative."""
    known = None if isinstance(y, Pair) else y.known
    if known is not None and known.size == 1 and float(known) == round(float(known)) and abs(float(known)) < 2**53:
        return _whole_power(pair(x), int(known), pair(y).low)
    (a, b), (c, d) = pair(x), pair(y)
    corners = [op("power", base, exponent) for base in (a, b) for exponent in (c, d)]
    found = outwards(least(corners), largest(corners), 2)
    return within(op("greater_equal", a, number(0.0, a)), found)


def _whole_power(x: Pair, exponent: int, like: Node) -> Pair:
    if exponent < 0:
        one = number(1.0, x.low)
        return div(one, _whole_power(x, -exponent, like))
    if exponent % 2 == 0:
        x = magnitudes(x)
    power = number(float(exponent), x.low)
    return outwards(op("power", x.low, power), op("power", x.high, power), 2)
