"""A row of a sweep: the result of one run."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from burlab.run import Run
from burlab.run.record.stop import FAILURES

from .trials import Trial

_NUMBERS = ("value", "seconds")


@dataclass(frozen=True, slots=True)
class SweepRow:
    """A run of a sweep. number: its place in `sweep.runs`. name, hypers, seed: what was run.

    value: of the problem at the last point, over all samples, float64; NaN before a run has ended, and after an error.
    validation: of the validation problem there, None where there is none.
    steps: done. seconds: of running. counts: what it cost, see `Run.counts`. reason: of its end: "steps" (all are
    done), "seconds", "grad_norm", "value", "when", "finished", "pruned" by a search, "non_finite" or "error"; ""
    before. message: in words.
    """

    number: int
    name: str
    hypers: Mapping[str, Any]
    seed: int
    value: float = math.nan
    steps: int = 0
    seconds: float = 0.0
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    reason: str = ""
    message: str = ""
    validation: float | None = None

    @property
    def done(self) -> bool:
        """Return True if the run has ended."""
        return self.reason != ""

    @property
    def failed(self) -> bool:
        """Return True if it ended with an error, or with a value that is inf or nan."""
        return self.reason in FAILURES or (self.done and not math.isfinite(self.value))

    def as_json(self, note: Any = None) -> str:
        """Return the results without the trial as JSON; floats are hexadecimal text, which is exact.

        note: of the source of the trial, see `TrialSource.note`.
        """
        row: dict[str, Any] = {name: getattr(self, name).hex() for name in _NUMBERS}
        row["validation"] = None if self.validation is None else self.validation.hex()
        return json.dumps(
            row
            | {"steps": self.steps, "counts": dict(self.counts), "reason": self.reason, "message": self.message}
            | ({} if note is None else {"note": note})
        )


class TrialOutcome(NamedTuple):
    """Result of a trial: its row, the run or the bytes of its file, if there are any, and what made it fail."""

    row: SweepRow
    run: Run | bytes | None
    error: Exception | None = None


def waiting(trial: Trial) -> SweepRow:
    """The row of a run that has not ended."""
    return SweepRow(trial.number, trial.name, trial.hypers, trial.seed)


def ended(trial: Trial, run: Run, validating: Callable[[Run], float] | None) -> SweepRow:
    """The row of a run that rests for good. Raises its exception. validating: see `Setting.validating`."""
    stopped = run.stopped
    if stopped is None or stopped.reason != "non_finite":  # of which `wait` would warn
        run.wait()
    times = run.history["time"]
    reason, message = ("steps", "") if stopped is None else (stopped.reason, stopped.message)
    value, validation = run.value, None if validating is None else validating(run)
    return SweepRow(
        trial.number, trial.name, trial.hypers, trial.seed,
        value, run.t, float(times[-1]) * 1e-9 if times.size else 0.0, run.counts, reason, message, validation,
    )  # fmt: skip


def pruned(row: SweepRow) -> SweepRow:
    """The row of a run that a search has stopped."""
    return replace(row, reason="pruned", message=f"Stopped at step {row.steps} by the pruner of the search.")


def value_of(run: Run, validating: Callable[[Run], float] | None) -> float:
    """The value of a run at rest that a search compares: the validation where there is one."""
    return run.value if validating is None else validating(run)


def failed(trial: Trial, error: BaseException, run: Run | None = None) -> SweepRow:
    """The row of a run that could not begin or go on."""
    steps = 0 if run is None else run.t
    message = f"{type(error).__name__}: {error}"
    return SweepRow(trial.number, trial.name, trial.hypers, trial.seed, steps=steps, reason="error", message=message)


def from_json(trial: Trial, text: str) -> SweepRow:
    """The row that `as_json` wrote. Raises KeyError, TypeError or ValueError for other text."""
    row = json.loads(text)
    numbers = {name: float.fromhex(row[name]) for name in _NUMBERS}
    validation = row.get("validation")
    message = str(row["message"] if "message" in row else row["says"])  # its name in older folders
    counts = {str(name): int(count) for name, count in row["counts"].items()}
    return SweepRow(
        trial.number, trial.name, trial.hypers, trial.seed,
        numbers["value"], int(row["steps"]), numbers["seconds"], counts, str(row["reason"]), message,
        None if validation is None else float.fromhex(validation),
    )  # fmt: skip
