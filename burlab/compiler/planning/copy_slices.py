"""Slices that outlive their array are copied, so that the array need not stay for them.

A slice is a view: as long as a step reads it, its base stays in memory. Where a base is last read through small slices,
as by a backward pass that needs only some columns of what the forward pass computed, copies of these take less.
"""

from collections import defaultdict
from collections.abc import Callable

from burlab.compiler.ir.plan import KernelPlan, MemoryKind, nodes_of
from burlab.graph import Node

Planner = Callable[[frozenset[Node]], KernelPlan]

MIN_BYTES = 1 << 16  # of a base: smaller ones are not worth another plan
MAX_SHARE = 2  # slices are small if they have at most one of so many parts of the base


def copy_slices(plan: KernelPlan, make: Planner) -> KernelPlan:
    """Return the plan, or one with slices copied, if its workspace is smaller by at least their bytes.

    make: plans the same graph with copies of some views, which are made at once.
    """
    copied = _outliving(plan)
    if not copied:
        return plan
    less = make(frozenset(copied))
    return less if less.workspace_bytes + sum(n.nbytes for n in copied) <= plan.workspace_bytes else plan


def _outliving(plan: KernelPlan) -> list[Node]:
    """The small slices that are read after their base is last read otherwise."""
    if not any(n.op == "slice" and _is_small([n], plan.views[n.inputs[0]].base) for n in plan.graph.nodes):
        return []
    reads: dict[Node, list[tuple[int, Node]]] = defaultdict(list)
    for k, step in enumerate(plan.steps):
        for n in nodes_of(step):
            for x in n.inputs:
                base = plan.views[x].base
                place = plan.allocations.get(base)
                if place and place.kind is MemoryKind.WORKSPACE and base.nbytes >= MIN_BYTES:
                    reads[base].append((k, n if n.row.view else _narrowest(plan, x)))  # a view may be a copy already
    found: list[Node] = []
    for base, pairs in reads.items():
        last = max((k for k, x in pairs if not _is_small([x], base)), default=-1)
        slices = list(dict.fromkeys(x for k, x in pairs if k > last))
        if slices and _is_small(slices, base):
            found += slices
    return found


def _is_small(slices: list[Node], base: Node) -> bool:
    return MAX_SHARE * sum(n.nbytes for n in slices) <= base.nbytes and base.nbytes >= MIN_BYTES


def _narrowest(plan: KernelPlan, x: Node) -> Node:
    """The smallest of the views between a base and a view of it, the first of these."""
    base = plan.views[x].base
    best = x
    while x is not base:
        if x.nbytes <= best.nbytes:
            best = x
        x = x.inputs[0]
    return base if base.nbytes <= best.nbytes else best
