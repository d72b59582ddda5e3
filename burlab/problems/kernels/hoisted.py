"""The part of a tile that needs no sample, hoisted: computed once for all tiles of a batch, if that saves enough."""

from typing import NamedTuple

from burlab.compiler.ir.spelling import formula
from burlab.graph import Graph, Node, topological
from burlab.graph.executions import work
from burlab.graph.origin import derived_from
from burlab.graph.rewrite.batch_sum import Tiled
from burlab.graph.rewrite.linear_cut import of_samples
from burlab.graph.substitute import keep, rebuild

_SHARE = 20  # a part with less than 1/n of the work of a tile is not worth a kernel of its own
_FUNCTION = 10  # additions that take as long as exp


class Prepared(NamedTuple):
    """A tile's graph in two parts.

    once: maps the inputs that samples share to values that need no sample. tiled: takes these values as further shared
    inputs, after the others.
    """

    once: Graph
    tiled: Tiled


def prepared(tile: Tiled, sampled: list[bool]) -> Prepared | None:
    """Split a tile's graph; None if the first part is too small. sampled: which inputs belong to samples."""
    graph = tile.graph
    own = of_samples(graph, sampled)
    own |= _later(graph)
    found = list(dict.fromkeys(_source(x) for n in graph.nodes if n in own for x in n.inputs if x not in own))
    values = [x for x in found if not x.row.leaf]
    if _SHARE * sum(map(_work, topological(values))) < sum(map(_work, own)):
        return None
    inputs: list[Node] = []
    for x in values:
        with derived_from(x):
            inputs.append(Node("input", (), "", x.shape, x.dtype))
    known = dict(zip(values, inputs, strict=True))
    fixed = sampled.count(False)
    first, second = graph.inputs[:fixed], graph.inputs[fixed:]
    rest = Graph((*first, *inputs, *second), tuple(rebuild(graph.outputs, dict(known), keep)))
    finish = tile.finish
    if finish is not None:
        outputs = tuple(rebuild(finish.outputs, dict(known), keep))
        finish = Graph((*first, *inputs, *finish.inputs[fixed:]), outputs)
    return Prepared(Graph(first, tuple(values)), Tiled(rest, finish))


def _later(graph: Graph) -> set[Node]:
    """Return the nodes of unbounded operations, which stay in the tile, and all that depend on them."""
    found: set[Node] = set()
    for n in graph.nodes:
        if n.row.unbounded or any(x in found for x in n.inputs):
            found.add(n)
    return found


def _source(x: Node) -> Node:
    """Return the base of a view."""
    while x.row.view:
        x = x.inputs[0]
    return x


def _work(n: Node) -> int:
    """Return roughly the number of additions of a node."""
    heavy = n.row.elementwise and ((text := formula(n)) is None or "std::" in text)
    return work(n) * (_FUNCTION if heavy else 1)
