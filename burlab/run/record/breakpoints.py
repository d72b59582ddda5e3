"""Breakpoints: conditions on new rows that can be added, enabled and removed while a run does steps."""

import math
from dataclasses import dataclass

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import real, whole
from burlab.runtime.structs import CBreakpoint

from .gradient_norms import BATCH, NORMS, check_of
from .stop import Predicate, Stopped

WATCHED = ("rises", "grad_norm", "non_finite", "every")
"""The conditions by their numbers in C++: `cpp/burlab/run/abi/criteria.hpp`."""
_LONGEST = 2**62


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """One condition on new rows of a run's record. The run rests at the point of the first row that meets it.

    rises: the value is more than `rises` times its size above that of the step before (0: at all), in `patience` steps
    one after another. grad_norm: a gradient's norm is above this. of: which one, "batch", "estimator" or "full", as in
    `Stop`, which has such a column written where it is not the batch's. non_finite: value or norm is inf or nan, which
    stops a run anyway unless it has Stop(non_finite=False). every: at each multiple of so many steps. when: a predicate
    on rows, as in `Stop`.

    >>> import burlab as bl
    >>> bl.run.Breakpoint(rises=0.5, patience=3)
    Breakpoint(rises=0.5, patience=3)
    """

    rises: float | None = None
    patience: int = 1
    grad_norm: float | None = None
    non_finite: bool = False
    every: int | None = None
    when: Predicate | None = None
    of: str = BATCH

    def __post_init__(self) -> None:
        given = self._given()
        if len(given) != 1:
            raise ArgumentError(
                f"a breakpoint has one condition, got {' and '.join(given) or 'none'}. Pass one of rises=, "
                "grad_norm=, non_finite=True, every= or when=; add several breakpoints for several conditions."
            )
        whole(self.patience, "Breakpoint.patience", 1, _LONGEST)
        if self.patience != 1 and self.rises is None:
            raise ArgumentError(f"patience={self.patience} is how often a value rises. Pass it with rises=.")
        if self.rises is not None:
            real(self.rises, "Breakpoint.rises", 0.0)
        if self.grad_norm is not None:
            real(self.grad_norm, "Breakpoint.grad_norm", 0.0)
        check_of(self.of, self.grad_norm, "Breakpoint")
        if self.every is not None:
            whole(self.every, "Breakpoint.every", 1, _LONGEST)
        if self.when is not None and not callable(self.when):
            raise ArgumentError(
                f"Breakpoint.when is a {type(self.when).__name__}, expected a function of a mapping of columns such as "
                'lambda rows: rows["step_norm"] > 1.'
            )

    def __repr__(self) -> str:
        patience = f", patience={self.patience}" if self.patience != 1 else ""
        of = f", of={self.of!r}" if self.of != BATCH else ""
        return f"Breakpoint({self.condition}={getattr(self, self.condition)!r}{patience}{of})"

    def _given(self) -> list[str]:
        given = {name: getattr(self, name) for name in (*WATCHED, "when")}
        return [name for name, value in given.items() if value is not None and value is not False]  # 0 is a number

    @property
    def condition(self) -> str:
        """The name of its condition."""
        return self._given()[0]

    def describe(self, value: float, gradient_norm: float) -> str:
        """Return the condition that holds at a row, in words."""
        if self.rises is not None:
            much = f" by more than {self.rises:.6g} of its size" if self.rises else ""
            often = "" if self.patience == 1 else f" in {self.patience} steps one after another"
            return f"the value has risen{much}{often}, to {value:.6g}"
        if self.grad_norm is not None:
            return f"the {NORMS[self.of]} {gradient_norm:.6g} is above {self.grad_norm:.6g}"
        if self.non_finite:
            return f"the value is {value:.6g} and the gradient norm {gradient_norm:.6g}"
        return f"it stops every {self.every} steps" if self.every is not None else "its predicate holds"

    def stopped(self, number: int, step: int, value: float, gradient_norm: float) -> Stopped:
        """Return the reason of a run that rests at it. number: of the breakpoint."""
        text = f"Stopped at step {step} by breakpoint {number}: {self.describe(value, gradient_norm)}."
        return Stopped("breakpoint", step, text, number, value if self.when is None else None)


@dataclass(frozen=True, slots=True)
class Hit:
    """A stop of a run at a breakpoint. step: of the measured row; number: of the breakpoint; value: of the function.

    value is NaN if a predicate held in a record whose rows have been merged.
    """

    step: int
    number: int
    breakpoint: Breakpoint
    value: float


def as_struct(number: int, point: Breakpoint, column: int) -> CBreakpoint:
    """A breakpoint without a predicate, for C++. column: of the norm that it is about."""
    limit = point.rises if point.grad_norm is None else point.grad_norm
    return CBreakpoint(number, WATCHED.index(point.condition), limit or 0.0, point.every or point.patience, column)


class BreakpointTester:
    """Breakpoints tested row by row in Python, as `cpp/burlab/run/record/breakpoints.hpp` does in C++.

    >>> tester = BreakpointTester()
    >>> tester.points = {1: Breakpoint(grad_norm=1.0)}
    >>> [tester.hit(step, value=0.0, gradient_norm=norm) for step, norm in enumerate([0.5, 2.0, 3.0, 0.5, 2.0])]
    [0, 1, 0, 0, 1]
    """

    def __init__(self) -> None:
        self.points: dict[int, Breakpoint] = {}
        self._held: dict[int, int] = {}
        self._last = math.nan

    def hit(self, step: int, value: float, gradient_norm: float) -> int:
        """Return the number of the first breakpoint that a row hits, or 0."""
        found = 0
        for number, point in self.points.items():
            if self._hits(number, point, step, value, gradient_norm) and not found:
                found = number
        self._last = value
        return found

    def _hits(self, number: int, point: Breakpoint, step: int, value: float, norm: float) -> bool:
        if point.every is not None:
            return step > 0 and step % point.every == 0
        if point.rises is not None:
            holds = value > self._last + point.rises * abs(self._last)
        else:
            holds = norm > point.grad_norm if point.grad_norm is not None else not np.isfinite([value, norm]).all()
        self._held[number] = held = self._held.get(number, 0) + 1 if holds else 0
        if point.rises is None:
            return held == 1
        if held < point.patience:
            return False
        self._held[number] = 0
        return True
