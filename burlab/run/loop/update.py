"""The update of a run, compiled: by itself, or with loss and gradient as one kernel."""

from dataclasses import dataclass

from burlab.compiler.executable import Executable, build
from burlab.graph import Graph
from burlab.graph.rewrite.simplify import simplify
from burlab.optim.chunk import CHUNK, chunked
from burlab.optim.rule import UpdateRule
from burlab.problems.kernels.loss import Loss
from burlab.problems.point import Point

from .fused import FusedStep
from .row_buffers import RowBuffer, row_buffers_of


@dataclass(frozen=True)
class Update:
    """graph: of the whole vector. executable: runs on `chunk` entries at a time; 0: on all of them.

    row_buffers: the buffers that it updates in place.
    """

    graph: Graph
    executable: Executable
    chunk: int
    row_buffers: tuple[RowBuffer, ...]


def update_of(rule: UpdateRule, loss: Loss, x: Point, batch: int) -> Update | FusedStep:
    """The update of a run. Where a step is one call of the loss, both are one kernel if they can be."""
    whole = simplify(rule.graph)
    fused = FusedStep.of(whole, rule, loss, x) if batch == 1 and loss.has_gradient else None
    if fused is not None:
        return fused
    if "indices" not in rule.queries and (short := chunked(whole, sum(leaf.size for leaf in x.leaves))):
        return Update(whole, build(short), CHUNK, ())
    reporting, pairs, rows = row_buffers_of(whole, len(rule.hyper), 1 + len(rule.state))
    return Update(whole, build(reporting, in_place=pairs), 0, rows)
