"""The rows and runs of a sweep in the log of another tool."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

from burlab.run.record.sinks import Sink, sender

from .sweep_rows import SweepRow
from .sweep_runs import Runs


class SweepLog:
    """Sends each row to one log, or the history of each run to a log of its own."""

    def __init__(self, to: Any) -> None:
        """to: a log, see `Sink`, or a function of a row that gives one. Raises ArgumentError for something else."""
        self._open: Callable[[SweepRow], Any] | None = to if callable(to) and sender(to) is None else None
        self._sink = Sink(to) if self._open is None else None

    def write(self, row: SweepRow, runs: Runs) -> None:
        """Send a row, or the history of its run. Raises what the other tool raises."""
        if self._sink is not None:
            self._sink.write(row.number, numbers_of_row(row))
        elif self._open is not None and row.number in runs:
            found = self._open(row)
            opened = cast("Any", found if isinstance(found, AbstractContextManager) else nullcontext(found))
            with opened as target:
                runs[row.number].history.to(found if target is None else target)


def numbers_of_row(row: SweepRow) -> dict[str, float]:
    """Return value, validation, steps, seconds, and the hyperparameters that are numbers.

    >>> numbers_of_row(SweepRow(0, "GD", {"lr": 0.1, "rule": abs}, 3, 0.25, 100, 0.5, {}, "steps"))
    {'lr': 0.1, 'seed': 3.0, 'value': 0.25, 'steps': 100.0, 'seconds': 0.5}
    """
    found: dict[str, Any] = {
        **{name: value for name, value in row.hypers.items() if isinstance(value, (int, float))},
        "seed": row.seed,
        "value": row.value,
        "steps": row.steps,
        "seconds": row.seconds,
        **({} if row.validation is None else {"validation": row.validation}),
    }
    return {name: float(value) for name, value in found.items()}
