"""`share_sums`: long sums, products and extremes of few results, that no loop ends in, go by blocks.

Several threads compute the results of blocks, each those of its own, and one takes them together in their order. Blocks
are those in which one thread goes through the numbers, so its bits are the same.
"""

from burlab.compiler.lowering.reduction_blocks import BLOCKS
from burlab.graph import Graph, Node
from burlab.graph.linear_nodes import convert
from burlab.graph.origin import derived_from
from burlab.graph.signatures import DTYPES, letters_of
from burlab.graph.substitute import keep

MIN_SIZE = 1 << 16  # numbers whose reduction is worth a second thread
_MAX_ROW_BYTES = 1 << 11  # bytes of a row of results, from which threads share its columns instead
_MIN_COLUMNS = 4  # results in a row below which sums do not go down columns


def share_sums(graph: Graph, least: int | None = None) -> Graph:
    """Return the graph with reductions of `least` numbers, MIN_SIZE by default, or more by blocks; the same without.

    >>> import numpy as np
    >>> from burlab.graph.linear_nodes import sum_over
    >>> x = Node("input", (), None, (99, 2000), np.dtype(float))
    >>> [n.op for n in share_sums(Graph((x,), (sum_over(x, (0, 1)),))).nodes]
    ['input', 'block_results', 'of_all_blocks']
    """
    most_alone = least or MIN_SIZE
    kinds = {n: kind for n in graph.nodes if n.inputs and n.inputs[0].size >= most_alone and (kind := _kind(n))}
    if not kinds:
        return graph
    new: dict[Node, Node] = {}
    for n in graph.nodes:
        inputs = tuple(new[x] for x in n.inputs)
        with derived_from(n):
            new[n] = _by_blocks(n, kinds[n], inputs) if n in kinds else keep(n, inputs)
    return Graph(graph.inputs, tuple(new[y] for y in graph.outputs))


def _kind(n: Node) -> str:
    """The kind of a reduction that can go by blocks, a key of `BLOCKS`; "" for any other node."""
    if not all(map(_is_dense, n.inputs)):
        return ""
    x = n.inputs[0]
    everything = not n.shape
    if n.op in ("reduce_max", "reduce_min"):
        return n.op if everything and x.dtype.kind == "f" else ""
    if n.dtype.kind != "f" or x.dtype != n.dtype:
        return ""
    if n.op == "contract":
        left, right, _ = letters_of(n.params)
        return "dot" if everything and left == right else ""
    if n.op != "sum" or x.row.elementwise:  # a loop ends in it
        return ""
    columns = n.params == tuple(range(len(n.params))) and n.size >= _MIN_COLUMNS and n.nbytes < _MAX_ROW_BYTES
    return "sum" if everything else "sum_columns" if columns else ""


def _is_dense(x: Node) -> bool:
    """Return True if a value surely lies in memory in its own order."""
    while x.op == "reshape":
        (x,) = x.inputs
    return not x.row.view and not x.is_constant


def _by_blocks(n: Node, kind: str, inputs: tuple[Node, ...]) -> Node:
    x, width = inputs[0], n.size
    block = BLOCKS[kind]
    dtype = x.dtype if kind.startswith("reduce") else DTYPES["float64"]
    results = Node("block_results", inputs, kind, (x.size // width // block.size, width), dtype)
    if kind != "sum_columns":
        return Node("of_all_blocks", (results, *inputs), kind, n.shape, n.dtype)
    total = Node("of_all_blocks", (results, *inputs), kind, n.shape, results.dtype)
    return total if n.dtype == total.dtype else convert(total, n.dtype)
