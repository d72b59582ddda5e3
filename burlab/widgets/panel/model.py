"""What the panel of a run shows, and what its controls do. It knows no screen: a view draws it, a test reads it."""

import math
import re
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np

from .commands import Commands, Intent
from .landscape import Landscape, flat
from .lines import NOT_DRAWN, PACE, Lines, family
from .pyramid import Series
from .scales import Scale, scale_for
from .settled import Settled

_READING = 0.03  # seconds of reading at once: a long record is caught up with while it is shown
_DECADE = 10.0
_LONG = 5000  # steps from which an axis of them is logarithmic, if nobody has chosen
_DIVERGED, _SHOWN = 1e12, 1e4  # times the first value: what nobody needs to see, and what is shown of it
_RATE_WINDOW = 0.5  # seconds over which the speed is measured
TITLES = {
    "value": "value",
    "gradient_norm": "gradient norm",
    "step_norm": "step norm",
    PACE: "time per step",
    "validation_value": "validation value",
}


@dataclass(frozen=True, slots=True)
class Plot:
    """One of the plots over steps.

    columns: what is drawn in it, the main one first. low, high: its extremes so far. least: the lowest positive value.
    first: the size of the first value.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    low: float
    high: float
    least: float
    first: float

    @property
    def top(self) -> float | None:
        """Where an axis ends that would else show nothing but how far a run has diverged; None for others."""
        far = max(abs(self.low), abs(self.high)) > _DIVERGED * self.first > 0
        return _SHOWN * self.first if far else None

    @property
    def floor(self) -> float | None:
        """Where an axis with logarithms shows the values that are exactly 0: a decade below the others."""
        return 10.0 ** max(math.floor(math.log10(self.least)) - 1, -320) if self.log and self.low == 0 else None

    @property
    def log(self) -> bool:
        """Whether its axis is logarithmic: nothing is negative. Columns of a user's own show several decades, too."""
        known = self.name in TITLES
        return self.low >= 0 and 0 < self.least <= self.high / (1 if known else _DECADE)


class Model:
    """The panel of one run, to be used by one thread: `obey` an intent, `look` at the run, read what is to be shown.

    error: what the last intent ran into. behind: whether there is more to read. lines: the record; old: those of the
    runs that this one branched from, the nearest first. fine: the part of the record that someone has zoomed in on, if
    there is more to see there than in `lines`. events: the changes of hyperparameters. point: where a run with two
    parameters is, shape (2,).
    """

    def __init__(self, run: Any) -> None:
        self.run = run
        self.error = ""
        self.behind = False
        self.lines = Lines(run)
        self.old: list[Lines] = []
        self.fine: Lines | None = None
        self.scales: dict[str, Scale] = {name: scale_for(name, run.hyper[name]) for name in run.hyper}
        self.commands = Commands(run, self.scales.__getitem__)
        self.landscape = Landscape(run) if self._is_plane() else None
        self.point: Series = np.empty(0)
        self.events: list[Any] = []
        self._knobs: Any = None  # what the hyperparameters were when the events were read
        self._marks: list[tuple[float, int]] = []  # wall clock and step, for the speed
        self._burst = monotonic()
        self._settled = Settled()
        self.settled = False  # whether it rests because nothing moved any more
        self.steps_log: bool | None = None  # whether steps stand on a logarithmic axis; None: where there are many
        self.look()

    def obey(self, intent: Intent) -> None:
        """Carry out an intent; what goes wrong is said in the status line."""
        try:
            self.error = ""
            if intent.get("type") == "axis":
                self.steps_log = {"log": True, "linear": False}.get(str(intent.get("value")))
                return
            self.settled = False
            self.commands.obey(intent)
        except Exception as error:  # whatever a run raises is shown, and the panel lives on
            self.error = f"{type(error).__name__}: {error}"

    def zoom(self, window: tuple[float, float] | None) -> None:
        """Read the steps of a window, first and last, as finely as it can be seen. None: look at all of them."""
        wanted = window if self.lines.curves["value"].width > 1 else None
        if wanted != (self.fine and self.fine.window):
            self.fine = Lines(self.run, wanted) if wanted else None

    def look(self) -> None:
        """Read what is new."""
        now = monotonic()
        self._do_bursts(now)
        self.behind = not self.lines.read(_READING)
        if self.fine is not None:
            self.behind |= not self.fine.read(_READING)
        known = {id(line.run): line for line in self.old}
        self.old = [known.get(id(run)) or Lines(run) for run in family(self.run)]
        for line in self.old:
            self.behind |= not line.read(_READING)
        self._look_at_knobs()
        if self.commands.playing and not self.behind and self._settled.look(self.run, self.lines):
            self.commands.rest()
            self.settled = True
        if self.landscape is not None:
            self.point = self._place()
            self.landscape.look(self.run, self.lines.path.points)
        self._mark(now)

    @property
    def problem(self) -> str:
        """What is minimized, in a word or two."""
        problem = self.run.problem
        name = getattr(problem, "__name__", "").strip("<>")
        if problem is None or name == "lambda":
            return "a function"
        kind = re.sub("(?<=[a-z])(?=[A-Z])", " ", type(problem).__name__).lower()
        return name.replace("_", " ") or kind

    @property
    def active(self) -> bool:
        """Whether the run is playing, slow bursts included."""
        return self.run.running or (self.commands.playing and self.commands.speed != 0)

    @property
    def speed(self) -> float:
        """Steps per second just now; 0 at rest."""
        (start, first), (end, last) = self._marks[0], self._marks[-1]
        return (last - first) / (end - start) if end - start > 0.05 else 0.0

    @property
    def log_steps(self) -> bool:
        """Whether steps stand on a logarithmic axis."""
        return self.run.length > _LONG if self.steps_log is None else self.steps_log

    @property
    def plots(self) -> list[Plot]:
        """The plots over steps, in order: the value with its validation, the norms, the time, then other columns."""
        known = list(self.lines.curves)
        main = [name for name in ("value", "validation_value") if name in known]
        groups = [("value", tuple(main)), *((name, (name,)) for name in ("gradient_norm", "step_norm", PACE))]
        groups += [(name, (name,)) for name in known if name not in TITLES and name not in NOT_DRAWN]
        return [Plot(name, TITLES.get(name, name.replace("_", " ")), of, *self._extremes(of)) for name, of in groups]

    def _extremes(self, columns: tuple[str, ...]) -> tuple[float, float, float, float]:
        curves = [line.curves.get(name) for line in (self.lines, *self.old) for name in columns]
        found = [(c.low, c.high, c.least, abs(c.first)) for c in curves if c is not None and not math.isnan(c.low)]
        lows, highs, leasts, firsts = zip(*found, strict=True) if found else ([math.nan],) * 4
        return min(lows), max(highs), min(leasts), max(firsts)

    def _is_plane(self) -> bool:
        return self.run.path is not None and self.run.path[1].shape[1:] == (2,)

    def _place(self) -> Series:
        """Where the run is: between two looks at one that runs, the newest point of its path is near enough."""
        points = self.lines.path.points
        return points[-1] if self.run.running and len(points) else flat(self.run.x)

    def _look_at_knobs(self) -> None:
        """Move ranges after their values. Events are read where something has changed: that waits for a step to end."""
        hyper = self.run.hyper
        for name, scale in self.scales.items():
            if not scale.holds(value := hyper[name]):
                self.scales[name] = scale_for(name, value)
        knobs = (self.run.parent, [None if hyper.follows(name) else hyper[name] for name in hyper])
        if knobs != self._knobs:
            self._knobs, self.events = knobs, self.run.events

    def _do_bursts(self, now: float) -> None:
        try:
            self.commands.burst(now - self._burst)
        except Exception as error:  # as in obey
            self.commands.playing = False
            self.error = f"{type(error).__name__}: {error}"
        self._burst = now

    def _mark(self, now: float) -> None:
        if not self.active or (self._marks and self.run.t < self._marks[-1][1]):
            self._marks.clear()
        self._marks = [mark for mark in self._marks if now - mark[0] < _RATE_WINDOW] + [(now, self.run.t)]
