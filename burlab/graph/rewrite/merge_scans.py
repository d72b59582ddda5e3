"""Scans that do the same in every iteration become one: the sweeps ask for more results of a scan than its user did."""

from collections.abc import Sequence
from typing import Any

from burlab.graph.control_nodes import item_of
from burlab.graph.graph import Graph, Region, topological
from burlab.graph.node import Node
from burlab.graph.scan_nodes import iterations_of
from burlab.graph.substitute import copy, keep, rebuild

Numbers = dict[Any, int]


def merged(outputs: Sequence[Node]) -> list[Node] | None:
    """The outputs, with the results of a scan taken from another of the same inputs that gives all of them and more.

    None where there are no such two. Equal results may stand in the graph as several nodes then.
    """
    groups: dict[Any, dict[Region, None]] = {}
    for n in topological(outputs):
        if n.op == "scan":
            groups.setdefault((n.inputs, iterations_of(n.params.region)), {})[n.params.region] = None
    better: dict[Region, tuple[Region, list[int]]] = {}
    for regions in groups.values():
        most = max(regions, key=lambda region: len(region.graphs[0].outputs))
        for region in regions:
            if region is not most and (items := _items(region, most)):
                better[region] = most, items
    if not better:
        return None

    def rule(n: Node, inputs: tuple[Node, ...]) -> Node:
        if n.op != "scan" or n.params.region not in better:
            return keep(n, inputs)
        region, items = better[n.params.region]
        new = copy(n, inputs)
        new.params = n.params._replace(region=region, item=items[n.params.item])
        return new

    return rebuild(outputs, {}, rule)


def _items(region: Region, other: Region) -> list[int] | None:
    """The number that each result of one scan has in another; None where it lacks one, or carries something else."""
    carries, ids = iterations_of(region).carries, Numbers()
    mine, others = (numbers(r.graphs[0], ids) for r in (region, other))
    if mine[:carries] != others[:carries] or not set(mine).issubset(others):
        return None
    stacked = [carries + others[carries:].index(k) if k in others[carries:] else -1 for k in mine[carries:]]
    return None if -1 in stacked else [*range(carries), *stacked, *(len(others) + k for k in range(carries))]


def numbers(body: Graph, ids: Numbers) -> list[int]:
    """A number for each output, equal for equal computations. ids: those of all computations so far."""
    number = {x: ids.setdefault(("input", k), len(ids)) for k, x in enumerate(body.inputs)}
    for n in topological(body.outputs, body.inputs):
        key = n.op, tuple([number[x] for x in n.inputs]), _parameters(n, ids), n.dtype, n.shape
        number[n] = ids.setdefault(key, len(ids))
    return [number[y] for y in body.outputs]


def _parameters(n: Node, ids: Numbers) -> Any:
    """Return what a node does, equal for equal computations: of a choice, what its branches compute for this result."""
    if n.is_constant:
        return n.params.tobytes()
    if n.op != "cond":
        return n.params
    ends = (Graph(graph.inputs, (graph.outputs[item_of(n)],)) for graph in n.params.region.graphs)
    return n.params.batch, *(numbers(end, ids)[0] for end in ends)
