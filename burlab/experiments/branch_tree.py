"""The tree of branches of a run: the step at which each left its parent, its changes and its result."""

import math
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

import numpy as np

from burlab.charts import Chart
from burlab.errors import ArgumentError
from burlab.graph.tree import Tree, flatten
from burlab.optim.number_formats import Formats
from burlab.run import Event, Run, Stop
from burlab.run.record.digest import Digest
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.displayed import Displayed
from burlab.runtime.extras import require
from burlab.typing import Numbers

from .curves import Curves, check_axis, curves_of, minimum_of
from .race_chart import plot_of
from .race_map import RaceMap
from .racer import Racer
from .setting import Always, Setting

_MAX_NUMBERS = 3  # of a start that are said
_COLUMNS = ("name", "parent", "at", "message", "step", "length", "value", "gradients", "seconds")


@dataclass(frozen=True, slots=True)
class Branch:
    """A run of the tree. name: a letter that it keeps. parent: the name of the run that it left, "" of the first.

    at: the step at which it left, None of the first. start: where it began, None if where its parent did.
    changes: of hyperparameters, which its parent did not make.
    depth: how many parents it has. step, length: where it is, and how long its record. value: where it is, as
    `Run.row_value`. gradients, seconds: what the whole record cost, that of the parents before `at` included.
    """

    name: str
    run: Run
    parent: str
    at: int | None
    start: Tree | None
    changes: tuple[Event, ...]
    depth: int
    step: int
    length: int
    value: float
    gradients: float
    seconds: float

    @property
    def message(self) -> str:
        """Another start, and the changes it made, in words; a later change with its step."""
        if self.at is None:
            return "the first run"
        changes = [] if self.start is None else [f"x0 = {_point(self.start)}"]
        changes += [
            f"{event.name} = {event.value:g}" + (f" at step {event.step:,}" if event.step > self.at else "")
            for event in self.changes
            if not event.passing
        ]
        changes += [f"numbers: {words}" for words in _formats(self.run, self.at)]
        return ", ".join(changes) or "nothing changed"


class Branches(Displayed):
    """The tree that `burlab.branches` returns. It retains the forks that it makes; others leave it once released.

    `tree` reads what there is now; `chart` compares; `fork` branches once more, at any step of any branch.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self._names: weakref.WeakKeyDictionary[Run, str] = weakref.WeakKeyDictionary()
        self._numbers = count()
        self._digests: weakref.WeakKeyDictionary[Run, dict[str, list[Digest]]] = weakref.WeakKeyDictionary()
        self._forks: list[Run] = []
        self._ground: RaceMap | None = None

    @property
    def root(self) -> Run:
        """The run that the others come from, directly or not."""
        run = self.run
        while run.parent is not None:
            run = run.parent
        return run

    @property
    def tree(self) -> tuple[Branch, ...]:
        """All branches: each followed by its children, in the order in which they left."""
        found: list[Branch] = []
        self._walk(self.root, "", 0, found)
        return tuple(found)

    def __getitem__(self, name: str) -> Run:
        """The run of a branch, by its name."""
        return self._known(name).run

    def fork(
        self, name: str, at: int | None = None, *, formats: Formats | Literal["same"] | None = "same", **hypers: float
    ) -> Branch:
        """Branch off once more. The branch that is left stays where it is.

        Args:
            name: Of the branch that is left.
            at: A step of its record; None: where it is.
            formats: `bl.Formats` of numbers from there on, see `Run.fork`.
            hypers: New values of live hyperparameters, by name.

        Returns:
            The new branch.

        Raises:
            ArgumentError: if there is no such branch, step or field.

        >>> import burlab as bl
        >>> f = bl.problems.rosenbrock()
        >>> run = bl.minimize(f, f.start, bl.optim.Momentum(1e-4), steps=300)
        >>> branch = bl.branches(run).fork("A", at=100, mu=0.99)
        >>> branch.name, branch.parent, branch.at, branch.message
        ('B', 'A', 100, 'mu = 0.99')
        """
        run = self._known(name).run
        for field, value in hypers.items():
            run.hyper.check(field, value)  # before the run seeks
        if at is None:
            child = run.fork(formats=formats, **hypers)
        else:
            at = whole(at, "at", 0, run.length)
            step = run.t
            run.seek(at)
            try:
                child = run.fork(formats=formats, **hypers)
            finally:
                run.seek(step)
        self._forks.append(child)
        return next(branch for branch in self.tree if branch.run is child)

    def chart(
        self, names: Sequence[str] | None = None, against: str = "step", of: str = "value", *, seconds: float = math.inf
    ) -> Chart:
        """Branches on a common axis, each from where it left its parent, and in two dimensions their paths.

        Args:
            names: The branches; None for all.
            against: "step", "gradients", "seconds" or a cost, as for `Race.standings`.
            of: A column of the history.
            seconds: For reading what is new.

        Returns:
            The chart.
        """
        check_axis(against, but="bytes")
        tree = self.tree
        chosen = [branch.name for branch in tree] if names is None else list(names)
        shown = [self._known(name, tree) for name in chosen]
        racers = [self._racer(branch.run) for branch in shown]
        minimum = minimum_of(self.run.problem, of)
        curves: dict[str, Curves] = {}
        for branch, racer in zip(shown, racers, strict=True):
            racer.read(of, seconds / max(len(shown), 1))
            whole_curves = curves_of(racer, against, of, ends=True).above(minimum)
            cut = branch.at is not None and branch.parent in chosen
            curves[branch.name] = self._from(whole_curves, branch, racer, against, of) if cut else whole_curves
        named = self.run.value_name if of == "value" else of.replace("_", " ")
        title = named + (" above the minimum" if minimum else "")
        plot = plot_of(racers, curves, against, title, "each from where it left its parent")
        about = "; ".join(f"{b.name}: {b.message}, {b.run.value_name} {b.value:.4g}" for b in shown)
        ground = self._map(racers, {b.name: b.at or 0 for b in shown if b.parent in chosen})
        return Chart((plot,) if ground is None else (plot, ground), about=about)

    def outlines(self, tree: tuple[Branch, ...]) -> dict[str, tuple[Numbers, Numbers]]:
        """For small pictures: the steps of each branch, and its heights from 0 to 1.

        Args:
            tree: All branches, see `tree`.

        Returns:
            Steps and heights by name, shape (n,) each; heights of logarithms where all values of the tree are positive.
        """
        lines = {b.name: curves_of(self._racer(b.run), "step", "value", ends=True) for b in tree}
        curves = {name: c.above(minimum_of(self.run.problem, "value")) for name, c in lines.items()}
        every = np.concatenate([c.median[np.isfinite(c.median)] for c in curves.values()])
        least, most = (float(every.min()), float(every.max())) if every.size else (0.0, 1.0)
        scale: Any = np.log if least > 0 else np.asarray
        low, reach = float(scale(least)), float(scale(most) - scale(least)) or 1.0
        found: dict[str, tuple[Numbers, Numbers]] = {}
        for name, c in curves.items():
            known = np.isfinite(c.median)
            found[name] = c.x[known], (scale(c.median[known]) - low) / reach
        return found

    def frame(self) -> Any:
        """The tree as a pandas DataFrame.

        Returns:
            A row for each branch, with the fields of `Branch` but the run.

        >>> import burlab as bl
        >>> f = bl.problems.rosenbrock()
        >>> run = bl.minimize(f, f.start, bl.optim.Momentum(1e-4), steps=300)
        >>> tree = bl.branches(run)
        >>> branch = tree.fork("A", mu=0.5)
        >>> tree.frame()[["name", "parent", "at", "message"]]
          name parent   at        message
        0    A           -  the first run
        1    B      A  300       mu = 0.5
        """
        rows = [{name: getattr(branch, name) for name in _COLUMNS} for branch in self.tree]
        for row in rows:
            row["at"] = "-" if row["at"] is None else row["at"]
        return require("pandas", "frames").DataFrame(rows)

    def _walk(self, run: Run, parent: str, depth: int, found: list[Branch]) -> None:
        name = self._names.get(run) or letters(next(self._numbers))
        self._names[run] = name
        racer = self._racer(run)
        t, length = run.t, run.length  # read before the record, which may go on meanwhile
        racer.read("value", math.inf)
        (digest,) = racer.digests["value"]
        spent, seconds = (digest.evaluations, digest.seconds) if digest.steps.size else (np.zeros(1), np.zeros(1))
        found.append(
            Branch(
                name, run, parent, run.family.at, run.family.x0, _changes(run), depth,
                t, length, run.row_value(), float(spent[-1]), float(seconds[-1]),
            )
        )  # fmt: skip
        for child in run.family.children:
            self._walk(child, name, depth + 1, found)

    def _known(self, name: str, tree: tuple[Branch, ...] | None = None) -> Branch:
        tree = self.tree if tree is None else tree
        for branch in tree:
            if branch.name == name:
                return branch
        raise ArgumentError(
            f"the branch must be one of {', '.join(branch.name for branch in tree)}; got {shown(name)}."
        )

    def _racer(self, run: Run) -> Racer:
        """A branch as what charts draw. It holds the run, so it is not cached."""
        name = self._names[run]
        return Racer(name, number(name), run.optimizer, (run,), self._digests.setdefault(run, {}))

    def _from(self, whole_curves: Curves, branch: Branch, racer: Racer, against: str, of: str) -> Curves:
        """A curve from the step where the branch left its parent, whose last point they share."""
        steps = whole_curves.x if against == "step" else curves_of(racer, "step", of, ends=True).x
        first = max(int(np.searchsorted(steps, branch.at or 0, side="right")) - 1, 0)
        c = whole_curves
        return Curves(c.x[first:], c.median[first:], c.low[first:], c.high[first:], c.rests)

    def _map(self, racers: list[Racer], firsts: dict[str, int]) -> Any:
        path = self.root.path
        if path is None or path[1].shape[1:] != (2,) or self.run.problem is None:
            return None
        if self._ground is None:
            start = self.root.x
            self._ground = RaceMap(Setting(self.run.problem, Always(start), None, Stop(), (0,)))
        return self._ground.chart(racers, firsts)

    def __repr__(self) -> str:
        lines = [f"{'  ' * branch.depth}{_line(branch)}" for branch in self.tree]
        return "\n".join(lines)


def branches(run: Run) -> Branches:
    """The tree of branches that a run is part of: what was forked from it, and what it came from itself.

    `run.fork` makes a child, and so does a change in the past of a run: then the old record is the parent. A notebook
    shows the tree with small pictures, compares those that are chosen, and forks again.

    Args:
        run: Any run of the tree.

    Returns:
        The tree, with its branches by name.

    Raises:
        ArgumentError: if `run` is not a run.

    >>> import burlab as bl
    >>> f = bl.problems.rosenbrock()
    >>> run = bl.minimize(f, f.start, bl.optim.Momentum(1e-4), steps=300)
    >>> run.seek(100); run.hyper["mu"] = 0.99; run.step(200)
    >>> bl.branches(run)
    A: the first run, 300 steps, value ...
      B from step 100: mu = 0.99, 300 steps, value ...
    """
    if not isinstance(run, Run):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"expected a run, such as bl.minimize returns; got a {type(run).__name__}.")
    return Branches(run)


def letters(k: int) -> str:
    """A name for the k-th branch.

    >>> [letters(k) for k in (0, 25, 26, 701, 702)]
    ['A', 'Z', 'AA', 'ZZ', 'AAA']
    """
    found, k = "", k + 1
    while k:
        k, last = divmod(k - 1, 26)
        found = chr(65 + last) + found
    return found


def number(name: str) -> int:
    """Return the position of the branch with a name.

    >>> [number(letters(k)) for k in (0, 25, 26, 701, 702)]
    [0, 25, 26, 701, 702]
    """
    k = 0
    for letter in name:
        k = 26 * k + ord(letter) - 64
    return k - 1


def _changes(run: Run) -> tuple[Event, ...]:
    """The changes that a run has made and its parent has not."""
    at, old = run.family.at or 0, () if run.parent is None else run.parent.events
    return tuple(event for event in run.events if event.step > at or event not in old)


def _formats(run: Run, at: int) -> list[str]:
    """The formats of numbers that a run went on in, and its parent did not; those after it left with their step."""
    old = {} if run.parent is None else run.parent.formats_from
    changes = [item for item in run.formats_from.items() if item[0] >= at and item not in old.items()]
    words = [(step, "exact" if formats is None else formats.summary) for step, formats in changes]
    return [text + (f" at step {step:,}" if step > at else "") for step, text in words]


def _point(x: Tree) -> str:
    """The first numbers of a point in words."""
    numbers = np.concatenate([np.ravel(np.asarray(leaf, np.float64)) for leaf in flatten(x)[0]])
    more = f", ... {numbers.size:,} numbers" if numbers.size > _MAX_NUMBERS else ""
    return f"({', '.join(f'{entry:.4g}' for entry in numbers[:_MAX_NUMBERS])}{more})"


def _line(branch: Branch) -> str:
    origin = "" if branch.at is None else f" from step {branch.at:,}"
    return (
        f"{branch.name}{origin}: {branch.message}, {branch.length:,} steps, {branch.run.value_name} {branch.value:.6g}"
    )
