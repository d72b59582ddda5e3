"""Gradients of losses of whole batches, as a user of burlab takes them: `bl.BatchLoss`."""

from collections.abc import Callable
from typing import Any

import burlab as bl
from burlab.bench.namespace import BURLAB
from burlab.bench.problem import BatchObjective

from .task import CastTask, Tree


def batch_task(problem: BatchObjective, chunks: int | None) -> CastTask:
    """`problem.value_and_grad(p)`. chunks: samples that are embedded at a time; None: all."""

    def embed(p: Tree, *rows: Any) -> Any:
        return problem.embed(BURLAB, p, *rows)

    def loss(p: Tree, z: Any, *rows: Any) -> Any:  # noqa: ARG001
        return problem.meet(BURLAB, *z)

    def build(_p: Tree, data: Tree) -> Callable[[Tree, Tree], Any]:
        batch = bl.BatchLoss(loss, tuple(data.values()), embed=embed, chunks=chunks)
        return lambda p, _data: batch.value_and_grad(p)

    return CastTask(problem, build)
