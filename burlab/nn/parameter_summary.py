"""Number of a model's parameters, and a table of them."""

from dataclasses import dataclass

import numpy as np

from burlab.graph import tree
from burlab.runtime.checks.text_table import columns
from burlab.runtime.displayed import Pictured
from burlab.typing import Shape, Tree


def count(model: Tree) -> int:
    """The number of parameters of a layer or of any tree of arrays.

    Args:
        model: The tree.

    Returns:
        The elements of all arrays.

    >>> import burlab as bl
    >>> bl.nn.count(bl.nn.Linear(3, 2, key=bl.random.key(0)))
    8
    """
    return sum(int(np.size(leaf)) for leaf in tree.flatten(model)[0])


@dataclass(frozen=True, slots=True)
class Row:
    """A parameter: its dotted path, shape, dtype, number of elements and bytes."""

    name: str
    shape: Shape
    dtype: str
    count: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class ModelSummary(Pictured):
    """A table with a row per parameter: text when printed, drawn in a notebook."""

    title: str
    rows: tuple[Row, ...]

    @property
    def count(self) -> int:
        """All parameters."""
        return sum(row.count for row in self.rows)

    @property
    def nbytes(self) -> int:
        """Bytes of all parameters."""
        return sum(row.nbytes for row in self.rows)

    def cells(self) -> list[tuple[str, str, str, str, str]]:
        """The table as text: head, rows, total."""
        body = [(r.name, " x ".join(map(str, r.shape)), r.dtype, f"{r.count:,}", f"{r.nbytes:,}") for r in self.rows]
        total = (self.title, "", "", f"{self.count:,}", f"{self.nbytes:,}")
        return [("parameter", "shape", "dtype", "count", "bytes"), *body, total]

    def __str__(self) -> str:
        lines = columns(self.cells(), "<<<>>")
        rule = "-" * len(lines[0])
        return "\n".join([lines[0], rule, *lines[1:-1], rule, lines[-1]])

    __repr__ = __str__


def summary(model: Tree) -> ModelSummary:
    """The parameters of a layer or of any tree of arrays.

    Args:
        model: The tree.

    Returns:
        A table: path, shape, dtype, count and bytes of each.

    >>> import burlab as bl
    >>> print(bl.nn.summary(bl.nn.MLP([2, 3, 1], key=bl.random.key(0))))
    parameter        shape  dtype    count  bytes
    ---------------------------------------------
    layers.0.weight  2 x 3  float32      6     24
    layers.0.bias    3      float32      3     12
    layers.1.weight  3 x 1  float32      3     12
    layers.1.bias    1      float32      1      4
    ---------------------------------------------
    MLP                                 13     52
    """
    arrays = [np.asarray(leaf) for leaf in tree.flatten(model)[0]]
    rows = (
        Row(name, array.shape, array.dtype.name, array.size, array.nbytes)
        for name, array in zip(tree.dotted_names(model), arrays, strict=True)
    )
    return ModelSummary(type(model).__name__, tuple(rows))
