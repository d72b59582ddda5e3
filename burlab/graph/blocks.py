"""`blocks` in a graph: rows that do not depend on each other, computed some at a time.

Inputs are sequences of rows, with the rows as leading axis, then values that all rows read. Two sub-graphs take these
in the same order: one makes a block of rows and is executed again and again, the other makes those that are left. Their
first results are sums over rows, which are added up over all blocks; the others are rows, one block behind the other.
It is made while planning (`compiler/planning/block_rows.py`), and in no file.
"""

from collections.abc import Sequence

from burlab.errors import GraphError

from .control_nodes import ControlOperation
from .graph import Region, Result, ScanIterations
from .node import Node
from .operation import structural
from .signatures import Form


@structural
class BlocksOperation(ControlOperation):
    """Loop over blocks of rows. Its `ScanIterations`: how many sums and sequences, and full blocks before the last."""

    name = "blocks"
    parts = ("block", "last")

    def form(self, _result: Result, _inputs: Sequence[Node]) -> Form:
        """Raises GraphError: no file holds such a node."""
        raise GraphError(f"{self.name!r} is an operation of plans, expected one of graphs.")


def blocks_of(region: Region) -> ScanIterations:
    """Return the bounds of the loop of `blocks`; its carries are the sums."""
    assert region.iterations is not None
    return region.iterations


def result(inputs: tuple[Node, ...], region: Region, item: int) -> Node:
    """One result of an execution."""
    repeated = blocks_of(region)
    block, last = (graph.outputs[item] for graph in region.graphs)
    rows = () if item < repeated.carries else (repeated.length * block.shape[0] + last.shape[0],)
    return Node("blocks", inputs, Result(region, item), (*rows, *block.shape[len(rows) :]), block.dtype)
