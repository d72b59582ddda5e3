"""Setups that runs share: runs that differ by numbers alone use one trace, plan and compiled code."""

from dataclasses import dataclass, replace
from typing import Any

from burlab.graph import tree
from burlab.optim import Optimizer
from burlab.optim.lazy_rule import lazy_alike, restarted
from burlab.optim.rule import UpdateRule, like_state, rule_alike
from burlab.optim.same_program import same_program
from burlab.problems.batch import Batch
from burlab.problems.kernels.initial_queries import StartQueries
from burlab.problems.kernels.oracle import Oracle
from burlab.problems.point import Point
from burlab.problems.sampling import reseeded
from burlab.problems.trainable import Trainable
from burlab.run.loop.setup import Setup, Validation
from burlab.runtime.coerce import Array


@dataclass(frozen=True)
class SharedSetup:
    """The optimizer, the seed and the setup of a run, for runs that differ by numbers alone."""

    optimizer: Optimizer
    seed: int
    oracle: Oracle
    setup: Setup

    def setup_of(self, optimizer: Optimizer, x: Array, start: Point | Trainable, seed: int, batch: int | Batch | None,
                 state: tree.Tree) -> tuple[Setup, list[Array]] | None:  # fmt: skip
        """Return the setup of another run of the same problem, and the leaves of its state; None if more differs.

        x: its start as one vector. start: the same as a point. batch, state: as for `minimize`.
        """
        setup, part = self.setup, start if isinstance(start, Trainable) else None
        point = start if isinstance(start, Point) else start.point
        if not (same_program(self.optimizer, optimizer) and self._fits(point, part, seed)):
            return None
        stream = reseeded(setup.stream, seed)
        first = batch.of(stream.samples).first if isinstance(batch, Batch) else None
        before = StartQueries(self.oracle, point, stream, setup.threads, first)
        like = point.computed.tree if part is None else part.seen
        lazy = setup.rule.lazy is not None
        found = (
            lazy_alike(setup.rule, optimizer, x, before) if lazy else rule_alike(setup.rule, optimizer, x, like, before)
        )
        if found is None:
            return None
        rule, leaves = found
        other = replace(
            setup,
            rule=rule,
            start=point,
            part=None if setup.part is None else setup.part._replace(point=point),
            stream=stream,
            spent=before.spent,
            validation=_reseeded(setup.validation, seed),
            full=_reseeded(setup.full, seed),
        )
        return other, given_state(state, rule, x, leaves)

    def _fits(self, point: Point, part: Trainable | None, seed: int) -> bool:
        """Return True if its kernels serve a start of this form. Kernels of queries depend on the seed."""
        mine = self.setup.part
        trained = part is mine or (part is not None and mine is not None and part.has_constants_of(mine))
        return (
            trained and _form(point) == _form(self.setup.start) and (seed == self.seed or not self.setup.rule.queries)
        )


def given_state(state: tree.Tree, rule: UpdateRule, x: Array, leaves: list[Array]) -> list[Array]:
    """Return the leaves of the state that a run starts from. state: of the user, or None; leaves: those of `init`."""
    if state is None:
        return leaves
    found = like_state(state, rule, leaves)
    return found if rule.lazy is None else restarted(rule.lazy, x, found)


def _form(point: Point) -> tuple[Any, ...]:
    return point.structure, *((leaf.shape, leaf.dtype) for leaf in point.leaves)


def _reseeded(other: Validation | None, seed: int) -> Validation | None:
    return None if other is None else replace(other, stream=reseeded(other.stream, seed))
