"""A loss that reads x by one product with a sparse row alone, and its partial derivatives by the entries of columns.

f(x) = 1/n sum_i phi_i(a_i @ x) + r(x), so df/dx_j = 1/n sum_i a_ij phi_i'(a_i @ x) + dr/dx_j, where only the rows i
that have an entry in column j count. With the margins A @ x known it costs these entries; a step along x_j changes the
margins at these rows: Nesterov 2012, Efficiency of coordinate descent methods on huge-scale optimization problems,
section 6.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from burlab.compiler.executable import Executable, build
from burlab.graph import Node, tree
from burlab.graph.buffers.buffer_functions import at_add
from burlab.graph.linear_nodes import gather
from burlab.graph.node import as_node, constant
from burlab.graph.sparse import SparseArray
from burlab.graph.tracing.trace import trace
from burlab.problems.data import Data
from burlab.problems.point import Point
from burlab.runtime.coerce import Array
from burlab.transforms import grad, scan, vmap, while_loop

from .product_parts import ProductParts, csr_of_rows, product_parts
from .query_rules import QUERY_RULES, value_alone

Function = Callable[..., Any]
_BLOCKS = 8, 256  # entries of a column that are read together, at least and at most


@dataclass(frozen=True)
class ProductLoss:
    """The parts of such a loss, for traced functions.

    parts: the product with a row of A, and phi. values, numbers, ends: A by columns: its entries, their rows, and where
    the entries of a column end, after a 0; behind the last column come `block` entries that belong to none.
    regularizer: r, or None.
    """

    parts: ProductParts
    values: Array
    numbers: Array
    ends: Array
    block: int
    regularizer: Function | None
    structure: tree.TreeDef
    kernels: dict[int, Executable] = field(default_factory=dict[int, Executable], repr=False)

    def margins(self, x: Any) -> Any:
        """Return A @ x, shape (n,)."""
        return self.parts.matrix.of_nodes() @ x

    def slope(self, margins: Any, x: Any, j: Any) -> Any:
        """Return df/dx_j. margins: A @ x."""

        def product(rows: Node) -> Node:
            return gather(as_node(margins), rows)

        return self._slope(product, x, j)

    def margins_after(self, margins: Any, j: Any, step: Any) -> Any:
        """Return the margins after x_j has grown by a step."""

        def block(s: Any) -> Any:
            place, found = s
            entries, rows = self._entries(place, j)
            return place + self.block, at_add(found, rows, entries * step)

        return while_loop(lambda s: s[0] < self._end(j), block, (self._start(j), margins))[1]

    def partial(self, x: Any, coordinates: Any) -> Any:
        """Return entries of the gradient, shape (k,): products of x with the rows that have entries there."""

        def product(rows: Any) -> Any:
            a = self.parts.matrix.of_nodes()
            return a.replaced(starts=gather(a.starts, rows), ends=gather(a.ends, rows)) @ x

        return scan(lambda none, j: (none, self._slope(product, x, j)), (), coordinates)[1]

    def compiled(self, count: int) -> Executable:
        """Return `partial` of so many coordinates as a compiled function of x and these."""
        if count not in self.kernels:
            x = Node("input", (), "x", (self.parts.matrix.size_of_row,), self.values.dtype)
            graph = trace(self.partial, (x, np.zeros(count, np.int64))).graph
            self.kernels.setdefault(count, build(graph))
        return self.kernels[count]

    def _slope(self, product: Function, x: Any, j: Any) -> Any:
        """Return df/dx_j. product: from numbers of rows to a @ x of these."""

        def block(s: Any) -> Any:
            place, total = s
            entries, rows = self._entries(place, j)
            slopes = vmap(grad(self.parts.applied))(
                product(rows), *(gather(constant(a), rows) for a in self.parts.arrays)
            )
            return place + self.block, total + np.sum(np.where(entries != 0, entries * slopes, 0))

        first = self._start(j), np.zeros((), x.dtype)
        mean = while_loop(lambda s: s[0] < self._end(j), block, first)[1] / len(self.parts.matrix.starts)
        if self.regularizer is None:
            return mean
        whole = tree.unflatten(self.structure, [x])
        one = np.reshape(as_node(j), (1,))
        return mean + QUERY_RULES["partial_grad"](self.regularizer, whole, one)[0][0]

    def _start(self, j: Any) -> Node:
        return gather(constant(self.ends), as_node(j))

    def _end(self, j: Any) -> Node:
        return gather(constant(self.ends), as_node(as_node(j) + 1))

    def _entries(self, place: Any, j: Any) -> tuple[Any, Any]:
        """A block of entries from a place on, 0 for those that are not of column j, and their rows."""
        places: Any = as_node(place + np.arange(self.block))
        entries: Any = gather(constant(self.values), places)
        return np.where(places < self._end(j), entries, 0), gather(constant(self.numbers), places)


class ProductSource:
    """The parts of a loss at points of one form, found when they are first asked for."""

    def __init__(self, loss: Function, regularizer: Function | None, data: Data, point: Point) -> None:
        self._given = loss, regularizer, data, point

    @cached_property
    def found(self) -> ProductLoss | None:
        """The parts, None if the loss reads x by anything but one product with a sparse row."""
        return _product_loss(*self._given)


def _product_loss(loss: Function, regularizer: Function | None, data: Data, point: Point) -> ProductLoss | None:
    parts = product_parts(partial(value_alone, loss), data, point)
    return parts and ProductLoss(parts, *_by_columns(parts.matrix), regularizer, point.structure)


def _by_columns(matrix: SparseArray) -> tuple[Array, Array, Array, int]:
    """Entries by columns, their rows, where columns end, and how many entries to read together."""
    columns = csr_of_rows(matrix).tocsc()
    least, most = _BLOCKS
    mean = max(columns.nnz // matrix.size_of_row, 1)
    block = min(max(1 << (mean - 1).bit_length(), least), most)
    values, numbers = (np.concatenate([a, np.zeros(block, a.dtype)]) for a in (columns.data, columns.indices))
    return values, numbers, columns.indptr.astype(np.int64), block
