"""Sub-graphs that control flow executes: those of `scan`, `while` and `cond`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from burlab.graph import Graph, Node
from burlab.graph.control_nodes import chosen_inputs
from burlab.graph.executions import Execution, executions
from burlab.graph.graph import ScanIterations
from burlab.graph.substitute import copy, rebuild

CARRY, ELEMENT, CAPTURED = "y = {}, then what the iteration before gave", "y = {}[k], in iteration k", "y = {}"
"""What an input of a sub-graph is, as formulas with a place for a name."""
_NAMES = {"scan": "scan", "while": "while_loop", "cond": "cond"}


@dataclass(frozen=True, eq=False)
class Inside:
    """One execution with sub-graphs of its own: where a region is executed twice, the two share no node."""

    execution: Execution
    graphs: tuple[Graph, ...]

    @property
    def first(self) -> Node:
        """The first of its results."""
        return self.execution.nodes[0]

    @property
    def iterations(self) -> ScanIterations | None:
        """The iterations of a `scan`."""
        return self.execution.region.iterations

    @property
    def title(self) -> str:
        """A short description."""
        rows = "×".join(map(str, self.first.params.batch))
        often = f", {self.iterations.length:,} iterations" if self.iterations else f", for {rows} rows" if rows else ""
        return _NAMES[self.first.op] + often

    @cached_property
    def nested(self) -> tuple[tuple["Inside", ...], ...]:
        """The executions in each of its sub-graphs."""
        return tuple(map(insides, self.graphs))

    @property
    def parts(self) -> tuple[tuple[str, Graph], ...]:
        """The sub-graphs under their names; without one where there is a single sub-graph."""
        names = self.first.row.parts if len(self.graphs) > 1 else ("",)
        return tuple(zip(names, self.graphs, strict=True))

    def operands(self, result: Node) -> tuple[Node, ...]:
        """Return the operands of a result: values of the sub-graphs, and the predicate."""
        item: int = result.params.item
        if self.first.op == "scan":
            (body,) = self.graphs
            return ((*body.outputs, *body.inputs)[item],)
        first, second = self.graphs
        if self.first.op == "while":
            return first.outputs[0], second.outputs[item]
        return self.first.inputs[0], first.outputs[item], second.outputs[item]

    def entries(self, graph: Graph) -> dict[Node, tuple[Node, str]]:
        """For each input of a sub-graph what it is at first, outside, and a formula with a place for its name."""
        carries = 0 if self.first.op == "cond" else len(self.graphs[-1].outputs)
        first, last = carries, carries
        if self.iterations:
            first, last = self.iterations.carries, self.iterations.carries + self.iterations.sequences
        rules = [CARRY if k < first else ELEMENT if k < last else CAPTURED for k in range(len(graph.inputs))]
        return dict(zip(graph.inputs, zip(chosen_inputs(self.first), rules, strict=True), strict=True))


def insides(graph: Graph) -> tuple[Inside, ...]:
    """The executions of a graph, opened.

    >>> import numpy as np, burlab as bl
    >>> cumulated = bl.compile(lambda xs: bl.scan(lambda c, x: (c + x, c), 0.0, xs)[0], np.ones(3)).graph
    >>> [inside.title for inside in insides(cumulated)]
    ['scan, 3 iterations']
    """
    return tuple(Inside(e, tuple(map(_copied, e.region.graphs))) for e in executions(graph))


def _copied(graph: Graph) -> Graph:
    known = {x: copy(x, ()) for x in graph.inputs}
    inputs = tuple(known.values())
    return Graph(inputs, tuple(rebuild(graph.outputs, known, copy)))


@dataclass(frozen=True, slots=True)
class Spot:
    """A node in a graph whose executions are opened.

    operands: what it is computed from, or read from outside. scope: the parts it lies in, outermost first. owner: the
    node of the whole graph that it is computed for. inside, rule: of which control flow, and how it comes from there.
    """

    node: Node
    operands: tuple[Node, ...]
    scope: tuple[str, ...]
    owner: Node
    inside: str = ""
    rule: str = ""


def unfolded(graph: Graph, found: Sequence[Inside]) -> Iterator[Spot]:
    """All nodes, each after what it depends on: those of sub-graphs before the first result of their execution."""
    titles = Counter[tuple[str, ...]]()
    results = {n: inside for inside in found for n in inside.execution.nodes}
    scopes: dict[Inside, tuple[str, ...]] = {}
    for n in graph.nodes:
        scope = tuple(filter(None, n.scope.split("/")))
        if n not in results:
            yield Spot(n, n.inputs, scope, n)
            continue
        inside = results[n]
        if inside not in scopes:
            path = (*scope, inside.title)
            titles[path] += 1
            scopes[inside] = (*scope, inside.title + (f" ({titles[path]})" if titles[path] > 1 else ""))
            for (name, part), nested in zip(inside.parts, inside.nested, strict=True):
                within = (*scopes[inside], *filter(None, (name,)))
                entries = inside.entries(part)
                for spot in unfolded(part, nested):
                    here = replace(
                        spot, scope=(*within, *_beyond(spot.scope, scope)), owner=n, inside=spot.inside or n.op
                    )
                    if spot.node in entries:
                        outside, rule = entries[spot.node]
                        here = replace(here, operands=(outside,), rule=rule)
                    yield here
        yield Spot(n, inside.operands(n), scopes[inside], n)


def _beyond(scope: tuple[str, ...], outer: tuple[str, ...]) -> tuple[str, ...]:
    """The parts of a scope inside of another, if it lies there."""
    return scope[len(outer) :] if scope[: len(outer)] == outer else scope
