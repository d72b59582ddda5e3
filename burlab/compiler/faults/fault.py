"""Errors of a kernel in the user's terms: the operation, and the line of their code."""

from burlab.errors import BurlabError
from burlab.graph import Graph, Node
from burlab.graph.executions import every_node
from burlab.graph.origin import place as line_of
from burlab.runtime.status import Status, error, split


def fault(graph: Graph, outcome: int) -> BurlabError:
    """The exception for an outcome: a Status, and above its low 8 bits the number of the node at fault."""
    status, number = split(outcome)
    if status in (Status.INDEX_OUT_OF_RANGE, Status.NEGATIVE_POWER):
        return error(status, place(every_node(graph)[number]))
    return error(status)


def place(n: Node) -> str:
    """Return the origin of a node: file, line, module scope, operation and shapes."""
    at = line_of(n.origin) if n.origin else "An unknown line"
    scope = f" in {n.scope}" if n.scope else ""
    operands = ", ".join(f"{x.dtype.name}{list(x.shape)}" for x in n.inputs)
    return f"{at}{scope}, {n.op}({operands})"
