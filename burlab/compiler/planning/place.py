"""`place`: memory for written values, and steps with all addresses."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from burlab.compiler.ir.arena import Life, arrange, check_fits
from burlab.compiler.ir.options import Aliases, PlanOptions
from burlab.compiler.ir.partials import partials_of
from burlab.compiler.ir.plan import (
    NUMBER_BYTES,
    Execute,
    ExtraStore,
    Invoke,
    KernelCall,
    KernelPlan,
    LoopStep,
    MemoryKind,
    MemoryPlace,
    Step,
)
from burlab.compiler.ir.strides import dense_strides
from burlab.compiler.lowering.lower import is_copy
from burlab.compiler.lowering.lower_control import Routine
from burlab.graph import Node
from burlab.runtime.memory import rounded

from .drafts import Draft, Lowered
from .number_table import numbers_in
from .schedule import Stage

_MIN_IDLE_BYTES = 1 << 18  # bytes; more would not stay in the cache of a core


def place(lowered: Lowered) -> KernelPlan:
    """Allocate bytes for every value. Raises MemoryError if this machine's memory does not hold the arrays."""
    located, drafts = lowered.located, lowered.drafts
    graph, options = located.graph, located.options
    read = {base for draft in drafts for base in draft.reads}
    constants = tuple(n for n in graph.nodes if n.is_constant and n in read)
    numbers = numbers_in(graph) if options.compiled and not options.written_out else ()
    given: dict[Node, MemoryPlace] = {
        **{n: MemoryPlace(MemoryKind.CONSTANT, len(constants), k * NUMBER_BYTES) for k, n in enumerate(numbers)},
        **{x: MemoryPlace(MemoryKind.INPUT, k) for k, x in enumerate(graph.inputs)},
        **{c: MemoryPlace(MemoryKind.CONSTANT, k) for k, c in enumerate(constants)},
        **located.homes,
    }
    if options.lends:
        given |= _lent(drafts, located.homes)
    own, scratch, nbytes = _workspace(drafts, given, options)
    arrays = (n for draft in drafts for n in (draft.node, *draft.writes))
    check_fits(arrays, nbytes + sum(y.nbytes for y in graph.outputs))
    allocations = given | own
    made = [_step(draft, allocations, scratch.get(k)) for k, draft in enumerate(drafts)]
    steps = tuple(
        step for step, draft in zip(made, drafts, strict=True) if not _is_in_place(step, draft, options.in_place)
    )
    return KernelPlan(
        *(graph, located.views, allocations, steps, constants, nbytes, options), after=located.after, numbers=numbers
    )


def _workspace(
    drafts: Sequence[Draft], given: Mapping[Node, MemoryPlace], options: PlanOptions
) -> tuple[dict[Node, MemoryPlace], dict[int, MemoryPlace], int]:
    """Places for all bases that are written and have none; where the scratch memory of each step lies; bytes in all."""
    born: dict[Node, int] = {}
    dies: dict[Node, int] = {}
    for k, draft in enumerate(drafts):
        for n in draft.writes:
            if n not in given:
                born.setdefault(n, k)
                dies[n] = k
        for n in draft.reads:
            if n in born:
                dies[n] = k
    number = {n: k for k, n in enumerate(born)}
    if options.shared > 1:  # a tile
        dies = _idle_ends(born, dies, len(drafts))
    lives = [
        Life(n.nbytes, at, dies[n], tuple(number[r] for r in _replaced(n, drafts[at]) if r in number))
        for n, at in born.items()
    ]
    scratch = {k: nbytes for k, draft in enumerate(drafts) if (nbytes := _scratch(draft, options.shared > 0))}
    arena = arrange([*lives, *(Life(nbytes, k, k) for k, nbytes in scratch.items())], reuse=not options.keep)
    places = [MemoryPlace(MemoryKind.WORKSPACE, 0, offset) for offset in arena.offsets]
    return dict(zip(born, places, strict=False)), dict(zip(scratch, places[len(lives) :], strict=True)), arena.nbytes


def _idle_ends(born: Mapping[Node, int], dies: Mapping[Node, int], steps: int) -> dict[Node, int]:
    """The steps up to which arrays keep their bytes, so that threads need not wait for each other before these change.

    An array lies idle while others of _MIN_IDLE_BYTES bytes are written. Larger arrays do not, to save memory.
    """
    written = [0] * (steps + 1)
    for n, k in born.items():
        written[k + 1] += n.nbytes
    written = list(accumulate(written))
    ends = dict(dies)
    for n, k in dies.items():
        if n.nbytes <= _MIN_IDLE_BYTES:
            ends[n] = min(bisect_right(written, written[k + 1] + _MIN_IDLE_BYTES) - 2, steps - 1)
    return ends


def _scratch(draft: Draft, shared: bool) -> int:
    """Bytes that a step needs while it runs. shared: whether several threads do."""
    work = draft.work
    if isinstance(work, Routine):
        return work.scratch
    if not shared or not isinstance(work, Stage) or work.space is None or work.space.reduced:
        return 0
    return partials_of(work.nodes, work.space.shape)


def _lent(drafts: Sequence[Draft], homes: Mapping[Node, MemoryPlace]) -> dict[Node, MemoryPlace]:
    """Places of arrays in the memory of results that are written after their last use.

    Large arrays come first, of equal ones the latest.
    """
    born: dict[Node, int] = {}
    dies: dict[Node, int] = {}
    for k, draft in enumerate(drafts):
        for n in draft.writes:
            born.setdefault(n, k)
        dies |= dict.fromkeys((*draft.reads, *draft.writes), k)
    found: dict[Node, MemoryPlace] = {}
    for y, home in homes.items():
        lent: list[tuple[Node, int]] = []  # with the byte behind it
        for n in sorted(born, key=lambda n: (-n.nbytes, -born[n])):
            if n in homes or n in found or dies[n] >= born[y]:
                continue
            beside = (end for other, end in lent if born[n] <= dies[other] and born[other] <= dies[n])
            first = rounded(max(beside, default=0))
            if first + n.nbytes <= y.nbytes:
                found[n] = home.plus(first)
                lent.append((n, first + n.nbytes))
    return found


def _replaced(n: Node, draft: Draft) -> Iterator[Node]:
    """The arrays that are no longer read when the first element of a result is written, or only there."""
    for old, last in draft.replaces.items():
        if last <= draft.sweeps.get(n, 0) and n.nbytes == old.nbytes and n.itemsize == old.itemsize:
            yield old


def _step(draft: Draft, allocations: Mapping[Node, MemoryPlace], scratch: MemoryPlace | None) -> Step:
    work = draft.work
    if isinstance(work, Routine):
        return _execute(work, allocations, scratch or MemoryPlace(MemoryKind.WORKSPACE, 0))
    if isinstance(work, Stage):
        return _loop(draft, work, allocations)._replace(partials=scratch)
    result = draft.result or allocations[draft.node].plus(work.result * draft.node.itemsize)
    operands = tuple(allocations[base].plus(at * base.itemsize) for base, at in work.operands)
    return Invoke(draft.node, work.kernel, work.descriptor, work.box, result, operands, work.may_fail, work.samples)


def _loop(draft: Draft, stage: Stage, allocations: Mapping[Node, MemoryPlace]) -> LoopStep:
    """A stack of numbers is no value of the loop: its operands are stored where its parts lie."""
    assert stage.space
    stacks = {n for n in stage.nodes if n.row.joins}
    parts = (store for n in stage.nodes if n in stacks and n in allocations for store in _parts(n, allocations[n]))
    stores = tuple(n for n in draft.writes if n not in stacks)
    return LoopStep(stage.space.shape, stage.nodes, stores, stage.space.reduced, (*parts, *draft.extra_stores))


def _is_in_place(step: Step, draft: Draft, in_place: Aliases) -> bool:
    """Return True if a step copies a value with the bytes of its operand."""
    if not (
        isinstance(step, Invoke) and isinstance(draft.work, KernelCall) and draft.work.in_place and is_copy(draft.work)
    ):
        return False
    (source,), target = step.operands, step.result
    shared = (source.kind, target.kind) == (MemoryKind.INPUT, MemoryKind.OUTPUT) and (
        source.number,
        target.number,
    ) in in_place
    return source == target or shared


def _parts(n: Node, place: MemoryPlace) -> Iterator[ExtraStore]:
    """Yield a store for each operand of a stack: its place in the result."""
    axis: int = n.params
    strides = dense_strides(n.shape)
    step = next((s for s, size in zip(strides, n.inputs[0].shape, strict=True) if size > 1), 1)
    for k, x in enumerate(n.inputs):
        yield ExtraStore(x, place.plus(k * x.shape[axis] * strides[axis] * n.itemsize), step * n.itemsize)


def _execute(work: Routine, allocations: Mapping[Node, MemoryPlace], scratch: MemoryPlace) -> Execute:
    used = {n.params.item: allocations[n] for n in work.nodes}
    results = tuple(used.get(k) or scratch.plus(at) for k, at in enumerate(work.spare))
    operands = tuple(allocations[base].plus(at * base.itemsize) for base, at in work.operands)
    return Execute(
        work.nodes, work.kernel, work.descriptor, work.parts, work.firsts, results, operands, scratch, work.table
    )
