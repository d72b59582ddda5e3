"""Runs in rounded arithmetic: what `minimize` and `fork` make of formats of numbers."""

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from burlab.errors import ArgumentError, StatusError
from burlab.graph import tree
from burlab.optim import Optimizer
from burlab.optim.number_formats import Formats
from burlab.problems.finite_sum import FiniteSum
from burlab.problems.point import Point
from burlab.problems.trainable import Trainable
from burlab.run.loop.continued_loop import ContinuedLoop
from burlab.run.loop.hand_over import handed_over
from burlab.run.loop.loop import RunLoop
from burlab.run.record.engine import Engine
from burlab.runtime.checks.numbers import shown

from .alike import given_state

if TYPE_CHECKING:
    from .opener import Opener
    from .run import Run


@dataclass(frozen=True)
class Reopening:
    """Opens runs of one kind at another start, or in other formats of numbers. opener, optimizer: without formats."""

    opener: "Opener"
    optimizer: Any
    seed: int
    formats: Formats | None = None

    def __call__(self, x0: tree.Tree) -> "Run":
        """Return a run at step 0 of another start."""
        x0 = x0 if self.formats is None else self.formats.of_start(x0)
        return self._opener.open(x0, self.minimized[1], self.seed, self)

    @property
    def minimized(self) -> tuple[Any, Any]:
        """The problem and the optimizer of its runs, in these formats."""
        optimizer = self.optimizer if self.formats is None else self.formats.of_optimizer(self.optimizer)
        return self._opener.problem, optimizer

    @property
    def _opener(self) -> "Opener":
        return self.opener if self.formats is None else self.opener.in_formats(self.formats)

    def in_formats(self, formats: Any) -> "Reopening":
        """Return what opens such runs in other formats; None: in x0's dtype. Raises ArgumentError."""
        if formats is None and self.formats is None:
            return self
        if formats is not None and not isinstance(formats, Formats):
            raise ArgumentError(f'formats is {shown(formats)}, expected bl.Formats(params="bfloat16", ...) or None.')
        if not isinstance(self.optimizer, Optimizer):
            raise ArgumentError(
                f"formats are for optimizers of bl.optim, got {shown(self.optimizer)}. Pass one, or round in the loss "
                "with bl.precision."
            )
        return replace(self, formats=formats)


def in_rounded_arithmetic(problem: Any, formats: Formats) -> Any:
    """Return a problem whose loss computes in a format."""
    if formats.compute is None or not (isinstance(problem, FiniteSum) or callable(problem)):
        return problem
    if not isinstance(problem, FiniteSum):
        return formats.of_loss(problem)
    other = copy.copy(problem)
    other.oracle = problem.oracle.with_losses(formats.of_loss)
    return other


def why_no_formats(run: "Run") -> str:
    """Return why a run cannot go on in other formats, in words; "" where it can.

    >>> import numpy as np, burlab as bl
    >>> why_no_formats(bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.1)))
    ''
    """
    if run.ended:
        return "this run was stopped for good"
    if run.reopening is None:
        return "a loaded run has graphs in place of the functions that other formats are traced from"
    if not isinstance(run.reopening.optimizer, Optimizer):
        return "a minimizer of SciPy computes in float64"
    engine = run.engine
    if isinstance(engine, RunLoop) and engine.setup.rule.lazy is not None:
        return "its steps go row by row through sparse data, in float64"
    return ""


def continued(run: "Run", start: Point | Trainable, formats: Any) -> tuple[Engine, "Run"]:
    """Return an engine that goes on in other formats from where a run is, and a run at step 0 of what it is made of.

    Args:
        run: The run, at rest.
        start: The form of x.
        formats: The formats; None: those of x0's dtype.

    Raises:
        ArgumentError: formats are none, or are not for this problem or optimizer.
        StatusError: The run has no functions to trace.
    """
    opening, reason = run.reopening and run.reopening.in_formats(formats), why_no_formats(run)
    if opening is None or reason:
        raise StatusError(f"formats cannot change: {reason}. Begin another run by bl.minimize(..., formats=).")
    part: Any = run.engine.fork()
    loop: RunLoop = part.now if isinstance(part, ContinuedLoop) else part
    opened = opening(start.with_numbers(loop.read()).tree)
    now: Any = opened.engine
    saved, step = loop.saved(0), loop.view().step
    before, after = loop.setup.formats, opening.formats
    state = loop.state() if before is None else before.inside_state(loop.state())
    state = state if after is None else after.around_state(now.state(), state, step)
    leaves = given_state(state, now.setup.rule, now.read(), tree.flatten(now.state())[0])
    of_loss = saved.buffers[1 + len(loop.setup.rule.state) :]
    cells = [now.read(), *leaves, *of_loss]
    engine = RunLoop.restored(now.setup, handed_over(saved, loop.setup, now.setup, cells))
    if isinstance(part, ContinuedLoop) and part.first == step:
        return ContinuedLoop(part.before, engine, step), opened
    return (ContinuedLoop(part, engine, step) if step else engine), opened
