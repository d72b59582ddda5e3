"""Large transposed arrays: what is computed of them is computed of the arrays as they lie, and transposed at the end.

A loss that reads a product of matrices and its transpose, as CLIP's does, would go through every second of its arrays
against the order of memory, and a block of rows of the one would be columns of the other.
"""

from burlab.compiler.ir.strides import Shape
from burlab.graph import Graph, Node
from burlab.graph.linear_nodes import broadcast, transpose
from burlab.graph.origin import derived_from
from burlab.graph.substitute import copy, keep, rebuild


def untranspose(graph: Graph, large: int) -> Graph:
    """Return the graph with transposes of at least `large` bytes behind elementwise operations and reductions.

    >>> import numpy as np
    >>> from burlab.graph.linear_nodes import sum_over
    >>> x = Node("input", (), None, (64, 32), np.dtype(float))
    >>> f = Graph((x,), (sum_over(transpose(x, (1, 0)), (1,)),))
    >>> [n.op for n in untranspose(f, 1 << 10).nodes], untranspose(f, 1 << 10).outputs[0].params
    (['input', 'sum'], (0,))
    """
    if not any(n.op == "transpose" and n.nbytes >= large for n in graph.nodes):
        return graph

    def rule(n: Node, inputs: tuple[Node, ...]) -> Node:
        with derived_from(n):
            return _behind(n, inputs, large)

    return Graph(graph.inputs, tuple(rebuild(graph.outputs, {x: x for x in graph.inputs}, rule)))


def _behind(n: Node, inputs: tuple[Node, ...], large: int) -> Node:
    """The node on such inputs, with a transpose of them behind it if that leaves fewer."""
    moved = [x for x in inputs if x.op == "transpose" and x.nbytes >= large]
    if not moved:
        return keep(n, inputs)
    if n.op == "transpose":
        return transpose(moved[0].inputs[0], tuple(moved[0].params[a] for a in n.params))
    order: Shape = moved[0].params
    if n.row.reduction:
        return _reduced(n, moved[0].inputs[0], order)
    others = [x for x in inputs if not (x.op == "broadcast" or (x.op == "transpose" and x.params == order))]
    if not n.row.elementwise or len(others) >= len(moved):
        return keep(n, inputs)
    new = copy(n, tuple([_back(x, order) for x in inputs]))
    new.shape = new.inputs[0].shape
    return transpose(new, order)


def _reduced(n: Node, x: Node, order: Shape) -> Node:
    """A reduction over the same axes of what has not been transposed."""
    removed: Shape = n.params
    gone = tuple(sorted(order[a] for a in removed))
    left = [a for a in range(x.ndim) if a not in gone]
    new = copy(n, (x,))
    new.params, new.shape = gone, tuple(x.shape[a] for a in left)
    return transpose(new, tuple(left.index(order[a]) for a in range(x.ndim) if a not in removed))


def _back(x: Node, order: Shape) -> Node:
    """The array whose transpose of this order is x."""
    if x.op == "transpose" and x.params == order:
        return x.inputs[0]
    if x.op == "broadcast":
        shape = [0] * x.ndim
        for a, d in zip(order, x.shape, strict=True):
            shape[a] = d
        repeated: Shape = x.params[1]
        axes = [order[a] for a in repeated]
        inner = transpose(x.inputs[0], tuple(sorted(range(len(axes)), key=axes.__getitem__)))
        return broadcast(inner, tuple(shape), tuple(sorted(axes)))
    return transpose(x, tuple(sorted(range(x.ndim), key=order.__getitem__)))
