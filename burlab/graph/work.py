"""Rough costs of nodes."""

from .executions import every_node, executions
from .graph import Graph
from .node import Node

ENDLESS = 1 << 40  # of a loop that ends when it ends


def work(n: Node) -> int:
    """Return roughly how many elements a node reads or writes, or numbers it adds; 0 for a view.

    >>> from burlab.graph import Node
    >>> from burlab.graph.linear import contract
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
