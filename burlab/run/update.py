"""The update of a run, compiled."""

from dataclasses import dataclass

from burlab.compiler.executable import Executable, build
from burlab.graph import Graph
from burlab.graph.simplify import simplify
from burlab.optim.stretch import STRETCH, stretched


@dataclass(frozen=True)
class Update:
    """graph: of the whole vector. executable: what runs, on `stretch` entries at a time; 0: on all of them."""

    graph: Graph
    executable: Executable
    stretch: int

    @staticmethod
    def of(graph: Graph, dimension: int) -> "Update":
        """The update of `burlab.optim.rule.Rule.graph` for x of shape (dimension,)."""
        whole = simplify(graph)
        short = stretched(whole, dimension)
        return Update(whole, build(short or whole), STRETCH if short else 0)
