"""Updates that treat every entry of x alike run chunk by chunk, so that what one reads is still in cache.

An update reads the gradient and the state and writes the next point, and the record wants norms of both: over a long
vector each of these is a walk through memory. In chunks the second walk finds everything in the first cache.
"""

from burlab.graph import Graph, Node
from burlab.graph.linear_nodes import broadcast
from burlab.graph.substitute import copy, keep, rebuild

CHUNK = 2048  # entries: with two vectors of state, 40 KB in float32


def chunked(graph: Graph, dimension: int) -> Graph | None:
    """The same update for `CHUNK` entries of vectors of that many; None where it is short or entries mix.

    >>> import numpy as np
    >>> from burlab.graph.numpy_api.promotion import node
    >>> x = Node("input", (), "x", (10**5,), np.dtype(np.float64))
    >>> chunked(Graph((x,), (node("tanh", x),)), 10**5).outputs
    (Node(tanh, shape=(2048,), float64),)
    """
    if dimension < 4 * CHUNK or not is_entrywise(graph, dimension):
        return None
    short = ((CHUNK,) if x.shape == (dimension,) else x.shape for x in graph.inputs)
    inputs = tuple(Node("input", (), x.params, s, x.dtype, x.weak) for x, s in zip(graph.inputs, short, strict=True))
    return Graph(inputs, tuple(resized(graph, dict(zip(graph.inputs, inputs, strict=True)), (CHUNK,))))


def is_entrywise(graph: Graph, dimension: int) -> bool:
    """Return True if each entry of a vector of that length is computed alike, from numbers and its own entries."""
    for n in graph.nodes[len(graph.inputs) :]:
        alike = n.row.elementwise or n.row.identity
        spread = n.op == "broadcast" and not n.inputs[0].shape
        if n.shape not in ((), (dimension,)) or (n.shape and not (alike or spread)):
            return False
        if not n.shape and any(x.shape for x in n.inputs):
            return False
    return True


def resized(graph: Graph, inputs: dict[Node, Node], shape: tuple[int, ...]) -> list[Node]:
    """The outputs of an entrywise update of vectors for arrays of another shape, which is that of their new inputs."""

    def rule(n: Node, inputs: tuple[Node, ...]) -> Node:
        if not n.shape:
            return keep(n, inputs)
        if n.op == "broadcast":
            return broadcast(inputs[0], shape, ())
        new = copy(n, inputs)
        new.shape = shape
        return new

    return rebuild(graph.outputs, dict(inputs), rule)
