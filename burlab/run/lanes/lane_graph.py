"""A graph of few numbers for many runs at once: every number of it becomes a row of numbers, one of each run.

The bits of a run are those that it has alone, because no operation is another one than there: elementwise ones, whose
formulas and polynomials are the same for a number as in SIMD lanes, and what only moves numbers. A sum of three numbers
has an order, which is up to the kernel that computes it; a sum of two has none. So graphs with longer ones are refused.
"""

from collections.abc import Callable, Iterable, Sequence, Set as AbstractSet
from functools import partial, reduce
from typing import Any

import numpy as np

from burlab.compiler.ir.spelling import has_lanes
from burlab.graph import Graph, Node
from burlab.graph.linear_nodes import broadcast
from burlab.graph.node import constant
from burlab.graph.numpy_api.promotion import node
from burlab.graph.operation import Ending

Places = np.ndarray[Any, np.dtype[np.int64]]  # of the entries of an array, in its shape
MAX_NUMBERS = 1024  # of a graph
_TERMS = 2  # of a sum


def in_rows(graph: Graph, shared: AbstractSet[Node], width: int) -> Graph | None:
    """The same function for `width` runs at once; None if its bits could differ.

    shared: inputs that are the same for all runs, which stay as they are. Each other input becomes one of shape
    (width,) for every entry that it has, in row-major order, and so does each output.
    """
    if not all(map(_fits, graph.nodes)) or sum(n.size for n in graph.nodes) > MAX_NUMBERS:
        return None
    rows, inputs, known = _Rows(width), list[Node](), dict[Node, Places]()
    for x in graph.inputs:
        few = [x] if x in shared else [rows.input(x) for _ in range(x.size)]
        known[x] = rows.added(few, x.shape)
        inputs += few
    for n in graph.nodes[len(graph.inputs) :]:
        known[n] = rows.of(n, [known[x] for x in n.inputs])
    outputs = [rows.wide(rows.entries[k]) for n in graph.outputs for k in known[n].reshape(-1)]
    return Graph(tuple(inputs), tuple(outputs))


def _fits(n: Node) -> bool:
    """Return True if the bits of a node are the same in rows."""
    if n.is_input or n.is_constant:
        return True
    if n.row.elementwise:
        return has_lanes(n)
    if n.row.epilogue is Ending.SUM:
        return n.inputs[0].size <= _TERMS * n.size and n.dtype == n.inputs[0].dtype == np.float64
    if n.row.epilogue is Ending.SQUARES:
        return n.inputs[0].size <= _TERMS and n.inputs[0].dtype == np.float64
    return n.op in _MOVES or (n.op == "norm" and n.dtype == np.float64)


class _Rows:
    """The entries of all arrays so far: rows of `width` numbers, and numbers that are the same for all runs."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.entries: list[Node] = []

    def added(self, entries: Iterable[Node], shape: tuple[int, ...]) -> Places:
        """Add entries and return their places, in `shape`."""
        first = len(self.entries)
        self.entries += entries
        return np.arange(first, len(self.entries)).reshape(shape)

    def input(self, x: Node) -> Node:
        """A row in place of a number."""
        return Node("input", (), x.params, (self.width,), x.dtype, x.weak)

    def wide(self, x: Node) -> Node:
        """An entry as a row, even if all runs have the same."""
        return x if x.shape else broadcast(x, (self.width,), ())

    def of(self, n: Node, xs: Sequence[Places]) -> Places:
        """The entries of a node."""
        if n.op in _MOVES:
            return _MOVES[n.op](n, xs, self)
        if n.is_constant:
            return self.added((constant(number, n.dtype) for number in n.params.reshape(-1)), n.shape)
        if n.row.elementwise:
            lists: list[list[int]] = [x.reshape(-1).tolist() for x in xs]
            few: Iterable[Sequence[int]] = zip(*lists, strict=True)
            return self.added([self._elementwise(n, self._some(places)) for places in few], n.shape)
        if n.op == "norm":
            return self.added([self._norm(total) for total in self._some(xs[0].reshape(-1).tolist())], n.shape)
        kept = [axis for axis in range(xs[0].ndim) if n.row.reduction and axis not in n.params]
        order = [*kept, *(axis for axis in range(xs[0].ndim) if axis not in kept)]
        terms: list[list[int]] = xs[0].transpose(order).reshape(n.size, -1).tolist()
        return self.added([self._total(n, self._some(places)) for places in terms], n.shape)

    def _some(self, places: Sequence[int]) -> list[Node]:
        return [self.entries[k] for k in places]

    def _elementwise(self, n: Node, inputs: Sequence[Node]) -> Node:
        shape = (self.width,) if any(x.shape for x in inputs) else ()
        return Node(n.op, tuple(map(self.wide, inputs) if shape else inputs), n.params, shape, n.dtype, n.weak)

    def _norm(self, total: Node) -> Node:
        """A root; nan if the sum of squares is out of range (see `norm.hpp`): the run then continues alone."""
        low, high, nan = (constant(number, total.dtype) for number in (1e-280, np.finfo(np.float64).max, np.nan))
        held = node(
            "logical_and",
            node("greater", total, self._like(low, total)),
            node("less_equal", total, self._like(high, total)),
        )
        return node("where", held, node("sqrt", total), self._like(nan, total))

    def _like(self, x: Node, y: Node) -> Node:
        return self.wide(x) if y.shape else x

    def _total(self, n: Node, terms: Sequence[Node]) -> Node:
        """A sum, of which -0 becomes 0, or of squares."""
        total, squares = constant(0.0, n.dtype), n.row.epilogue is Ending.SQUARES
        for x in terms:
            term = node("mul", x, x) if squares else x
            total = node("add", term, self.wide(total) if term.shape else total)
        return self._held(total, terms) if squares else total

    def _held(self, total: Node, terms: Sequence[Node]) -> Node:
        """A sum of squares; nan if it is nearly 0 although a term is not 0: the run then continues alone."""
        sizes = [node("abs", self._like_all(x, terms)) for x in terms]
        size = reduce(partial(node, "add"), sizes)
        low, zero, nan = (self._like(constant(number, total.dtype), total) for number in (1e-280, 0.0, np.nan))
        lost = node("logical_and", node("less", total, low), node("greater", size, zero))
        return node("where", lost, nan, total)

    def _like_all(self, x: Node, terms: Sequence[Node]) -> Node:
        return self.wide(x) if any(y.shape for y in terms) else x


def _broadcast(n: Node, xs: Sequence[Places], _rows: _Rows) -> Places:
    shape, axes = n.params
    sizes = [1] * len(shape)
    for axis, size in zip(axes, xs[0].shape, strict=True):
        sizes[axis] = size
    return np.broadcast_to(xs[0].reshape(sizes), shape)


def _region(n: Node, shape: tuple[int, ...]) -> Any:
    """Return the index that a slice reads, or a pad writes to."""
    starts, steps, _ = n.params
    return np.ix_(*(start + step * np.arange(size) for start, step, size in zip(starts, steps, shape, strict=True)))


def _pad(n: Node, xs: Sequence[Places], rows: _Rows) -> Places:
    found = np.full(n.shape, rows.added([constant(0, n.dtype)], ()))
    found[_region(n, xs[0].shape)] = xs[0]
    return found


_MOVES: dict[str, Callable[[Node, Sequence[Places], _Rows], Places]] = {
    "broadcast": _broadcast,
    "reshape": lambda n, xs, _: xs[0].reshape(n.shape),
    "transpose": lambda n, xs, _: xs[0].transpose(n.params),
    "slice": lambda n, xs, _: xs[0][_region(n, n.shape)],
    "pad": _pad,
    "concatenate": lambda n, xs, _: np.concatenate(xs, n.params),
}
