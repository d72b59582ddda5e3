"""The pipeline: every pass from a graph to a function that runs, in order, and the loop that runs them.

A pass takes what the one before it gives: first graphs become graphs, then one graph becomes a plan, and a plan at last
C++ text, or the table of a replay. `BURLAB_PRINT` shows what passes give and how long they take, see
`pass_printing.py`. docs/extending/compiler_pass.md adds one.
"""

import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from burlab.graph import Graph, Node
from burlab.graph.rewrite.match_sparse import match_sparse
from burlab.graph.rewrite.simplify import simplify

from .codegen.emit import emit
from .codegen.load_code import load
from .ir.link import link
from .ir.options import After, PlanOptions
from .ir.plan import KernelPlan, Runnable
from .pass_printing import observer
from .planning.block_rows import block_rows
from .planning.block_sums import block_sums
from .planning.byte_masks import byte_masks
from .planning.check_finite import check_finite
from .planning.check_interrupts import check_interrupts
from .planning.column_sums import end_loops
from .planning.contract_windows import contract_windows
from .planning.copy_slices import copy_slices
from .planning.drafts import Lowered, lower
from .planning.drop_choices import drop_choices
from .planning.expand_products import expand_products
from .planning.in_place import order_updates
from .planning.late_sums import late_sums
from .planning.locate import locate
from .planning.place import place
from .planning.rematerialize import rematerialize
from .planning.repeated import repeat_cheap
from .planning.schedule import Scheduled, schedule
from .planning.share_sums import share_sums
from .planning.spill import spill
from .planning.split_columns import split_columns
from .planning.sum_pieces import sum_pieces
from .replay.program import tabulate
from .replay.segments import lay_out

_DEFAULT = PlanOptions()
BOTH = ("compiled", "replay")
ALL = (*BOTH, "kernels")


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """One step of the pipeline.

    Args:
        function: the file and the docstring that explain it; its name is that of the pass.
        gears: those that it serves.
        run: calls the function with the value of the pass before and the options.
        needs: options without which it does not run.
        bars: options with which it does not run.
    """

    function: Callable[..., Any]
    gears: tuple[str, ...]
    run: Callable[[Any, PlanOptions], Any]
    needs: tuple[str, ...] = ()
    bars: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__

    @property
    def takes(self) -> type:
        """The annotated type of the function's first argument."""
        return next(iter(inspect.signature(self.function).parameters.values())).annotation

    @property
    def gives(self) -> type:
        """The type of its result."""
        return inspect.signature(self.function).return_annotation

    def serves(self, options: PlanOptions) -> bool:
        """Return True if a build with these options runs it."""
        return options.gear in self.gears and self.is_wanted(options)

    def is_wanted(self, options: PlanOptions) -> bool:
        """Return True if all that it needs is set in the options, and nothing that bars it."""
        for names, wanted in ((self.needs, True), (self.bars, False)):
            for name in names:
                if (getattr(options, name) != getattr(_DEFAULT, name)) is not wanted:
                    return False
        return True


def rewrite(function: Callable[[Any], Any], gears: tuple[str, ...] = ALL, **conditions: tuple[str, ...]) -> Pass:
    """A pass that needs nothing but the value of the pass before."""
    return Pass(function, gears, lambda value, _: function(value), **conditions)


def _share_sums(graph: Graph, options: PlanOptions) -> Graph:
    """Sums in plain order, or into what results hold, have no blocks."""
    return graph if options.strict or options.accumulate else share_sums(graph)


def _lower(scheduled: Scheduled, options: PlanOptions) -> Lowered:
    return lower(scheduled, lambda part, sums, pairs: make_plan(part, options.of_parts(sums, pairs)))


def _byte_masks(plan: KernelPlan, options: PlanOptions) -> KernelPlan:
    def again(graph: Graph, early: frozenset[Node], after: After) -> KernelPlan:
        return _with_remat(
            make_plan(graph, replace(options, remat=None, spill=None, early=early, after=after)), options
        )

    return byte_masks(plan, again)


def _copy_slices(plan: KernelPlan, options: PlanOptions) -> KernelPlan:
    def again(copied: frozenset[Node]) -> KernelPlan:
        early = plan.options.early | copied
        made = make_plan(plan.graph, replace(options, remat=None, spill=None, early=early, after=plan.after))
        return _with_remat(made, options)

    return copy_slices(plan, again)


def _with_remat(plan: KernelPlan, options: PlanOptions) -> KernelPlan:
    """The plan with what a later pass reads of the options."""
    return replace(plan, options=replace(plan.options, remat=options.remat))


def _rematerialize(plan: KernelPlan, options: PlanOptions) -> KernelPlan:
    def again(graph: Graph, after: After) -> KernelPlan:
        return make_plan(graph, replace(options, remat=None, spill=None, after=after, early=plan.options.early))

    return rematerialize(plan, again)


def _spill(plan: KernelPlan, options: PlanOptions) -> KernelPlan:
    return spill(replace(plan, options=replace(plan.options, spill=options.spill)))


def _link(plan: KernelPlan, _: PlanOptions) -> KernelPlan:
    return link(plan, make_runnable)


PASSES: tuple[Pass, ...] = (
    rewrite(simplify, BOTH),
    rewrite(match_sparse, BOTH, bars=("strict", "check_finite")),
    rewrite(block_rows, BOTH, bars=("strict", "check_finite")),
    rewrite(block_sums, BOTH, bars=("strict", "check_finite", "accumulate")),
    rewrite(sum_pieces, ("compiled",), bars=("strict", "check_finite", "accumulate")),
    rewrite(split_columns, ("compiled",), bars=("strict", "check_finite", "accumulate")),
    rewrite(drop_choices, ("compiled",), bars=("check_finite",)),
    rewrite(expand_products, ("compiled",), bars=("strict", "check_finite")),
    rewrite(contract_windows, BOTH),
    Pass(share_sums, ("compiled",), _share_sums, needs=("shared",)),
    Pass(locate, ALL, locate),
    rewrite(order_updates, BOTH, needs=("in_place",)),
    rewrite(schedule),
    rewrite(end_loops, ("compiled",), bars=("strict", "check_finite", "keep", "shared")),
    rewrite(repeat_cheap, ("compiled",), bars=("in_place", "keep")),
    Pass(lower, ALL, _lower),
    rewrite(late_sums, ("compiled",), needs=("shared",)),
    rewrite(place),
    rewrite(check_finite, BOTH, needs=("check_finite",)),
    rewrite(check_interrupts),
    rewrite(lay_out, ("replay",)),
    Pass(byte_masks, ("compiled",), _byte_masks, bars=("early",)),
    Pass(copy_slices, BOTH, _copy_slices, bars=("early",)),
    Pass(rematerialize, BOTH, _rematerialize, needs=("remat",)),
    Pass(spill, BOTH, _spill, needs=("spill",)),
    Pass(link, ALL, _link),
    rewrite(emit, ("compiled",)),
    rewrite(load, ("compiled",)),
    rewrite(tabulate, ("replay", "kernels")),
)


def run_passes(value: Any, options: PlanOptions, first: str = "simplify", end: str = "") -> Any:
    """Run the passes that serve these options, from the first one to the one before `end`.

    Args:
        value: the input of the first of these passes.
        options: of the plan.
        first: the name of a pass.
        end: the name of a pass; "" is the end of the list.

    Returns:
        The output of the last of these passes.
    """
    observe = observer(_names)
    for step in _between(PASSES, options.gear, first, end):
        if step.is_wanted(options):
            start = time.perf_counter_ns()
            value = step.run(value, options)
            observe(step.name, options.gear, value, time.perf_counter_ns() - start)
    return value


@cache
def _between(passes: tuple[Pass, ...], gear: str, first: str, end: str) -> tuple[Pass, ...]:
    """The passes of a gear from the first one to the one before `end`."""
    names = [step.name for step in passes]
    return tuple(step for step in passes[names.index(first) : names.index(end) if end else None] if gear in step.gears)


def _names() -> list[str]:
    return [step.name for step in PASSES]


def make_plan(graph: Graph, options: PlanOptions = _DEFAULT) -> KernelPlan:
    """Plan a graph as the rewriting passes leave it, by all passes from `locate` to the one before `link`."""
    return run_passes(graph, options, "locate", "link")


def make_runnable(plan: KernelPlan) -> Runnable:
    """Make a plan run, by all passes from `link` on."""
    return run_passes(plan, plan.options, "link")


def pass_table() -> str:
    """Return the passes as a table in Markdown, which ARCHITECTURE.md shows."""
    package = Path(__file__).parents[1]
    lines = ["| pass | file | takes -> gives | gears | runs |", "|---|---|---|---|---|"]
    for step in PASSES:
        file = Path(inspect.getfile(inspect.unwrap(step.function))).relative_to(package)
        needs = f"with {', '.join(step.needs)}" if step.needs else "always"
        runs = f"without {', '.join(step.bars)}" if step.bars else needs
        types = f"{step.takes.__name__} -> {step.gives.__name__}"
        lines.append(f"| {step.name} | `{file}` | {types} | {', '.join(step.gears)} | {runs} |")
    return "\n".join(lines)
