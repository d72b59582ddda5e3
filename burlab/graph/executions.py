"""The executions of sub-graphs in a graph, and its nodes with those of its sub-graphs."""

from dataclasses import dataclass
from typing import Any

from .graph import Graph, Region
from .node import Node


@dataclass(frozen=True)
class Execution:
    """All nodes that one execution of a region gives.

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
    """The nodes of a graph, then those of its sub-graphs: what a kernel's outcome counts when it names one."""
    inner = [n for e in executions(graph) for g in e.region.graphs for n in every_node(g)]
    return [*graph.nodes, *inner]
