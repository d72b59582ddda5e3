"""Which nodes one loop nest can hold: elementwise ones of one shape, the reductions of its last axes, and row values.

A row value has one element for each row, an index of the axes that are kept. Inside the nest it goes from a reduction
to what is computed of it, and on to every element of its row.
"""

from collections import Counter
from collections.abc import Callable, Container, Sequence
from typing import NamedTuple

from burlab.compiler.ir.strides import Shape, View, dense_strides, elements, is_dense, is_whole, loop_shape
from burlab.graph import Graph, Node

_LONGEST = 512  # elements of a row: one block of a sum, and little enough for the stack


class IterationSpace(NamedTuple):
    """A shape, and how many of its last axes are reduced."""

    shape: Shape
    reduced: int = 0

    @property
    def kept(self) -> Shape:
        """The axes that are not reduced."""
        return self.shape[: len(self.shape) - self.reduced]

    @property
    def row(self) -> int:
        """Elements of a row."""
        return elements(self.shape[len(self.shape) - self.reduced :])

    def reduces(self, n: Node) -> bool:
        """Whether a node reduces the last axes of a value of this shape."""
        return bool(self.reduced) and n.op in REDUCTIONS and n.inputs[0].shape == self.shape and n.shape == self.kept

    def has_row(self, shape: Shape) -> bool:
        """Whether a value of this shape has one element per row, in their order."""
        return bool(self.reduced) and shape != () and _squeezed(shape) == _squeezed(self.kept)

    def sees(self, x: Node, ref: View) -> bool:
        """Whether a value, where its base is computed in this domain, is at hand in the same turn of the loops."""
        if self.has_row(ref.base.shape) and x.shape == self.shape:
            wanted = dense_strides(self.kept) + (0,) * self.reduced
            strides = tuple(s if size > 1 else 0 for s, size in zip(wanted, self.shape, strict=True))
            return not ref.window and ref.offset == 0 and ref.strides == strides
        return is_whole(ref, x) and x.shape == (self.shape if ref.base.shape == self.shape else x.shape)


REDUCTIONS = ("sum", "reduce_max", "reduce_min")
EPILOGUES = ("sum", "squares", "matvec")


def _squeezed(shape: Shape) -> Shape:
    return tuple(size for size in shape if size != 1)


def passes(nodes: Sequence[Node], domain: IterationSpace, views: dict[Node, View]) -> dict[Node, int]:
    """In which walk over a row each node is computed; what reduces values of one walk is there before the next."""
    found: dict[Node, int] = {}
    for n in nodes:
        members = [base for x in n.inputs if (base := views[x].base) in found]
        reduces = n.op in REDUCTIONS
        found[n] = max((found[base] + (reduces and base.shape == domain.shape) for base in members), default=0)
    return found


def domains(
    graph: Graph, views: dict[Node, View], fuses: Callable[[Node], bool]
) -> tuple[dict[Shape, IterationSpace], set[Node]]:
    """The domain of each shape that elementwise nodes have, and the reductions that belong into one."""
    found: dict[Shape, Counter[int]] = {}
    candidates = [n for n in graph.nodes if n.op in REDUCTIONS and _may_fuse(n, views[n.inputs[0]])]
    for n in candidates:
        found.setdefault(n.inputs[0].shape, Counter())[len(n.params)] += 1
    chosen = {
        shape: IterationSpace(shape, max(counts, key=lambda k: (counts[k], -k))) for shape, counts in found.items()
    }
    beside = {loop_shape(n) for n in graph.nodes if fuses(n)}  # a reduction alone is better served by the library
    return (
        {shape: d for shape, d in chosen.items() if shape in beside},
        {n for n in candidates if n.inputs[0].shape in beside and len(n.params) == chosen[n.inputs[0].shape].reduced},
    )


def _may_fuse(n: Node, ref: View) -> bool:
    """Floats along the last axes, in rows of a moderate length that lie contiguous in memory, and several of them."""
    x = n.inputs[0]
    axes: Shape = n.params
    k = len(axes)
    row = elements(x.shape[x.ndim - k :])
    return (
        n.dtype.kind == x.dtype.kind == "f"
        and 0 < k < x.ndim
        and axes == tuple(range(x.ndim - k, x.ndim))
        and 2 <= row <= _LONGEST
        and n.size > 1
        and not ref.window
        and is_dense(x.shape[x.ndim - k :], ref.strides[x.ndim - k :])
    )


def tails(graph: Graph, views: dict[Node, View], fuses: Callable[[Node], bool], found: Container[Shape]) -> set[Node]:
    """Sums of all that a loop computes, or squares of what it reads, which can end it; rows times a vector.

    found: shapes whose loops reduce rows, and hold none.
    """
    read = {x for n in graph.nodes if fuses(n) for x in n.inputs}

    def ends(n: Node) -> bool:
        x = n.inputs[0]
        if n.op == "matvec":
            return True
        whole = not n.shape and (n.op == "squares" or len(n.params) == x.ndim)
        seen = fuses(x) or (n.op == "squares" and x in read)
        return whole and x.dtype.kind == "f" and x.size > 1 and x.shape not in found and views[x].base is x and seen

    return {n for n in graph.nodes if n.op in EPILOGUES and ends(n)}
