"""The forward and the backward sweep over a network, one step after another, with the numbers that flow."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from burlab.compiler.faults.values import Replay
from burlab.eager.ancestry import Recorded
from burlab.errors import TraceError
from burlab.graph import Graph, Node
from burlab.graph.autodiff.cotangents import summed
from burlab.graph.autodiff.sweep import Pulled, pull
from burlab.graph.linear_nodes import broadcast
from burlab.graph.node import constant
from burlab.graph.rewrite.simplify import without_calls

from .last_iteration import last_values
from .network import Network, pretty
from .rule_text import (
    forward_rule,
    load_rules,
    names_of,
    recorded_forward,
    recorded_names,
    recorded_reverse,
    reverse_rule,
)
from .value_summary import Array, ValueSummary, summarize

Phase = Literal["forward", "backward"]


class GradientShare(NamedTuple):
    """The gradient that a vertex gives to one of its operands in the backward sweep, and the rule."""

    operand: int
    share: ValueSummary
    rule: Callable[[], str]


@dataclass(frozen=True, slots=True)
class SweepStep:
    """A vertex is computed (forward), or hands its gradient on to what it was computed from (backward).

    rule: the formula, written when it is asked for. reads: what the letters of the rule stand for.
    """

    vertex: int
    phase: Phase
    rule: Callable[[], str]
    reads: tuple[tuple[str, int], ...] = ()
    flows: tuple[GradientShare, ...] = ()


@dataclass(frozen=True, slots=True)
class SweepSteps:
    """Steps in their order; the value of each vertex; its gradient as it grows: after which step it is what."""

    steps: tuple[SweepStep, ...]
    values: Sequence[ValueSummary]
    growth: dict[int, list[tuple[int, ValueSummary]]] = field(default_factory=dict[int, list[tuple[int, ValueSummary]]])

    def gradient(self, vertex: int, done: int | None = None) -> ValueSummary | None:
        """The gradient of a vertex when so many steps are done, or all; None where it has none yet."""
        found = [text for step, text in self.growth.get(vertex, ()) if done is None or step < done]
        return found[-1] if found else None

    @property
    def forward(self) -> int:
        """The number of steps of the forward sweep."""
        return sum(step.phase == "forward" for step in self.steps)

    def computed(self, done: int) -> set[int]:
        """The vertices that have a value when so many steps are done; inputs have theirs from the start."""
        later = {step.vertex for step in self.steps[done:] if step.phase == "forward" or not step.flows}
        return set(range(len(self.values))) - later


def graph_sweep(
    network: Network, graph: Graph, arrays: Sequence[Array], gradients: dict[int, str], derived: bool
) -> SweepSteps:
    """The sweeps over a graph with these inputs.

    gradients: the outputs that are gradients, and of which inputs by name. Where there are any, the steps of the
    backward sweep are the nodes that compute them. Else it goes back over the same nodes, from a gradient of 1 at every
    element of the outputs. derived: whether derivatives of the graph are those of what was traced; else only gradients
    that it computes itself are shown. Raises what the computation raises.
    """
    floats = [x for x in graph.inputs if x.dtype.kind == "f"]
    roots = [y for k, y in enumerate(graph.outputs) if k not in gradients and y.dtype.kind == "f"] if derived else []
    ones = [broadcast(constant(1.0, y.dtype), y.shape) for y in roots]
    try:
        pulled, received = pull(roots, floats, ones)
    except TraceError:  # such as a loop on the way back: what has no derivative has values all the same
        roots, pulled, received = [], [], {}
    shares = [share for step in pulled for _, share in step.shares]
    totals = {n: summed(parts) for n, parts in received.items()}
    wanted = [*shares, *totals.values()]
    whole = Graph(graph.inputs, (*graph.outputs, *without_calls(wanted)))
    known = Replay(whole).values(arrays)
    at = [known[whole.index[y]] for y in whole.outputs[len(graph.outputs) :]]
    share_values, total_values = at[: len(shares)], dict(zip(totals, at[len(shares) :], strict=True))
    inner = last_values(network.insides, {n: known[k] for n, k in whole.index.items()})
    values = [inner[n] if n in inner else summarize(known[whole.index[n]]) for n in network.nodes]
    forward = [
        SweepStep(k, "backward" if v.backward else "forward", partial(_forward, network, k), _reads(network, k))
        for k, v in enumerate(network.vertices)
        if (v.operands or network.nodes[k] in network.rules) and values[k].known
    ]
    forward.sort(key=lambda step: step.phase == "backward")
    if gradients:
        named = {pretty(str(x.params)): x for x in floats}
        given = {named[name]: known[whole.index[graph.outputs[k]]] for k, name in gradients.items() if name in named}
        found = total_values if derived else given
        growth = {network.index[n]: [(-1, summarize(x))] for n, x in found.items() if n in network.index}
        return SweepSteps(tuple(forward), values, growth)
    backward, growth = _backward(network, pulled, share_values, len(forward))
    for y in roots:
        growth.setdefault(network.index[y], []).insert(0, (len(forward) - 1, summarize(1.0)))
    return SweepSteps((*forward, *backward), values, growth)


def _forward(network: Network, k: int) -> str:
    n = network.nodes[k]
    if n in network.rules:
        return network.rules[n]
    _prepare(network)
    return forward_rule(n)


def _prepare(network: Network) -> None:
    """One call of the compiler for the formulas of all operations."""
    load_rules([v.operation for v in network.vertices])


def _reads(network: Network, k: int) -> tuple[tuple[str, int], ...]:
    if network.nodes[k] in network.rules:
        return (*(("a", x) for x in network.vertices[k].operands), ("y", k))
    names = names_of(network.nodes[k])
    return tuple((word, network.index[x]) for x, word in names.items() if x in network.index)


def _backward(
    network: Network, pulled: Sequence[Pulled], shares: Sequence[Array], before: int
) -> tuple[list[SweepStep], dict[int, list[tuple[int, ValueSummary]]]]:
    """A step for each execution, and the gradients as they add up."""
    steps: list[SweepStep] = []
    sums: dict[Node, Array] = {}
    growth: dict[int, list[tuple[int, ValueSummary]]] = {}
    values = iter(shares)
    for given, parts in pulled:
        n, g = given[0]
        flows: list[GradientShare] = []
        for x, share in parts:
            value = next(values)
            with np.errstate(all="ignore"):
                sums[x] = sums[x] + value if x in sums else value
            if x in network.index:
                growth.setdefault(network.index[x], []).append((before + len(steps), summarize(sums[x])))
                flows.append(
                    GradientShare(network.index[x], summarize(value), partial(_reverse, network, n, g, x, share))
                )
        if n in network.index and flows:
            k = network.index[n]
            steps.append(SweepStep(k, "backward", partial(_forward, network, k), _reads(network, k), tuple(flows)))
    return steps, growth


def _reverse(network: Network, n: Node, g: Node, x: Node, share: Node) -> str:
    _prepare(network)
    return reverse_rule(n, g, x, share)


def recorded_sweep(nodes: Sequence[Recorded]) -> SweepSteps:
    """The sweeps behind a Value, whose `ancestors` these are; the backward one gives its root a gradient of 1.

    The numbers are those of the tape: its values, and its partial derivatives times the gradients.
    """
    rows = sorted(nodes, key=lambda n: n.index)
    index = {n.index: k for k, n in enumerate(rows)}
    operations = [n.operation for n in rows]
    forward = [
        SweepStep(k, "forward", partial(_recorded_forward, operations, n), _recorded_reads(n, index))
        for k, n in enumerate(rows)
        if n.symbol
    ]
    steps = list(forward)
    gradients = {index[nodes[0].index]: 1.0}
    growth = {index[nodes[0].index]: [(len(forward) - 1, summarize(1.0))]}
    for k in reversed(range(len(rows))):
        n = rows[k]
        if k not in gradients or not n.symbol:
            continue
        flows: list[GradientShare] = []
        for position, (parent, slope) in enumerate(n.operands):
            if parent and parent in index:
                x, share = index[parent], gradients[k] * slope
                gradients[x] = gradients.get(x, 0.0) + share
                growth.setdefault(x, []).append((len(steps), summarize(gradients[x])))
                flows.append(GradientShare(x, summarize(share), partial(_recorded_reverse, operations, n, position)))
        if flows:
            rule = partial(_recorded_forward, operations, n)
            steps.append(SweepStep(k, "backward", rule, _recorded_reads(n, index), tuple(flows)))
    return SweepSteps(tuple(steps), [summarize(n.data) for n in rows], growth)


def _recorded_reads(n: Recorded, index: dict[int, int]) -> tuple[tuple[str, int], ...]:
    named = {name: index[p] for name, (p, _) in zip(recorded_names(n), n.operands, strict=True) if p in index and p}
    return (*named.items(), ("y", index[n.index]))


def _recorded_forward(operations: Sequence[str], n: Recorded) -> str:
    load_rules(operations)
    return recorded_forward(n)


def _recorded_reverse(operations: Sequence[str], n: Recorded, k: int) -> str:
    load_rules(operations)
    return recorded_reverse(n, k)
