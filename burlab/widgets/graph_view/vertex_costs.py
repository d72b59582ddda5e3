"""Costs of vertices, and the C++ that computes them, by the steps of a plan, which hold one node or many."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from burlab.compiler.executable import Executable
from burlab.compiler.inspection.account import Entry, accounts
from burlab.compiler.inspection.source import step_lines
from burlab.compiler.inspection.timed import TimedExecutable, fastest
from burlab.compiler.ir.plan import Execute, KernelPlan, nodes_of
from burlab.graph import Graph, Node
from burlab.graph.structural_hash import structural_keys
from burlab.runtime.coerce import Array

from .inside import Inside
from .network import Network


@dataclass(frozen=True, slots=True)
class PlanPlace:
    """The step of a plan that computes a vertex. entry: its account. nodes: how many it computes.

    lines: its C++; () where a plan is replayed, and no C++ is written for it.
    """

    step: int
    entry: Entry
    nodes: int
    lines: tuple[str, ...]


def places_of(graph: Graph, network: Network, plan: KernelPlan, compiled: bool) -> list[PlanPlace | None]:
    """The step of a plan that computes each vertex; None for inputs, and for what the plan computes in another way.

    What control flow executes lies in the step of its execution, and in the C++ of a plan inside of that.
    """
    found = dict[Node, PlanPlace]()
    _locate(found, graph, network.insides, plan, compiled)
    return [found.get(n) for n in network.nodes]


def _locate(
    found: dict[Node, PlanPlace], graph: Graph, insides: Sequence[Inside], plan: KernelPlan, compiled: bool
) -> None:
    entries = accounts(plan)
    lines = step_lines(plan) if compiled else [()] * len(plan.steps)
    keys = structural_keys(plan.graph)
    step_of: dict[str, int] = {}
    for k, step in enumerate(plan.steps):
        for n in nodes_of(step):
            if n in keys:
                step_of.setdefault(keys[n], k)
    for n, key in structural_keys(graph).items():
        if key in step_of:
            k = step_of[key]
            found[n] = PlanPlace(k, entries[k], len(nodes_of(plan.steps[k])), lines[k])
    for inside in insides:
        outer = found.get(inside.first)
        step = outer and plan.steps[outer.step]
        if outer and isinstance(step, Execute):
            below = dict[Node, PlanPlace]()
            for part, nested, inner in zip(inside.graphs, inside.nested, step.parts, strict=True):
                _locate(below, part, nested, inner, compiled)
            count = outer.nodes + len(below)
            found |= {n: replace(outer, nodes=count) for n in inside.execution.nodes}
            found |= {n: replace(outer, nodes=count, lines=place.lines) for n, place in below.items()}


def nanoseconds(executable: Executable, arrays: Sequence[Array]) -> tuple[int, ...]:
    """The time of each step, measured: the fastest of many calls."""
    executable(*arrays)
    buffers = [spec.empty() for spec in executable.outputs]
    return fastest(TimedExecutable(executable), arrays, buffers).steps
