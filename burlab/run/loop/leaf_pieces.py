"""Graphs of vectors as long as x, piece by piece: where one was cut into leaves and joined again, the leaves meet.

A step as one kernel computes each leaf of x in a loop of its own. A vector of x's length stands for its pieces, which
are exact slices of it in the shapes of the leaves; what is computed of single leaves stays as it is.
"""

from collections.abc import Sequence
from typing import cast

import numpy as np

from burlab.graph import Node
from burlab.graph.graph import topological
from burlab.graph.linear_nodes import broadcast, reshape
from burlab.graph.node import constant
from burlab.graph.substitute import copy, keep

Pieces = tuple[Node, ...]
Known = dict[Node, Node | Pieces]


class MixedError(Exception):
    """A vector is used in another way than piece by piece."""


def by_leaves(outputs: Sequence[Node], known: Known, shapes: Sequence[tuple[int, ...]]) -> list[Node | Pieces] | None:
    """Return the outputs, those of x's length in pieces; None where entries of several leaves mix.

    known: what stands for inputs, pieces for vectors of x's length. shapes: of the leaves.

    >>> from burlab.graph.numpy_api.promotion import node
    >>> x, a = (Node("input", (), "x", shape, np.dtype(np.float64)) for shape in [(3,), (1, 3)])
    >>> by_leaves([node("tanh", x)], {x: (a,)}, [(1, 3)])
    [(Node(tanh, shape=(1, 3), float64),)]
    """
    nodes, leaves = dict(known), Leaves(shapes)
    try:
        for n in topological(outputs, {n: n for n in known}):
            nodes[n] = leaves.rebuilt(n, [nodes[x] for x in n.inputs])
    except MixedError:
        return None
    return [nodes[y] for y in outputs]


class Leaves:
    """The leaves of x. regions: where each begins in the vector, and its size."""

    def __init__(self, shapes: Sequence[tuple[int, ...]]) -> None:
        self.shapes = tuple(shapes)
        self.sizes = tuple(int(np.prod(shape)) for shape in shapes)
        self.flat = (sum(self.sizes),)
        starts = [int(end) for end in np.cumsum([0, *self.sizes[:-1]])]
        self.regions = tuple(zip(starts, self.sizes, strict=True))

    def rebuilt(self, n: Node, inputs: Sequence[Node | Pieces]) -> Node | Pieces:
        """A node of new inputs."""
        cut = [x for x in inputs if isinstance(x, tuple)]
        whole = cast("Sequence[Node]", inputs)
        if n.shape == self.flat:
            return self._vector(n, inputs)
        if not cut:
            return keep(n, tuple(whole))
        if n.op == "slice":
            return self.sliced(n, n.params[0][0], cut[0])
        if n.op == "reshape" and len(self.shapes) == 1:
            return reshape(cut[0][0], n.shape)
        raise MixedError

    def sliced(self, n: Node, start: int, pieces: Pieces) -> Node | Pieces:
        """A slice of a vector, given where it begins. n: of its shape."""
        if n.shape == self.flat:
            return pieces
        for (begin, size), piece in zip(self.regions, pieces, strict=True):
            if n.size == size and (begin == start or not size) and n.params[1] == (1,):  # an empty slice may begin at 0
                return reshape(piece, n.shape)
        raise MixedError

    def _vector(self, n: Node, inputs: Sequence[Node | Pieces]) -> Pieces:
        if n.is_constant:
            array = np.asarray(n.params)
            return tuple(
                constant(array[start : start + size].reshape(shape), n.dtype)
                for (start, size), shape in zip(self.regions, self.shapes, strict=True)
            )
        if n.op == "concatenate" and tuple(x.size for x in n.inputs) == self.sizes:
            parts = [x[0] if isinstance(x, tuple) else x for x in inputs]
            return tuple(reshape(x, shape) for x, shape in zip(parts, self.shapes, strict=True))
        if n.op == "reshape" and len(self.shapes) == 1 and isinstance(inputs[0], Node):
            return (reshape(inputs[0], self.shapes[0]),)
        if n.op == "broadcast" and not n.inputs[0].shape and isinstance(inputs[0], Node):
            return tuple(broadcast(inputs[0], shape, ()) for shape in self.shapes)
        cut = all(isinstance(x, tuple) or not x.shape for x in inputs)
        if (n.row.elementwise or n.row.identity) and cut:
            return tuple(self._piece(n, k, inputs) for k in range(len(self.shapes)))
        raise MixedError

    def _piece(self, n: Node, k: int, inputs: Sequence[Node | Pieces]) -> Node:
        """An elementwise node of one piece."""
        piece = copy(n, tuple(x[k] if isinstance(x, tuple) else x for x in inputs))
        piece.shape = self.shapes[k]
        return piece
