"""The sum of the cotangents that a value receives from its users in the reverse sweep."""

from collections.abc import Sequence
from functools import partial, reduce

from burlab.graph.linear_nodes import reshape
from burlab.graph.node import Node
from burlab.graph.numpy_api.promotion import node
from burlab.graph.origin import derived_from
from burlab.graph.pieces import MAX_SINGLE_ELEMENTS, is_run, position, side_by_side

MIN_ADDED_ROWS = 8  # rows of a large array, from which zeros that are added to each would take more than a copy


def summed(shares: Sequence[Node]) -> Node:
    """The sum of cotangents. Single elements, and many rows, are put side by side, not each added to zeros."""
    with derived_from(shares[-1]):
        return shares[0] if len(shares) == 1 else _added(shares)


def _added(shares: Sequence[Node]) -> Node:
    runs = [g for g in shares if is_run(g)]
    if runs and (
        sum(g.inputs[0].size > 1 for g in runs) < MIN_ADDED_ROWS
        or runs[0].size <= MAX_SINGLE_ELEMENTS
        or _overlap(runs)
    ):
        runs = [g for g in runs if g.inputs[0].size == 1]
    places: dict[int, Node] = {}
    for g in runs:
        at, x = position(g), reshape(g.inputs[0], (g.inputs[0].size,))
        places[at] = node("add", places[at], x) if at in places else x
    if len(places) < 2:
        return reduce(partial(node, "add"), shares)
    run_ids = set(map(id, runs))
    rest = [g for g in shares if id(g) not in run_ids]
    return reduce(partial(node, "add"), [*rest, side_by_side(places, shares[0])])


def _overlap(runs: Sequence[Node]) -> bool:
    """Return True if two runs share some elements, but not all."""
    end = 0
    for at, size in sorted({(position(g), g.inputs[0].size) for g in runs}):
        if at < end:
            return True
        end = at + size
    return False
