"""Control flow in a graph: nodes that execute sub-graphs.

`while`: inputs are the state's leaves at the start, then values that the sub-graphs read from around them. Its region
holds the condition (one bool) and the body (the state's leaves); both take all inputs. Result k is leaf k at the end.

`cond`: inputs are a bool, then what the two sub-graphs take, of which one is executed.

`scan`: see `scan.py`.

A node has one value, so an execution with several results is several nodes with the same inputs and the same `Region`;
the plan makes one step of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.runtime.checks import size

from . import parameters
from .graph import Graph, Region, Result
from .linear import broadcast, spread
from .node import Node
from .signatures import SIGNATURES, Form, Signature, forms_of, made, require
from .substitute import keep, rebuild

CONTROL = {
    "while": ("condition", "body"),
    "cond": ("true", "false"),
    "scan": ("turn",),
}  # operation -> what its sub-graphs are
BOOL = np.dtype(bool)


def while_nodes(condition: Graph, body: Graph, start: Sequence[Node], made: Sequence[Node]) -> list[Node]:
    """The leaves of the state after a loop. made: the nodes that were born while the two graphs were traced."""
    captured, graphs = closed((condition, body), set(made))
    return _results("while", (*start, *captured), Region(graphs), start)


def cond_nodes(choice: Node, true: Graph, false: Graph, operands: Sequence[Node], made: Sequence[Node]) -> list[Node]:
    """The results of one of two graphs. made: the nodes that were born while they were traced."""
    captured, graphs = closed((true, false), set(made))
    return _results("cond", (choice, *operands, *captured), Region(graphs), true.outputs)


def _results(op: str, inputs: tuple[Node, ...], region: Region, like: Sequence[Node]) -> list[Node]:
    return [made(op, Result(region, k), *inputs, weak=y.weak) for k, y in enumerate(like)]


def _while_form(result: Result, inputs: Sequence[Node]) -> Form:
    """What a result of a loop is."""
    require(len(result.region.graphs) == 2, "it has no condition and body")
    condition, body = result.region.graphs
    _executes(result, inputs)
    require(forms_of(condition.outputs) == [((), BOOL)], "its condition is not one bool")
    count = len(body.outputs)
    require(forms_of(body.inputs[:count]) == forms_of(body.outputs), "its body changes the form of the state")
    return _form(result, body)


def _cond_form(result: Result, inputs: Sequence[Node]) -> Form:
    """What a result of a choice is."""
    require(len(result.region.graphs) == 2, "it has no two sides")
    true, false = result.region.graphs
    fits = len(inputs) > 0 and inputs[0].dtype == BOOL and inputs[0].shape in ((), result.batch)
    require(fits, "it is not chosen by a bool")
    _executes(result, inputs[1:])
    require(forms_of(true.outputs) == forms_of(false.outputs), "its sub-graphs give different results")
    return _form(result, true)


def _executes(result: Result, outside: Sequence[Node]) -> None:
    """Sub-graphs take the same inputs: those from outside, or one row of each that has the batch's axes."""
    first, second = (forms_of(graph.inputs) for graph in result.region.graphs)
    fits = len(first) == len(outside) and all(
        y.shape in (shape, (*result.batch, *shape)) and y.dtype == dtype
        for (shape, dtype), y in zip(first, outside, strict=True)
    )
    require(first == second and fits, "what it executes has other inputs")
    require(result.region.turns is None, "it says how often it repeats")


def _form(result: Result, graph: Graph) -> Form:
    require(result.item < len(graph.outputs), "it has no such result")
    y = graph.outputs[result.item]
    return (*result.batch, *y.shape), y.dtype


def is_result(params: Any) -> bool:
    """Whether parameters are those of control flow."""
    return type(params) is Result and size(params.item) and parameters.axes(params.batch)


SIGNATURES.update({"while": Signature(is_result, _while_form), "cond": Signature(is_result, _cond_form)})


def chosen_inputs(n: Node) -> tuple[Node, ...]:
    """The inputs of a node that its sub-graphs take: all but the bool of a `cond`."""
    return n.inputs[1:] if n.op == "cond" else n.inputs


def inner_ranks(n: Node) -> list[int]:
    """The number of axes that each input has in one row of a batch."""
    ranks = [x.ndim for x in n.params.region.graphs[0].inputs]
    return [0, *ranks] if n.op == "cond" else ranks


def closed(graphs: Sequence[Graph], made: set[Node]) -> tuple[list[Node], tuple[Graph, ...]]:
    """What graphs read from around them, and the graphs with one more input for each of these values."""
    captured = list(dict.fromkeys(n for graph in graphs for n in _outside(graph, made)))

    def with_captured(graph: Graph) -> Graph:
        more = [Node("input", (), _name(n), n.shape, n.dtype, n.weak) for n in captured]
        inputs = (*graph.inputs, *more)
        known = {**dict(zip(captured, more, strict=True)), **{x: x for x in graph.inputs}}
        return Graph(inputs, tuple(rebuild(graph.outputs, known, keep)))

    return captured, tuple(map(with_captured, graphs))


def _name(n: Node) -> str | None:
    return n.params if n.op == "input" else n.op


def _outside(graph: Graph, made: set[Node]) -> list[Node]:
    """The nodes that were there before. Constants stay inside, as numbers repeated do: they are known to the kernel."""
    found: list[Node] = []
    seen = set(graph.inputs)
    stack = [*reversed(graph.outputs)]
    while stack:
        n = stack.pop()
        if n in seen or n.op == "constant":
            continue
        seen.add(n)
        if n in made or n.op == "broadcast":
            stack += reversed(n.inputs)
        else:
            found.append(n)
    return found


def with_graphs(n: Node, region: Region) -> Node:
    """The node with another region for its own."""
    with_it = Node(n.op, n.inputs, n.params._replace(region=region), n.shape, n.dtype, n.weak)
    with_it.origin, with_it.scope = n.origin, n.scope
    return with_it


def batched(n: Node, xs: Sequence[Node], flags: Sequence[bool], size: int) -> Node:
    """The node executed for `size` samples, each by itself: no sample waits for the longest loop."""
    rows: Result = n.params
    inputs = tuple(_with_rows(x, f, r, rows.batch, size) for x, f, r in zip(xs, flags, inner_ranks(n), strict=True))
    return made(n.op, rows._replace(batch=(size, *rows.batch)), *inputs)


def _with_rows(x: Node, flag: bool, rank: int, batch: tuple[int, ...], size: int) -> Node:
    """An input with all batch axes, or without any."""
    if flag and batch and x.ndim == 1 + rank:  # it has the new axis only
        return broadcast(x, (size, *batch, *x.shape[1:]), (0, *range(1 + len(batch), 1 + len(batch) + rank)))
    return spread(x, size) if not flag and x.ndim > rank else x


@dataclass(frozen=True)
class Execution:
    """All nodes that one execution of a region gives.

    firsts: the number of the first node of each sub-graph, where nodes are counted as `every_node` lists them.
    """

    nodes: tuple[Node, ...]
    firsts: tuple[int, ...]

    @property
    def region(self) -> Region:
        """What is executed."""
        return self.nodes[0].params.region


def executions(graph: Graph) -> list[Execution]:
    """The executions of a graph, in the order of their first nodes."""
    groups: dict[Any, list[Node]] = {}
    for n in graph.nodes:
        if n.op in CONTROL:
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
