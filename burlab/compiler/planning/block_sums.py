"""Sums of large arrays that nothing else reads: their terms are computed for a block of rows at a time.

The gradient of a coefficient that many entries share, as of a batch norm or of a rational activation by groups, is a
sum over most axes of an array as large as the input. A block of rows goes through all terms and their sums before the
next one comes, so that the terms never leave a core's cache.
"""

import sys
from collections import Counter
from collections.abc import Iterator

from burlab.compiler.ir.strides import Shape
from burlab.graph import Graph, Node
from burlab.graph.linear_nodes import reshape, sum_over
from burlab.graph.operation import Ending

from .block_rows import BlockedRows, RowBlock, in_blocks
from .row_axes import axes_of_inputs

MIN_TERM_BYTES = 1 << 22  # bytes of terms that are not stored
_CACHE_BYTES = 1 << 20  # bytes of what a block goes through
_MAX_REGIONS = 16


def block_sums(graph: Graph, least: int = MIN_TERM_BYTES, cache: int = _CACHE_BYTES) -> Graph:
    """Return the graph with sums over leading axes, whose terms have `least` bytes or more, computed in blocks of rows.

    >>> import numpy as np
    >>> from burlab.graph.linear_nodes import sum_over
    >>> x = Node("input", (), None, (64, 3, 8), np.dtype(float))
    >>> y = x * x
    >>> f = Graph((x,), (sum_over(y, (0, 2)), sum_over(y * x, (0, 2))))
    >>> [n.op for n in block_sums(f, least=1 << 10, cache=1 << 13).nodes]
    ['input', 'blocks', 'sum', 'blocks', 'sum']
    """
    for _ in range(_MAX_REGIONS):
        found = next((rows for rows in _regions(graph, least) if _length(rows, cache) * 2 <= rows.count), None)
        if found is None:
            return graph
        graph = in_blocks(graph, found, _length(found, cache), _part, _total)
    return graph


def _length(rows: BlockedRows, cache: int) -> int:
    """The number of rows of a block, which divides that of all rows if one of about the size does."""
    row = 2 * sum(n.inputs[0].nbytes for n in rows.sums) // rows.count  # terms, and what they are made of
    most = max(1, cache // max(row, 1))
    return next((b for b in range(most, most // 2, -1) if rows.count % b == 0), most)


def _regions(graph: Graph, least: int) -> Iterator[BlockedRows]:
    """Sums that can be computed together, with what they are made of and what else is made of that, row by row."""
    sums = [n for n in graph.nodes if _adds_rows(n)]
    if sum(n.inputs[0].nbytes for n in sums) < least:
        return
    sums = [n for n in sums if all(map(_in_rows, graph.users[n.inputs[0]]))]
    sizes = Counter[Shape]()
    for x in {n.inputs[0] for n in sums if n.shape}:
        sizes[x.shape] += x.nbytes
    sums = [n for n in sums if sizes[n.inputs[0].shape] >= least]
    outputs, tried = set(graph.outputs), set[Node]()
    for first in sums:
        if first in tried or not first.shape:
            continue
        chosen = {first: None}
        members = _members(graph, chosen)
        for n in sums:
            if n is not first and n.inputs[0].shape == first.inputs[0].shape:
                more = _members(graph, {**chosen, n: None})
                if more and members.keys() <= more.keys():
                    chosen[n], members = None, more
        tried.update(chosen)
        terms = {n.inputs[0] for n in chosen if n.shape and n.inputs[0] in members} - outputs
        unread = [n for n in terms if all(u in chosen or u in members for u in graph.users[n])]
        if sum(n.nbytes for n in unread) >= least:
            members |= _derived(graph, members, chosen)
            axes = {n: 0 for n in graph.nodes if n in members}
            views = {n for n in axes if n.row.view}
            yield BlockedRows(first.inputs[0], axes, tuple(chosen), views, sys.maxsize)


def _derived(graph: Graph, members: dict[Node, None], sums: dict[Node, None]) -> dict[Node, None]:
    """Other nodes made of members row by row that wait for nothing that is made of these or the sums outside."""
    count = next(iter(sums)).inputs[0].shape[0]
    found: dict[Node, None] = {}
    later = set(sums)
    for n in graph.nodes:
        if n in members or n in later:
            continue
        inside = any(x in members or x in found for x in n.inputs)
        if inside and not n.row.view and _by_rows(n, count) and later.isdisjoint(n.inputs):
            found[n] = None
        elif inside or not later.isdisjoint(n.inputs):
            later.add(n)
    return found


def _adds_rows(n: Node) -> bool:
    """Return True for a sum of floats over the leading axis and others, of what a loop computes."""
    if n.row.epilogue is not Ending.SUM or 0 not in n.params:
        return False
    x = n.inputs[0]
    return x.dtype.kind == "f" and x.row.elementwise


def _members(graph: Graph, sums: dict[Node, None]) -> dict[Node, None]:
    """Nodes that sums are made of row by row, unless something that they wait for needs them as a whole.

    None if one of the sums waits for another.
    """
    before = set(sums)
    for n in reversed(graph.nodes):
        if n in before:
            before.update(n.inputs)
    if any(u in before for n in sums for u in graph.users[n]):
        return {}
    count = next(iter(sums)).inputs[0].shape[0]
    members: dict[Node, None] = {}
    for n in reversed(graph.nodes):
        joins = n in before and n not in sums and _by_rows(n, count)
        if joins and all(u in members or u in sums or u not in before for u in graph.users[n]):
            members[n] = None
    return members


def _in_rows(n: Node) -> bool:
    """Return True for operations that can take a block of rows."""
    return n.row.elementwise or n.row.view or n.row.reduction


def _by_rows(n: Node, count: int) -> bool:
    """Return True if a loop, a view or a reduction makes each of so many rows of the same row of the inputs."""
    if n.row.leaf or n.shape[:1] != (count,) or not _in_rows(n):
        return False
    found = axes_of_inputs(n, 0)
    return found is not None and all(k in (0, None) for k in found)


def _part(block: RowBlock, n: Node) -> Node:
    """A block's part of a sum, which the library adds up as exactly as any other sum, with an axis for the blocks."""
    return reshape(sum_over(block.of(n.inputs[0], 0), n.params), (1, *n.shape))


def _total(parts: Node) -> Node:
    return sum_over(parts, (0,))
