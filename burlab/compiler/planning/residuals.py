"""The residuals of a plan: values that its forward steps store in the workspace for the backward steps."""

from burlab.compiler.ir.plan import Invoke, KernelPlan, LoopStep, MemoryKind, Step, nodes_of
from burlab.graph import Graph, Node, topological
from burlab.runtime.memory import rounded


def forward_of(graph: Graph) -> set[Node]:
    """Return the nodes that the first output, the value, depends on. All others are there for the gradient only."""
    return set(topological(graph.outputs[:1]))


def residuals(plan: KernelPlan) -> list[Node]:
    """The arrays of the workspace that forward steps write and backward steps read, in the order of writing."""
    forward = forward_of(plan.graph)
    own = {n for n, place in plan.allocations.items() if place.kind is MemoryKind.WORKSPACE}
    first: dict[Node, None] = {}
    second: set[Node] = set()
    for step in plan.steps:
        if forward.isdisjoint(nodes_of(step)):
            second.update(_reads(plan, step))
        else:
            first.update(dict.fromkeys(n for n in written(step) if n in own))
    return [n for n in first if n in second]


def written(step: Step) -> tuple[Node, ...]:
    """Return the nodes whose arrays a step writes."""
    return (*step.stores, *(n for n in step.nodes if n.row.joins)) if isinstance(step, LoopStep) else nodes_of(step)


def _reads(plan: KernelPlan, step: Step) -> set[Node]:
    values = {x for n in nodes_of(step) for x in n.inputs}
    if isinstance(step, Invoke):
        values.add(step.node)  # a copy to an output reads its source
    return {plan.views[x].base for x in values}


def covered(spans: list[tuple[int, int]]) -> int:
    """Bytes of the workspace under spans, given by start and size: overlapping ones count once.

    >>> covered([(0, 100), (64, 64), (256, 8)])
    192
    """
    end = total = 0
    for start, size in sorted(spans):
        stop = start + rounded(size)
        total += max(stop - max(start, end), 0)
        end = max(end, stop)
    return total
