"""The elementary operations of a graph, by operation and by scope, from shapes alone.

A `scan` executes its body as often as it is long, a `cond` the side with more floating-point operations, and a `while`,
whose length is known to nobody before it runs, one iteration. Operands are read once by each node, through views, and
each result is written: what loops fuse, and what caches hold, is not subtracted.
"""

import math
from collections import defaultdict
from dataclasses import dataclass, field

from .executions import Execution, executions
from .graph import Graph
from .node import Node
from .tally import NOTHING, Tally

LOOPS = "a while loop counts one iteration, since its length depends on the numbers"
CHOICES = "a choice counts its side with more floating-point operations"

Place = tuple[str, str]
"""An operation and a scope."""


@dataclass(frozen=True, slots=True)
class GraphTally:
    """by_place: numbers by operation and scope. notes: what is assumed of control flow."""

    by_place: dict[Place, Tally] = field(default_factory=dict[Place, Tally])
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> Tally:
        """All of them."""
        return sum(self.by_place.values(), NOTHING)


def graph_tally(graph: Graph) -> GraphTally:
    """Count the elementary operations of a simplified graph.

    >>> import numpy as np, burlab as bl
    >>> from burlab.graph.tracing.trace import trace
    >>> power = lambda x: bl.scan(lambda c, _: (c * x, None), x, None, length=9)[0]
    >>> graph_tally(trace(power, (np.ones(5),), {}).graph).total.flops
    45
    """
    found: defaultdict[Place, Tally] = defaultdict(lambda: NOTHING)
    notes: dict[str, None] = {}
    for n in graph.nodes:
        if not n.row.parts and (tally := node_tally(n)) != NOTHING:
            found[n.op, n.scope] += tally
    for execution in executions(graph):
        inner, count = _of_execution(execution, notes)
        for place, tally in inner.items():
            found[place] += tally.times(count)
    return GraphTally(dict(found), tuple(notes))


def node_tally(n: Node) -> Tally:
    """Count those of a node without sub-graphs, with its bytes."""
    row = n.row
    if row.leaf or row.view:
        return NOTHING
    tally = row.tally(n) if n.dtype.kind == "f" else row.tally(n).of_whole_numbers()
    return tally._replace(bytes_read=_read(n), bytes_written=_written(n))


def _of_execution(execution: Execution, notes: dict[str, None]) -> tuple[dict[Place, Tally], int]:
    """Return the tallies of one execution of the sub-graphs, and how often it is executed."""
    n, region = execution.nodes[0], execution.region
    parts = [graph_tally(graph) for graph in region.graphs]
    notes.update(dict.fromkeys(note for part in parts for note in part.notes))
    count = math.prod(n.params.batch)
    if region.iterations is not None:
        return parts[0].by_place, count * region.iterations.length
    if n.row.endless:
        notes[LOOPS] = None
        return _together(parts), count
    notes[CHOICES] = None
    return max(parts, key=lambda part: part.total.flops).by_place, count


def _together(parts: list[GraphTally]) -> dict[Place, Tally]:
    found: dict[Place, Tally] = {}
    for part in parts:
        for place, tally in part.by_place.items():
            found[place] = found.get(place, NOTHING) + tally
    return found


def _read(n: Node) -> int:
    """Return the bytes of the operands; of an array that an index selects from, those of what it selects."""
    if (touched := n.row.touched(n)) is not None:
        return touched - n.nbytes
    if n.row.selects:
        return n.nbytes + sum(map(_shown, n.inputs[1:]))
    return sum(map(_shown, n.inputs[1:] if n.op == "put" else n.inputs))


def _written(n: Node) -> int:
    return n.inputs[1].nbytes if n.op == "put" else n.nbytes


def _shown(x: Node) -> int:
    """Return the bytes that a view reads of its base: no more than either has."""
    elements = x.size
    while x.row.view:
        x = x.inputs[0]
        elements = min(elements, x.size)
    return elements * x.itemsize
