"""Norms: roots of sums, sizes of numbers, and what powers of them are.

The derivative of a norm at 0 is 0 by convention, one of its subgradients; a second derivative does not exist there, so
it is nan: a Newton step sees the kink. It is 0 along what leaves the entries at 0, such as the scale of a distance. But
the square of a norm is smooth, a sum of squares, and is made as one, so that its second derivative is right everywhere:
the factors r and 1/r of a product rule do not cancel at 0. The root of what is seen to be a sum of squares is a norm,
however it was written: np.sqrt(np.var(x)), np.sqrt(dx**2 + dy**2).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from burlab.graph.graph import Call, Graph
from burlab.graph.implied import RULES, Rule, implied
from burlab.graph.linear import broadcast, reshape, sum_over, zeros
from burlab.graph.node import Node, constant
from burlab.graph.operation import made, operation
from burlab.graph.rules import SWEEPS

from .promotion import POWERS, apply, node


@dataclass(frozen=True, eq=False)
class Root(Call):
    """Of a total: total ** (1 / order), and where it is 0 the derivative 0, whose own derivative is not finite."""

    order: float = 2.0


def root(total: Node, order: float = 2.0, entries: Node | None = None) -> Node:
    """A norm, given the sum of the powers of the sizes of its entries.

    entries: of three axes, what was squared and added up along the second; if known, they say what moves at 0.
    """
    t, y, g = (Node("input", (), name, total.shape, total.dtype, total.weak) for name in ("total", "norm", "g"))
    zero = apply("equal", t, 0.0)
    body = _power(t, order)
    slope = _slope(apply("where", zero, 1.0, t), order)
    slope = apply("where", zero, apply("sqrt", t), slope)  # sqrt: 0 at 0, with an infinite derivative
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
    rows = reshape(made("stop_gradient", None, entries), _three(entries.shape, axes))
    moving = reshape(entries, rows.shape)
    given = (("total", total), ("entries", rows), ("moving", rows), ("norm", total), ("g", total))
    t, x, z, y, g = (Node("input", (), name, n.shape, n.dtype, total.weak) for name, n in given)
    zero = apply("equal", y, 0.0)
    slope = apply("where", zero, apply("sqrt", t), apply("div", 0.5, apply("where", zero, 1.0, y)))
    slope = implied(_SLOPE, slope, z, t, y)
    # Where the rule of the call is not at hand, as in a graph that is shown, it is the root of the total.
    body = made("surrogate", None, made("norm", float(divisor), t, x), apply("sqrt", t))
    none = zeros(x.shape, x.dtype)
    backward = Graph((t, x, z, y, g), (node("mul", g, slope), none, none))
    call = Root("norm", Graph((t, x, z), (body,)), backward, 2.0)
    return Node("call", (total, rows, moving), call, total.shape, total.dtype)


def _three(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, int, int]:
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
    tangent = SWEEPS["jvp"]([slope], [t], [total])[0]
    return apply("where", _rests(y, entries), 0.0, tangent)


def _slope_reverse(_n: Node, _g: Node) -> None:
    """Entries alone change no slope."""


def _slope_by_total(n: Node, g: Node, active: set[Node]) -> Node:
    """The cotangent of a total, and 0 where what its entries are 0 by is not what is differentiated by."""
    slope, z, t, y = n.inputs
    share = SWEEPS["vjp"]([slope], [t], [g])[0]
    if z not in active:
        return apply("where", _rests(y, None), 0.0, share)
    known = _stays_by(z, active)
    return share if known is None else apply("where", _rests(y, known), 0.0, share)


def _rests(y: Node, entries: Node | None) -> Node:
    """Where a norm is 0, and all that is known of its entries, too."""
    rests = apply("equal", y, 0.0)
    if entries is None:
        return rests
    moves = apply("where", apply("not_equal", entries, 0.0), 1.0, zeros(entries.shape, entries.dtype))
    return node("logical_and", rests, apply("equal", reshape(sum_over(moves, (moves.ndim - 2,)), y.shape), 0.0))


def _stays_by(x: Node, active: set[Node]) -> Node | None:
    """What does not move, and is a factor of x: where it is 0, x stays 0. None where none is seen."""
    if x not in active:
        return x
    if x.op in _SAME:
        inner = _stays_by(x.inputs[0], active)
        return None if inner is None else made(x.op, x.params, inner)
    factors = x.inputs if x.op == "mul" else x.inputs[:1] if x.op in ("div", "neg") else ()
    return next((known for f in factors if (known := _stays_by(f, active)) is not None), None)


_SAME = {"broadcast", "reshape", "transpose", "slice"}  # the same entries, elsewhere
RULES[_SLOPE] = Rule(_slope_forward, _slope_reverse, _slope_by_total)


def _power(t: Node, order: float) -> Node:
    return apply("sqrt", t) if order == 2 else apply("power", t, 1 / order)


def _slope(t: Node, order: float) -> Node:
    if order == 2:
        return apply("div", 0.5, apply("sqrt", t))
    return apply("mul", 1 / order, apply("power", t, 1 / order - 1))


def _times(x: Node, y: Node) -> Node | None:
    """A product in which a norm stands twice: 0.5 * norm(x) * norm(x)."""
    first, second = _factors(x), _factors(y)
    if first is None or second is None or not _same(first.norm, second.norm):
        return None
    product = first.total
    for factor in (*first.rest, *second.rest):
        product = node("mul", product, factor)
    return product


def _square(x: Node) -> Node | None:
    return _times(x, x)


def _cube(x: Node) -> Node | None:
    return _above(x, 3.0)


def _power_of(x: Node, exponent: Node) -> Node | None:
    known = _number(exponent)
    return None if known is None else _above(x, known)


def _above(x: Node, exponent: float) -> Node | None:
    """A norm to its order is the total; to a power above 2 it is twice differentiable at 0, with derivatives 0."""
    if x.op == "abs":
        return apply("power", x.inputs[0], exponent) if exponent % 2 == 0 else None
    if not _is_root(x):
        return None
    order, total = x.params.order, x.inputs[0]
    times = exponent / order
    if times in _WHOLE:
        return total if times == 1 else apply(_WHOLE[times], total)
    if exponent <= max(order, 2.0):
        return None
    zero = apply("equal", total, 0.0)
    return apply("where", zero, 0.0, apply("power", apply("where", zero, 1.0, total), times))


def _number(x: Node) -> float | None:
    """The one number that a node is known to be."""
    while x.op == "broadcast":
        (x,) = x.inputs
    return float(x.params) if x.is_constant and x.shape == () else None


_WHOLE = {1.0: "", 2.0: "square", 3.0: "cube"}


class _Factors(NamedTuple):
    """A product with a norm in it: the norm, the sum that it is the root of, the other factors. All of one shape."""

    norm: Node
    total: Node
    rest: tuple[Node, ...]


def _factors(x: Node, depth: int = 4) -> _Factors | None:
    """What x is a product of, if a norm of order 2 is among it, up to some operations away."""
    if _is_root(x):
        return _Factors(x, x.inputs[0], ()) if x.params.order == 2 else None
    if x.op == "abs":
        return _Factors(x, apply("square", x.inputs[0]), ())
    if x.op not in _THROUGH or not depth:
        return None
    inner = _factors(x.inputs[0], depth - 1)
    if x.op == "mul" and inner is None and (inner := _factors(x.inputs[1], depth - 1)):
        return inner._replace(rest=(*inner.rest, x.inputs[0]))
    if inner is None:
        return None
    if x.op == "mul":
        return inner._replace(rest=(*inner.rest, x.inputs[1]))
    if x.op == "div":
        return inner._replace(rest=(*inner.rest, apply("div", constant(1.0, x.dtype), x.inputs[1])))
    if x.op == "neg":
        return inner._replace(rest=(*inner.rest, broadcast(constant(-1.0, x.dtype), x.shape)))
    norm, total, *rest = (
        Node(x.op, (part,), x.params, x.shape, x.dtype) for part in (inner.norm, inner.total, *inner.rest)
    )
    return _Factors(norm, total, tuple(rest))


_THROUGH = {"mul", "div", "neg", "broadcast", "reshape", "transpose", "slice"}


def _is_root(x: Node) -> bool:
    return x.op == "call" and isinstance(x.params, Root)


_MANY = 200  # pairs of nodes that are compared before two expressions count as different


def _same(x: Node, y: Node) -> bool:
    """Whether two nodes of one trace compute the same, by what they are made of."""
    waiting, seen = [(x, y)], set[tuple[Node, Node]]()
    while waiting:
        pair = a, b = waiting.pop()
        if a is b or pair in seen:
            continue
        seen.add(pair)
        if a.is_constant and b.is_constant and a.dtype == b.dtype and np.array_equal(a.params, b.params):
            continue
        if operation(a).leaf:
            return False
        alike = (
            a.params == b.params if a.op != "call" else _is_root(a) and _is_root(b) and a.params.order == b.params.order
        )
        if len(seen) > _MANY or (a.op, a.shape, a.dtype) != (b.op, b.shape, b.dtype) or not alike:
            return False
        waiting += [(a.inputs[0], b.inputs[0])] if a.op == "call" else zip(a.inputs, b.inputs, strict=True)
    return True


_LINEAR = {"sum", "broadcast", "reshape", "transpose", "slice", "gather", "convert"}  # of one array that matters
_DEEP = 12  # operations between a root and the squares below it


def _sqrt(x: Node) -> Node | None:
    return root(x, entries=_entries(x)) if _are_squares(x) else None


def _entries(total: Node) -> Node | None:
    """What is squared and added up along axes side by side, whatever it is divided by; None where it is not seen."""
    x = total
    while x.op == "div" or (x.op == "reshape" and _sizes(x) == _sizes(x.inputs[0])):
        x = x.inputs[0]
    axes = x.params if x.op == "sum" else ()
    if x.op == "sum":
        (x,) = x.inputs
        while x.op == "div":
            x = x.inputs[0]
    if not (x.op == "square" or _known(x) == 0) or axes != tuple(range(axes[0], axes[-1] + 1) if axes else ()):
        return None
    entries = x.inputs[0] if x.op == "square" else x
    return reshape(entries, _three(x.shape, axes) if axes else (x.size, 1, 1))


def _are_squares(x: Node, depth: int = _DEEP) -> bool:
    """Whether an array is made of sums of squares, so that where it is 0 all of these are, and their derivatives too.

    The weights in such sums are known and not negative, and the divisors anything: 0 / c is 0.
    """
    if x.op == "square" or not depth:
        return x.op == "square"

    def below(*parts: Node) -> bool:
        return all(_are_squares(part, depth - 1) for part in parts)

    first, *rest = x.inputs or (x,)
    if x.op == "div" and _known(first) == 0:  # known squares over what moves: where they are 0, they stay it
        return True
    if x.op in _LINEAR or x.op in ("abs", "div"):
        return below(first)
    if x.op == "power":
        return (_number(rest[0]) or 1.0) % 2 == 0
    if x.op in ("add", "concatenate"):
        return below(*x.inputs)
    if x.op == "where":
        return any(map(below, rest)) and all(below(part) or _known(part) is not None for part in rest)
    if x.op in ("mul", "contract"):
        return _is_product_of_same(x) or any(_is_weight(a) and below(b) for a, b in ((first, *rest), (*rest, first)))
    return x.op == "maximum" and any(_known(a) == 0 and below(b) for a, b in ((first, *rest), (*rest, first)))


def _is_product_of_same(x: Node) -> bool:
    """Whether the two factors of each product are the same entry of the same array: d * d, d @ d."""
    left, right = x.inputs
    if x.op == "contract":
        terms = x.params.partition("->")[0].split(",")
        (left, first), (right, second) = map(_lettered, x.inputs, terms)
        if first != second:
            return False
    return _same(left, right)


def _lettered(x: Node, term: str) -> tuple[Node, str]:
    """An operand of a contraction below its transpositions and axes of size 1, and the letters of its other axes."""
    letters = [c for c, size in zip(term, x.shape, strict=True) if size != 1]
    while x.op == "transpose" or (x.op == "reshape" and _sizes(x) == _sizes(x.inputs[0])):
        if x.op == "transpose":
            order = [axis for axis, size in zip(x.params, x.shape, strict=True) if size != 1]
            letters = [c for _, c in sorted(zip(order, letters, strict=True))]
        (x,) = x.inputs
    return x, "".join(letters)


def _sizes(x: Node) -> list[int]:
    return [size for size in x.shape if size != 1]


def _is_weight(x: Node) -> bool:
    known = _known(x)
    return known is not None and known >= 0


def _known(x: Node) -> float | None:
    """The least number of a known array; nan counts as none of them."""
    while x.op in ("broadcast", "reshape", "convert"):
        (x,) = x.inputs
    return float(np.fmin.reduce(x.params, axis=None)) if x.is_constant and x.size else None


POWERS.update({"mul": _times, "square": _square, "cube": _cube, "power": _power_of, "sqrt": _sqrt})
