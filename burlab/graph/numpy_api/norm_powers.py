"""Powers of norms.

The square of a norm is smooth, a sum of squares, and is made as one, so that its second derivative is right everywhere:
the factors r and 1/r of a product rule do not cancel at 0. So are higher powers.
"""

from typing import NamedTuple

from burlab.graph.linear_nodes import broadcast
from burlab.graph.node import Node, constant

from .elementwise import power, square, where
from .known import known_number, same
from .promotion import POWERS, apply, node
from .roots import is_root

_WHOLE = {1.0: "", 2.0: "square", 3.0: "cube"}


def _times(x: Node, y: Node) -> Node | None:
    """A product in which a norm stands twice: 0.5 * norm(x) * norm(x)."""
    first, second = _factors(x), _factors(y)
    if first is None or second is None or not same(first.norm, second.norm):
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
    known = known_number(exponent)
    return None if known is None else _above(x, known)


def _above(x: Node, exponent: float) -> Node | None:
    """A norm to its order is the total; to a power above 2 it is twice differentiable at 0, with derivatives 0."""
    if x.op == "abs":
        return power(x.inputs[0], exponent) if exponent % 2 == 0 else None
    if not is_root(x):
        return None
    order, total = x.params.order, x.inputs[0]
    times = exponent / order
    if times in _WHOLE:
        return total if times == 1 else apply(_WHOLE[times], total)
    if exponent <= max(order, 2.0):
        return None
    zero = total == 0.0
    return where(zero, 0.0, power(where(zero, 1.0, total), times))


class _Factors(NamedTuple):
    """A product with a norm in it: the norm, the sum that it is the root of, the other factors. All of one shape."""

    norm: Node
    total: Node
    rest: tuple[Node, ...]


def _factors(x: Node, depth: int = 4) -> _Factors | None:
    """Return the factors of x, if a norm of order 2 is among them, up to some operations away."""
    if is_root(x):
        return _Factors(x, x.inputs[0], ()) if x.params.order == 2 else None
    if x.op == "abs":
        return _Factors(x, square(x.inputs[0]), ())
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
        return inner._replace(rest=(*inner.rest, constant(1.0, x.dtype) / x.inputs[1]))
    if x.op == "neg":
        return inner._replace(rest=(*inner.rest, broadcast(constant(-1.0, x.dtype), x.shape)))
    norm, total, *rest = (
        Node(x.op, (part,), x.params, x.shape, x.dtype) for part in (inner.norm, inner.total, *inner.rest)
    )
    return _Factors(norm, total, tuple(rest))


_THROUGH = {"mul", "div", "neg", "broadcast", "reshape", "transpose", "slice"}


POWERS.update({"mul": _times, "square": _square, "cube": _cube, "power": _power_of})
