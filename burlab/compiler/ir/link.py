"""`link`: plans of control flow learn the addresses of the functions that carry out their sub-graphs."""

from collections.abc import Callable
from dataclasses import replace

from .plan import Execute, KernelPlan, PartContext, Runnable, Step


def link(plan: KernelPlan, build_part: Callable[[KernelPlan], Runnable]) -> KernelPlan:
    """Build the plans of sub-graphs and put the addresses of their functions into the plan's descriptors."""
    steps: list[Step] = []
    linked: list[Runnable] = []
    for step in plan.steps:
        if isinstance(step, Execute):
            parts = [build_part(part) for part in step.parts]
            functions = zip((part.function for part in parts), step.firsts, strict=True)
            ends = [n for f, first in functions for n in (f.address, f.context, first)]
            linked += parts
            first = len(step.descriptor) + 1
            contexts = tuple(PartContext(first + 3 * k, part.function.contexts) for k, part in enumerate(parts))
            step = step._replace(descriptor=(*step.descriptor, *ends), contexts=contexts)  # noqa: PLW2901 - the same step
        steps.append(step)
    return replace(plan, steps=tuple(steps), linked=tuple(linked)) if linked else plan
