"""One entry of each row of an array: x[np.arange(n), i], np.diagonal, np.take_along_axis.

What is made of a row entry by entry, such as its log_softmax, is computed for these entries alone, and the diagonal of
a product of matrices is a product of their rows. So InfoNCE and CLIP never ask for the matrix of all pairs as a whole.
"""

from abc import ABC, abstractmethod

import numpy as np

from burlab.graph.linear_nodes import Shape, broadcast, contract, gather, reshape, slice_
from burlab.graph.node import Node
from burlab.graph.signatures import letters_of
from burlab.graph.substitute import copy
from burlab.typing import Array

_MAX_OPERATIONS = 64  # that are looked through for what entries save


def one_of_each_row(x: Node, index: Node) -> Node:
    """The entries x[..., index]. index: of the shape of x without its last axis, int64, not negative."""
    column = _column(index)
    if column is not None:
        return on_diagonal(x, 0, column, x.shape[-2])
    entries = _Picked(x, index)
    found = entries.of(x)
    return found if entries.checks else entries.read(x)


def on_diagonal(x: Node, row: int, column: int, count: int) -> Node:
    """The entries x[..., row + i, column + i] of matrices, shape (..., count)."""
    row, column = (row, column) if count else (0, 0)  # an empty one may lie past the end
    return _Diagonal(x, row, column, count).of(x)


def _column(index: Node) -> int | None:
    """The column at which entries start that lie on a diagonal, one column further in each row; None for others."""
    places = _numbers(index)
    if places is None or not places.size or not index.ndim:  # one entry of a vector lies on no diagonal
        return None
    first = int(places.flat[0])
    return first if bool(np.all(places == first + np.arange(index.shape[-1]))) else None


def _numbers(index: Node) -> Array | None:
    """The numbers of a known index, also behind views; None of a traced one."""
    if index.is_constant:
        return index.params
    inner = _numbers(index.inputs[0]) if index.op in ("broadcast", "reshape", "transpose") else None
    if inner is None:
        return None
    if index.op == "broadcast":
        shape, axes = index.params
        return np.broadcast_to(inner.reshape([d if k in axes else 1 for k, d in enumerate(shape)]), shape)
    return inner.reshape(index.shape) if index.op == "reshape" else inner.transpose(index.params)


class _Entries(ABC):
    """Entries of rows of an array, in a shape. An operation is repeated for them if its `gain` says so."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._found: dict[Node, Node] = {}
        self._gains: dict[Node, bool] = {}

    def of(self, x: Node) -> Node:
        """Return these entries of an array."""
        if x not in self._found:
            self._found[x] = self._computed(x)
        return self._found[x]

    def _computed(self, x: Node) -> Node:
        if x.op == "broadcast" and x.ndim - 1 not in x.params[1]:
            return self.repeated(x)
        if self._gain(x) and _by_entry(x):
            new = copy(x, tuple([self.of(y) for y in x.inputs]))
            new.shape = self.shape
            return new
        return self.read(x)

    def _gain(self, x: Node) -> bool:
        """Return True if entry by entry saves rows: where a value of the row alone comes in, or a whole product."""
        if x not in self._gains:
            self._gains[x] = False  # also for those behind the last one that is looked at
            inputs = x.inputs if self.passes(x) and len(self._gains) < _MAX_OPERATIONS else ()
            self._gains[x] = self.shortens(x) or any(self._gain(y) for y in inputs)
        return self._gains[x]

    def passes(self, x: Node) -> bool:
        """Return True if entries of x are made of entries of its inputs."""
        return _by_entry(x)

    def shortens(self, x: Node) -> bool:
        """Return True if entries of x cost less than rows of it."""
        return x.op == "broadcast" and x.inputs[0].ndim > 0 and x.ndim - 1 not in x.params[1]

    @abstractmethod
    def repeated(self, x: Node) -> Node:
        """Return the entries of what is the same all along a row."""

    @abstractmethod
    def read(self, x: Node) -> Node:
        """Return the entries of an array in memory."""


class _Picked(_Entries):
    """The entry of each row at an index."""

    def __init__(self, x: Node, index: Node) -> None:
        super().__init__(x.shape[:-1])
        self.index = index
        self.checks = index.is_constant  # whether something is read at the index, which finds those out of range

    def repeated(self, x: Node) -> Node:
        return broadcast(x.inputs[0], self.shape, x.params[1])

    def read(self, x: Node) -> Node:
        self.checks = True
        places = reshape(self.index, (*self.shape, 1))
        return reshape(gather(x, places, batch=len(self.shape)), self.shape)


class _Diagonal(_Entries):
    """The entries of a diagonal of matrices, from a row and a column on."""

    def __init__(self, x: Node, row: int, column: int, count: int) -> None:
        super().__init__((*x.shape[:-2], count))
        self.row, self.column, self.count = row, column, count

    def passes(self, x: Node) -> bool:
        return super().passes(x) or self._swapped(x)

    def shortens(self, x: Node) -> bool:
        return super().shortens(x) or self._rows(x) is not None

    def repeated(self, x: Node) -> Node:
        y, axes = x.inputs[0], x.params[1]
        if x.ndim - 2 in axes:
            y = _part(y, axes.index(x.ndim - 2), self.row, self.count)
        return broadcast(y, self.shape, axes)

    def read(self, x: Node) -> Node:
        rows = self._rows(x)
        if rows is not None:
            return contract(*rows)
        if self._swapped(x):
            return _Diagonal(x, self.column, self.row, self.count).of(x.inputs[0])
        if x.op == "broadcast" and x.params[1] == (x.ndim - 1,):
            return broadcast(_part(x.inputs[0], 0, self.column, self.count), self.shape, (len(self.shape) - 1,))
        *lead, n, m = x.shape
        flat = reshape(x, (*lead, n * m))
        start = self.row * m + self.column
        return slice_(flat, (*(0 for _ in lead), start), (*(1 for _ in lead), m + 1), self.shape)

    def _swapped(self, x: Node) -> bool:
        """Return True for transposed matrices."""
        return x.op == "transpose" and x.params == (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)

    def _rows(self, x: Node) -> tuple[str, Node, Node] | None:
        """Rows of the operands of a product of matrices, and how they are multiplied; None of any other operation."""
        if x.op != "contract":
            return None
        *terms, out = letters_of(x.params)
        row, column = out[-2:]
        if any(row in term and column in term for term in terms):
            return None

        def rows(k: int) -> Node:
            letter, start = (row, self.row) if row in terms[k] else (column, self.column)
            return _part(x.inputs[k], terms[k].index(letter), start, self.count)

        left, right = (term.replace(column, row) for term in terms)
        return f"{left},{right}->{out[:-1]}", rows(0), rows(1)


def _part(x: Node, axis: int, start: int, count: int) -> Node:
    """So many entries along an axis."""
    begin, shape = [0] * x.ndim, list(x.shape)
    begin[axis], shape[axis] = start, count
    return slice_(x, tuple(begin), (1,) * x.ndim, tuple(shape))


def _by_entry(x: Node) -> bool:
    """Return True if each entry is made of the same entries of the inputs."""
    return x.row.elementwise or x.op in ("surrogate", "stop_gradient")
