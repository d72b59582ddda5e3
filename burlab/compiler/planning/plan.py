"""From a graph to a plan: which loops and kernels run, in which order, and where every value lies.

Both gears carry out plans. The compiled gear generates loops that read through views (`codegen`); the replay gear calls
one kernel per node, on dense arrays (`replay`). Each stage takes the frozen value of the one before it:

    Graph -- locate --> Located -- schedule --> Scheduled -- lower --> Lowered -- place --> Plan -- emit --> C++
"""

from collections.abc import Callable

from burlab.compiler.ir.plan import Plan
from burlab.graph import Graph

from .drafts import lower
from .finite_checks import with_finite_checks
from .interruptible import interruptible
from .locate import locate
from .options import PlanOptions
from .place import place
from .schedule import schedule

DEFAULT_OPTIONS = PlanOptions()


def _finished(plan: Plan) -> Plan:
    return plan


def make_plan(graph: Graph, options: PlanOptions = DEFAULT_OPTIONS, finish: Callable[[Plan], Plan] = _finished) -> Plan:
    """Plan a simplified graph.

    finish: what the replay gear adds to a plan; to those of sub-graphs first, whose workspace is part of the whole.
    """
    located = locate(graph, options)
    scheduled = schedule(located)
    lowered = lower(scheduled, lambda part, sums: make_plan(part, options.of_parts(sums), finish))
    plan = place(lowered)
    if options.check_finite:
        plan = with_finite_checks(plan, options.compiled)
    return finish(interruptible(plan))
