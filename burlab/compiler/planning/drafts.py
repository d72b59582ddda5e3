"""`lower`: from scheduled nodes to loops, kernel calls and control flow without memory."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from burlab.compiler.ir.iteration import IterationSpace, sweeps
from burlab.compiler.ir.plan import ExtraStore, KernelCall, MemoryPlace
from burlab.compiler.ir.strides import StridedView, elements, is_whole
from burlab.compiler.lowering.lower import copy_task, kernel_calls
from burlab.compiler.lowering.lower_control import PlanPart, Routine, routine
from burlab.graph import Node
from burlab.graph.operation import Ending

from .fusion import LANES, is_in_memory
from .locate import Located
from .schedule import Scheduled, Stage

_NEVER = 10**9  # sweeps


@dataclass(frozen=True, slots=True)
class Draft:
    """A step before memory is allocated: the bases that it writes and reads, and those that a written base may replace.

    replaces: with the last sweep over a row that reads it. sweeps: in which one a base is written, the first by
    default. result: where a copy to an output goes.
    """

    work: Stage | KernelCall | Routine
    node: Node
    writes: tuple[Node, ...]
    reads: tuple[Node, ...]
    replaces: Mapping[Node, int]
    sweeps: Mapping[Node, int] = field(default_factory=dict[Node, int])
    result: MemoryPlace | None = None
    extra_stores: tuple[ExtraStore, ...] = ()


@dataclass(frozen=True, slots=True)
class Lowered:
    """The steps of a plan in their order, without memory. Printed, it has one line per step."""

    located: Located
    drafts: tuple[Draft, ...]

    def __str__(self) -> str:
        return "\n".join(map(self._described, self.drafts))

    def _described(self, draft: Draft) -> str:
        index = self.located.graph.index
        what = "loop" if isinstance(draft.work, Stage) else draft.work.kernel.symbol.removeprefix("burlab_")
        writes, reads = (" ".join(f"%{index[n]}" for n in nodes) for nodes in (draft.writes, draft.reads))
        return f"{what}: {reads} -> {writes or f'output {draft.result.number}' if draft.result else writes}"


def lower(scheduled: Scheduled, plan_part: PlanPart) -> Lowered:
    """Turn stages into loops, kernel calls and control flow, and add the copies to outputs.

    plan_part: plans a sub-graph of control flow, whose first results, so many, are added to what is there; of a loop,
    with the pairs of its inputs and outputs that are in place.
    """
    located = scheduled.located
    routines = {e.nodes[0]: routine(e, located.views, plan_part, located.is_added) for e in located.executions}
    drafts = [draft for stage in scheduled.stages for draft in _drafts(stage, located, routines)]
    for y, place in located.copies:
        view = located.views[y]
        copy = copy_task(y, view)._replace(in_place=True)  # where the two are one array, there is nothing to do
        drafts.append(Draft(copy, y, (), (view.base,), {}, result=place))
    if located.options.gear != "kernels" and not located.options.accumulate:
        drafts = _with_extra_stores(drafts, located.views, () if located.options.compiled else LANES)
    needed = {base for draft in drafts for base in draft.reads}.union(located.homes)
    return Lowered(located, tuple(_storing(draft, needed) for draft in drafts))


def _drafts(stage: Stage, located: Located, routines: Mapping[Node, Routine]) -> Iterator[Draft]:
    if stage.space is not None:
        yield _loop(stage, stage.space, located.views)
        return
    n = stage.nodes[0]
    if n.row.parts:
        reads = tuple(dict.fromkeys(base for base, _ in routines[n].operands))
        yield Draft(routines[n], n, stage.nodes, reads, {})
        return
    for task in kernel_calls(n, located.views, located.options.strict, located.is_added(n)):
        reads = tuple(dict.fromkeys(base for base, _ in task.operands))
        same = {r: 0 for r, at in task.operands if at == 0 and r.nbytes == n.nbytes and task.in_place}
        yield Draft(task, n, (n,), reads, same)


def _loop(stage: Stage, space: IterationSpace, views: dict[Node, StridedView]) -> Draft:
    """A loop may write over an array that it reads only at the element it is about to write, or in earlier sweeps."""
    sweep = sweeps(stage.nodes, space, views)
    reads: dict[Node, int] = {}
    for n in stage.nodes:
        for x in n.inputs:
            base = views[x].base
            if base in sweep or not is_in_memory(base):
                continue
            aligned = is_whole(views[x], x) and x.shape == space.shape
            last = sweep[n] + space.apart(n)  # which may read it once more when it is written
            reads[base] = max(reads.get(base, 0), last if aligned else _NEVER)
    again = any(n.row.epilogue is Ending.SQUARES for n in stage.nodes)  # such a loop may read everything twice
    replaces = {r: last for r, last in reads.items() if last < _NEVER and not again}
    written = {n: sweep[n] if n.shape == space.shape else -1 for n in stage.nodes} if space.reduced else {}
    return Draft(stage, stage.nodes[0], stage.nodes, tuple(reads), replaces, written)


def _with_extra_stores(drafts: list[Draft], views: dict[Node, StridedView], lanes: tuple[int, ...]) -> list[Draft]:
    """Copies of single numbers, or of so many lanes, are done by the loop before them, or by one of their own."""
    result: list[Draft] = []
    for draft in drafts:
        y = draft.node
        short = y.size == 1 or (y.size in lanes and y.size in y.shape)
        if draft.result is None or not short or views[y].window:
            result.append(draft)
            continue
        store = ExtraStore(y, draft.result, y.itemsize)
        last = result[-1] if result else None
        if not last or not _can_store(last, y, views[y]):
            shape = () if y.size == 1 else (y.size,)
            last = Draft(Stage((), IterationSpace(shape)), y, (), (), {})
            result.append(last)
        base = views[y].base
        reads = tuple(dict.fromkeys((*last.reads, *([base] if is_in_memory(base) else []))))
        result[-1] = replace(last, reads=reads, extra_stores=(*last.extra_stores, store))
    return result


def _can_store(draft: Draft, y: Node, view: StridedView) -> bool:
    """Return True if a draft is a loop over as many numbers as a value has, and computes or reads it."""
    work = draft.work
    if not isinstance(work, Stage) or work.space is None or elements(work.space.shape) != y.size:
        return False
    return (is_whole(view, y) and not view.base.row.joins) or view.base not in set(work.nodes)


def _storing(draft: Draft, needed: set[Node]) -> Draft:
    """The draft of a loop, which writes only values that are read from memory later."""
    if not isinstance(draft.work, Stage):
        return draft
    return replace(draft, writes=tuple(n for n in draft.writes if n in needed))
