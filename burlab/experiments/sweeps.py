"""A sweep: many runs of one problem, a row for each."""

import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from burlab.charts import Chart
from burlab.charts.palette import PALETTE
from burlab.errors import ArgumentError, StatusError
from burlab.graph import tree
from burlab.graph.origin import user_line
from burlab.problems.batch import Batch
from burlab.run import Stop
from burlab.run.record.stop import check_stop
from burlab.runtime.checks.numbers import MAX_STEPS, shown, whole
from burlab.runtime.displayed import Displayed
from burlab.runtime.extras import require

from .dependents import TrialSettings, dependents_of, hyper_names, numbers_of, start_of
from .executors import Executor, check_client, executor_of
from .folder import Folder, MemoryStore, check_saved
from .optimizer_fields import Optimizers
from .races import Race
from .search_space import Choices
from .searches import source_of
from .setting import Problem, Sampler, Setting, check_ends, check_problem
from .sweep_log import SweepLog
from .sweep_progress import open_screen
from .sweep_rows import SweepRow, waiting
from .sweep_runs import Runs
from .sweep_table import SweepTable, number_of, rank, table_of
from .trial_source import TrialSource
from .trials import Trial

_DEFAULT = Stop()
_SHOWN = len(PALETTE)  # racers of the race of a sweep: each has a colour of its own


def sweep(  # noqa: PLR0913 - the arguments of minimize
    problem: Problem,
    x0: tree.Tree | Callable[..., tree.Tree],
    optimizers: Optimizers,
    hypers: Mapping[str, Choices] | None = None,
    *,
    search: Any = None,
    trials: int | None = None,
    seeds: int | Sequence[int] = 1,
    batch: int | Batch | Callable[..., int | Batch | None] | None = None,
    sampler: Sampler = None,
    steps: int | Callable[..., int] | None = None,
    stop: Stop = _DEFAULT,
    threads: int = 1,
    folder: str | os.PathLike[str] | None = None,
    cluster: Any = None,
    trainable: Any = None,
    has_aux: bool = False,
    validation: Problem | None = None,
    validate_every: int = 100,
    to: Any = None,
    progress: bool | None = None,
) -> "Sweep":
    """Run every optimizer with every choice of hyperparameters and every seed; a row for each run.

    Args:
        problem: As for `minimize`; so are batch, sampler, stop, trainable, has_aux, validation, validate_every.
            problem, x0, batch, sampler and steps may also be functions of hyperparameters, which their keyword-only
            parameters name: `steps=lambda *, batch: tokens // batch`, `problem=lambda *, width: loss_of(width)`.
        x0: The start, or a function of the seed that gives one for each.
        optimizers: One, a list, or a mapping from names to optimizers. Or a list of runs,
            `[{"optimizer": bl.optim.GD(), "lr": 0.1, "seed": 3, "name": "mine"}, ...]`.
        hypers: The values to try by the name of the field, in all combinations; an optimizer is tried with those that
            it has. "batch", "steps" and the names that functions above have are those of the run. For a search also
            ranges: `bl.Between(1e-4, 1e-1, log=True)`.
        search: How values are chosen instead. "random", or a NumPy generator: independent draws. A sampler or a study
            of Optuna (`pip install 'burlab[search]'`): the next ones depend on the values of runs that have ended, or
            on their validation values where there is a validation. 20 times in each run the study's pruner sees its
            value, and may stop it; that of a mere sampler stops what is above the median.
        trials: How many configurations a search tries, with those that the folder has.
        seeds: How many, from 0, or which ones; one for Optuna.
        steps: Steps of each run; None: until `stop`.
        threads: How many runs step at once; it changes no bit.
        folder: Where each run that has ended is stored as a file, see `Run.save`. The same call after a crash reads
            those and does the others. A study of Optuna learns from them, too, and tries lost configurations again.
        cluster: A client of `dask.distributed`, whose workers do the runs; the bits are the same.
        to: A log of another tool, see `run.history.to`, which gets the numbers of each row when its run has ended, the
            number of the row as the step. Or a function of the row that gives a log, or a context manager around one,
            for the history of that run: `to=lambda row: SummaryWriter(f"runs/{row.number}")`.
        progress: True for a bar, in a notebook a live table; False for none; None where someone sees it.

    Returns:
        The sweep, with a row and a run for each choice.

    Raises:
        ArgumentError: if an argument is wrong, or if neither `steps` nor `stop` ends the runs.

    A run has the bits that `minimize` gives alone. Long runs of a function of one or two numbers that differ by numbers
    alone step in the SIMD lanes of one kernel, 16 at once, which count as one thread; others each on its own. One that
    fails or diverges is a row with its reason, and the sweep goes on; where all fail with an error, the first one is
    raised. An interrupt ends the call, which warns and gives what is done: `sweep.go()` does the rest.

    >>> import burlab as bl
    >>> f = bl.problems.rosenbrock()
    >>> sweep = bl.sweep(f, f.start, bl.optim.Momentum(), {"lr": [1e-4, 1e-3, 1.0], "mu": [0.5, 0.9]}, steps=500)
    >>> best = sweep.best()
    >>> best.hypers, float(f(sweep.runs[best.number].x)) == best.value
    ({'lr': 0.001, 'mu': 0.9}, True)
    """
    check_problem(problem)
    check_stop(stop)
    steps = steps if steps is None or hyper_names(steps) else whole(steps, "steps", 0, MAX_STEPS)
    more = {"trainable": trainable, "has_aux": has_aux, "validation": validation, "validate_every": validate_every}
    setting = Setting(problem, start_of(x0), batch, stop, (0,), sampler, steps, 1, more)
    source = source_of(optimizers, hypers, seeds, dependents_of(setting, hypers), search, trials, numbers_of(setting))
    tried = tuple(dict.fromkeys(trial.seed for trial in source.trials))
    setting = replace(setting, seeds=tried, runs=len(source.trials))
    if not all("steps" in trial.hypers for trial in source.examples()):
        check_ends(setting)
    threads = whole(threads, "threads", 1)
    if cluster is not None:
        check_client(cluster, threads)
    if folder is not None or cluster is not None:
        check_saved(source.examples())
    settings = TrialSettings(setting)
    log = None if to is None else SweepLog(to)
    store = MemoryStore() if folder is cluster is None else Folder(folder)
    found = Sweep(settings, source, executor_of(settings, threads, cluster), store, log)
    try:
        found.go(progress)
    except KeyboardInterrupt:
        done = sum(row.done for row in found.rows)
        message = f"interrupted: {done} of {len(found)} runs are done. `go()` of the sweep does the rest."
        file, line = user_line() or ("burlab", 0)
        warnings.warn_explicit(message, RuntimeWarning, file, line)  # each time, also where all lines are the first one
    return found


class Sweep(Displayed):
    """A sweep, as `burlab.sweep` returns it. rows: one for each run, in order. runs: the runs by the same numbers."""

    def __init__(
        self,
        settings: TrialSettings,
        source: TrialSource,
        executor: Executor,
        store: MemoryStore | Folder,
        log: SweepLog | None,
    ) -> None:
        """executor: lets runs step. store: where they are stored. log: of another tool."""
        self._settings = settings
        self._source = source
        self._executor = executor
        self._store = store
        self._log = log
        self._rows = [waiting(trial) for trial in source.trials]
        self._race: Race | None = None

    @property
    def setting(self) -> Setting:
        """The arguments that all runs share."""
        return self._settings.setting

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The trial of each run; one without a name where a search has not chosen yet."""
        return tuple(self._source.trials)

    @property
    def rows(self) -> tuple[SweepRow, ...]:
        """The result of each run."""
        return tuple(self._rows)

    @property
    def runs(self) -> "Runs":
        """The runs that have ended, by the number of their row: they may be read, sought, forked, saved as any run."""
        return Runs(self._settings, self.trials, self.rows, self._store)

    @property
    def table(self) -> SweepTable:
        """The rows as a table, the best first."""
        return table_of(self._rows, self.hypers)

    @property
    def hypers(self) -> tuple[str, ...]:
        """The names of all hyperparameters that were set."""
        return tuple(dict.fromkeys(name for trial in self.trials for name in trial.hypers))

    def go(self, progress: bool | None = None) -> None:
        """Do the runs that are not done, and try again those that ended with an error. An interrupt pauses them.

        Args:
            progress: as for `burlab.sweep`.
        """
        with self._store.locked(self._settings, self._source):
            self._rows = self._source.resume(self._rows, self._store)
            self._go(progress)

    def best(self, by: str = "value") -> SweepRow:
        """Return the best row: of the configuration whose median over its seeds is lowest, the lowest one.

        Args:
            by: "value" of the problem, or "validation".

        Returns:
            The row. A configuration is an optimizer with its hyperparameters; a seed that failed counts as infinite.

        Raises:
            ArgumentError: for another `by`.
            StatusError: if no run has come to a finite value.

        >>> import burlab as bl
        >>> f = bl.problems.booth()
        >>> bl.sweep(f, f.start, bl.optim.GD(), {"lr": [0.01, 0.1, 1.0]}, steps=50).best().hypers
        {'lr': 0.1}
        """
        if by not in self._values:
            raise ArgumentError(
                f"by must be one of {', '.join(map(repr, self._values))} of this sweep; got {shown(by)}."
            )
        for rows in self._ordered(by):
            able = [row for row in rows if row.done and not row.failed]
            if able:
                return min(able, key=lambda row: rank(row, by))
        raise StatusError("no run of the sweep has come to a finite value. Read sweep.table for the reasons.")

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame, in the order of their numbers.

        Returns:
            A table with a column for each hyperparameter and count.

        >>> import burlab as bl
        >>> f = bl.problems.booth()
        >>> bl.sweep(f, f.start, bl.optim.GD(), {"lr": [0.05, 0.1]}, steps=9).to_pandas()[["name", "lr", "steps"]]
          name    lr  steps
        0   GD  0.05      9
        1   GD  0.10      9
        """
        counts = tuple(dict.fromkeys(name for row in self._rows for name in row.counts))
        columns = {
            "name": [row.name for row in self._rows],
            **{name: [row.hypers.get(name, math.nan) for row in self._rows] for name in self.hypers},
            **{
                name: [getattr(row, name) for row in self._rows] for name in ("seed", *self._values, "steps", "seconds")
            },
            **{name: [row.counts.get(name, 0) for row in self._rows] for name in counts},
            **{name: [getattr(row, name) for row in self._rows] for name in ("reason", "message")},
        }
        return require("pandas", "frames").DataFrame(columns)

    def race(self, most: int = _SHOWN) -> Race:
        """The best configurations as a race: curves, bands over the seeds, standings, a panel.

        Args:
            most: configurations at most.

        Returns:
            A race whose racers are the runs of the sweep, so playing it lets them go on; the rows stay as they are.

        Raises:
            StatusError: if no run has ended.

        >>> import burlab as bl
        >>> f = bl.problems.booth()
        >>> race = bl.sweep(f, f.start, bl.optim.GD(), {"lr": [0.01, 0.1]}, seeds=2, steps=50).race()
        >>> [row.name for row in race.standings()]
        ['GD lr=0.1', 'GD lr=0.01']
        """
        most = whole(most, "most", 1)
        if not self._settings.one_problem:
            raise StatusError(
                "the runs of this sweep minimize different problems, so they are not in one race. Compare sweep.table, "
                "or pass single runs: sweep.runs[0].history."
            )
        if self._race is None or len(self._race.racers) != min(most, len(self._labels())):
            chosen = [rows for rows in self._ordered() if any(row.number in self.runs for row in rows)][:most]
            if not chosen:
                raise StatusError("no run of the sweep has ended, so there is nothing to race. Call sweep.go() first.")
            racers = {
                self.trials[rows[0].number].label: tuple(
                    self.runs[row.number] for row in rows if row.number in self.runs
                )
                for rows in chosen
            }
            self._race = Race(self.setting, racers)
            self._race.note = (
                f"best {len(racers)} of {len(self._labels())}" if len(racers) < len(self._labels()) else ""
            )
        return self._race

    def chart(self, against: str = "step", of: str = "value") -> Chart:
        """The curves of the best configurations.

        Args:
            against, of: as for `Race.standings`.

        Returns:
            The chart of `race`.
        """
        return self.race().chart(against, of)

    def _go(self, progress: bool | None) -> None:
        screen = open_screen(self, progress) if self._source.refill() else None
        first: Exception | None = None
        self._race = None
        shown = nullcontext() if screen is None else closing(screen)  # also where an interrupt ends the pause below
        with shown, closing(self._executor.carry_out(self._source)) as outcomes:  # whose end pauses what is going on
            for outcome in outcomes:
                self._store.store(outcome, self._source.note(outcome.row.number))
                self._source.finish(outcome)
                self._rows[outcome.row.number] = outcome.row
                first = first or outcome.error
                if self._log is not None:
                    self._log.write(outcome.row, self.runs)
                if screen is not None:
                    screen.update()
        if first is not None and all(row.reason == "error" for row in self._rows):
            raise first

    @property
    def _values(self) -> tuple[str, ...]:
        """The names of the values by which rows are compared."""
        return ("value",) if self.setting.validation is None else ("value", "validation")

    def _labels(self) -> dict[str, list[SweepRow]]:
        """The rows by configuration."""
        found: dict[str, list[SweepRow]] = {}
        for trial, row in zip(self.trials, self._rows, strict=True):
            if trial.name:
                found.setdefault(trial.label, []).append(row)
        return found

    def _ordered(self, by: str = "value") -> list[list[SweepRow]]:
        """The rows of each configuration, the lowest median first."""
        return sorted(self._labels().values(), key=lambda rows: (_median(rows, by), rows[0].number))

    def __len__(self) -> int:
        return len(self.trials)

    def __str__(self) -> str:
        return str(self.table)

    def __repr__(self) -> str:
        able = [row for row in self._rows if row.done and not row.failed]
        best = f", best {self.trials[(row := self.best()).number].label}: {row.value:.6g}" if able else ""
        return "\n".join([f"<Sweep: {self.table.title}{best}>", *self.table.lines()])


def _median(rows: Sequence[SweepRow], by: str = "value") -> float:
    values = [number_of(row, by) if row.done and not row.failed else math.inf for row in rows]
    return float(np.median(np.array(values)))
