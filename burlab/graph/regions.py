"""Making nodes of control flow, from sub-graphs that were traced: what these read from around them becomes inputs."""

from collections.abc import Sequence

from burlab.graph.graph import Graph, Region, Result, ScanIterations
from burlab.graph.node import Node
from burlab.graph.operation import make_node
from burlab.graph.scan_nodes import result
from burlab.graph.substitute import copy, keep, rebuild


def while_nodes(condition: Graph, body: Graph, start: Sequence[Node], recorded: Sequence[Node]) -> list[Node]:
    """The leaves of the state after a loop. recorded: the nodes that were made while the two graphs were traced."""
    captured, graphs = closed((condition, body), set(recorded))
    return _results("while", (*start, *captured), Region(graphs), start)


def cond_nodes(
    choice: Node, true: Graph, false: Graph, operands: Sequence[Node], recorded: Sequence[Node]
) -> list[Node]:
    """The results of one of two graphs. recorded: the nodes that were made while they were traced."""
    captured, graphs = closed((true, false), set(recorded))
    return _results("cond", (choice, *operands, *captured), Region(graphs), true.outputs)


def _results(op: str, inputs: tuple[Node, ...], region: Region, like: Sequence[Node]) -> list[Node]:
    return [make_node(op, Result(region, k), *inputs, weak=y.weak) for k, y in enumerate(like)]


def scan_nodes(
    body: Graph, iterations: ScanIterations, start: Sequence[Node], sequences: Sequence[Node], recorded: Sequence[Node]
) -> list[Node]:
    """The carries at the end, then what was stacked. recorded: the nodes that were made while the body was traced."""
    captured, graphs = closed((body,), set(recorded))
    region, inputs = Region(graphs, iterations), (*start, *sequences, *captured)
    return [result(inputs, region, k) for k in range(len(body.outputs))]


def closed(graphs: Sequence[Graph], recorded: set[Node]) -> tuple[list[Node], tuple[Graph, ...]]:
    """Return the values that graphs read from around them, and the graphs with one more input for each."""
    captured = list(dict.fromkeys(n for graph in graphs for n in _outside(graph, recorded)))

    def with_captured(graph: Graph) -> Graph:
        more = [Node("input", (), _name(n), n.shape, n.dtype, n.weak) for n in captured]
        inputs = (*graph.inputs, *more)
        known = {**dict(zip(captured, more, strict=True)), **{x: x for x in graph.inputs}}
        return Graph(inputs, tuple(rebuild(graph.outputs, known, own)))

    def own(n: Node, inputs: tuple[Node, ...]) -> Node:
        return keep(n, inputs) if n in recorded else copy(n, inputs)  # what is around may be written to later

    return captured, tuple(map(with_captured, graphs))


def _name(n: Node) -> str | None:
    return n.params if n.is_input else n.op


def _outside(graph: Graph, recorded: set[Node]) -> list[Node]:
    """The nodes that were there before. Constants stay inside, as numbers repeated do: they are known to the kernel."""
    found: list[Node] = []
    seen = set(graph.inputs)
    stack = [*reversed(graph.outputs)]
    while stack:
        n = stack.pop()
        if n in seen or n.is_constant:
            continue
        seen.add(n)
        if n in recorded or n.op == "broadcast":
            stack += reversed(n.inputs)
        else:
            found.append(n)
    return found
