"""Intervals as pairs of nodes, and rounding outwards.

A float is between `low` and `high`. A mask that depends on intervals is a pair as well: whether it surely holds, and
whether it may hold. Both ends are nan where a function left its domain.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from burlab.graph.linear_nodes import broadcast
from burlab.graph.node import Node, constant
from burlab.graph.operation import make_node


class Pair(NamedTuple):
    """The ends of an interval, of one shape and dtype."""

    low: Node
    high: Node


Value = Node | Pair
"""A value that no interval enters is one node, as before."""


def pair(x: Value) -> Pair:
    """Return a value as an interval."""
    return x if isinstance(x, Pair) else Pair(x, x)


def op(name: str, *xs: Node) -> Node:
    """A scalar operation."""
    return make_node(name, None, *xs)


def number(value: float, like: Node) -> Node:
    """A number, repeated."""
    return broadcast(constant(value, like.dtype), like.shape)


def rounding_unit(dtype: "np.dtype[np.generic]") -> float:
    """Return the relative error of one rounding."""
    return 2.0**-53 if dtype.itemsize == 8 else 2.0**-24


def down(x: Node, steps: int = 1) -> Node:
    """A number below x by some steps."""
    for _ in range(steps):
        x = op("lower_bound", x)
    return x


def up(x: Node, steps: int = 1) -> Node:
    """A number above x by some steps."""
    for _ in range(steps):
        x = op("upper_bound", x)
    return x


def outwards(low: Node, high: Node, steps: int = 1) -> Pair:
    """The interval of two computed numbers, each off by no more than some steps."""
    return Pair(down(low, steps), up(high, steps))


def smaller(x: Node, y: Node) -> Node:
    """The smaller number, x if one is nan: one instruction."""
    return op("where", op("less", y, x), y, x)


def larger(x: Node, y: Node) -> Node:
    """The larger number, x if one is nan: one instruction."""
    return op("where", op("less", x, y), y, x)


def least(xs: Sequence[Node]) -> Node:
    """The smallest number. Candidates that are nan, as 0 times infinity is, do not count unless all are."""
    return functools.reduce(smaller, xs, _some(xs))


def largest(xs: Sequence[Node]) -> Node:
    """The largest number, of candidates as for `least`."""
    return functools.reduce(larger, xs, _some(xs))


def _some(xs: Sequence[Node]) -> Node:
    """A candidate that is a number, if there is one."""
    return functools.reduce(lambda found, x: op("where", op("isnan", found), x, found), xs)


def hull(*xs: Pair) -> Pair:
    """The smallest interval around some; nan if one of them is."""
    low, high = xs[0]
    for x in xs[1:]:
        low, high = op("minimum", low, x.low), op("maximum", high, x.high)
    return Pair(low, high)


def choose(mask: Value, x: Value, y: Value) -> Value:
    """x where a mask holds, else y: where it may or may not, the hull of both."""
    if not isinstance(mask, Pair):
        if not isinstance(x, Pair) and not isinstance(y, Pair):
            return op("where", mask, x, y)
        (a, b), (c, d) = pair(x), pair(y)
        return Pair(op("where", mask, a, c), op("where", mask, b, d))
    x, y = pair(x), pair(y)
    if x.low.dtype == np.bool_:
        sure, possible = op("logical_and", x.low, y.low), op("logical_or", x.high, y.high)
        both = Pair(sure, possible)
    else:
        both = hull(x, y)
    ends = ((op("where", mask.high, b, c), a) for a, b, c in zip(x, both, y, strict=True))
    return Pair(*(op("where", mask.low, a, rest) for rest, a in ends))


def within(inside: Node, x: Pair) -> Pair:
    """An interval where a condition holds, else nan."""
    nan = number(np.nan, x.low)
    return Pair(op("where", inside, x.low, nan), op("where", inside, x.high, nan))


def magnitudes(x: Value) -> Pair:
    """The interval of |x|."""
    x = pair(x)
    zero = number(0.0, x.low)
    return Pair(larger(larger(x.low, op("neg", x.high)), zero), larger(x.high, op("neg", x.low)))


def outside(x: Pair) -> Node:
    """A mask of where two numbers are not the ends of an interval: nan, in the wrong order, or no number between."""
    inf = number(np.inf, x.low)
    some = op("logical_and", op("less", x.low, inf), op("greater", x.high, op("neg", inf)))
    return op("logical_not", op("logical_and", op("less_equal", x.low, x.high), some))
