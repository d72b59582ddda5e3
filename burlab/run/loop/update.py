"""The update of a run, compiled: by itself, or with loss and gradient as one kernel."""

from dataclasses import dataclass, replace
from enum import IntEnum

from burlab.compiler.executable import Executable, build
from burlab.compiler.ir.plan import LoopStep
from burlab.graph import Graph
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tracing.function_structure import Weak
from burlab.graph.tracing.trace_cache import TraceCache
from burlab.optim.chunk import CHUNK, chunked
from burlab.optim.rule import UpdateRule
from burlab.optim.rule_cache import INDICES, with_indices
from burlab.problems.kernels.loss import Loss
from burlab.problems.point import Point

from .fused import FusedStep
from .lazy_step import LazyStep
from .row_buffers import RowBuffer, row_buffers_of
from .shift_buffers import ShiftBuffer, shift_buffers_of

MIN_IN_PLACE = 1 << 16  # entries: the norm of a gradient that is in cache takes longer than memory saves


class InPlace(IntEnum):
    """The way of the results of an update in chunks into the memory of its inputs; see `Plan::in_place` in C++."""

    NO = 0  # they lie in other buffers: x is short, or the update may fail halfway
    STAGED = 1  # they are copied
    AT_ONCE = 2  # by the update itself: one loop computes all vectors, and reads each entry before it writes there

    @staticmethod
    def of(executable: Executable, dimension: int) -> "InPlace":
        """Return what the plan of an update of that many entries allows."""
        if dimension < MIN_IN_PLACE:
            return InPlace.NO
        steps = executable.plan.steps
        loops = [step for step in steps if isinstance(step, LoopStep)]
        if any(not isinstance(step, LoopStep) and getattr(step, "may_fail", True) for step in steps):
            return InPlace.NO
        vectors = [step for step in loops if step.shape]
        single = len(loops) == len(steps) and len(vectors) == 1 and not vectors[0].reduced
        return InPlace.AT_ONCE if single and executable.gear == "compiled" else InPlace.STAGED


@dataclass(frozen=True)
class Update:
    """graph: of the whole vector. executable: runs on `chunk` entries at a time; 0: on all of them.

    in_place: how the loop writes its results over x and the state. row_buffers: the buffers of which it writes rows.
    shift_buffers: those that it shifts by a row.
    """

    graph: Graph
    executable: Executable
    chunk: int
    in_place: InPlace
    row_buffers: tuple[RowBuffer, ...]
    shift_buffers: tuple[ShiftBuffer, ...]


UPDATES = TraceCache[Update | FusedStep](lambda update: [update.executable.graph])
"""Compiled updates, by the program of their rule and the form of x; fused ones by the programs of the loss too."""


def update_of(
    rule: UpdateRule, loss: Loss, x: Point, batch: int, threads: int = 1, asked: Loss | None = None
) -> Update | FusedStep | LazyStep:
    """The update of a run, on so many threads; one kernel with the loss where a step is one call of it, if possible.

    asked: the loss with its gradient over the batch, where the only query of the update is about that.
    """
    if rule.lazy is not None:
        return LazyStep.of(rule, loss, x)
    fuses = batch == 1 and (loss.has_gradient or asked is not None) and not loss.samples.program.state
    forms = tuple(leaf.shape for leaf in x.leaves)
    parts = [part for part in (loss.samples, loss.regularizer) if part is not None and fuses]
    key = (Weak(rule.program), forms, threads, *(Weak(part.program) for part in parts))
    found = UPDATES.find(key)
    if found is None:
        found = _compiled(rule, loss, x, fuses, threads, asked)
        UPDATES.put(key, found)
    return replace(found, graph=with_indices(found.graph, int(rule.graph.inputs[INDICES].shape[0])))


def _compiled(
    rule: UpdateRule, loss: Loss, x: Point, fuses: bool, threads: int, asked: Loss | None
) -> Update | FusedStep:
    whole = simplify(rule.graph)
    fused = FusedStep.of(whole, rule, loss, x, threads, asked) if fuses else None
    if fused is not None:
        return fused
    dimension = sum(leaf.size for leaf in x.leaves)
    if "indices" not in rule.queries and (short := chunked(whole, dimension)):
        executable = build(short)
        return Update(whole, executable, CHUNK, InPlace.of(executable, dimension), (), ())
    hypers, buffers = len(rule.hyper), 1 + len(rule.state)
    shifting, shifts = shift_buffers_of(whole, hypers, buffers)
    reporting, pairs, rows = row_buffers_of(shifting, hypers, buffers)
    return Update(
        whole, build(reporting, in_place=pairs, threads=threads, lends=not pairs), 0, InPlace.NO, rows, shifts
    )
