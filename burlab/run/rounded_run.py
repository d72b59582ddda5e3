"""Runs in rounded arithmetic: what `minimize` makes of its formats of numbers."""

import copy
from typing import Any

from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.optim import Optimizer
from burlab.optim.number_formats import Formats
from burlab.problems.finite_sum import FiniteSum
from burlab.runtime.checks.numbers import shown


def in_formats(problem: Any, x0: tree.Tree, optimizer: Any, formats: Any) -> tuple[Any, tree.Tree, Any]:
    """Return problem, start and optimizer of a run in rounded arithmetic. Raises ArgumentError where there is none."""
    if not isinstance(formats, Formats):
        raise ArgumentError(f'formats is {shown(formats)}, expected bl.Formats(params="bfloat16", ...).')
    if not isinstance(optimizer, Optimizer):
        raise ArgumentError(
            f"formats are for optimizers of bl.optim, got {shown(optimizer)}. Pass one, or round in the loss with "
            "bl.precision."
        )
    return _rounded(problem, formats), formats.of_start(x0), formats.of_optimizer(optimizer)


def _rounded(problem: Any, formats: Formats) -> Any:
    if formats.compute is None or not (isinstance(problem, FiniteSum) or callable(problem)):
        return problem
    if not isinstance(problem, FiniteSum):
        return formats.of_loss(problem)
    other = copy.copy(problem)
    other.oracle = problem.oracle.with_losses(formats.of_loss)
    return other
