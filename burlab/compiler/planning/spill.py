"""Residuals in a file: between forward and backward pass they need no memory.

Wu et al. 2024, "SSDTrain: An activation offloading framework to SSDs for faster large language model training",
arXiv:2408.10013, by the means of the operating system: the workspace is mapped from a file, whose pages threads of the
system write and read beside the computation. The plan says when an array is not needed for a while, and when it is
needed soon. Such advice changes no number.
"""

from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

from burlab.compiler.ir.library import LibraryKernel
from burlab.compiler.ir.plan import Invoke, KernelPlan, MemoryKind, Step, nodes_of
from burlab.compiler.ir.spill_hints import RECALL, RETIRE
from burlab.graph import Node

from .residuals import written

MIN_BYTES = 1 << 18  # of an array that goes to the file
_MIN_STEPS = 8  # between two uses of an array, for which it goes there


def spill(plan: KernelPlan) -> KernelPlan:
    """Return the plan with advice about the arrays that wait long for their next use."""
    uses: dict[Node, list[int]] = defaultdict(list)
    for k, step in enumerate(plan.steps):
        read = (plan.views[x].base for n in nodes_of(step) for x in n.inputs)
        for base in dict.fromkeys((*read, *written(step))):
            place = plan.allocations.get(base)
            if place and place.kind is MemoryKind.WORKSPACE and base.nbytes >= MIN_BYTES:
                uses[base].append(k)
    before: dict[int, list[Step]] = defaultdict(list)
    behind: dict[int, list[Step]] = defaultdict(list)
    gaps = sorted((b, a, k) for k, n in enumerate(uses) for a, b in pairwise(uses[n]) if b - a >= _MIN_STEPS)
    arrays = list(uses)
    for number, (_, start, k) in enumerate(gaps):
        behind[start].append(_hint(plan, arrays[k], RETIRE))
        earlier = gaps[number - 1][0] if number else -1  # it comes when the one before it is used
        if earlier > start:
            before[earlier].append(_hint(plan, arrays[k], RECALL))
    for k in dict.fromkeys(k for _, _, k in gaps):
        behind[uses[arrays[k]][-1]].append(_hint(plan, arrays[k], RETIRE))
    return replace(plan, steps=tuple(s for k, step in enumerate(plan.steps) for s in (*before[k], step, *behind[k])))


def _hint(plan: KernelPlan, n: Node, kernel: LibraryKernel) -> Invoke:
    return Invoke(n, kernel, (n.nbytes,), (), plan.allocations[n], ())
