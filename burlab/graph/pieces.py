"""Arrays that are zero outside of a piece, and pieces put side by side."""

from burlab.graph.linear_nodes import concatenate, reshape, zeros
from burlab.graph.node import Node

MAX_SINGLE_ELEMENTS = 256  # elements that are written one by one


def is_run(g: Node) -> bool:
    """Return True for a `pad` whose elements are contiguous: one element, or whole rows of the array."""
    if g.op != "pad":
        return False
    x = g.inputs[0]
    first = next((k for k, size in enumerate(x.shape) if size != 1), x.ndim)
    whole = x.shape[first + 1 :] == g.shape[first + 1 :]
    return x.size > 0 and whole and (first == x.ndim or g.params[1][first] == 1)


def position(g: Node) -> int:
    """The number of the element that a run starts at, in row-major order."""
    at = 0
    start: tuple[int, ...] = g.params[0]
    for k, size in zip(start, g.shape, strict=True):
        at = at * size + k
    return at


def side_by_side(places: dict[int, Node], like: Node) -> Node:
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
