"""Loops and choices whose values are several nodes each: what the sub-graphs of number transforms become.

A value is a tuple of nodes: one where it is as before, else as many as the transform has for a number, such as two for
an interval.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from burlab.graph.graph import Graph, Region, Result
from burlab.graph.node import Node
from burlab.graph.operation import make_node
from burlab.graph.scan_nodes import iterations_of
from burlab.graph.substitute import inline

Parts = tuple[Node, ...]
Inner = Callable[[Graph, Sequence[Parts]], list[Parts]]
"""The outputs of a sub-graph as parts, for parts of its inputs."""
Widen = Callable[[Node], Parts]
"""All parts of a value that was one node."""


class Executed(NamedTuple):
    """An execution, of whose results each is several ones. firsts: the number of the first of them."""

    op: str
    inputs: tuple[Node, ...]
    region: Region
    firsts: tuple[int, ...]
    counts: tuple[int, ...]
    batch: tuple[int, ...]

    def result(self, item: int) -> Parts:
        """The parts of a result of the former execution."""
        first = self.firsts[item]
        numbers = range(first, first + self.counts[item])
        return tuple(make_node(self.op, Result(self.region, k, self.batch), *self.inputs) for k in numbers)


def spread_loop(n: Node, xs: Sequence[Parts], inner: Inner, widen: Widen) -> Executed:
    """Return a `scan` or `while` whose values have parts. xs: those of its inputs.

    A carry has parts as soon as anything that enters it has. Raises KeyError if the condition of a `while` has.
    """
    graphs = n.params.region.graphs
    body, iterations = graphs[-1], n.params.region.iterations
    carries = iterations.carries if iterations else len(body.outputs)
    xs = list(xs)
    while True:
        inside = _inputs(body.inputs, xs)
        outputs = inner(body, inside)
        grown = [k for k in range(carries) if len(xs[k]) < len(outputs[k])]
        if not grown:
            break
        for k in grown:
            xs[k] = widen(xs[k][0])
    outputs[:carries] = [widen(y[0]) if len(y) < len(x) else y for y, x in zip(outputs, xs[:carries], strict=False)]
    new = [Graph(_flat(inside), _flat(outputs))]
    if len(graphs) > 1:  # a condition reads the same inputs
        condition = inner(Graph(body.inputs, _at(graphs[0], body)), inside)
        if len(condition[0]) > 1:
            raise KeyError("a loop whose end is not known")
        new.insert(0, Graph(new[0].inputs, _flat(condition)))
    counts = [len(y) for y in outputs]
    total, trails = sum(counts), [len(x) for x in xs[:carries]]
    more = None
    if iterations:
        rows = sum(len(x) for x in xs[carries : carries + iterations.sequences])
        more = iterations_of(n.params.region)._replace(carries=sum(counts[:carries]), sequences=rows)
    firsts = (*_firsts(counts, 0), *_firsts(trails, total))
    return Executed(n.op, _flat(xs), Region(tuple(new), more), firsts, (*counts, *trails), n.params.batch)


def spread_choice(n: Node, xs: Sequence[Parts], inner: Inner, widen: Widen) -> Executed:
    """Return a `cond` whose values have parts. xs: those of its inputs, of which the first, the choice, has one."""
    graphs = n.params.region.graphs
    sides: list[tuple[Parts, list[Parts]]] = []
    for graph in graphs:
        inside = _inputs(graph.inputs, xs[1:])
        sides.append((_flat(inside), inner(graph, inside)))
    counts = [max(map(len, ys)) for ys in zip(*(outputs for _, outputs in sides), strict=True)]
    new = tuple(
        Graph(inputs, _flat(widen(y[0]) if len(y) < count else y for y, count in zip(outputs, counts, strict=True)))
        for inputs, outputs in sides
    )
    return Executed(n.op, _flat(xs), Region(new), tuple(_firsts(counts, 0)), tuple(counts), n.params.batch)


def _at(graph: Graph, like: Graph) -> tuple[Node, ...]:
    """The outputs of a graph, over the inputs of another of the same form."""
    return tuple(inline(graph, like.inputs))


def _inputs(like: Sequence[Node], xs: Sequence[Parts]) -> list[Parts]:
    """Fresh inputs of a sub-graph: the first part of each is the former input."""
    return [
        (n, *(Node("input", (), None, n.shape, n.dtype) for _ in parts[1:])) for n, parts in zip(like, xs, strict=True)
    ]


def _flat(xs: Iterable[Parts]) -> tuple[Node, ...]:
    return tuple(part for x in xs for part in x)


def _firsts(counts: Sequence[int], start: int) -> list[int]:
    return list(accumulate(counts, initial=start))[:-1]
