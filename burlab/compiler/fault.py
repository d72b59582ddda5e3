"""What went wrong in a kernel, said in the user's terms: which operation, on which line of their code."""

from collections.abc import Sequence
from pathlib import Path

from burlab.errors import BurlabError
from burlab.graph import Graph, Node
from burlab.runtime.coerce import Array
from burlab.runtime.status import error, split


class Explainer:
    """Raises the exception for an outcome of a graph's kernel."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def __call__(self, outcome: int, arrays: Sequence[Array]) -> None:
        raise self.error(outcome)

    def error(self, outcome: int) -> BurlabError:
        """The exception for a status with the number of the node at fault above its low 8 bits."""
        status, number = split(outcome)
        return error(status, place(self.graph.nodes[number]) if number < len(self.graph.nodes) else "")


def place(n: Node) -> str:
    """Where a node comes from: file, line, module scope, operation and shapes.

    A file name is shortened to its last part, as notebooks and tracebacks show the rest.
    """
    at = f'File "{Path(n.origin[0]).name}", line {n.origin[1]}' if n.origin else "an unknown line"
    scope = f" in {n.scope}" if n.scope else ""
    operands = ", ".join(f"{x.dtype.name}{list(x.shape)}" for x in n.inputs)
    return f"{at}{scope}, {n.op}({operands})"
