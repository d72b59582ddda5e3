"""What a value receives in the reverse sweep, from all that uses it."""

from collections.abc import Sequence
from functools import partial, reduce

from burlab.graph.linear import concatenate, reshape, zeros
from burlab.graph.node import Node
from burlab.graph.numpy_api.promotion import node
from burlab.graph.origin import derived_from

_FEW = 256  # elements that are written one by one


def summed(shares: Sequence[Node]) -> Node:
    """The sum of cotangents. Those of single elements are put side by side, instead of each being added to zeros."""
    with derived_from(shares[-1]):
        return shares[0] if len(shares) == 1 else _added(shares)


def _added(shares: Sequence[Node]) -> Node:
    places: dict[int, Node] = {}
    rest: list[Node] = []
    for g in shares:
        if g.op != "pad" or g.inputs[0].size != 1:
            rest.append(g)
            continue
        at, x = _position(g), reshape(g.inputs[0], (1,))
        places[at] = node("add", places[at], x) if at in places else x
    if len(places) < 2:
        return reduce(partial(node, "add"), shares)
    return reduce(partial(node, "add"), [*rest, _side_by_side(places, shares[0])])


def _position(g: Node) -> int:
    """The number of the element that a `pad` of one element puts it at, in row-major order."""
    at = 0
    start: tuple[int, ...] = g.params[0]
    for k, size in zip(start, g.shape, strict=True):
        at = at * size + k
    return at


def _side_by_side(places: dict[int, Node], like: Node) -> Node:
    """Elements at their places, and zeros elsewhere: one by one where there are few."""
    parts: list[Node] = []
    end = 0
    for at in (*sorted(places), like.size):
        step = 1 if like.size <= _FEW else max(at - end, 1)
        parts.extend(zeros((step,), like.dtype) for _ in range(end, at, step))
        if at < like.size:
            parts.append(places[at])
        end = at + 1
    return reshape(concatenate(parts, 0), like.shape)
