"""A race: several optimizers on one problem, stepped fairly, compared while they run."""

import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from burlab.charts import Chart
from burlab.errors import ArgumentError, StatusError
from burlab.graph import tree
from burlab.problems import FiniteSum
from burlab.problems.batch import Batch
from burlab.run import Run, Stop
from burlab.run.record.stop import check_stop
from burlab.runtime.checks.numbers import MAX_STEPS, real, shown, whole
from burlab.runtime.displayed import Displayed
from burlab.runtime.extras import require

from .curves import Curves, check_axis, minimum_of, spread_of
from .race_chart import bytes_plot, plot_of
from .race_curves import RaceCurves, sizes_of
from .race_map import RaceMap
from .racer import Entry, Racer, check_entry, open_racer, shapes_of
from .round_robin import Due, RoundRobin
from .setting import Always, Setting
from .standings import Lead, Standing, standings, standings_text
from .trials import seeds_of

_DEFAULT = Stop()


def race(
    problem: FiniteSum | Callable[..., Any],
    x0: tree.Tree | Callable[[int], tree.Tree],
    racers: Mapping[str, Entry],
    *,
    seeds: int | Sequence[int] = 1,
    batch: int | Batch | None = None,
    steps: int | None = None,
    stop: Stop = _DEFAULT,
) -> "Race":
    """A race of optimizers on a problem, at its start; with `steps` all have done so many. A notebook shows its panel.

    Args:
        problem: As for `minimize`; so are batch and stop.
        x0: The start of all, or a function of the seed that gives one for each seed.
        racers: By name, optimizers, or runs of the very same problem that stand where they stand, one or a list of them
            for several seeds.
        seeds: How many, from 0, or which ones; each optimizer has a run for each, and curves show medians.
        steps: Steps that all runs do now; None: none yet.

    Returns:
        The race.

    Raises:
        ArgumentError: if an argument is wrong.
        BurlabError: what the first racer raised, if none can begin.

    The runs step round-robin on their own threads, as many at once as there are cores, so seconds are fair. Each has
    the bits that `minimize` gives alone. A racer that fails or diverges stays with its reason, and the race goes on.

    >>> import burlab as bl
    >>> f = bl.problems.rosenbrock()
    >>> race = bl.race(f, f.start, {"GD": bl.optim.GD(1e-3), "Adam": bl.optim.Adam(1e-2)}, steps=1000)
    >>> print(race.leader())
    GD leads Adam by 2.8 times at step 1,000
    """
    check_stop(stop)
    if not isinstance(racers, Mapping) or not racers:  # pyright: ignore[reportUnnecessaryIsInstance] - users
        came = "none" if isinstance(racers, Mapping) else f"a {type(racers).__name__}"  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError(f"racers is {came}, expected optimizers by name, such as {{'Adam': bl.optim.Adam(1e-2)}}.")
    start = x0 if callable(x0) else Always(x0)
    setting = Setting(problem, start, batch, stop, seeds_of(seeds))
    found = Race(setting, racers)
    if steps is not None:
        found.step(steps)
    return found


class Race(Displayed):
    """A race, as `burlab.race` returns it: racers by name, stepped together and compared on one axis.

    `leader`, `standings`, `frame` and `chart` read the record so far; call them at any time.
    """

    def __init__(self, setting: Setting, entries: Mapping[str, Entry]) -> None:
        self.setting = setting
        self._racers: list[Racer] = []
        self._scheduler = RoundRobin()
        self._pauses = 0
        self.note = ""  # of its chart, such as how many racers were left out
        self._goal: Callable[[Run], int | None] = _standing
        self._colours = 0
        self._curves = RaceCurves(setting)
        for name, entry in entries.items():
            check_entry(name, entry, setting, self._racers)
            self._racers.append(self._opened(name, entry, len(entries)))
        if all(racer.error is not None for racer in self._racers):
            raise self._racers[0].error or StatusError("no racer can begin.")
        leaves = shapes_of(setting.start(setting.seeds[0]))
        self._ground = RaceMap(setting) if sum(math.prod(shape) for shape in leaves) == 2 else None

    @property
    def racers(self) -> dict[str, Racer]:
        """The racers by name."""
        return {racer.name: racer for racer in self._racers}

    @property
    def runs(self) -> dict[str, tuple[Run, ...]]:
        """The runs of each racer, one for each seed: they may be read, sought, forked, saved as any run."""
        return {racer.name: racer.runs for racer in self._racers}

    @property
    def running(self) -> bool:
        """Return True while racers step in the background."""
        return self._scheduler.running

    @property
    def t(self) -> int:
        """The largest number of steps that a run has done."""
        return max((run.t for racer in self._racers for run in racer.runs), default=0)

    @property
    def finished(self) -> bool:
        """Return True if no racer can go on: each has failed or has met a criterion."""
        return all(racer.finished for racer in self._racers)

    def step(self, n: int = 1) -> None:
        """Let every racer do n steps and wait for them. An interrupt pauses all.

        Args:
            n: Steps; fewer where a racer stops by itself.
        """
        n = whole(n, "n", 0, MAX_STEPS)
        self.pause()
        goals = {run: run.t + n for racer in self._racers for run in racer.runs}
        self._goal = partial(_own, goals, n)
        self._scheduler.go(self._due, self._failed)

    def start(self, until: int | None = None) -> None:
        """Continue in the background and return at once.

        Args:
            until: The last step, which can be set again; None: until `pause`. Racers that are behind, such as those
                that were added late, do more steps than the others.

        >>> import burlab as bl
        >>> f = bl.problems.booth()
        >>> race = bl.race(f, f.start, {"small": bl.optim.GD(0.01), "large": bl.optim.GD(0.1)})
        >>> race.start(until=50); race.wait(), race.t
        (True, 50)
        """
        until = None if until is None else whole(until, "until", 0, MAX_STEPS)
        self._goal = partial(_common, until)
        if not self.running:
            self._scheduler.start(
                partial(_due, weakref.WeakMethod(self._due)), partial(_report_failure, weakref.WeakMethod(self._failed))
            )

    def pause(self) -> None:
        """Rest: every run at the step that it has reached."""
        self._pauses += 1
        self._scheduler.halt()

    @property
    def pauses(self) -> int:
        """The number of pauses so far: a panel that plays the race compares it."""
        return self._pauses

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all rest. An interrupt pauses the race.

        Args:
            timeout: Seconds to wait at most; None: without limit.

        Returns:
            True if all rest.
        """
        try:
            return self._scheduler.wait(None if timeout is None else real(timeout, "timeout", 0.0))
        except BaseException:
            self.pause()
            raise

    @property
    def can_restart(self) -> bool:
        """Return True if it is a race in the plane whose runs can begin at another point."""
        return self._ground is not None and all(run.can_restart for r in self._racers for run in r.runs)

    def restart(self, x0: tree.Tree) -> None:
        """Begin again at another point: all racers rest there at step 0, with their hyperparameters as they are.

        Args:
            x0: The start of all seeds, and of racers that are added later.

        Raises:
            StatusError: A racer is a run that was loaded from a file.

        >>> import numpy as np, burlab as bl
        >>> race = bl.race(lambda x: np.sum(x**2), np.ones(2), {"a": bl.optim.GD(0.1), "b": bl.optim.GD(0.2)}, steps=9)
        >>> race.restart(np.zeros(2)); race.t, race.runs["a"][0].x
        (0, array([0., 0.]))
        """
        self.pause()
        for racer in self._racers:
            for run in racer.runs:
                run.restart(x0)
            racer.error = racer.error if not racer.runs else None
        self.setting = replace(self.setting, start=Always(x0))

    def stop(self) -> None:
        """End the threads of all runs for good. The race can still be read."""
        self.pause()
        for racer in self._racers:
            for run in racer.runs:
                run.stop()

    def add(self, name: str, entry: Entry) -> None:
        """Let another racer in, also while the race is on.

        Args:
            name: A name that is not taken.
            entry: An optimizer, which begins at step 0, or a run or a list of runs, which join where they stand.

        Raises:
            ArgumentError: if the name is taken.
            BurlabError: what the racer raised, if it cannot begin.
        """
        check_entry(name, entry, self.setting, self._racers)
        racer = self._opened(name, entry, len(self._racers) + 1)
        if racer.error is not None:
            raise racer.error
        self._racers = [*self._racers, racer]  # another thread may still iterate over the old list

    def drop(self, name: str) -> None:
        """Take a racer out, also while the race is on. Its runs rest and end with your last reference.

        Args:
            name: Of the racer.

        Raises:
            ArgumentError: if there is no such racer, or no other.
        """
        racer = self.racers.get(name)
        if racer is None:
            raise ArgumentError(f"the racer must be one of {', '.join(map(repr, self.racers))}; got {shown(name)}.")
        if len(self._racers) == 1:
            raise ArgumentError(f"{shown(name)} is the last racer. Add another one before it goes.")
        self._racers = [other for other in self._racers if other is not racer]

    def leader(self, against: str = "step", of: str = "value") -> Lead | None:
        """Return the lowest racer at the last common place on an axis, and its lead.

        Args:
            against, of: as for `standings`.

        Returns:
            The lead; None before the first step.
        """
        rows = [row for row in self.standings(against, of) if row.rank]
        if not rows:
            return None
        if len(rows) == 1:
            return Lead(rows[0].name, "", math.nan, rows[0].at, against)
        return Lead(rows[0].name, rows[1].name, rows[1].behind, rows[0].at, against)

    def standings(self, against: str = "step", of: str = "value") -> list[Standing]:
        """Return the racers, the lowest first, compared at the last place on an axis that all of them have reached.

        Args:
            against: "step"; "gradients": one per step and one for each value, gradient or Hessian-vector product that a
                line search or a second-order rule requests, of a sum as many as samples in the batch; one cost of these
                alone: "samples", "values", "hvps", "jvps", "partials", "surrogates"; "flops"; "bits"; "seconds" of
                running; or "bytes" that a run holds besides its record, the least first.
            of: a column of the history.

        Returns:
            The standings. Heights are measured from the known minimum of a test function.
        """
        self.read(of)
        check_axis(against)
        if against == "bytes":
            none = {name: np.full(1, b) for name, b in sizes_of(self._racers).items()}
            return standings(self._racers, {n: Curves(np.zeros(1), b, b, b, True) for n, b in none.items()})
        return standings(self._racers, self._curves.read(self._racers, against, of, rests=not self.running))

    def frame(self, against: str = "step", of: str = "value") -> Any:
        """The standings as a pandas DataFrame.

        Args:
            against, of: as for `standings`.

        Returns:
            A row for each racer.

        >>> import burlab as bl
        >>> f = bl.problems.booth()
        >>> race = bl.race(f, f.start, {"wild": bl.optim.GD(1.0), "tame": bl.optim.GD(0.1)}, steps=500)
        >>> race.frame()[["name", "rank", "step"]]
           name  rank  step
        0  tame     1   500
        1  wild     0   125
        """
        rows = self.standings(against, of)
        pandas = require("pandas", "frames")
        return pandas.DataFrame({name: [getattr(row, name) for row in rows] for name in Standing.__dataclass_fields__})

    def chart(self, against: str = "step", of: str = "value") -> Chart:
        """The racers on a common axis, and in two dimensions their paths.

        Args:
            against, of: as for `standings`.

        Returns:
            The chart. Of several seeds the median is drawn, with quartiles (of fewer than four seeds the range) around
            it, aligned on the axis by linear interpolation. Where batches are drawn, a point is the mean of the last 5%
            of the way to it.
        """
        check_axis(against)
        self.read(of)
        title = self.label_of(of) + (" above the minimum" if minimum_of(self.setting.problem, of) else "")
        axis = "step" if against == "bytes" else against
        curves = self._curves.read(self._racers, axis, of, rests=not self.running)
        if against == "bytes":
            plot = bytes_plot(self._racers, sizes_of(self._racers), curves, title)
        else:
            words = spread_of(max(len(racer.runs) for racer in self._racers))
            smooth = "mean of the last 5% of the way" if self._curves.smoothing else ""
            note = "; ".join(part for part in (self.note, words, smooth) if part)
            plot = plot_of(self._racers, curves, against, title, note)
        ground = () if self._ground is None else (self._ground.chart(self._racers),)
        lead = self.leader(against, of)
        return Chart((plot, *ground), about="" if lead is None else str(lead))

    def read(self, of: str = "value", seconds: float = math.inf) -> bool:
        """Read the records of a column.

        Args:
            of: the column.
            seconds: to read at most.

        Returns:
            True if all was read.
        """
        shares = seconds / len(self._racers)
        done = [racer.read(of, shares) for racer in self._racers]
        return all(done)

    def label_of(self, of: str) -> str:
        """Return the label of a column: values may be those of batches."""
        runs = [run for racer in self._racers for run in racer.runs]
        return runs[0].value_name if of == "value" and runs else of.replace("_", " ")

    def _opened(self, name: str, entry: Entry, racers: int) -> Racer:
        self._colours += 1
        return open_racer(name, entry, self._colours - 1, self.setting, racers * len(self.setting.seeds))

    def _due(self) -> Due:
        """The runs that have steps to do."""
        goals = [(run, self._goal(run)) for racer in self._racers if racer.error is None for run in racer.runs]
        return [(run, goal) for run, goal in goals if run.stopped is None and (goal is None or run.t < goal)]

    def _failed(self, run: Run, error: Exception) -> None:
        for racer in self._racers:
            if run in racer.runs:
                racer.error = error

    def __repr__(self) -> str:
        lead = self.leader() or "at its start"
        return f"<Race of {', '.join(self.racers)}: {lead}>\n{standings_text(self.standings())}"


def _standing(run: Run) -> int:
    return run.t


def _own(goals: Mapping[Run, int], n: int, run: Run) -> int:
    """A run that came later does n steps from its start."""
    return goals.get(run, n)


def _common(until: int | None, _run: Run) -> int | None:
    return until


def _due(method: "weakref.WeakMethod[Callable[[], Due]]") -> Due:
    """Return the runs that are due, or none once the race is released."""
    due = method()
    return [] if due is None else due()


def _report_failure(method: "weakref.WeakMethod[Callable[[Run, Exception], None]]", run: Run, error: Exception) -> None:
    report = method()
    if report is not None:
        report(run, error)
