"""The history of a run: a column per quantity, an entry per step; and the changes made while it ran."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.extras import require

from .derived import live, steps, times
from .recorder import COUNTERS, FIRST, FLOPS, IMPLICIT, SAMPLES, Recorder
from .sinks import Sink
from .table_files import write_csv
from .tables import Column, read

EVERY_STEP = ("value", "gradient_norm", "step_norm")  # where NaN is a result


@dataclass(frozen=True, slots=True)
class Event:
    """A change: from step `step` on, the hyperparameter `name` has the value `value`.

    passing: whether a slider was on its way: a later event of the same drag stands for the whole.
    """

    step: int
    name: str
    value: float
    passing: bool = field(default=False, compare=False, repr=False)


class History(Mapping[str, Column]):
    """The record of a run when it was read; columns are NumPy arrays of one length.

    step: which one, from 0, int64. value: of the batch at the step's start, regularizer included. gradient_norm,
    step_norm: Euclidean norms of the batch's gradient and of x's change. samples: sample gradients computed so far,
    int64, by steps, queries, line searches and `init`; if the rule has such queries, also values, hvps, jvps, partials
    and surrogates: sample values, Hessian-vector products, derivatives along vectors and by single entries, surrogates
    with their gradients. bits: the sum of what a rule logs as "bits". flops: floating-point operations so far, float64,
    of all that is counted and of the rule's update, as `bl.counts` defines them; what SciPy does itself is not known.
    time: nanoseconds of running until the step's end; short steps share a clock read and are interpolated. Then one
    column per metric of the loss, and per hyperparameter with the value that the step used.

    An entry per step, until that took more bytes than the run's `history_bytes`: then `span` steps have two entries,
    minimum and maximum of every column.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(0.25), steps=2).history["value"]
    array([2. , 0.5])
    """

    def __init__(self, recorder: Recorder) -> None:
        extent, stored = read(recorder.record, range(len(recorder.columns)))
        self._stamps = read(recorder.record.stamps, (0, 1))[1]
        self._elapsed = recorder.view().elapsed
        self._events = recorder.event_rows()  # last: an event is noted before the row that it counts for
        self._rows, self._span, self._slots = int(extent.rows), int(extent.span), int(extent.slots)
        self._columns = dict(zip(recorder.columns, stored, strict=True))
        for name in COUNTERS:
            if name in self._columns:
                self._columns[name] = self._columns[name].astype(np.int64)
        self._hypers = recorder.start_hypers
        self._batch = recorder.batch
        self._flops = recorder.flops
        stored_names = [name for name in recorder.columns if name not in self._hypers]
        implicit = [name for name in IMPLICIT if name not in stored_names]
        self._names = (FIRST, *stored_names, *implicit, *self._hypers)

    @property
    def steps(self) -> int:
        """The number of steps recorded."""
        return self._rows

    @property
    def span(self) -> int:
        """The number of steps in two entries: 2 if each step has its own."""
        return self._span

    def __getitem__(self, name: str) -> Column:
        if name not in self._columns:
            if name not in self._names:
                raise KeyError(f"the column must be one of {', '.join(self._names)}; got {shown(name)}.")
            self._columns[name] = self._implicit(name)
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        merged = "" if self._span == 2 else f", minimum and maximum of each {self._span}"
        return f"<History of {self._rows} steps{merged}: {', '.join(self._names)}>"

    def frame(self) -> Any:
        """All columns as a pandas DataFrame.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(0.25), steps=3)
        >>> run.history.frame()[["step", "value", "lr"]]
           step  value    lr
        0     0  2.000  0.25
        1     1  0.500  0.25
        2     2  0.125  0.25
        """
        return require("pandas", "frames").DataFrame(dict(self), copy=False)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """All columns as a file of comma-separated values: a line of names, a line per entry; every number exact.

        Raises FileError if the system refuses; an old file is then unchanged.

        >>> import pathlib, tempfile, numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(0.25), steps=3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run.history.to_csv(f"{folder}/run.csv")
        ...     pathlib.Path(f"{folder}/run.csv").read_text()[:50]
        'step,value,gradient_norm,step_norm,samples,flops,t'
        """
        write_csv(path, self)

    def to(self, log: Any, *, prefix: str = "", every: int = 1) -> None:
        """Send all rows to the log of another tool: TensorBoard, MLflow, Weights & Biases, trackio.

        NaN in a column that is not measured at every step, such as "validation_value", is left out.

        Args:
            log: An object with `add_scalar(name, number, step)`, such as a SummaryWriter of TensorBoard;
                `log_metrics(numbers, step=)`, such as the module mlflow; or `log(numbers, step=)`, such as a run of
                wandb.
            prefix: What all names begin with, such as "adam/".
            every: Entries from one that is sent to the next; the last one is always sent.

        Raises:
            ArgumentError: `log` has none of these methods, or `every` is not a whole number from 1 on.

        >>> import numpy as np, burlab as bl
        >>> class Printer:
        ...     def log(self, numbers, step=None):
        ...         print(step, numbers["gd/value"], numbers["gd/lr"])
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(0.25), steps=4)
        >>> run.history.to(Printer(), prefix="gd/", every=2)
        0 2.0 0.25
        2 0.125 0.25
        3 0.03125 0.25
        """
        sink, every = Sink(log, "log"), whole(every, "every", 1)
        last = len(self[FIRST]) - 1
        chosen = np.append(np.arange(0, last, every), last) if last >= 0 else np.arange(0)
        columns = {prefix + name: self[name][chosen].tolist() for name in self if name != FIRST}
        always = {prefix + name for name in EVERY_STEP}
        for k, step in enumerate(self[FIRST][chosen].tolist()):
            row = {name: float(column[k]) for name, column in columns.items()}
            sink.write(step, {name: x for name, x in row.items() if x == x or name in always})  # noqa: PLR0124 - not NaN

    def _implicit(self, name: str) -> Column:
        if name == FIRST:
            return steps(0, self._slots, self._rows, self._span)
        if name == SAMPLES:
            return (self[FIRST] + 1) * self._batch
        if name == FLOPS:
            return self._flops.totals(self[FIRST], lambda counter: self.get(counter, 0))
        if name == "time":
            moments, known = self._stamps
            return times((moments, known), self._elapsed, self._rows, self[FIRST])
        at, which, values = self._events
        mine = which == list(self._hypers).index(name)
        return live(self._hypers[name], (at[mine], values[mine]), self[FIRST], self._span)


def events(recorder: Recorder) -> list[Event]:
    """The event log so far; of several changes of a hyperparameter at one step, the last, as only that was used."""
    recorder.settle()
    names = tuple(recorder.start_hypers)
    at, which, values = recorder.event_rows()
    last = {(int(s), names[int(k)]): float(v) for s, k, v in zip(at, which, values, strict=True)}
    return [Event(step, name, value) for (step, name), value in last.items()]
