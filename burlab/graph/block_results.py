"""Long reductions to few numbers as two operations, so that several threads can share the first: see `share_sums`.

The result of each block of a fixed size, and the result of all blocks in their order. Both are made while planning
(`compiler/planning/share_sums.py`), and in no file.
"""

from collections.abc import Sequence

from burlab.errors import GraphError
from burlab.typing import Params

from .node import Node
from .operation import Operation, structural
from .signatures import Form


class _OfBlocks(Operation):
    """Parameter: the kind of the reduction, a key of `BLOCKS`."""

    dense_operands = True

    def form(self, _: Params, _inputs: Sequence[Node]) -> Form:
        """Raises GraphError: no file holds such a node."""
        raise GraphError(f"{self.name!r} is an operation of plans, expected one of graphs.")


@structural
class BlockResults(_OfBlocks):
    """The results of all whole blocks, one behind the other. Inputs: what is reduced."""

    name = "block_results"


@structural
class OfAllBlocks(_OfBlocks):
    """The result of a reduction. Inputs: results of its blocks, and what is reduced, whose end may fill no block."""

    name = "of_all_blocks"

    def work(self, n: Node) -> int:
        """Return how many results there are."""
        return n.inputs[0].size
