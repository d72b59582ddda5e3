"""The check that nodes match their operations, for graphs from a file, and for our own in tests.

Kernels trust a graph: an index or a region outside of an array would read foreign memory. What a node is follows from
the signature of its operation, the one that tracing goes by; here it is only compared.
"""

from collections.abc import Set

from burlab.errors import GraphError, UnregisteredError
from burlab.graph import parameters
from burlab.graph.calls import graphs_of
from burlab.graph.control_nodes import chosen_inputs
from burlab.graph.graph import Call, Graph, Region
from burlab.graph.node import Node
from burlab.graph.query import QueryOperation
from burlab.graph.signatures import ALL, DTYPES, require
from burlab.runtime.dtypes import is_narrow_float
from burlab.runtime.memory import ADDRESSABLE, volume

DEEPEST = 32  # graphs inside of one another
MAX_NODES = 1 << 24  # nodes, those of a sub-graph counted as often as it is executed


def verify(graph: Graph, oracle: Node | None = None) -> None:
    """Raise GraphError, naming the first node that is malformed.

    oracle: the input with the address of what answers queries (`query.py`); without one a graph has none, since
    kernels call what lies at such an address.
    """
    _Checker().graph(graph, frozenset() if oracle is None else frozenset({oracle}), 0)


class _Checker:
    """Checks every node once; sub-graphs that several nodes execute are counted again, but not checked again."""

    def __init__(self) -> None:
        self._known: dict[tuple[Region, Set[int]], int] = {}

    def graph(self, graph: Graph, oracles: Set[Node], depth: int) -> int:
        """Check a graph; how many nodes it executes."""
        require(depth < DEEPEST, f"the graph is malformed: graphs lie in one another more than {DEEPEST} deep.")
        inputs = set(graph.inputs)
        require(len(inputs) == len(graph.inputs), "the graph is malformed: an input is named twice.")
        whole = all(x.is_input for x in inputs)
        require(whole, "the graph is malformed: one of its inputs is the result of an operation.")
        count = len(graph.nodes)
        for n in graph.nodes:
            try:
                require(not n.is_input or n in inputs, "it is not among the inputs of the graph")
                check(n)
                require(
                    not isinstance(n.row, QueryOperation) or n.inputs[0] in oracles,
                    "its oracle must be an input of the graph",
                )
                count += self._inside(n, oracles, depth + 1)
            except UnregisteredError:
                raise
            except GraphError as error:
                raise GraphError(f"the graph is malformed: {error} ({n.op[:40]!a} of {list(n.shape)}).") from None
            require(count <= MAX_NODES, f"the graph is malformed: it executes more than {MAX_NODES} nodes.")
        return count

    def _inside(self, n: Node, oracles: Set[Node], depth: int) -> int:
        """Check the sub-graphs of a node."""
        if isinstance(n.params, Call):
            return sum(self.graph(graph, frozenset(), depth) for graph in graphs_of(n.params))
        if not n.row.parts:
            return 0
        region: Region = n.params.region
        given = frozenset(k for k, x in enumerate(chosen_inputs(n)) if x in oracles)
        if (region, given) not in self._known:
            counts = [self.graph(g, frozenset(g.inputs[k] for k in given), depth) for g in region.graphs]
            self._known[region, given] = sum(counts)
        return self._known[region, given]


def check(n: Node) -> None:
    """Raise GraphError unless a node matches its operation and inputs. Sub-graphs are not checked."""
    narrow = is_narrow_float(n.dtype) and (n.row.leaf or n.row.moves_data or n.op == "convert")
    require(n.dtype in ALL or narrow, f"its dtype is none of {', '.join(DTYPES)}")
    fits = parameters.shape(n.shape) and volume(n.shape) * n.itemsize <= ADDRESSABLE
    require(fits, "its shape is not of sizes, or larger than any memory")
    n.row.verify(n)
