"""A graph with another meaning for each node, in its sub-graphs, too: one node stands for each.

A `NodeRule` says what an operation means; this walk takes it through calls, loops, choices and checkpoints. So a
transform that gives numbers another meaning, such as rounded ones, states nothing about control flow.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from burlab.graph.calls import reverse_rule
from burlab.graph.graph import Call, Graph, Later, Region, Result, topological
from burlab.graph.node import Node
from burlab.graph.operation import make_node
from burlab.graph.origin import derived_from

Nodes = tuple[Node, ...]


class NodeRule(ABC):
    """Base of rules that give each node another meaning."""

    @abstractmethod
    def of(self, n: Node, xs: Sequence[Node], /) -> Node:
        """Return what stands for a node without sub-graphs, given what stands for its inputs; constants have none."""

    def threaded(self) -> Nodes:
        """Return nodes that a sub-graph gets from around it, and a loop hands on: none unless a child says so."""
        return ()

    def within(self, _threaded: Nodes, /) -> "NodeRule":
        """Return the meaning of a sub-graph, whose inputs stand for the threaded nodes."""
        return self

    def handed_on(self) -> Nodes:
        """Return the threaded nodes of a loop's next iteration, when all nodes of its body are interpreted."""
        return ()


def interpret(graph: Graph, arguments: Sequence[Node], meaning: NodeRule) -> list[Node]:
    """Return what stands for the outputs of a graph, given what stands for its inputs.

    The graph must read nothing else from around it: `regions.closed` makes inputs of what a traced function reads.
    Reverse rules of users stay as they are stated.
    """
    known = dict(zip(graph.inputs, arguments, strict=True))
    executions: dict[tuple[Region, Nodes], _Execution] = {}
    for n in topological(graph.outputs, known):
        xs = [known[x] for x in n.inputs]
        with derived_from(n):
            if isinstance(n.params, Call):
                known[n] = _called(n, xs, meaning)
            elif isinstance(n.params, Result):
                key = (n.params.region, n.inputs)
                if key not in executions:
                    executions[key] = _RULES[n.op](n.params.region, xs, meaning, meaning.threaded())
                known[n] = executions[key].result(n)
            else:
                known[n] = meaning.of(n, xs)
    return [known[y] for y in graph.outputs]


def _called(n: Node, xs: Sequence[Node], meaning: NodeRule) -> Node:
    """A call that keeps its reverse rule; one without a rule is inlined."""
    call: Call = n.params
    if call.backward is None:
        return interpret(call.graph, xs, meaning)[0]
    threaded = meaning.threaded()

    def backward() -> Graph:
        rule = reverse_rule(call)
        assert rule is not None
        return Graph((*rule.inputs[: len(xs)], *map(_input, threaded), *rule.inputs[len(xs) :]), rule.outputs)

    rule = Later(backward) if isinstance(call.backward, Later) else backward()
    graph = _subgraph(call.graph, meaning, threaded, len(xs))
    return make_node("call", replace(call, graph=graph, backward=rule), *xs, *threaded, weak=n.weak)


class _Execution(NamedTuple):
    """An execution of sub-graphs. Results from `first` on come behind the ones that hand on what is threaded."""

    inputs: Nodes
    region: Region
    first: int = 0
    handed: int = 0

    def result(self, n: Node) -> Node:
        """Return what stands for one result."""
        item = n.params.item + (self.handed if n.params.item >= self.first else 0)
        return make_node(n.op, Result(self.region, item, n.params.batch), *self.inputs, weak=n.weak)


def _subgraph(graph: Graph, meaning: NodeRule, threaded: Nodes, at: int, hands_on: int | None = None) -> Graph:
    """A sub-graph, whose threaded inputs are behind `at` others. hands_on: behind how many outputs it gives them on."""
    given, own = tuple(map(_input, graph.inputs)), tuple(map(_input, threaded))
    inner = meaning.within(own)
    found = interpret(graph, given, inner)
    handed = () if hands_on is None else inner.handed_on()
    return Graph((*given[:at], *own, *given[at:]), (*found[:hands_on], *handed, *found[len(found[:hands_on]) :]))


def _input(x: Node) -> Node:
    return Node("input", (), x.params if x.is_input else None, x.shape, x.dtype, x.weak)


def _choice(region: Region, xs: Sequence[Node], meaning: NodeRule, threaded: Nodes) -> _Execution:
    graphs = (_subgraph(graph, meaning, threaded, len(xs) - 1) for graph in region.graphs)
    return _Execution((*xs, *threaded), Region(tuple(graphs)))


def _loop(region: Region, xs: Sequence[Node], meaning: NodeRule, threaded: Nodes) -> _Execution:
    condition, body = region.graphs
    count = len(body.outputs)
    graphs = _subgraph(condition, meaning, threaded, count), _subgraph(body, meaning, threaded, count, count)
    return _Execution((*xs[:count], *threaded, *xs[count:]), Region(graphs))


def _scan(region: Region, xs: Sequence[Node], meaning: NodeRule, threaded: Nodes) -> _Execution:
    """Results: the carries, those that hand on, what is stacked, then the trails of all carries."""
    (body,), bounds = region.graphs, region.iterations
    assert bounds is not None
    count = bounds.carries
    graph = _subgraph(body, meaning, threaded, count, count)
    many = Region((graph,), bounds._replace(carries=count + len(threaded)))
    return _Execution((*xs[:count], *threaded, *xs[count:]), many, count, len(threaded))


def _graph(region: Region, xs: Sequence[Node], meaning: NodeRule, threaded: Nodes) -> _Execution:
    return _Execution((*xs, *threaded), Region((_subgraph(region.graphs[0], meaning, threaded, len(xs)),)))


def _halves(region: Region, xs: Sequence[Node], meaning: NodeRule, threaded: Nodes) -> _Execution:
    function, forward, backward = region.graphs
    graphs = (_subgraph(graph, meaning, threaded, len(xs)) for graph in (function, forward))
    return _Execution((*xs, *threaded), Region((*graphs, backward)))


_RULES = {
    "cond": _choice,
    "while": _loop,
    "scan": _scan,
    "checkpoint": _graph,
    "checkpoint_contractions": _graph,
    "halves": _halves,
}
