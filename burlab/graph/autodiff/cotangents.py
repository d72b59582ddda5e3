"""The sum of the cotangents that a value receives from its users in the reverse sweep."""

from collections.abc import Sequence
from functools import partial, reduce

from burlab.graph.linear_nodes import concatenate, reshape, zeros
from burlab.graph.node import Node
from burlab.graph.numpy_api.promotion import node
from burlab.graph.origin import derived_from

MAX_SINGLE_ELEMENTS = 256  # elements that are written one by one
MIN_ADDED_ROWS = 8  # rows of a large array, from which zeros that are added to each would take more than a copy


def summed(shares: Sequence[Node]) -> Node:
    """The sum of cotangents. Single elements, and many rows, are put side by side, not each added to zeros."""
    with derived_from(shares[-1]):
        return shares[0] if len(shares) == 1 else _added(shares)


def _added(shares: Sequence[Node]) -> Node:
    runs = [g for g in shares if _is_run(g)]
    if runs and (
        sum(g.inputs[0].size > 1 for g in runs) < MIN_ADDED_ROWS
        or runs[0].size <= MAX_SINGLE_ELEMENTS
        or _overlap(runs)
    ):
        runs = [g for g in runs if g.inputs[0].size == 1]
    places: dict[int, Node] = {}
    for g in runs:
        at, x = _position(g), reshape(g.inputs[0], (g.inputs[0].size,))
        places[at] = node("add", places[at], x) if at in places else x
    if len(places) < 2:
        return reduce(partial(node, "add"), shares)
    run_ids = set(map(id, runs))
    rest = [g for g in shares if id(g) not in run_ids]
    return reduce(partial(node, "add"), [*rest, _side_by_side(places, shares[0])])


def _is_run(g: Node) -> bool:
    """Return True for a `pad` whose elements are contiguous: one element, or whole rows of the array."""
    if g.op != "pad":
        return False
    x = g.inputs[0]
    first = next((k for k, size in enumerate(x.shape) if size != 1), x.ndim)
    whole = x.shape[first + 1 :] == g.shape[first + 1 :]
    return x.size > 0 and whole and (first == x.ndim or g.params[1][first] == 1)


def _overlap(runs: Sequence[Node]) -> bool:
    """Return True if two runs share some elements, but not all."""
    end = 0
    for at, size in sorted({(_position(g), g.inputs[0].size) for g in runs}):
        if at < end:
            return True
        end = at + size
    return False


def _position(g: Node) -> int:
    """The number of the element that a run starts at, in row-major order."""
    at = 0
    start: tuple[int, ...] = g.params[0]
    for k, size in zip(start, g.shape, strict=True):
        at = at * size + k
    return at


def _side_by_side(places: dict[int, Node], like: Node) -> Node:
    """Runs at their places, and zeros elsewhere: one by one if there are few."""
    parts: list[Node] = []
    end = 0
    for at in (*sorted(places), like.size):
        step = 1 if like.size <= MAX_SINGLE_ELEMENTS else max(at - end, 1)
        parts.extend(zeros((step,), like.dtype) for _ in range(end, at, step))
        if at < like.size:
            parts.append(places[at])
            end = at + places[at].size
    return reshape(concatenate(parts, 0), like.shape)
