"""Plans that check for inf and nan: every step sets a flag, and the last one reads it."""

from dataclasses import replace

from burlab.compiler.ir.plan import Execute, Invoke, KernelPlan, LoopStep, MemoryKind, MemoryPlace, Step
from burlab.compiler.ir.strides import elements
from burlab.compiler.lowering.descriptors import Bytes, Elements
from burlab.compiler.lowering.lower import VERDICT, note_kernel
from burlab.compiler.lowering.reductions import ZERO
from burlab.runtime.memory import rounded


def check_finite(plan: KernelPlan) -> KernelPlan:
    """Check the floats of every library call after it, and end with the verdict.

    Generated loops check on their own. A loop that is replayed leaves numbers that are checked after it.
    """
    if not plan.steps:
        return plan
    note = MemoryPlace(MemoryKind.WORKSPACE, 0, rounded(plan.workspace_bytes))
    end = note.offset + 64
    steps: list[Step] = []
    for step in plan.steps:
        if isinstance(step, LoopStep) and not plan.options.compiled:
            size = elements(step.shape)
            one = {n.dtype: n for n in step.nodes if n.dtype.kind == "f" and not n.row.moves_data}
            checks = tuple(
                (n, MemoryPlace(MemoryKind.WORKSPACE, 0, end + 64 * size * k)) for k, n in enumerate(one.values())
            )
            end += 64 * size * len(checks)
            steps.append(step._replace(finite_checks=checks))
            steps += (Invoke(n, note_kernel(n), Elements(size), (), note, (place,)) for n, place in checks)
        else:
            steps += (step, *_checks_after(step, note))
    node = plan.graph.nodes[-1]
    clear = Invoke(node, ZERO, Bytes(8), (), note, ())
    verdict = Invoke(node, VERDICT, (), (), note, (note,), may_fail=True)
    return replace(plan, steps=(clear, *steps, verdict), workspace_bytes=end, note=note)


def _checks_after(step: Step, note: MemoryPlace) -> list[Step]:
    """Checks of the floats that a step has written, but for a loop's, which checks on its own."""
    if isinstance(step, Invoke) and step.node.dtype.kind == "f" and not step.node.row.moves_data:
        return [Invoke(step.node, note_kernel(step.node), Elements(step.node.size), (), note, (step.result,))]
    if isinstance(step, Execute):
        return [
            Invoke(n, note_kernel(n), Elements(n.size), (), note, (step.results[n.params.item],))
            for n in step.nodes
            if n.dtype.kind == "f"
        ]
    return []
