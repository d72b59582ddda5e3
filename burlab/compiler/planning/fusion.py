"""Nodes that can share a loop nest: elementwise ones of one shape, reductions of its last axes, and epilogues."""

from collections import Counter
from collections.abc import Container
from typing import NamedTuple

from burlab.compiler.ir.iteration import IterationSpace
from burlab.compiler.ir.strides import Shape, StridedView, elements, is_dense
from burlab.graph import Graph, Node
from burlab.graph.operation import Ending

LANES = (8, 16)  # of the segments of the replay gear (`replay/segments.py`), besides single numbers
_MAX_ROW = 512  # elements of a row: one block of a sum, and little enough for the stack


def fuses(n: Node, gear: str) -> bool:
    """Return True if a node is computed in a loop that it may share with others; else a library kernel computes it."""
    if gear == "compiled":
        return n.row.elementwise or stacked(n) == 1
    if gear == "kernels":
        return False
    if n.row.joins:
        return stacked(n, LANES) > 0
    return (n.size == 1 or (n.size in LANES and n.size in n.shape)) and n.row.elementwise


def is_local(n: Node) -> bool:
    """Return True if a fused value is a C++ variable that all later steps can name: a single number."""
    return n.size == 1 and n.row.elementwise


def stacked(n: Node, lanes: Container[int] = ()) -> int:
    """Return the numbers of each operand of a `concatenate`, if that is 1, or as many as there are lanes; else 0."""
    if not n.row.joins:
        return 0
    size = n.inputs[0].size
    fits = size == 1 or (size in lanes and size in n.inputs[0].shape)
    return size if fits and all(x.shape == n.inputs[0].shape for x in n.inputs) else 0


def loop_shape(n: Node) -> Shape:
    """The shape of the loop that computes a node: () for a number, whatever its axes, and for a stack of numbers."""
    if n.row.joins:
        return tuple(size for size in n.inputs[0].shape if size != 1)
    return () if n.size == 1 else n.shape


class Fusion(NamedTuple):
    """Nodes besides elementwise ones that loops of a graph can take in.

    spaces: the iteration space of a shape some of whose axes are reduced. reductions: what may be in one. epilogues:
    sums that may end a loop whose rows are not reduced.
    """

    spaces: dict[Shape, IterationSpace]
    reductions: set[Node]
    epilogues: set[Node]


def find_fusion(graph: Graph, views: dict[Node, StridedView], fused: set[Node]) -> Fusion:
    """Find the nodes that loops of fused nodes can take in."""
    spaces, reductions = _spaces(graph, views, fused)
    epilogues = _epilogues(graph, views, fused, spaces)
    return Fusion(spaces, reductions, epilogues)


def _spaces(
    graph: Graph, views: dict[Node, StridedView], fused: Container[Node]
) -> tuple[dict[Shape, IterationSpace], set[Node]]:
    """The iteration space of each shape that has reductions, and the reductions that belong into one."""
    found: dict[Shape, Counter[int]] = {}
    candidates = [n for n in graph.nodes if n.row.reduction and _may_fuse(n, views[n.inputs[0]])]
    for n in candidates:
        found.setdefault(n.inputs[0].shape, Counter())[len(n.params)] += 1
    chosen = {
        shape: IterationSpace(shape, max(counts, key=lambda k: (counts[k], -k))) for shape, counts in found.items()
    }
    # A reduction alone is better served by the library.
    shapes = {loop_shape(n) for n in graph.nodes if n in fused}
    return (
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


def _epilogues(graph: Graph, views: dict[Node, StridedView], fused: set[Node], spaces: Container[Shape]) -> set[Node]:
    """Sums of all that a loop computes, or squares of what it reads, which can end it; rows times a vector.

    spaces: shapes whose loops reduce rows, and hold none.
    """
    read = {x for n in fused for x in n.inputs}

    def ends(n: Node) -> bool:
        x, ending = n.inputs[0], n.row.epilogue
        if ending is Ending.ROWS:
            return True
        seen = x in fused or (ending is Ending.SQUARES and x in read)
        return (
            not n.shape and x.dtype.kind == "f" and x.size > 1 and x.shape not in spaces and views[x].base is x and seen
        )

    return {n for n in graph.nodes if n.row.epilogue and ends(n)}
