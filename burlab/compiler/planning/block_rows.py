"""Products that are too large to be stored: they and what is made of them are computed for a block of rows at a time.

The loss of a language model is small, and so are its gradients, but between them stand the logits of all tokens. A
token's loss reads only the token's row of these, and a gradient adds up over rows. So a block of rows goes through all
of it, forward and backward, before the next one comes: Wijmans et al. 2024, "Cut Your Losses in Large-Vocabulary
Language Models", arXiv:2411.09009, for whatever is made of a product by rows. What the backward pass has to wait for,
such as the value of the loss itself, cuts this in two: the second part computes the product again.

So it is with data of a narrow dtype that are multiplied as floats: a block of their rows is converted, multiplied, and
in the backward pass multiplied again. What is made of the products is stored as ever.
"""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field

from burlab.compiler.ir.strides import Shape
from burlab.graph import Graph, Node
from burlab.graph.blocks import result
from burlab.graph.graph import Region, ScanIterations
from burlab.graph.linear_nodes import transpose
from burlab.graph.origin import derived_from
from burlab.graph.substitute import copy, keep, rebuild

from .row_axes import axes_of_inputs, axes_of_sum, resized
from .untranspose import untranspose

MIN_PRODUCT_BYTES = 3 << 23  # bytes of a product that is not stored
BLOCK_BYTES = 1 << 24  # bytes of its rows that are, at most
_CACHE_BYTES = 1 << 21  # bytes of a block that stays in a core's cache
_WIDE_FRACTION = 4  # of so many parts of the product's row
_MIN_ROWS = 32  # rows of a block: each block reads the weights again
_MAX_PRODUCTS = 64  # products that are looked at


def block_rows(graph: Graph, wide: int = MIN_PRODUCT_BYTES, block: int = BLOCK_BYTES) -> Graph:
    """The graph with every product of at least `wide` bytes that allows it computed in blocks of at most `block` bytes.

    graph: simplified. It stays as it is where a product, or something as large, is wanted as a whole.

    >>> import numpy as np
    >>> from burlab.graph.linear_nodes import contract, sum_over
    >>> a, b = (Node("input", (), None, (k, 8), np.dtype(float)) for k in (64, 32))
    >>> total = Graph((a, b), (sum_over(contract("ac,bc->ab", a, b), (0, 1)),))
    >>> block_rows(total, wide=1 << 12, block=1 << 11).outputs[0].op
    'blocks'
    """
    if not any(n.nbytes >= wide for n in graph.nodes):
        return graph
    refused: set[Node] = set()
    again: set[Node] = set()
    made = untranspose(graph, wide) if any(_is_wide(n, wide) for n in graph.nodes) else graph
    for _ in range(_MAX_PRODUCTS):
        seeds = [n for n in made.nodes if _is_seed(made, n, wide) and n not in refused]
        if not seeds:
            return made
        seed = next((n for n in seeds if n.row.multiplies), seeds[0])  # its blocks convert the rows that they read
        found = _region(made, seed, block if seed.row.multiplies else min(block, _CACHE_BYTES))
        if found is None and seed in again:  # computing it twice to store it after all would help nobody
            return graph
        if found is None:
            refused.add(seed)
            continue
        before = set(made.nodes) - set(found[0].axes)
        made = in_blocks(made, *found, RowBlock.total)
        again.update(n for n in made.nodes if _is_seed(made, n, wide) and n not in before)
    return graph


def _is_wide(n: Node, wide: int) -> bool:
    return n.nbytes >= wide and n.row.multiplies


def _is_seed(graph: Graph, n: Node, wide: int) -> bool:
    """Return True for a wide product, and for wide floats made of narrow data that a product reads."""
    if n.row.multiplies or n.nbytes < wide:
        return _is_wide(n, wide)
    data = n.inputs[0] if n.op == "convert" else n
    while data.row.view:
        data = data.inputs[0]
    widens = data.row.leaf and data.itemsize < n.itemsize and n.dtype.kind == "f"
    return widens and any(user.row.multiplies for x in _same_elements(graph, n) for user in graph.users[x])


def _same_elements(graph: Graph, n: Node) -> list[Node]:
    """A value, and what is made of it element by element."""
    found = dict.fromkeys([n])
    for x in (queue := [n]):
        more = [y for y in graph.users[x] if (y.row.elementwise or y.row.view) and y.size == n.size and y not in found]
        found.update(dict.fromkeys(more))
        queue += more
    return queue


@dataclass(frozen=True, slots=True)
class BlockedRows:
    """The rows that a block computes.

    axes: of each member the axis of its rows. sums: nodes that add up over the rows of members. wide: the members that
    are never stored. repeated: the size from which a value that is no member is computed in blocks too.
    """

    seed: Node
    axes: dict[Node, int]
    sums: tuple[Node, ...]
    wide: Container[Node]
    repeated: int

    @property
    def count(self) -> int:
        """The number of rows."""
        return self.seed.shape[self.axes[self.seed]]


def _region(graph: Graph, seed: Node, block: int) -> tuple[BlockedRows, int] | None:
    """Rows of a product that can be computed on their own, and so many at a time; None where there are none.

    Of several axes, the one with most of them.
    """
    for axis in sorted(range(seed.ndim), key=lambda k: -seed.shape[k]):
        rows = _rows(graph, seed, axis) if seed.shape[axis] >= 2 * _MIN_ROWS else None
        if (
            rows
            and (rows.sums or stored_rows(graph, rows))
            and 2 * (size := _rows_of_a_block(rows, block)) <= rows.count
        ):
            return rows, size
    return None


def _rows(graph: Graph, seed: Node, axis: int) -> BlockedRows | None:
    """The rows along an axis; None where something large would have to be stored."""
    axes, found = _reached(graph, seed, axis)
    large = axes if seed.row.multiplies else set(_same_elements(graph, seed)).intersection(axes)
    wide = {n for n in large if n.size * _WIDE_FRACTION >= seed.size}
    if wide.intersection(graph.outputs):
        return None
    sums = tuple(n for n in found if not wide.isdisjoint(n.inputs))
    inside = set(sums)
    for n in reversed(axes):  # what leads to something wide or to a sum, and what is made of something wide
        if n in wide or not inside.isdisjoint(graph.users[n]) or not wide.isdisjoint(n.inputs):
            inside.add(n)
    return BlockedRows(
        seed, {n: k for n, k in axes.items() if n in inside}, sums, wide, -(-seed.size // _WIDE_FRACTION)
    )


def _reached(graph: Graph, seed: Node, axis: int) -> tuple[dict[Node, int], list[Node]]:
    """Nodes made of the seed row by row, with the axis of the rows, and the sums over rows. None waits for a sum."""
    axes = {seed: axis}
    sums: list[Node] = []
    later: set[Node] = set()
    for n in graph.nodes:
        if n is seed or not any(x in axes or x in later for x in n.inputs):
            continue
        if not any(x in later for x in n.inputs):
            found = _axis_of(n, axes)
            if found is not None:
                axes[n] = found
                continue
            if axes_of_sum(n, axes):
                sums.append(n)
        later.add(n)
    return axes, sums


def _axis_of(n: Node, axes: Mapping[Node, int]) -> int | None:
    """Along which axis the rows of a node are made of the same rows of its inputs; None where along none."""
    for k in range(n.ndim):
        found = axes_of_inputs(n, k)
        if found and all(axes.get(x, j) == j for x, j in zip(n.inputs, found, strict=True)):
            return k
    return None


@dataclass(slots=True)
class RowBlock:
    """A sub-graph for so many rows. rows: its inputs that are rows, by node and axis; shared: those that all read."""

    members: BlockedRows
    size: int
    rows: dict[tuple[Node, int], Node] = field(default_factory=dict[tuple[Node, int], Node])
    shared: dict[Node, Node] = field(default_factory=dict[Node, Node])
    made: dict[tuple[Node, int | None], Node] = field(default_factory=dict[tuple[Node, int | None], Node])

    def of(self, n: Node, k: int | None) -> Node:
        """A value of the block. k: the axis of its rows, None where all share it."""
        if (n, k) not in self.made:
            self.made[n, k] = self._all(n) if k is None else self._some(n, k)
        return self.made[n, k]

    def total(self, n: Node) -> Node:
        """Return the part of a sum that the rows of the block make."""
        axes = axes_of_sum(n, self.members.axes)
        assert axes
        return copy(n, tuple(self.of(x, j) for x, j in zip(n.inputs, axes, strict=True)))

    def _some(self, n: Node, k: int) -> Node:
        inner = axes_of_inputs(n, k) if self._is_inside(n) else None
        if inner is not None:
            return resized(n, k, self.size, tuple(self.of(x, j) for x, j in zip(n.inputs, inner, strict=True)))
        shape = (self.size, *n.shape[:k], *n.shape[k + 1 :])
        given = self.rows[n, k] = Node("input", (), None, shape, n.dtype)
        return transpose(given, first_axis_to(n.ndim, k))

    def _is_inside(self, n: Node) -> bool:
        """Return True if the block computes it: members, views, and what is as large as the product or sums that up."""
        row = n.row
        size = n.inputs[0].size if row.reduction else n.size
        return n in self.members.axes or row.view or (size >= self.members.repeated and not row.leaf)

    def _all(self, n: Node) -> Node:
        if n.is_constant:
            return n
        if n.row.view:
            return copy(n, tuple(self.of(x, None) for x in n.inputs))
        given = self.shared[n] = Node("input", (), None, n.shape, n.dtype)
        return given


def first_axis_to(rank: int, k: int) -> Shape:
    """The permutation that puts the first axis at place k."""
    return (*range(1, k + 1), 0, *range(k + 1, rank))


def first_axis(n: Node, k: int) -> Node:
    """The value with axis k in front."""
    return transpose(n, (k, *(a for a in range(n.ndim) if a != k)))


def in_blocks(
    graph: Graph,
    rows: BlockedRows,
    size: int,
    part: Callable[[RowBlock, Node], Node],
    total: Callable[[Node], Node] | None = None,
) -> Graph:
    """The graph with what rows give computed for so many of them at a time.

    part: what a block gives to a sum. total: the sum, of the parts one behind another; None where blocks add them up.
    """
    stored = stored_rows(graph, rows)
    count, full = rows.count, (rows.count - 1) // size
    block, blocks = _sub_graph(rows, stored, size, part)
    left = count - full * size
    last = block if left == size else _sub_graph(rows, stored, left, part)[0]
    added = len(rows.sums) if total is None else 0
    region = Region((block, last), ScanIterations(added, len(blocks.rows), full, False))
    known = {x: x for x in graph.inputs}
    with derived_from(rows.seed):
        inputs = (*(first_axis(n, k) for n, k in blocks.rows), *blocks.shared)
        for item, n in enumerate(rows.sums):
            y = result(inputs, region, item)
            known[n] = y if total is None else total(y)
        for item, n in enumerate(stored, len(rows.sums)):
            known[n] = transpose(result(inputs, region, item), first_axis_to(n.ndim, rows.axes[n]))
    return Graph(graph.inputs, tuple(rebuild(graph.outputs, known, keep)))


def _sub_graph(
    rows: BlockedRows, stored: list[Node], size: int, part: Callable[[RowBlock, Node], Node]
) -> tuple[Graph, RowBlock]:
    """Return the graph of a block: its parts of the sums, and the rows that are stored."""
    block = RowBlock(rows, size)
    for n, k in rows.axes.items():
        block.of(n, k)
    results = [part(block, n) for n in rows.sums]
    results += [first_axis(block.of(n, rows.axes[n]), rows.axes[n]) for n in stored]
    return Graph((*block.rows.values(), *block.shared.values()), tuple(results)), block


def stored_rows(graph: Graph, rows: BlockedRows) -> list[Node]:
    """The members that are read outside, or by wide ones that are computed again there."""
    inner = set(rows.axes).union(rows.sums)
    read = set(graph.outputs).union(x for n in graph.nodes if n not in inner for x in n.inputs)
    for n in reversed(rows.axes):
        if n in rows.wide and n in read:
            read.update(n.inputs)
    return [n for n in rows.axes if n in read and n not in rows.wide]


def _rows_of_a_block(rows: BlockedRows, block: int) -> int:
    """A number that divides that of all rows, if one of about the size does.

    Every block reads the other operand of the product again, so it is as large as that, or fits into the cache.
    """
    read = axes_of_inputs(rows.seed, rows.axes[rows.seed]) or ()
    again = sum(x.nbytes for x, k in zip(rows.seed.inputs, read, strict=True) if k is None)
    most = max(_MIN_ROWS, min(block, max(again, _CACHE_BYTES)) * rows.count // rows.seed.nbytes)
    return next((b for b in range(most, most // 2, -1) if rows.count % b == 0), most // _MIN_ROWS * _MIN_ROWS)
