"""Long plans check for an interrupt between their steps."""

from collections.abc import Iterator
from dataclasses import replace

from burlab.compiler.ir.interrupts import HALT_CHECK, UNCHECKED_WORK
from burlab.compiler.ir.plan import Execute, Invoke, KernelPlan, MemoryKind, MemoryPlace, Step, work_of
from burlab.compiler.ir.strides import elements

_MIN_CHECKED_WORK = 1 << 18  # elements of work below which no kernel checks on its own: a fourth of its patience
_MIN_CHECKED_CALLS = 32  # calls of a kernel by `each`, below which that does not check: half of its patience


def check_interrupts(plan: KernelPlan) -> KernelPlan:
    """Check for an interrupt between steps of long plans, and pass on the status of kernels that check on their own."""
    return replace(plan, steps=tuple(_checked(plan.steps)))


def _checked(steps: tuple[Step, ...]) -> Iterator[Step]:
    done = 0
    for step in steps:
        own = 0 if isinstance(step, Execute) else work_of(step)  # control flow checks in every iteration
        if isinstance(step, Invoke) and (
            own >= _MIN_CHECKED_WORK or elements(step.box[1 : 1 + _rank(step)]) >= _MIN_CHECKED_CALLS
        ):
            step = step._replace(may_fail=True)  # noqa: PLW2901 - the same step
        yield step
        done += own
        if done >= UNCHECKED_WORK:
            done = 0
            node = step.node if isinstance(step, Invoke) else step.nodes[0]
            yield Invoke(node, HALT_CHECK, (), (), MemoryPlace(MemoryKind.WORKSPACE, 0), (), may_fail=True)


def _rank(step: Invoke) -> int:
    return step.box[0] if step.box else 0
