"""The values inside of control flow, as they are in the last iteration."""

from collections.abc import Mapping, Sequence

import numpy as np

from burlab.compiler.faults.values import Replay
from burlab.graph import Graph, Node
from burlab.graph.graph import Region, Result, ScanIterations
from burlab.graph.node import constant
from burlab.graph.operation import make_node

from .inside import Inside
from .value_summary import Array, ValueSummary, summarize

_NOT_EXECUTED = ValueSummary("not executed", known=False)
_ONE_PER_ROW = ValueSummary("one for each row", known=False)


def last_values(found: Sequence[Inside], outside: Mapping[Node, Array]) -> dict[Node, ValueSummary]:
    """The values of all nodes inside of executions, as they are in the last iteration. Raises what computing raises.

    outside: the values of the inputs of the executions.
    """
    summaries: dict[Node, ValueSummary] = {}
    for inside in found:
        last = _last_inputs(inside, [outside[x] for x in inside.first.inputs])
        for (_, graph), nested, arrays in zip(inside.parts, inside.nested, last, strict=True):
            if arrays is None:
                text = _ONE_PER_ROW if inside.first.params.batch else _NOT_EXECUTED
                summaries |= dict.fromkeys(_every_node(graph, nested), text)
                continue
            values = dict(zip(graph.nodes, Replay(graph).values(arrays), strict=True))
            summaries |= {n: summarize(value) for n, value in values.items()} | last_values(nested, values)
    return summaries


def _every_node(graph: Graph, nested: Sequence[Inside]) -> list[Node]:
    deeper = (zip(inside.graphs, inside.nested, strict=True) for inside in nested)
    return [*graph.nodes, *(n for parts in deeper for inner, below in parts for n in _every_node(inner, below))]


def _last_inputs(inside: Inside, arrays: Sequence[Array]) -> Sequence[Sequence[Array] | None]:
    """Return the inputs of each sub-graph in its last iteration; None without one, or with one for each row."""
    if inside.first.params.batch:
        return [None] * len(inside.graphs)
    if inside.first.op == "cond":
        choice, *given = arrays
        return [given, None] if choice else [None, given]
    if inside.iterations:
        return [_last_of_scan(inside, inside.iterations, arrays)]
    return _last_of_while(inside, arrays)


def _last_of_scan(inside: Inside, iterations: ScanIterations, arrays: Sequence[Array]) -> Sequence[Array] | None:
    """The carries before the last iteration are carried along as further carries."""
    carries, sequences, length, _ = iterations
    if length == 0:
        return None
    (body,) = inside.graphs
    before = _fresh(body.inputs[:carries])
    state = body.inputs[:carries]
    longer = Graph((*state, *before, *body.inputs[carries:]), (*body.outputs[:carries], *state))
    region = Region((longer,), iterations._replace(carries=2 * carries))
    start = arrays[:carries]
    end = _executed("scan", region, [*start, *start, *arrays[carries:]], range(carries, 2 * carries))
    at = 0 if iterations.reverse else -1
    return [*end, *(xs[at] for xs in arrays[carries : carries + sequences]), *arrays[carries + sequences :]]


def _last_of_while(inside: Inside, arrays: Sequence[Array]) -> Sequence[Sequence[Array] | None]:
    """The condition is asked of the state at the end; the body's last state is carried along, and whether it ran."""
    condition, body = inside.graphs
    count = len(body.outputs)
    ran = constant(True)
    graphs: list[Graph] = []
    for graph in (condition, body):
        state, captured = graph.inputs[:count], graph.inputs[count:]
        more = _fresh((*state, ran))
        outputs = (*graph.outputs, *state, ran) if graph is body else graph.outputs
        graphs.append(Graph((*state, *more, *captured), outputs))
    start, captured = arrays[:count], arrays[count:]
    given = [*start, *start, np.array(False), *captured]
    *results, executed = _executed("while", Region(tuple(graphs)), given, range(2 * count + 1))
    end, before = results[:count], results[count:]
    return [*end, *captured], [*before, *captured] if executed else None


def _fresh(like: Sequence[Node]) -> tuple[Node, ...]:
    return tuple(Node("input", (), None, x.shape, x.dtype) for x in like)


def _executed(op: str, region: Region, arrays: Sequence[Array], items: Sequence[int]) -> list[Array]:
    """Results of an execution with these inputs."""
    inputs = tuple(Node("input", (), None, x.shape, x.dtype) for x in arrays)
    if not items:
        return []
    graph = Graph(inputs, tuple(make_node(op, Result(region, k), *inputs) for k in items))
    values = Replay(graph).values(arrays)
    return [values[graph.index[y]] for y in graph.outputs]
