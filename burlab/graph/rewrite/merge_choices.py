"""Choices by one bool become one: those of the same inputs, and one that reads what another gives.

The sweeps make a `cond` for a value, one for the residuals of its branches and one for its derivatives.
"""

from collections.abc import Sequence
from typing import Any

from burlab.graph.control_nodes import chosen_inputs, inner_ranks, item_of
from burlab.graph.executions import Execution, executions
from burlab.graph.graph import Graph, Region, Result, topological
from burlab.graph.node import Node
from burlab.graph.substitute import copy, inline, keep, rebuild

from .merge_scans import Numbers, numbers

_Used = dict[Node, tuple[Region, int]]  # results, with the region and the number that give them now


def merged_choices(outputs: Sequence[Node]) -> list[Node] | None:
    """Return the outputs with fewer executions of `cond`, or None where there are no two to join."""
    found = [e for e in executions(Graph((), tuple(outputs))) if e.nodes[0].op == "cond"]
    used = _of_same_inputs(found)
    if used:
        return rebuild(outputs, {}, lambda n, inputs: _renumbered(n, inputs, used))
    return _with_one_joined(outputs, found)


def _renumbered(n: Node, inputs: tuple[Node, ...], used: _Used) -> Node:
    if n not in used:
        return keep(n, inputs)
    new = copy(n, inputs)
    region, item = used[n]
    new.params = Result(region, item, n.params.batch)
    return new


def _of_same_inputs(found: Sequence[Execution]) -> _Used:
    """The results of executions of the same inputs as results of one region, which gives nothing twice or in vain."""
    groups: dict[Any, list[Execution]] = {}
    for e in found:
        groups.setdefault((e.nodes[0].inputs, e.nodes[0].params.batch), []).append(e)
    used: _Used = {}
    for group in groups.values():
        ends = [(e.region, n) for e in group for n in e.nodes]
        same = [tuple(id(graph.outputs[item_of(n)]) for graph in region.graphs) for region, n in ends]
        if len(group) > 1 or len(set(same)) < len(group[0].region.graphs[0].outputs):
            used |= _united([e.region for e in group], [n for e in group for n in e.nodes])
    return used


def _united(regions: Sequence[Region], nodes: Sequence[Node]) -> _Used:
    """A region that gives the results of all, each once."""
    ids = [Numbers() for _ in regions[0].graphs]
    first = regions[0].graphs
    given = {r: [inline(graph, base.inputs) for graph, base in zip(r.graphs, first, strict=True)] for r in regions}
    known = {r: [numbers(graph, own) for graph, own in zip(r.graphs, ids, strict=True)] for r in regions}
    items: dict[tuple[int, ...], int] = {}
    ends: list[list[Node]] = [[] for _ in first]
    at: dict[Node, int] = {}
    for n in nodes:
        region, k = n.params.region, item_of(n)
        key = tuple(side[k] for side in known[region])
        if key not in items:
            items[key] = len(items)
            for end, ys in zip(ends, given[region], strict=True):
                end.append(ys[k])
        at[n] = items[key]
    region = Region(tuple(Graph(base.inputs, tuple(end)) for base, end in zip(first, ends, strict=True)))
    return {n: (region, k) for n, k in at.items()}


def _with_one_joined(outputs: Sequence[Node], found: Sequence[Execution]) -> list[Node] | None:
    """Return the outputs with two executions joined: one reads results of the other, and nothing else behind these.

    None where there are no such two.
    """
    owner = {n: e for e in found for n in e.nodes}
    for second in found:
        for first in dict.fromkeys(owner[x] for x in chosen_inputs(second.nodes[0]) if x in owner):
            if _alike(first, second) and _depends_directly(second, first):
                return rebuild(outputs, _joined(first, second), keep)
    return None


def _alike(first: Execution, second: Execution) -> bool:
    a, b = first.nodes[0], second.nodes[0]
    return a.inputs[0] is b.inputs[0] and a.params.batch == b.params.batch


def _depends_directly(second: Execution, first: Execution) -> bool:
    """Return True if the second execution depends on the first one by what it reads from it alone."""
    own = set(first.nodes)
    others = [x for x in second.nodes[0].inputs if x not in own]
    return own.isdisjoint(topological(others))


def _joined(first: Execution, second: Execution) -> dict[Node, Node]:
    """The results of both, as results of one execution."""
    own = {n: item_of(n) for n in first.nodes}
    a, b = first.nodes[0], second.nodes[0]
    read = dict.fromkeys([*_given(a), *(g for g in _given(b) if g[0] not in own)])
    results = [*first.nodes, *second.nodes]
    graphs: list[Graph] = []
    for one, two in zip(first.region.graphs, second.region.graphs, strict=True):
        forms = dict(zip((*_given(a), *_given(b)), (*one.inputs, *two.inputs), strict=True))
        fresh = {g: _input(forms[g]) for g in read}
        ys = inline(one, [fresh[g] for g in _given(a)])
        zs = inline(two, [ys[own[g[0]]] if g[0] in own else fresh[g] for g in _given(b)])
        ends = (*(ys[item_of(n)] for n in first.nodes), *(zs[item_of(n)] for n in second.nodes))
        graphs.append(Graph(tuple(fresh.values()), ends))
    region = Region(tuple(graphs))
    inputs = (a.inputs[0], *(x for x, _ in read))
    known: dict[Node, Node] = {}
    for k, n in enumerate(results):
        known[n] = copy(n, inputs)
        known[n].params = Result(region, k, n.params.batch)
    return known


def _given(n: Node) -> list[tuple[Node, int]]:
    """The inputs of the sub-graphs, each with the number of axes that they see."""
    return [*zip(chosen_inputs(n), inner_ranks(n)[1:], strict=True)]


def _input(x: Node) -> Node:
    return Node("input", (), x.params, x.shape, x.dtype, x.weak)
