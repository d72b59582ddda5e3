"""Nodes that can share a loop nest: elementwise ones of one shape, reductions of its last axes, and epilogues."""

from collections import Counter
from collections.abc import Container, Mapping
from typing import NamedTuple

from burlab.compiler.ir.iteration import IterationSpace
from burlab.compiler.ir.strides import Shape, StridedView, elements, is_dense
from burlab.graph import Graph, Node
from burlab.graph.operation import Ending

LANES = (8, 16)  # of the segments of the replay gear (`replay/segments.py`), besides single numbers
_MAX_ROW = 512  # elements of a row: one block of a sum, and little enough for the stack


def loop_shape(n: Node, gear: str) -> Shape | None:
    """The shape of the loop that computes a node and may compute others; None if a library kernel computes it.

    It is () for a number, whatever its axes, and for a stack of numbers.
    """
    if gear == "kernels" or not (n.row.elementwise or n.row.joins):
        return None
    if n.row.joins:
        fits = stacked(n, LANES if gear == "replay" else ())
        return tuple(size for size in n.inputs[0].shape if size != 1) if fits else None
    size = n.size
    if gear == "replay" and not (size == 1 or (size in LANES and size in n.shape)):
        return None
    return () if size == 1 else n.shape


def is_local(n: Node) -> bool:
    """Return True if a fused value is a C++ variable that all later steps can name: a single number."""
    return n.size == 1 and n.row.elementwise


def is_in_memory(base: Node) -> bool:
    """Return True if a loop reads a base from memory; else it is a variable or a literal."""
    return base.size != 1 or not (base.row.elementwise or base.is_constant)


def stacked(n: Node, lanes: Container[int] = ()) -> int:
    """Return the numbers of each operand of a `concatenate`, if that is 1, or as many as there are lanes; else 0."""
    if not n.row.joins:
        return 0
    size = n.inputs[0].size
    fits = size == 1 or (size in lanes and size in n.inputs[0].shape)
    return size if fits and all(x.shape == n.inputs[0].shape for x in n.inputs) else 0


class FusionGroups(dict[Node, Node]):
    """Groups of nodes: each node has a representative of its group."""

    def of(self, n: Node) -> Node:
        """Return the representative of a node's group, at first itself."""
        while (other := self.setdefault(n, n)) is not n:
            self[n] = n = self[other]
        return n

    def join(self, n: Node, other: Node) -> None:
        """Make one group of two."""
        self[self.of(n)] = self.of(other)


class Fusion(NamedTuple):
    """Nodes besides elementwise ones that loops of a graph can take in.

    spaces: the iteration space of a shape some of whose axes are reduced. reductions: what may be in one. epilogues:
    sums that may end a loop whose rows are not reduced.
    """

    spaces: dict[Shape, IterationSpace]
    reductions: set[Node]
    epilogues: set[Node]


def find_fusion(graph: Graph, views: dict[Node, StridedView], loops: Mapping[Node, Shape]) -> Fusion:
    """Find the nodes that loops can take in. loops: the shape of the loop of each node that one computes."""
    spaces, reductions = _spaces(graph, views, set(loops.values()))
    epilogues = _epilogues(graph, views, loops, spaces)
    return Fusion(spaces, reductions, epilogues)


def _spaces(
    graph: Graph, views: dict[Node, StridedView], shapes: set[Shape]
) -> tuple[dict[Shape, IterationSpace], set[Node]]:
    """The iteration space of each shape that has reductions, and the reductions that belong into one."""
    found: dict[Shape, Counter[int]] = {}
    candidates = [n for n in graph.nodes if n.row.reduction and _may_fuse(n, views[n.inputs[0]])]
    for n in candidates:
        found.setdefault(n.inputs[0].shape, Counter())[len(n.params)] += 1
    chosen = {
        shape: IterationSpace(shape, max(counts, key=lambda k: (counts[k], -k))) for shape, counts in found.items()
    }
    return (  # a reduction alone is better served by the library
        {shape: space for shape, space in chosen.items() if shape in shapes},
        {n for n in candidates if n.inputs[0].shape in shapes and len(n.params) == chosen[n.inputs[0].shape].reduced},
    )


def _may_fuse(n: Node, view: StridedView) -> bool:
    """Floats along the last axes, in rows of a moderate length that lie contiguous in memory, and several of them."""
    x = n.inputs[0]
    axes: Shape = n.params
    k = len(axes)
    row = elements(x.shape[x.ndim - k :])
    return (
        n.dtype.kind == x.dtype.kind == "f"
        and 0 < k < x.ndim
        and axes == tuple(range(x.ndim - k, x.ndim))
        and 2 <= row <= _MAX_ROW
        and n.size > 1
        and not view.window
        and is_dense(x.shape[x.ndim - k :], view.strides[x.ndim - k :])
    )


def _epilogues(
    graph: Graph, views: dict[Node, StridedView], loops: Mapping[Node, Shape], spaces: Container[Shape]
) -> set[Node]:
    """Sums of all that a loop computes, or squares of what it reads, which can end it; rows times a vector.

    spaces: shapes whose loops reduce rows, and hold none.
    """
    read = {x for n in loops for x in n.inputs}

    def ends(n: Node) -> bool:
        x, ending = n.inputs[0], n.row.epilogue
        if ending is Ending.ROWS:
            return True
        seen = x in loops or (ending is Ending.SQUARES and x in read)
        return (
            not n.shape and x.dtype.kind == "f" and x.size > 1 and x.shape not in spaces and views[x].base is x and seen
        )

    return {n for n in graph.nodes if n.row.epilogue and ends(n)}
