"""Products of gathered rows that are scattered, or summed, as products with a sparse matrix.

`y[rows] += values * x[columns]` would store a product for each entry, and its gradient more. As one node (see
`graph/sparse_products.py`) it reads an entry and adds it where it belongs; no array has the size of all products.
"""

from typing import Any, NamedTuple

from burlab.graph.control_nodes import with_graphs
from burlab.graph.executions import every_node
from burlab.graph.graph import Graph, Region
from burlab.graph.node import Node
from burlab.graph.operation import make_node
from burlab.graph.origin import derived_from
from burlab.graph.signatures import FLOATS
from burlab.graph.sparse_products import SampledProduct, SparseProduct
from burlab.graph.substitute import keep


def match_sparse(graph: Graph) -> Graph:
    """Return the graph with products of gathered rows as products with sparse matrices, in its sub-graphs too."""
    if not any(map(_is_gathered, every_node(graph))):
        return graph
    found = _Fusion(graph)
    regions: dict[Region, Region] = {}

    def rule(n: Node, inputs: tuple[Node, ...]) -> Node:
        if n.row.parts:
            region: Region = n.params.region
            if region not in regions:
                regions[region] = Region(tuple(map(match_sparse, region.graphs)), region.iterations)
            return with_graphs(keep(n, inputs), regions[region])
        return keep(n, inputs)

    known = {x: x for x in graph.inputs}
    for n in graph.nodes:
        if n in known:
            continue
        match = found.sparse.get(n) or found.sampled.get(n)
        if match is None:
            known[n] = rule(n, tuple(known[x] for x in n.inputs))
            continue
        with derived_from(n):
            known[n] = make_node(match.op, match.params, *(known[x] for x in match.inputs))
    return Graph(graph.inputs, tuple(known[y] for y in graph.outputs))


class _Match(NamedTuple):
    """A node as it could be."""

    op: str
    params: Any
    inputs: tuple[Node, ...]


class _Fusion:
    """The nodes of a graph that are products with sparse matrices."""

    def __init__(self, graph: Graph) -> None:
        self._users = graph.users
        self._outputs = set(graph.outputs)
        self.sparse = {n: match for n in graph.nodes if (match := self._scattered(n))}
        products = {x for n in self.sparse for x in n.inputs if x.op == "mul"}
        pairs = {n: match for n in graph.nodes if (match := self._pair(n))}
        gone = products | set(pairs)
        self.sampled = {n: match for n, match in pairs.items() if n.op != "mul" or self._leaves_nothing(n, gone)}

    def _scattered(self, n: Node) -> _Match | None:
        if n.op == "scatter" and n.params[0] == 0:
            product, rows, size = *n.inputs, n.params[1]
        elif n.op == "put" and n.params == (0, True) and n.inputs[0].is_zero:
            (_, product, rows), size = n.inputs, n.shape[0]
        else:
            return None
        if product.op != "mul" or rows.ndim != 1 or not self._is_alone(product) or n.dtype not in FLOATS:
            return None
        for values, picked in (product.inputs, product.inputs[::-1]):
            each = _of_rows(values)
            if _is_gathered(picked) and each is not None:
                x, columns = picked.inputs
                (columns, a), (rows, b) = _index(columns, x.shape[0]), _index(rows, size)
                return _Match(SparseProduct.name, (size, a, b), (each, x, columns, rows))
        return None

    def _pair(self, n: Node) -> _Match | None:
        """A sum of products of gathered rows, or products of gathered numbers."""
        product = n
        if n.op == "sum" and n.params == tuple(range(1, n.inputs[0].ndim)) and self._is_alone(n.inputs[0]):
            (product,) = n.inputs
        fits = product.op == "mul" and product.dtype in FLOATS and all(map(_is_gathered, product.inputs))
        if not fits or (product is n) != (product.ndim == 1):
            return None
        (x, columns), (y, rows) = (picked.inputs for picked in product.inputs)
        (columns, a), (rows, b) = _index(columns, x.shape[0]), _index(rows, y.shape[0])
        return _Match(SampledProduct.name, (a, b), (x, y, columns, rows))

    def _is_alone(self, n: Node) -> bool:
        """Return True if one node reads a value."""
        return n not in self._outputs and len(self._users[n]) == 1

    def _leaves_nothing(self, n: Node, gone: set[Node]) -> bool:
        """Return True if what is gathered for a product is gathered for nothing else."""
        return all(x not in self._outputs and gone.issuperset(self._users[x]) for x in n.inputs)


def _is_gathered(n: Node) -> bool:
    return n.op == "gather" and n.params == 0 and n.inputs[1].ndim == 1


def _of_rows(n: Node) -> Node | None:
    """The number of each row where a value has one."""
    if n.ndim == 1:
        return n
    repeats = n.op == "broadcast" and n.params[1] == (0,)
    return n.inputs[0] if repeats or (n.op == "reshape" and n.inputs[0].shape == n.shape[:1]) else None


def _index(n: Node, size: int) -> tuple[Node, bool]:
    """An index, and whether its negative entries still have to be counted from the end of an axis."""
    if n.op != "where":
        return n, False
    negative, moved, index = n.inputs
    fits = (
        (negative.op, moved.op) == ("less", "add")
        and negative.inputs[0] is index is moved.inputs[0]
        and negative.inputs[1].is_zero
        and (length := moved.inputs[1].known) is not None
        and length.shape == ()
        and int(length) == size
    )
    return (index, True) if fits else (n, False)
