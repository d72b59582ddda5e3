"""The sum over samples of a choice that they share, taken in the branch that is executed.

A gradient of weights that only a branch reads is a result of a `cond`. Summed outside of it, it would first be one
array per sample. So each branch ends at its own reduction points, which become results of the `cond`; a second `cond`,
of means, does the linear operations behind them. A point of one branch shares its result, and so its memory, with a
point of the other, or with zeros, which add nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

from burlab.graph.control_nodes import chosen_inputs, item_of
from burlab.graph.executions import Execution, executions
from burlab.graph.graph import Graph, Region, Result, topological
from burlab.graph.linear_nodes import reshape, zeros
from burlab.graph.node import Node
from burlab.graph.operation import make_node, total as sum_of
from burlab.graph.origin import derived_from
from burlab.graph.signatures import form_of
from burlab.graph.spread_choices import spread
from burlab.graph.substitute import keep, rebuild

from .linear_cut import LinearCut, bare, is_shared_choice, of_samples


def with_branch_sums(graph: Graph, sampled: Sequence[bool], total: int) -> Graph:
    """Return an equal graph whose choices that samples share end in sums.

    Args:
        graph: of one sample.
        sampled: which inputs belong to samples.
        total: how many samples the batch has at least.
    """
    return _with_sums(graph, (), sampled, total)[0]


def _with_sums(graph: Graph, rows: Sequence[Node], sampled: Sequence[bool], total: int) -> tuple[Graph, list[Node]]:
    """The graph, and further values of it, which are not summed."""
    known: set[Region] = set()
    while any(n.op == "cond" and n.params.region not in known for n in graph.nodes):
        own = of_samples(graph, sampled)
        choices = LinearCut(graph, own, total).choices
        every = executions(Graph(graph.inputs, (*graph.outputs, *rows)))
        found = next((e for e in every if e.region not in known and choices.intersection(e.nodes)), None)
        if found is None:
            break
        summed = [n for n in found.nodes if n in choices]
        if is_shared_choice(summed[0], own):
            ending = _Ending(found, summed, own, total)
            results, made = ending.results, ending.regions
        else:
            results = {n: _spread(n) for n in summed}
            new = topological([*results.values()], graph.nodes)
            made = [found.region, *(n.params.region for n in new if n.op == "cond")]
        known.update(made)
        outputs = rebuild((*graph.outputs, *rows), dict(results), keep)
        count = len(graph.outputs)
        graph, rows = Graph(graph.inputs, tuple(outputs[:count])), outputs[count:]
    return graph, [*rows]


def _spread(n: Node) -> Node:
    """A choice of a sample's own as a sum of products, or itself: products of factors need no array per sample."""
    with derived_from(n):
        terms = spread(n)
        return n if terms is None else cast("Node", sum_of(terms))


class _Side(NamedTuple):
    """A branch.

    graph: its outputs are the results that are summed; points: where these end; rows: the other results.
    """

    graph: Graph
    points: set[Node]
    rows: list[Node]


class _Slot(NamedTuple):
    """A result of the new `cond`: in each branch a point, or None for zeros."""

    points: tuple[Node | None, ...]

    @property
    def like(self) -> Node:
        """A point of it."""
        return next(x for x in self.points if x is not None)

    def end(self, k: int) -> Node:
        """The result of a branch."""
        x = self.points[k]
        return zeros(self.like.shape, self.like.dtype) if x is None else x


class _Ending:
    """An execution of a `cond` that gives the reduction points of its branches, and what follows from their means.

    results: the new node for each old one. regions: what was made.
    """

    def __init__(self, execution: Execution, summed: Sequence[Node], own: set[Node], total: int) -> None:
        self._n = execution.nodes[0]
        self._summed = summed
        flags = [x in own for x in chosen_inputs(self._n)]
        self._shared = [k for k, flag in enumerate(flags) if not flag]
        others = [n for n in execution.nodes if n not in set(summed)]
        self._sides = [_side(graph, summed, others, flags, total) for graph in execution.region.graphs]
        self._slots: list[_Slot] = []
        alone = {n: slot for k, n in enumerate(summed) if (slot := self._slot_of(k)) is not None}
        rest = [k for k, n in enumerate(summed) if n not in alone]
        self._add_points(rest)
        region = Region(tuple(self._graph(k, side) for k, side in enumerate(self._sides)))
        self.regions = [region]
        inputs = self._n.inputs
        ends = [self._result(inputs, region, k) for k in range(len(self._slots))]
        self.results = {n: self._result(inputs, region, len(ends) + k) for k, n in enumerate(others)}
        self.results |= {n: reshape(ends[k], n.shape) for n, k in alone.items()}
        if rest:
            self.results |= self._finished(rest, ends)

    def _result(self, inputs: tuple[Node, ...], region: Region, item: int) -> Node:
        with derived_from(self._n):
            return make_node("cond", Result(region, item), *inputs)

    def _slot_of(self, item: int) -> int | None:
        """The new slot of a result that is in each branch zero, or a point of its own; None for any other."""
        taken = {x for slot in self._slots for x in slot.points}
        ends: list[Node | None] = []
        for side in self._sides:
            y = bare(side.graph.outputs[item])
            if not y.is_zero and (y not in side.points or y in taken):
                return None
            ends.append(None if y.is_zero else y)
        if len({form_of(x) for x in ends if x is not None}) != 1:
            return None
        self._slots.append(_Slot(tuple(ends)))
        return len(self._slots) - 1

    def _add_points(self, rest: Sequence[int]) -> None:
        """Give each other point that the rest needs a slot, with a point of the other branch if one has its form."""
        taken = {x for slot in self._slots for x in slot.points}
        free = [[x for x in _points_of(side, rest) if x not in taken] for side in self._sides]
        for k, points in enumerate(free):
            for x in points:
                ends: list[Node | None] = [None] * len(free)
                ends[k] = x
                for j, others in enumerate(free[k + 1 :], k + 1):
                    match = next((i for i, y in enumerate(others) if _kind(y) == _kind(x)), None)
                    if match is not None:
                        ends[j] = others.pop(match)
                self._slots.append(_Slot(tuple(ends)))

    def _graph(self, k: int, side: _Side) -> Graph:
        """A branch that ends at its points. It still gives the other results."""
        ends = [slot.end(k) for slot in self._slots]
        return Graph(side.graph.inputs, (*ends, *side.rows))

    def _finished(self, rest: Sequence[int], ends: Sequence[Node]) -> dict[Node, Node]:
        """The results behind the points, as a `cond` of values that samples share and of these."""
        n = self._n
        graphs: list[Graph] = []
        for k, side in enumerate(self._sides):
            given = [side.graph.inputs[i] for i in self._shared]
            shared = [Node("input", (), x.params, x.shape, x.dtype, x.weak) for x in given]
            means = [Node("input", (), None, y.shape, y.dtype) for y in ends]
            known = dict(zip(given, shared, strict=True))
            known |= {
                x: mean for slot, mean in zip(self._slots, means, strict=True) if (x := slot.points[k]) is not None
            }
            outputs = rebuild([side.graph.outputs[item] for item in rest], known, keep)
            graphs.append(Graph((*shared, *means), tuple(outputs)))
        region = Region(tuple(graphs))
        self.regions.append(region)
        outside = chosen_inputs(n)
        inputs = (n.inputs[0], *(outside[i] for i in self._shared), *ends)
        return {self._summed[item]: self._result(inputs, region, j) for j, item in enumerate(rest)}


def _side(graph: Graph, summed: Sequence[Node], rows: Sequence[Node], flags: Sequence[bool], total: int) -> _Side:
    ends, others = (tuple(graph.outputs[item_of(n)] for n in nodes) for nodes in (summed, rows))
    part, others = _with_sums(Graph(graph.inputs, ends), others, flags, total)
    points = LinearCut(part, of_samples(part, flags), total).points
    return _Side(part, {point.node for point in points}, others)


def _points_of(side: _Side, rest: Sequence[int]) -> list[Node]:
    """The points that some outputs need, in their order."""
    found: dict[Node, None] = {}
    stack = [side.graph.outputs[item] for item in reversed(rest)]
    seen: set[Node] = set()
    while stack:
        n = stack.pop()
        if n in side.points:
            found[n] = None
        elif n not in seen:
            seen.add(n)
            stack += reversed(n.inputs)
    return [*found]


def _kind(x: Node) -> tuple[object, ...]:
    """Equal for points that share a result: not one that is given from outside and one that is computed."""
    return (*form_of(x), x.is_input)
