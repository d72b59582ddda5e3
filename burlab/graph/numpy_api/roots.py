"""Norms: roots of sums, and sizes of numbers.

The derivative of a norm at 0 is 0 by convention, one of its subgradients; a second derivative does not exist there, so
it is nan: a Newton step sees the kink. It is 0 along what leaves the entries at 0, such as the scale of a distance.
"""

import math
from dataclasses import dataclass

from burlab.graph import hooks
from burlab.graph.graph import Call, Graph
from burlab.graph.implied import RULES, ImplicitRule, implied
from burlab.graph.linear_nodes import reshape, sum_over, zeros
from burlab.graph.node import Node
from burlab.graph.operation import Shares, make_node

from .elementwise import power, sqrt, where
from .promotion import node


@dataclass(frozen=True, eq=False)
class Root(Call):
    """total ** (1 / order); where total is 0 the derivative is 0, whose own derivative is not finite."""

    order: float = 2.0


def root(total: Node, order: float = 2.0, entries: Node | None = None) -> Node:
    """A norm, given the sum of the powers of the sizes of its entries.

    entries: of three axes, what was squared and added up along the second; if known, they say what moves at 0.
    """
    t, y, g = (Node("input", (), name, total.shape, total.dtype, total.weak) for name in ("total", "norm", "g"))
    zero = t == 0.0
    body = _power(t, order)
    slope = _slope(where(zero, 1.0, t), order)
    slope = where(zero, sqrt(t), slope)  # sqrt: 0 at 0, with an infinite derivative
    if entries is None:
        call = Root("norm", Graph((t,), (body,)), Graph((t, y, g), (node("mul", g, slope),)), order)
        return Node("call", (total,), call, total.shape, total.dtype, total.weak)
    z = Node("input", (), "moving", entries.shape, entries.dtype)
    pulled = node("mul", g, implied(_SLOPE, slope, z, t, y)), zeros(z.shape, z.dtype)
    call = Root("norm", Graph((t, z), (body,)), Graph((t, z, y, g), pulled), order)
    return Node("call", (total, entries), call, total.shape, total.dtype, total.weak)


def length(total: Node, entries: Node, axes: tuple[int, ...], divisor: float = 1.0) -> Node:
    """The root of a sum of squares over `divisor`, also where the squares are beyond the range of floats.

    entries: what was squared. axes: along which, side by side. What is differentiated is the total, of which each entry
    gets itself over the norm: there is no square in that.
    """
    if not total.size or not entries.size or not axes or axes != tuple(range(axes[0], axes[-1] + 1)):
        return root(total)
    sizes = by_axes(entries.shape, axes)
    numbers, *center = (make_node("stop_gradient", None, part) for part in _above(entries))
    rows, inputs = reshape(numbers, sizes), reshape(entries, sizes)
    given = (("total", total), ("entries", rows), ("moving", rows), ("norm", total), ("g", total))
    t, x, z, y, g = (Node("input", (), name, n.shape, n.dtype, total.weak) for name, n in given)
    c = [Node("input", (), "center", n.shape, n.dtype, n.weak) for n in center]
    zero = y == 0.0
    slope = where(zero, sqrt(t), 0.5 / where(zero, 1.0, y))
    slope = implied(_SLOPE, slope, z, t, y)
    # Where the rule of the call is not at hand, as in a graph that is shown, it is the root of the total.
    body = make_node("surrogate", None, make_node("norm", float(divisor), t, x, *c), sqrt(t))
    none = [zeros(n.shape, n.dtype) for n in (x, z, *c)]
    backward = Graph((t, x, z, *c, y, g), (node("mul", g, slope), *none))
    call = Root("norm", Graph((t, x, z, *c), (body,)), backward, 2.0)
    return Node("call", (total, rows, inputs, *center), call, total.shape, total.dtype)


def _above(entries: Node) -> tuple[Node, ...]:
    """Numbers and the one that is subtracted from all of them, so that no differences are kept; else the entries."""
    if entries.op == "sub" and entries.inputs[1].op == "broadcast":
        numbers, center = entries.inputs[0], entries.inputs[1].inputs[0]
        if center.size == 1 and center.dtype == numbers.dtype == entries.dtype:
            return numbers, center
    return (entries,)


def by_axes(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, int, int]:
    """The sizes before axes that lie side by side, of these, and behind them."""
    first, last = axes[0], axes[-1] + 1
    return math.prod(shape[:first]), math.prod(shape[first:last]), math.prod(shape[last:])


_SLOPE = "slope of a norm"  # what a norm is by its total, which moves: where it is 0, its entries say how


def _slope_forward(n: Node, entries: Node | None, total: Node | None) -> Node:
    """The tangent of a slope, and 0 where a norm is 0 and its entries stay: 0 times inf is nan for the others alone.

    So exp(-norm((x - y) / l)) is flat in l, to the second order, where x is y.
    """
    if total is None:
        return zeros(n.shape, n.dtype)
    slope, _, t, y = n.inputs
    tangent = hooks.sweeps.jvp([slope], [t], [total])[0]
    return where(_rests(y, entries), 0.0, tangent)


def _slope_reverse(_n: Node, _g: Node) -> None:
    """Entries alone change no slope."""


def _slope_inputs(_n: Node) -> tuple[int, ...]:
    return 1, 2


def _slope_shares(n: Node, g: Node, active: set[Node]) -> Shares:
    total = n.inputs[2]
    return [(total, _slope_by_total(n, g, active))] if total in active else []


def _slope_by_total(n: Node, g: Node, active: set[Node]) -> Node:
    """The cotangent of a total, and 0 where what its entries are 0 by is not what is differentiated by."""
    slope, z, t, y = n.inputs
    share = hooks.sweeps.vjp([slope], [t], [g])[0]
    if z not in active:
        return where(_rests(y, None), 0.0, share)
    known = _stays_by(z, active)
    return share if known is None else where(_rests(y, known), 0.0, share)


def _rests(y: Node, entries: Node | None) -> Node:
    """Return the mask of norms that are 0 and whose known entries are all 0, too."""
    rests = y == 0.0
    if entries is None:
        return rests
    nonzero = where(entries != 0.0, 1.0, zeros(entries.shape, entries.dtype))
    return node("logical_and", rests, reshape(sum_over(nonzero, (nonzero.ndim - 2,)), y.shape) == 0.0)


def _stays_by(x: Node, active: set[Node]) -> Node | None:
    """Return a factor of x that is not differentiated: where it is 0, x stays 0. None where none is found."""
    if x not in active:
        return x
    if x.row.view and not x.row.identity:  # the same entries, elsewhere
        inner = _stays_by(x.inputs[0], active)
        return None if inner is None else make_node(x.op, x.params, inner)
    factors = x.inputs if x.op == "mul" else x.inputs[:1] if x.op in ("div", "neg") else ()
    return next((known for f in factors if (known := _stays_by(f, active)) is not None), None)


RULES[_SLOPE] = ImplicitRule(_slope_forward, _slope_reverse, _slope_shares, _slope_inputs)


def _power(t: Node, order: float) -> Node:
    return sqrt(t) if order == 2 else power(t, 1 / order)


def _slope(t: Node, order: float) -> Node:
    if order == 2:
        return 0.5 * (1.0 / sqrt(t))  # a root that is divided by elsewhere shares the division
    return 1 / order * power(t, 1 / order - 1)


def is_root(x: Node) -> bool:
    """Return True if the node is a norm that this module made."""
    return x.op == "call" and isinstance(x.params, Root)
