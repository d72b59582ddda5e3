"""The iteration space of a loop nest: the elements of a shape, or rows of them that some nodes reduce.

A row value has one element for each row, an index of the outer axes. Inside the nest it goes from a reduction
to what is computed of it, and on to every element of its row.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from burlab.graph import Node
from burlab.graph.operation import Ending

from .spelling import has_lanes
from .strides import Shape, StridedView, dense_strides, elements, is_whole


class IterationSpace(NamedTuple):
    """A shape, and how many of its last axes are reduced."""

    shape: Shape
    reduced: int = 0

    @property
    def outer(self) -> Shape:
        """The axes that are not reduced."""
        return self.shape[: len(self.shape) - self.reduced]

    @property
    def row(self) -> int:
        """Elements of a row."""
        return elements(self.shape[len(self.shape) - self.reduced :])

    def reduces(self, n: Node) -> bool:
        """Return True if a node reduces the last axes of a value of this shape."""
        fits = n.shape == self.outer and bool(n.inputs) and n.inputs[0].shape == self.shape
        return bool(self.reduced) and n.row.reduction and fits

    def has_row(self, shape: Shape) -> bool:
        """Return True if a value of this shape has one element per row, in their order."""
        return bool(self.reduced) and shape != () and _squeezed(shape) == _squeezed(self.outer)

    def apart(self, n: Node) -> bool:
        """Return True if an element of a row is computed by itself, because others have SIMD lanes."""
        return bool(self.reduced) and n.shape == self.shape and n.row.elementwise and not has_lanes(n)

    def sees(self, x: Node, view: StridedView) -> bool:
        """Return True if a value, with its base computed in this space, is available in the same iteration."""
        if self.has_row(view.base.shape) and x.shape == self.shape:
            wanted = dense_strides(self.outer) + (0,) * self.reduced
            strides = tuple(s if size > 1 else 0 for s, size in zip(wanted, self.shape, strict=True))
            return not view.window and view.offset == 0 and view.strides == strides
        return is_whole(view, x) and x.shape == (self.shape if view.base.shape == self.shape else x.shape)


def ends_columns(n: Node) -> bool:
    """Return True for a sum that ends a loop, of its columns and not of all its elements."""
    return n.row.epilogue is Ending.SUM and n.shape != ()


def _squeezed(shape: Shape) -> Shape:
    return tuple(size for size in shape if size != 1)


def sweeps(nodes: Sequence[Node], space: IterationSpace, views: Mapping[Node, StridedView]) -> dict[Node, int]:
    """The number of the sweep over a row in which each node is computed.

    A reduction is done before the next sweep, and so is an element whose operation has no lanes.
    """
    found: dict[Node, int] = {}
    for n in nodes:
        members = [base for x in n.inputs if (base := views[x].base) in found]
        full = {base for base in members if base.shape == space.shape}
        found[n] = max((found[x] + (x in full and (n.row.reduction or space.apart(x))) for x in members), default=0)
    return found
