"""The executions of sub-graphs in a graph, its nodes with those of its sub-graphs, and rough costs of them."""

from dataclasses import dataclass
from typing import Any

from .graph import Graph, Region
from .node import Node

ENDLESS = 1 << 40  # of a loop that ends when it ends


@dataclass(frozen=True)
class Execution:
    """All result nodes of one execution of a region.

    firsts: the number of the first node of each sub-graph, where nodes are counted as `every_node` lists them.
    """

    nodes: tuple[Node, ...]
    firsts: tuple[int, ...]

    @property
    def region(self) -> Region:
        """The sub-graphs that it executes."""
        return self.nodes[0].params.region


def executions(graph: Graph) -> list[Execution]:
    """The executions of a graph, in the order of their first nodes."""
    groups: dict[Any, list[Node]] = {}
    for n in graph.nodes:
        if n.row.parts:
            groups.setdefault((n.op, n.inputs, n.params.region, n.params.batch), []).append(n)
    found: list[Execution] = []
    end = len(graph.nodes)
    for nodes in groups.values():
        firsts: list[int] = []
        for inner in nodes[0].params.region.graphs:
            firsts.append(end)
            end += len(every_node(inner))
        found.append(Execution(tuple(nodes), tuple(firsts)))
    return found


def every_node(graph: Graph) -> list[Node]:
    """The nodes of a graph, then those of its sub-graphs: the numbering of a kernel's outcome."""
    inner = [n for e in executions(graph) for g in e.region.graphs for n in every_node(g)]
    return [*graph.nodes, *inner]


def work(n: Node) -> int:
    """Return roughly how many elements a node reads or writes, or numbers it adds; 0 for a view.

    >>> from burlab.graph import Node
    >>> from burlab.graph.linear_nodes import contract
    >>> import numpy as np
    >>> a, b = (Node("input", (), "", shape, np.dtype(float)) for shape in ((2, 3), (3, 5)))
    >>> work(contract("ij,jk->ik", a, b))
    30
    """
    return n.row.work(n)


def work_of(graph: Graph) -> int:
    """Return the cost of all nodes, iterations and branches; `ENDLESS` for a loop without a bound.

    >>> import numpy as np, burlab as bl
    >>> from burlab.graph.tracing.trace import trace
    >>> squared = lambda x: bl.scan(lambda c, v: (c + v * v, None), 0.0, x)[0]
    >>> [work_of(trace(squared, (np.ones(n),), {}).graph) for n in (100, 1000)]
    [300, 3000]
    >>> work_of(trace(lambda x: bl.while_loop(lambda s: s > 1, lambda s: s / 2, x), (1.0,), {}).graph) == ENDLESS
    True
    """
    if any(n.row.endless for n in every_node(graph)):
        return ENDLESS
    total = sum(work(n) for n in graph.nodes)
    for execution in executions(graph):
        scan = execution.region.iterations
        total += (1 if scan is None else scan.length) * sum(work_of(g) for g in execution.region.graphs)
    return total
