"""Functions of x that read numbers (hyper, t), as sums of one term: so all that asks a problem has one way to ask."""

import copy
import math
from collections.abc import Callable, Mapping
from typing import Any

from burlab.errors import ArgumentError

from .data import Data
from .finite_sum import FiniteSum
from .kernels.loss_numbers import Hyper, LossNumbers, keywords_of


def of_numbers(problem: Any, hyper: Hyper | None, has_aux: bool = False) -> Any:
    """Return a function of x that reads numbers as a `FiniteSum`, and everything else as it is.

    hyper: the numbers by name, as for `FiniteSum`; None where it reads t at most. Raises ArgumentError for numbers that
    a function does not take, or that belong to a sum.
    """
    if isinstance(problem, FiniteSum) or not callable(problem):
        if hyper is not None:
            raise ArgumentError("hyper= is for a function of x. For a sum, pass it to FiniteSum(..., hyper=).")
        return problem
    return _summed(problem, hyper, has_aux) if hyper is not None or _reads_step(problem) else problem


def validation_of_numbers(problem: Any, numbers: LossNumbers | None) -> Any:
    """Return a validation problem likewise, which reads the numbers of a run."""
    if isinstance(problem, FiniteSum) or not callable(problem):
        return problem
    named = numbers is not None and bool(numbers.fields) and bool(keywords_of(problem, 1, ("hyper",)))
    hyper = {field.name: field.start for field in numbers.fields} if named and numbers is not None else None
    return _summed(problem, hyper, False) if named or _reads_step(problem) else problem


def keywords_at(problem: Any, read: tuple[float, ...], state: Any) -> dict[str, Any]:
    """Return what a loss reads at a step as keywords of queries to its problem.

    read, state: as `numbers` and `loss_state` of an `Engine` give them.
    """
    if not isinstance(problem, FiniteSum) or problem.oracle.numbers is None:
        return {}
    pairs = zip(problem.oracle.numbers.names, read, strict=False)
    return {"hyper": {name: value for name, value in pairs if not math.isnan(value)}, "t": read[-1], "state": state}


def with_starts(problem: FiniteSum, starts: Mapping[str, Any]) -> FiniteSum:
    """Return a problem whose loss begins with other numbers, or schedules. starts: by name, some of the numbers."""
    numbers, other = problem.oracle.numbers, copy.copy(problem)
    if numbers is not None:
        other.oracle = problem.oracle.with_numbers(numbers.with_starts(starts))
    return other


def with_numbers_of(validation: FiniteSum, numbers: LossNumbers) -> FiniteSum:
    """Return a validation problem that reads these numbers of a run in place of its own. Raises ArgumentError."""
    other = copy.copy(validation)
    other.oracle = validation.oracle.with_numbers(numbers.like(validation.oracle.numbers, "validation"))
    return other


def _reads_step(f: Callable[..., Any]) -> bool:
    return bool(keywords_of(f, 1))


def _summed(f: Callable[..., Any], hyper: Hyper | None, has_aux: bool) -> FiniteSum:
    return FiniteSum(f, Data.none(), has_aux=has_aux, hyper=hyper)
