"""The form of x as a tree, and the flat vector that stands for it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.graph import tree
from burlab.graph.digits import digits_shape, from_digits, to_digits
from burlab.graph.node import as_node
from burlab.typing import Tree

Vector = Any  # shape (d,)


@dataclass(frozen=True)
class Layout:
    """The structure of x, and the shapes of its leaves.

    kinds: of integers and masks, which are digits in the vector; None for floats. floats: the dtype of the vector.
    """

    shapes: tuple[tuple[int, ...], ...]
    structure: tree.TreeDef
    kinds: "tuple[np.dtype[Any] | None, ...]"
    floats: "np.dtype[Any]"

    @staticmethod
    def of(like: Tree) -> "Layout":
        """Return the layout of a tree with the structure and the shapes of x."""
        leaves, structure = tree.flatten(like)
        dtypes = [np.asarray(leaf).dtype for leaf in leaves]
        kinds = tuple(None if dtype.kind == "f" else dtype for dtype in dtypes)
        floats = next(dtype for dtype in dtypes if dtype.kind == "f")
        return Layout(tuple(np.shape(leaf) for leaf in leaves), structure, kinds, floats)

    @property
    def size(self) -> int:
        """The length of the vector."""
        pairs = zip(self.shapes, self.kinds, strict=True)
        outside = (s if kind is None else digits_shape(s, kind, self.floats) for s, kind in pairs)
        return sum(int(np.prod(shape)) for shape in outside)

    def tree(self, flat: Vector) -> Any:
        """Return the tree of a vector; of a matrix, shape (n, d), each leaf has n rows."""
        outside = [shape if kind is None else digits_shape(shape, kind, flat.dtype)
                   for shape, kind in zip(self.shapes, self.kinds, strict=True)]  # fmt: skip
        ends = np.cumsum([int(np.prod(shape)) for shape in outside])
        many = flat.shape[:-1]  # of samples, where there is a row for each
        leaves: list[Any] = []
        for begin, end, shape, kind in zip([0, *ends], ends, outside, self.kinds, strict=False):
            part = np.reshape(flat[..., int(begin) : int(end)], (*many, *shape))
            leaves.append(part if kind is None else from_digits(part, kind, len(many)))
        return tree.unflatten(self.structure, leaves)

    def flat(self, x: Tree, what: str) -> Vector:
        """Return the vector of a tree. Raises for one of another form; what: its description."""
        leaves = self.leaves(x, what)
        parts: list[Any] = []
        for leaf, wanted in zip(leaves, self.kinds, strict=True):
            if wanted is not None and leaf.dtype != wanted:
                raise DTypeError(f"{what} with a leaf of {leaf.dtype}, expected {wanted}. Use .astype.")
            parts.append(leaf if wanted is None else to_digits(as_node(leaf), wanted, self.floats))
        return np.concatenate([np.reshape(part, (-1,)) for part in parts])

    def leaves(self, x: Tree, what: str) -> list[Any]:
        """Return the leaves of a tree. Raises for another structure or other shapes; what: its description."""
        leaves, structure = tree.flatten(x)
        shapes = tuple(getattr(leaf, "shape", ()) for leaf in leaves)
        if structure != self.structure:
            raise ArgumentError(f"{what} of structure {structure}, expected {self.structure}.")
        if shapes != self.shapes:
            raise ShapeError(f"{what} with leaves of shapes {shapes}, expected {self.shapes}.")
        return leaves
