"""The criteria that stop a run, and the reason of a stop."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.problems.sampling import Sampling, Stream
from burlab.runtime.checks.numbers import real, shown, whole
from burlab.runtime.structs import CCriteria

from .gradient_norms import BATCH, NORMS, check_of

Rows = Mapping[str, np.ndarray[tuple[int], np.dtype[Any]]]
Predicate = Callable[[Rows], Any]
REASONS = (
    "",
    "steps",
    "seconds",
    "grad_norm",
    "value",
    "non_finite",
    "when",
    "breakpoint",
    "stalled",
)  # by their numbers in C++
FAILURES = ("error", "non_finite")
ENDLESS = 2**63 - 1  # more steps than any run does


@dataclass(frozen=True, slots=True)
class Stop:
    """Criteria at which a run stops by itself; the first one that holds counts.

    A run that stops because of a measurement rests at the measured point: that row is the last of the record, and its
    step is not done yet. Continuing does it. Criteria are tested at new steps only.

    Args:
        steps: Number of steps in all.
        seconds: Seconds of running.
        grad_norm: Largest norm of a gradient at which it stops.
        value: Largest value of the batch at which it stops.
        non_finite: True to stop if the batch's value or gradient norm is inf or nan.
        when: A predicate on new rows: it gets a mapping of columns, each of shape (n,), and returns n bools.
        of: The gradient of `grad_norm`. "batch": of the step's batch, the column "gradient_norm". "estimator": the
            estimate of SVRG, SAGA and the like, or of a rule that calls `f.estimated(v)`, the column "estimator_norm".
            "full": of all samples at `run.x`, the column "full_gradient_norm", which counts among the samples; if every
            step computes the full gradient, the batch's.
        every: Steps from one evaluation of the full gradient to the next; NaN between.

    Raises:
        ArgumentError: For a criterion out of range.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.25), stop=bl.Stop(grad_norm=0.3), steps=99)
    >>> run.t, run.x, run.stopped.reason
    (3, array([0.125]), 'grad_norm')
    """

    steps: int | None = None
    seconds: float | None = None
    grad_norm: float | None = None
    value: float | None = None
    non_finite: bool = True
    when: Predicate | None = None
    of: str = BATCH
    every: int = 100

    def __post_init__(self) -> None:
        if self.steps is not None:
            whole(self.steps, "Stop.steps", 0, ENDLESS)
        for name in ("seconds", "grad_norm", "value"):
            if (limit := getattr(self, name)) is not None:
                real(limit, f"Stop.{name}", -math.inf if name == "value" else 0.0)
        check_of(self.of, self.grad_norm, "Stop")
        whole(self.every, "Stop.every", 1, ENDLESS)
        if not isinstance(self.non_finite, (bool, np.bool_)):  # pyright: ignore[reportUnnecessaryIsInstance] - users
            raise ArgumentError(
                f"Stop.non_finite={shown(self.non_finite)} is neither True, to stop at inf or nan, nor "
                "False, to go on. Pass one of the two."
            )
        if self.when is not None and not callable(self.when):
            raise ArgumentError(
                f"Stop.when is a {type(self.when).__name__}, expected a function of a mapping of columns such as "
                'lambda rows: rows["value"] < 1e-3.'
            )

    def criteria(self, column: int = 1, stalls: bool = False) -> CCriteria:
        """Return the criteria that C++ tests. column: of the norm for `grad_norm`. stalls: see `UpdateRule.repeats`."""
        return CCriteria(
            steps=ENDLESS if self.steps is None else int(self.steps),
            nanoseconds=math.inf if self.seconds is None else self.seconds * 1e9,
            gradient=math.nan if self.grad_norm is None else self.grad_norm,
            value=math.nan if self.value is None else self.value,
            non_finite=bool(self.non_finite),
            column=column,
            stalls=stalls,
        )


@dataclass(frozen=True, slots=True)
class Stopped:
    """The reason why a run came to rest by itself.

    reason: "steps", "seconds", "grad_norm", "value", "non_finite" or "when", as in `Stop`; "breakpoint"; "error";
    "stalled": a search found no better point, though the gradient is not 0, and would do the same again and again; or
    "finished": a minimizer of SciPy has ended. step: where it rests. message: the same in words. breakpoint: the
    number of the one that was hit, and value: what the function was there; None where a predicate holds.
    """

    reason: str
    step: int
    message: str
    breakpoint: int | None = None
    value: float | None = None

    @property
    def failed(self) -> bool:
        """Return True if it ended with an error or at a value that is inf or nan."""
        return self.reason in FAILURES


def explain(stop: Stop, reason: str, step: int, value: float, gradient_norm: float) -> Stopped:
    """Return a reason with its message. value, gradient_norm: of the last row."""
    text = {
        "steps": f"{stop.steps} steps are done, as many as Stop allows",
        "seconds": f"the run has been running for {stop.seconds} s, as long as Stop allows",
        "grad_norm": f"the {NORMS[stop.of]} {gradient_norm:.6g} is at most {stop.grad_norm}",
        "value": f"the value {value:.6g} is at most {stop.value}",
        "non_finite": f"the value is {value:.6g} and the gradient norm {gradient_norm:.6g}; {_non_finite_advice(step)}",
        "stalled": f"the search finds no better point than this one, of the value {value:.6g} and the gradient norm "
        f"{gradient_norm:.6g}, and would do the same at each further step",
        "when": "the predicate of Stop holds",
    }[reason]
    return Stopped(reason, step, f"Stopped at step {step}: {text}.")


def _non_finite_advice(step: int) -> str:
    """Return advice for a row with inf or nan."""
    return "smaller steps may help" if step else "so it is at the start already: begin where both are finite"


def ended_by(stream: Stream, stop: Stop) -> Stop:
    """Return the criteria of a run, which ends with the last row of a table of samples, if it has one."""
    if stream.sampling != Sampling.table:
        return stop
    rows = int(stream.rows)
    return replace(stop, steps=rows if stop.steps is None else min(stop.steps, rows))


def check_norm(limit: float | None, of: str, has_gradient: bool, what: str, instead: str) -> None:
    """Raise ArgumentError for a limit of the gradient norm in a run that computes no gradient. what: has the limit."""
    if limit is not None and of == BATCH and not has_gradient:
        raise ArgumentError(
            f"{what} has grad_norm={shown(limit)}, but the optimizer reads no gradient, so none is computed. "
            f'Use of="full", or {instead} with a metric that the rule logs.'
        )


def check_when(stop: Stop, keyframe_bytes: int) -> None:
    """Raise ArgumentError for a predicate on a run without keyframes."""
    if stop.when is not None and keyframe_bytes == 0:
        raise ArgumentError(
            "Stop(when=) goes back to the row that its predicate saw, so it needs keyframes. Pass a keyframe_bytes "
            "above 0."
        )


def check_stop(stop: object) -> None:
    """Raise ArgumentError unless it is a `Stop`."""
    if not isinstance(stop, Stop):
        raise ArgumentError(f"stop is {shown(stop)}, expected a bl.Stop such as bl.Stop(steps=1000, grad_norm=1e-6).")
