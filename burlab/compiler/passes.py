"""The pipeline: every pass from a graph to a function that runs, in order, and the loop that runs them.

A pass takes what the one before it gives: first graphs become graphs, then one graph becomes a plan, and a plan at last
C++ text, or the table of a replay. `BURLAB_PRINT` shows what passes give and how long they take, see
`pass_printing.py`. docs/extending/compiler_pass.md adds one.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from burlab.graph import Graph
from burlab.graph.rewrite.simplify import simplify

from .codegen.emit import emit
from .codegen.load import load
from .ir.link import link
from .ir.options import After, PlanOptions
from .ir.plan import KernelPlan, Runnable
from .pass_printing import observer
from .planning.block_rows import block_rows
from .planning.check_finite import check_finite
from .planning.check_interrupts import check_interrupts
from .planning.drafts import Lowered, lower
from .planning.expand_products import expand_products
from .planning.in_place import order_updates
from .planning.locate import locate
from .planning.place import place
from .planning.rematerialize import rematerialize
from .planning.schedule import Scheduled, schedule
from .planning.split_columns import split_columns
from .replay.program import tabulate
from .replay.segments import lay_out

DEFAULT_OPTIONS = PlanOptions()
BOTH = ("compiled", "replay")
ALL = (*BOTH, "kernels")


@dataclass(frozen=True, slots=True)
class Pass:
    """One step of the pipeline.

    Args:
        function: the file and the docstring that explain it; its name is that of the pass.
        gears: those that it serves.
        wanted: tells by the options whether a build needs it.
        run: calls the function with the value of the pass before and the options.
    """

    function: Callable[..., Any]
    gears: tuple[str, ...]
    wanted: Callable[[PlanOptions], bool]
    run: Callable[[Any, PlanOptions], Any]

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__

    def serves(self, options: PlanOptions) -> bool:
        """Return True if a build with these options runs it."""
        return options.gear in self.gears and self.wanted(options)


def _always(_: PlanOptions) -> bool:
    return True


def rewrite(
    function: Callable[[Any], Any], gears: tuple[str, ...] = ALL, when: Callable[[PlanOptions], bool] = _always
) -> Pass:
    """A pass that needs nothing but the value of the pass before."""
    return Pass(function, gears, when, lambda value, _: function(value))


def _lower(scheduled: Scheduled, options: PlanOptions) -> Lowered:
    return lower(scheduled, lambda part, sums: make_plan(part, options.of_parts(sums)))


def _rematerialize(plan: KernelPlan, options: PlanOptions) -> KernelPlan:
    def again(graph: Graph, after: After) -> KernelPlan:
        return make_plan(graph, replace(options, remat=None, after=after))

    return rematerialize(plan, again)


def _link(plan: KernelPlan, _: PlanOptions) -> KernelPlan:
    return link(plan, make_runnable)


PASSES: tuple[Pass, ...] = (
    rewrite(simplify, BOTH),
    rewrite(block_rows, BOTH, lambda options: options.rewrites),
    rewrite(split_columns, ("compiled",), lambda options: options.rewrites and not options.accumulate),
    rewrite(expand_products, ("compiled",), lambda options: options.rewrites),
    Pass(locate, ALL, _always, locate),
    rewrite(order_updates, ALL, lambda options: bool(options.in_place)),
    rewrite(schedule),
    Pass(lower, ALL, _always, _lower),
    rewrite(place),
    rewrite(check_finite, ALL, lambda options: options.check_finite),
    rewrite(check_interrupts),
    rewrite(lay_out, ("replay",)),
    Pass(rematerialize, BOTH, lambda options: options.remat is not None, _rematerialize),
    Pass(link, ALL, _always, _link),
    rewrite(emit, ("compiled",)),
    rewrite(load, ("compiled",)),
    rewrite(tabulate, ("replay", "kernels")),
)


def run_passes(value: Any, options: PlanOptions, first: str = "simplify", end: str = "") -> Any:
    """Run the passes that serve these options, from the first one to the one before `end`.

    Args:
        value: what the first of these passes takes.
        options: what a plan is made for.
        first: the name of a pass.
        end: the name of a pass; "" is the end of the list.

    Returns:
        What the last of these passes gives.
    """
    names = [step.name for step in PASSES]
    observe = observer(names)
    for step in PASSES[names.index(first) : names.index(end) if end else None]:
        if step.serves(options):
            start = time.perf_counter_ns()
            value = step.run(value, options)
            observe(step.name, options.gear, value, time.perf_counter_ns() - start)
    return value


def make_plan(graph: Graph, options: PlanOptions = DEFAULT_OPTIONS) -> KernelPlan:
    """Plan a graph as the rewriting passes leave it, by all passes from `locate` to the one before `link`."""
    return run_passes(graph, options, "locate", "link")


def make_runnable(plan: KernelPlan) -> Runnable:
    """Make a plan run, by all passes from `link` on."""
    return run_passes(plan, plan.options, "link")
