"""Short rows taken apart: of points in space, each coordinate becomes an array of its own.

A value of shape (..., 3) whose coordinates meet each other, as in a norm, a cross product or a product with a small
matrix, would go through memory at each meeting. Taken apart it is three values of shape (...). All that is computed of
them is elementwise and shares one loop; to stack, slice or pad along the short axis is no work at all. What has short
axes alone becomes single numbers.
"""

from collections import defaultdict

from burlab.compiler.ir.spelling import is_own
from burlab.compiler.ir.strides import Shape
from burlab.graph import Graph, Node
from burlab.graph.operation import Ending
from burlab.graph.rewrite.simplify import simplify

from .column_rules import ColumnParts, has_rule, short_axes
from .fusion import FusionGroups

_MAX_ASSEMBLED = 256  # numbers of an array that is put together of small pieces


def split_columns(graph: Graph) -> Graph:
    """The graph with short rows taken apart where that spares work; the same graph where it spares none.

    >>> import numpy as np
    >>> from burlab.graph.linear_nodes import sum_over
    >>> x = Node("input", (), None, (9, 2), np.dtype(np.float64))
    >>> total = sum_over(Node("square", (x,), None, x.shape, x.dtype), (1,))
    >>> [n.op for n in split_columns(Graph((x,), (total,))).nodes if n.shape == (9,)]
    ['reshape', 'square', 'reshape', 'square', 'add']
    """
    apart = _apart(graph)
    if not apart:
        return graph
    columns = ColumnParts(apart)
    for n in graph.nodes:
        columns.add(n)
    return simplify(Graph(graph.inputs, tuple(columns.whole(y) for y in graph.outputs)))


def _apart(graph: Graph) -> dict[Node, int]:
    """The nodes that are taken apart, with how many of their axes vanish.

    Nodes that depend on each other are taken apart together, or not at all: what meets has to outweigh what must be put
    together again for the library or for the caller. Functions of a few numbers share lanes, and stay.
    """
    taking = {n for n in graph.nodes if n.size > 0 and has_rule(n)}
    axes = {n: k for n in taking if (k := short_axes(n))}
    for n in graph.nodes:  # pieces put into a small array, and the sums of these
        if (
            n.op in ("pad", "add")
            and n.size <= _MAX_ASSEMBLED
            and all(axes.get(x) == x.ndim == n.ndim for x in n.inputs)
        ):
            axes[n] = n.ndim
    group = _groups(graph, axes, taking)
    gain: dict[Node, int] = defaultdict(int)
    computed: set[Node] = set()
    for n in graph.nodes:
        if not n.row.leaf and (not n.row.view or n.inputs[0] in computed):
            computed.add(n)
        for x in n.inputs:
            if x in axes:
                gain[group[x]] += (x in computed and _meets(n, axes[x])) if n in taking else -1
        if axes.get(n) == n.ndim and n.size > 1 and is_own(n):
            gain[group[n]] -= len(graph.nodes)
    for y in graph.outputs:
        if y in axes:
            gain[group[y]] -= 1
    return {n: k for n, k in axes.items() if gain[group[n]] > 0}


def _meets(n: Node, k: int) -> bool:
    """Return True if a node combines numbers along the k last axes of its first input, or moves them there.

    A sum over other axes as well ends a loop anyway.
    """
    x = n.inputs[0]
    first = x.ndim - k
    if n.row.epilogue is Ending.SUM:
        axes: Shape = n.params
        return all(axis >= first for axis in axes) and any(x.shape[axis] > 1 for axis in axes)
    if n.row.joins:
        return n.params >= first
    return n.op in ("slice", "pad") and n.shape[first:] != x.shape[first:]


def _groups(graph: Graph, axes: dict[Node, int], taking: set[Node]) -> dict[Node, Node]:
    """For each of the nodes, one that stands for all that depend on it, or that it depends on."""
    groups = FusionGroups()
    for n in graph.nodes:
        near = [x for x in (n, *n.inputs) if x in axes] if n in taking else []
        for x in near[1:]:
            groups.join(x, near[0])
    return {n: groups.of(n) for n in axes}
