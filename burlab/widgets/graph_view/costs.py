"""What vertices cost, and the C++ that computes them: of the steps of a plan, which hold one node or many."""

from collections.abc import Sequence
from dataclasses import dataclass

from burlab.compiler.executable import Executable
from burlab.compiler.inspection.account import Entry, accounts
from burlab.compiler.inspection.source import step_lines
from burlab.compiler.inspection.timed import TimedExecutable, fastest
from burlab.compiler.ir.plan import Plan
from burlab.compiler.planning.phases import nodes_of
from burlab.graph import Graph, Node
from burlab.graph.structure import structural_keys
from burlab.runtime.coerce import Array


@dataclass(frozen=True, slots=True)
class Place:
    """Where a vertex is computed. step: of the plan. entry: what that step is. nodes: how many it computes.

    lines: its C++; () where a plan is replayed, and no C++ is written for it.
    """

    step: int
    entry: Entry
    nodes: int
    lines: tuple[str, ...]


def places_of(graph: Graph, nodes: Sequence[Node], plan: Plan, compiled: bool) -> list[Place | None]:
    """The step of a plan that computes each node; None for inputs, and for what the plan computes in another way."""
    entries = accounts(plan)
    lines = step_lines(plan) if compiled else [()] * len(plan.steps)
    keys = structural_keys(plan.graph)
    step_of: dict[str, int] = {}
    for k, step in enumerate(plan.steps):
        for n in nodes_of(step):
            if n in keys:
                step_of.setdefault(keys[n], k)
    own = structural_keys(graph)
    found = [step_of.get(own[n]) for n in nodes]
    return [None if k is None else Place(k, entries[k], len(nodes_of(plan.steps[k])), lines[k]) for k in found]


def nanoseconds(executable: Executable, arrays: Sequence[Array]) -> tuple[int, ...]:
    """The time of each step, measured: the fastest of many calls."""
    executable(*arrays)
    buffers = [spec.empty() for spec in executable.outputs]
    return fastest(TimedExecutable(executable), arrays, buffers).steps
