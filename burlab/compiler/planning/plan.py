"""From a graph to steps: which loops and kernels run, in which order, and where every value lies.

Both gears carry out plans. The compiled gear plans fused loops that read through views; the replay gear plans one
kernel per node, on dense arrays.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from burlab.compiler.ir.arena import Life, arrange, check_fits, rounded
from burlab.compiler.ir.plan import Execute, ExtraStore, Invoke, Kind, Loop, Place, Plan, Step, Task, work_of
from burlab.compiler.ir.strides import LEAVES, View, dense_strides, elements, find_windows, is_whole, locate, stacked
from burlab.compiler.lowering.control import Routine, routine
from burlab.compiler.lowering.lower import DENSE_OPERANDS, MOVES, VERDICT, copy_task, is_elementwise, lower, note_kernel
from burlab.compiler.lowering.reductions import ZERO
from burlab.graph import Graph, Node
from burlab.graph.control import CONTROL, executions

from .fusion import IterationSpace, passes
from .interruptible import heard
from .schedule import Stage, schedule

LANES = (8, 16)  # of segments (`replay/segments.py`), besides single numbers


_ENDLESS = 10**9  # passes


@dataclass(frozen=True, slots=True)
class _Draft:
    """A step before memory is given out: what it writes and reads (bases), and what a written base may replace.

    replaces: with the last pass over a row that reads it; passes: in which one a base is written, the first by default.
    """

    work: Stage | Task | Routine
    node: Node
    writes: tuple[Node, ...]
    reads: tuple[Node, ...]
    replaces: Mapping[Node, int]
    passes: Mapping[Node, int] = field(default_factory=dict[Node, int])
    result: Place | None = None  # of a copy to an output
    extra_stores: tuple[ExtraStore, ...] = ()


def make_plan(
    graph: Graph,
    *,
    fuse: bool,
    strict: bool,
    keep: bool = False,
    watch: bool = False,
    accumulate: bool = False,
    numbers: Callable[[Plan], Plan] | None = None,
    after: Mapping[Node, tuple[Node, ...]] = MappingProxyType({}),
) -> Plan:
    """Plan a simplified graph.

    fuse: elementwise nodes share loops (compiled gear), else each is a kernel call (replay). numbers: those of single
    numbers and short lanes share loops even so, which it lays out. strict: sums in plain order. keep: every
    value stays in the workspace to the end, so that all of them can be looked at. watch: the call ends with
    NonFinite if any value was inf or nan. accumulate: the outputs are added to what their arrays hold. after: nodes
    that wait for others besides their operands.
    """
    fuses = is_simple if fuse else is_short if numbers else _never
    windows = find_windows(graph, is_elementwise) if fuse else ()
    views = locate(graph, lambda n: n.op in DENSE_OPERANDS or (is_elementwise(n) and not fuses(n)), windows)
    homes, copies = _outputs(graph, views)
    alone = _alone(graph, views, fuses) if numbers else None
    stages = alone or schedule(
        graph, views, fuses, lambda n: not fuse or (accumulate and n in homes) or (strict and not n.shape), after
    )
    routines = {
        e.nodes[0]: routine(e, views, lambda g: make_plan(g, fuse=fuse, strict=strict, numbers=numbers))
        for e in executions(graph)
    }
    drafts = [*_drafts(stages, views, strict, routines, set(homes) if accumulate else set()), *copies]
    if (fuse or numbers) and not accumulate:
        drafts = _with_puts(drafts, views, () if fuse else LANES)
    needed = {base for draft in drafts for base in draft.reads}.union(homes)
    drafts = [_storing(draft, needed) for draft in drafts]
    constants = tuple(n for n in graph.nodes if n.op == "constant" and n in needed)
    allocations: dict[Node, Place] = {
        **{x: Place(Kind.INPUT, k) for k, x in enumerate(graph.inputs)},
        **{c: Place(Kind.CONSTANT, k) for k, c in enumerate(constants)},
        **homes,
    }
    workspace, scratch = _workspace(drafts, allocations, keep)
    stored = (n for draft in drafts for n in (draft.node, *draft.writes))
    check_fits(stored, workspace + sum(y.nbytes for y in graph.outputs))
    steps = tuple(_step(draft, allocations, scratch.get(k, 0)) for k, draft in enumerate(drafts))
    plan = Plan(graph, views, allocations, steps, constants, workspace, strict, after=after)
    plan = watched(plan, numbers is not None) if watch and steps else plan
    plan = replace(plan, steps=tuple(heard(plan.steps, work_of)))
    return plan if numbers is None else numbers(plan)


def _never(_: Node) -> bool:
    return False


def _alone(graph: Graph, views: dict[Node, View], fuses: Callable[[Node], bool]) -> list[Stage] | None:
    """One stage of all nodes where these are single numbers: the graph's order serves, and runs get their own."""
    work = tuple(n for n in graph.nodes if n.op not in LEAVES and views[n].base is n)
    if not work or not all(fuses(n) and (not n.shape or stacked(n) == 1) for n in work):
        return None
    read = {views[x].base for n in work for x in n.inputs}
    return None if any(n.shape and n in read for n in work) else [Stage(work, IterationSpace(()))]


def is_simple(n: Node) -> bool:
    """Whether a node is elementwise, or numbers one after the other."""
    return is_elementwise(n) or stacked(n) == 1


def is_short(n: Node) -> bool:
    """Whether an elementwise node is one number, or as many in a row as there are lanes; or a stack of such nodes."""
    if n.op == "concatenate":
        return stacked(n, LANES) > 0
    return (not n.shape or n.size == 1 or (n.size in LANES and n.size in n.shape)) and is_elementwise(n)


def watched(plan: Plan, replayed: bool) -> Plan:
    """The plan with a note taken after every library call that computes floats; generated loops take it themselves.

    A loop that is replayed leaves a number of which a note is taken.
    """
    note = Place(Kind.WORKSPACE, 0, rounded(plan.workspace_bytes))
    end = note.offset + 64
    steps: list[Step] = []
    for step in plan.steps:
        if replayed and isinstance(step, Loop):
            size = elements(step.shape)
            one = {n.dtype: n for n in step.nodes if n.dtype.kind == "f" and n.op not in MOVES}
            finite_checks = tuple(
                (n, Place(Kind.WORKSPACE, 0, end + 64 * size * k)) for k, n in enumerate(one.values())
            )
            end += 64 * size * len(finite_checks)
            steps.append(step._replace(finite_checks=finite_checks))
            steps += (Invoke(n, note_kernel(n), (size,), (), note, (place,)) for n, place in finite_checks)
            continue
        steps.append(step)
        if isinstance(step, Invoke) and step.node.dtype.kind == "f" and step.node.op not in MOVES:
            steps.append(Invoke(step.node, note_kernel(step.node), (step.node.size,), (), note, (step.result,)))
        if isinstance(step, Execute):
            steps += (
                Invoke(n, note_kernel(n), (n.size,), (), note, (step.results[n.params.item],))
                for n in step.nodes
                if n.dtype.kind == "f"
            )
    node = plan.graph.nodes[-1]
    clear = Invoke(node, ZERO, (8,), (), note, ())
    judge = Invoke(node, VERDICT, (), (), note, (note,), may_fail=True)
    return replace(plan, steps=(clear, *steps, judge), workspace_bytes=end, note=note)


def _outputs(graph: Graph, views: dict[Node, View]) -> tuple[dict[Node, Place], list[_Draft]]:
    """Which bases are computed right in the caller's array, and the copies for all other outputs."""
    homes: dict[Node, Place] = {}
    copies: list[_Draft] = []
    for k, y in enumerate(graph.outputs):
        ref = views[y]
        place = Place(Kind.OUTPUT, k)
        if ref.base.op not in LEAVES and ref.base not in homes and is_whole(ref, y):
            homes[ref.base] = place
        else:
            copies.append(_Draft(copy_task(y, ref), y, (), (ref.base,), {}, result=place))
    return homes, copies


def _drafts(
    stages: list[Stage], views: dict[Node, View], strict: bool, routines: dict[Node, Routine], accumulate: set[Node]
) -> Iterator[_Draft]:
    for stage in stages:
        if stage.domain is not None:
            yield _loop_draft(stage, stage.domain, views)
            continue
        n = stage.nodes[0]
        if n.op in CONTROL:
            reads = tuple(dict.fromkeys(base for base, _ in routines[n].operands))
            yield _Draft(routines[n], n, stage.nodes, reads, {})
            continue
        for task in lower(n, views, strict, n in accumulate):
            reads = tuple(dict.fromkeys(base for base, _ in task.operands))
            same = {r: 0 for r, at in task.operands if at == 0 and r.nbytes == n.nbytes and task.in_place}
            yield _Draft(task, n, (n,), reads, same)


def _with_puts(drafts: list[_Draft], views: dict[Node, View], lanes: tuple[int, ...]) -> list[_Draft]:
    """Copies of single numbers, or of so many, are done by the loop before them, or by one of their own."""
    result: list[_Draft] = []
    for draft in drafts:
        y = draft.node
        short = y.size == 1 or (y.size in lanes and y.size in y.shape)
        if draft.result is None or not short or views[y].window:
            result.append(draft)
            continue
        put = ExtraStore(y, draft.result, y.itemsize)
        last = result[-1] if result else None
        if not last or not _takes(last, y, views[y]):
            shape = () if y.size == 1 else (y.size,)
            last = _Draft(Stage((), IterationSpace(shape)), y, (), (), {})
            result.append(last)
        reads = tuple(dict.fromkeys((*last.reads, *_remembered(y, views))))
        result[-1] = replace(last, reads=reads, extra_stores=(*last.extra_stores, put))
    return result


def _takes(draft: _Draft, y: Node, ref: View) -> bool:
    """Whether a draft is a loop over as many numbers as a value has, which has it at hand or finds it in memory."""
    work = draft.work
    if not isinstance(work, Stage) or work.domain is None or elements(work.domain.shape) != y.size:
        return False
    return (is_whole(ref, y) and ref.base.op != "concatenate") or ref.base not in set(work.nodes)


def _remembered(x: Node, views: dict[Node, View]) -> tuple[Node, ...]:
    """The base of a value, where it has to be in memory for being read."""
    base = views[x].base
    return () if is_local(base) or (base.op == "constant" and base.size == 1) else (base,)


def is_local(n: Node) -> bool:
    """Whether a fused value is a C++ variable that all later steps can name: a single number."""
    return n.size == 1 and is_elementwise(n)


def _loop_draft(stage: Stage, domain: IterationSpace, views: dict[Node, View]) -> _Draft:
    """A loop may write over an array that it reads only at the element it is about to write, or in earlier passes."""
    turns = passes(stage.nodes, domain, views)
    reads: dict[Node, int] = {}
    for n in stage.nodes:
        for x in n.inputs:
            base = views[x].base
            if base in turns or is_local(base) or (base.op == "constant" and base.size == 1):
                continue
            aligned = is_whole(views[x], x) and x.shape == domain.shape
            reads[base] = max(reads.get(base, 0), turns[n] if aligned else _ENDLESS)
    again = any(n.op == "squares" for n in stage.nodes)  # such a loop may read everything twice
    replaces = {r: last for r, last in reads.items() if last < _ENDLESS and not again}
    written = {n: turns[n] if n.shape == domain.shape else -1 for n in stage.nodes} if domain.reduced else {}
    return _Draft(stage, stage.nodes[0], stage.nodes, tuple(reads), replaces, written)


def _storing(draft: _Draft, needed: set[Node]) -> _Draft:
    """The draft of a loop, writing only what is read from memory later."""
    if not isinstance(draft.work, Stage):
        return draft
    writes = tuple(n for n in draft.writes if n in needed)
    return replace(draft, writes=writes)


def _workspace(drafts: list[_Draft], allocations: dict[Node, Place], keep: bool) -> tuple[int, dict[int, int]]:
    """Give every base that is written and has no place its bytes in the workspace; its size, and where scratch lies."""
    born: dict[Node, int] = {}
    dies: dict[Node, int] = {}
    for k, draft in enumerate(drafts):
        for n in draft.writes:
            if n not in allocations:
                born.setdefault(n, k)
                dies[n] = k
        for n in draft.reads:
            if n in born:
                dies[n] = k
    number = {n: k for k, n in enumerate(born)}
    lives = [
        Life(n.nbytes, at, dies[n], tuple(number[r] for r in _replaced(n, drafts[at]) if r in number))
        for n, at in born.items()
    ]
    scratch = {k: draft.work.scratch for k, draft in enumerate(drafts) if isinstance(draft.work, Routine)}
    arena = arrange([*lives, *(Life(nbytes, k, k) for k, nbytes in scratch.items())], reuse=not keep)
    allocations.update((n, Place(Kind.WORKSPACE, 0, offset)) for n, offset in zip(born, arena.offsets, strict=False))
    return arena.nbytes, dict(zip(scratch, arena.offsets[len(lives) :], strict=True))


def _replaced(n: Node, draft: _Draft) -> Iterator[Node]:
    """The arrays that are no longer read when the first element of a result is written, or only there."""
    for old, last in draft.replaces.items():
        if last <= draft.passes.get(n, 0) and n.nbytes == old.nbytes and n.itemsize == old.itemsize:
            yield old


def _step(draft: _Draft, allocations: dict[Node, Place], scratch: int) -> Step:
    task = draft.work
    if isinstance(task, Routine):
        return _execute(task, allocations, Place(Kind.WORKSPACE, 0, scratch))
    if isinstance(task, Stage):
        assert task.domain
        stacks = {n for n in task.nodes if n.op == "concatenate"}
        extra_stores = tuple(
            put for n in task.nodes if n in stacks and n in allocations for put in _puts(n, allocations[n])
        )
        stores = tuple(n for n in draft.writes if n not in stacks)
        return Loop(task.domain.shape, task.nodes, stores, task.domain.reduced, (*extra_stores, *draft.extra_stores))
    result = draft.result or allocations[draft.node].plus(task.result * draft.node.itemsize)
    operands = tuple(allocations[base].plus(at * base.itemsize) for base, at in task.operands)
    return Invoke(draft.node, task.kernel, task.descriptor, task.box, result, operands, task.may_fail, task.samples)


def _puts(n: Node, place: Place) -> Iterator[ExtraStore]:
    """Where the operands of a stack go."""
    axis: int = n.params
    strides = dense_strides(n.shape)
    step = next((s for s, size in zip(strides, n.inputs[0].shape, strict=True) if size > 1), 1)
    for k, x in enumerate(n.inputs):
        yield ExtraStore(x, place.plus(k * x.shape[axis] * strides[axis] * n.itemsize), step * n.itemsize)


def _execute(task: Routine, allocations: dict[Node, Place], scratch: Place) -> Execute:
    used = {n.params.item: allocations[n] for n in task.nodes}
    results = tuple(used.get(k) or scratch.plus(at) for k, at in enumerate(task.spare))
    operands = tuple(allocations[base].plus(at * base.itemsize) for base, at in task.operands)
    return Execute(
        task.nodes, task.kernel, task.descriptor, task.parts, task.firsts, results, operands, scratch, task.table
    )
