"""New states that are old ones with some rows written: the rows alone, so that a step copies no table."""

import numpy as np

from burlab.graph import Graph, Node
from burlab.graph.linear_nodes import convert, reshape
from burlab.graph.rewrite.simplify import simplify

MIN_BYTES = 1 << 12  # of a table: a smaller one is copied as fast
_MAX_SHARE = 2  # a step writes at most one of so many rows


def rows_of_tables(graph: Graph, first: int, state: int) -> tuple[tuple[Node, ...], tuple[int, ...]]:
    """Return the outputs of a kernel with rows in place of tables, and how many rows of each leaf; 0 for whole ones.

    first: the number of outputs before the new state. state: that of inputs before the old one.
    """
    simple = simplify(graph)
    outputs, rows = list(simple.outputs[:first]), list[int]()
    for k, y in enumerate(simple.outputs[first:]):
        found = _written(y, simple.inputs[state + k])
        outputs += found or [y]
        rows.append(found[0].size if found else 0)
    return tuple(outputs), tuple(rows)


def _written(y: Node, old: Node) -> list[Node]:
    """Return the numbers of the rows by which a new table differs from the old one, and these; none of others."""
    if y.op != "put" or y.params != (0, False) or y.inputs[0] is not old or old.nbytes < MIN_BYTES:
        return []
    _, rows, index = y.inputs
    if not index.size or _MAX_SHARE * index.size > old.shape[0]:
        return []
    return [convert(reshape(index, (index.size,)), np.dtype(np.int64)), rows]
