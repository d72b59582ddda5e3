"""The breakpoints of a run as users hold them."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from burlab.errors import ArgumentError
from burlab.run.record.breakpoints import WATCHED, Breakpoint, Hit
from burlab.run.record.engine import Engine, check_can_seek
from burlab.run.record.gradient_norms import BATCH
from burlab.run.record.stop import Predicate, Stopped, check_norm
from burlab.runtime.checks.numbers import shown

MAX_HITS = 10_000  # the last ones are kept


@dataclass
class BreakpointTable:
    """The breakpoints of a run. added: number of those added so far. hits: by step, in order."""

    points: dict[int, Breakpoint] = field(default_factory=dict[int, Breakpoint])
    off: set[int] = field(default_factory=set[int])
    added: int = 0
    hits: dict[int, Hit] = field(default_factory=dict[int, Hit])

    def enabled(self) -> dict[int, Breakpoint]:
        """Return the enabled breakpoints by number."""
        return {number: point for number, point in self.points.items() if number not in self.off}

    def note(self, stopped: Stopped | None, at: Callable[[int], Mapping[str, float] | None]) -> None:
        """Store a hit, if a run rests at one. at: returns a row of the record, None if it was merged."""
        number = None if stopped is None else stopped.breakpoint
        if stopped is None or number not in self.points or stopped.step in self.hits:
            return
        value = stopped.value
        if value is None:
            value = (at(stopped.step) or {}).get("value", math.nan)
        self.hits[stopped.step] = Hit(stopped.step, number, self.points[number], value)
        if len(self.hits) > MAX_HITS:
            del self.hits[next(iter(self.hits))]

    def cut(self, step: int) -> None:
        """Forget the hits from a step on: its row is written anew."""
        self.hits = {at: hit for at, hit in self.hits.items() if at < step}


class Breakpoints(Mapping[int, Breakpoint]):
    """The breakpoints of a run by number, from 1: add and remove them, switch them on and off, also while it runs.

    A run that hits one rests at the point that was measured: that row is the last of the record, and its step is not
    done yet. `run.stopped` names the breakpoint; `run.start()` continues, and `run.step` stops at breakpoints, too.
    A run stops where a condition begins to hold, also when it plays recorded steps again; `run.seek` never stops, and
    predicates see new rows only. Forks and loaded runs have no breakpoints; a change in the past keeps the run's own.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(0.1))
    >>> run.breakpoints.add(every=10), run.breakpoints.add(when=lambda rows: rows["value"] < 0.1)
    (1, 2)
    >>> run.step(100); run.t, run.stopped.message
    (7, 'Stopped at step 7 by breakpoint 2: its predicate holds.')
    >>> run.step(100); run.t, run.stopped.breakpoint
    (10, 1)
    >>> run.breakpoints.disable(1); run.step(100); run.t, run.breakpoints.enabled(1)
    (110, False)
    """

    def __init__(
        self, table: BreakpointTable, arm: Callable[[], None], note: Callable[[], None], engine: Engine
    ) -> None:
        """arm: called after every change of the table; note: before it is read, and before a removal.

        engine: does the steps.
        """
        self._table = table
        self._arm = arm
        self._note = note
        self._engine = engine

    @property
    def conditions(self) -> tuple[str, ...]:
        """The keywords of `add` that this run accepts: without `grad_norm` if its rule reads no gradient.

        >>> import numpy as np, burlab as bl
        >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.25)).breakpoints.conditions
        ('rises', 'grad_norm', 'non_finite', 'every', 'when')
        """
        return tuple(name for name in (*WATCHED, "when") if name != "grad_norm" or self._engine.has_gradient)

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The last 10,000 hits in the present record, in order; see `run.seek(hit.step)`.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.25))
        >>> number = run.breakpoints.add(every=2); run.step(9); run.step(9); run.step(1)
        >>> [(hit.step, hit.value) for hit in run.breakpoints.hits]
        [(2, 0.0625), (4, 0.00390625)]
        """
        self._note()
        return tuple(self._table.hits[step] for step in sorted(self._table.hits))

    def add(
        self,
        *,
        rises: float | None = None,
        patience: int = 1,
        grad_norm: float | None = None,
        non_finite: bool = False,
        every: int | None = None,
        when: Predicate | None = None,
        of: str = BATCH,
    ) -> int:
        """Add a breakpoint with one condition, see `Breakpoint`, and return its number.

        Raises ArgumentError for an invalid condition, or one on a column that this run does not record; StatusError for
        a predicate on a run that stores no keyframes.
        """
        point = Breakpoint(rises, patience, grad_norm, non_finite, every, when, of)
        check_norm(grad_norm, of, self._engine.has_gradient, "the breakpoint", "rises=, or when=")
        self._engine.norm_column(of)
        if when is not None:
            check_can_seek(
                self._engine, "a breakpoint with a predicate"
            )  # it goes back to the row that the predicate saw
        self._table.added += 1
        self._table.points[self._table.added] = point
        self._arm()
        return self._table.added

    def remove(self, number: int) -> None:
        """Remove a breakpoint; its number is not used again."""
        self._check(number)
        self._note()
        del self._table.points[number]
        self._table.off.discard(number)
        self._arm()

    def clear(self) -> None:
        """Remove all breakpoints."""
        self._note()
        self._table.points.clear()
        self._table.off.clear()
        self._arm()

    def enable(self, number: int) -> None:
        """Enable a breakpoint."""
        self._check(number)
        self._table.off.discard(number)
        self._arm()

    def disable(self, number: int) -> None:
        """Disable a breakpoint; it stays in the list."""
        self._check(number)
        self._table.off.add(number)
        self._arm()

    def enabled(self, number: int) -> bool:
        """Return True if a breakpoint is enabled, as all are at first."""
        self._check(number)
        return number not in self._table.off

    def __getitem__(self, number: int) -> Breakpoint:
        return self._table.points[number]

    def __iter__(self) -> Iterator[int]:
        return iter(self._table.points)

    def __len__(self) -> int:
        return len(self._table.points)

    def __repr__(self) -> str:
        rows = [f"{number}: {point!r}{' (off)' if number in self._table.off else ''}" for number, point in self.items()]
        return "\n".join(rows) or "no breakpoints"

    def _check(self, number: int) -> None:
        if number not in self._table.points:
            have = ", ".join(map(str, self)) or "none"
            raise ArgumentError(
                f"the breakpoint must be one of {have}; got {shown(number)}. run.breakpoints lists them."
            )
