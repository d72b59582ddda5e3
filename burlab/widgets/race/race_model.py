"""The state of the panel of a race, and the actions of its controls."""

import inspect
import math
from dataclasses import MISSING, fields
from functools import cache
from time import monotonic
from typing import Any, cast

from burlab import optim
from burlab.charts import Chart
from burlab.charts.limits import shown_rows
from burlab.charts.palette import dash_of
from burlab.errors import ArgumentError
from burlab.experiments import Race, Standing
from burlab.experiments.curves import AXES
from burlab.optim.scipy_minimizer import METHODS
from burlab.runtime.checks.numbers import shown
from burlab.widgets.live import readable
from burlab.widgets.live.fields import one_of, real_from, whole_from
from burlab.widgets.live.live_model import GROWING, LiveModel, growing_pace
from burlab.widgets.page_worker import Intent
from burlab.widgets.panel.panel_landscape import point_like
from burlab.widgets.panel.run_rest import STEPS

from .race_rest import RaceRest

_READ_SECONDS = 0.03  # seconds of reading at once
_COLUMN_NAMES = ("value", "validation_value", "gradient_norm", "step_norm")


class RaceModel(LiveModel):
    """The panel of one race."""

    def __init__(self, race: Race) -> None:
        super().__init__()
        self.race = race
        self.against = "step"
        self.of = "value"
        self.speed = GROWING  # steps per second of each racer; 0: as fast as it goes
        self.playing = False
        self._until = 0.0  # the step that all are to have reached by now, at a speed that is not full
        self._then = monotonic()
        self._seen: Any = None
        self._settled = RaceRest()
        self.settled = False  # whether it rests because nothing moved any more
        self._pauses = race.pauses  # after what was done here

    @property
    def active(self) -> bool:
        """Return True while the race runs, slow bursts included."""
        return self.race.running or self.playing

    @property
    def driven(self) -> bool:
        """Return True while the race plays."""
        return self.playing

    def apply(self, intent: Intent) -> None:
        """Carry out an intent; errors become part of the state."""
        self.settled = False
        super().apply(intent)
        self._seen = None

    def refresh(self) -> bool:
        """Continue the race as far as is due, read new rows, and return True if there are any."""
        now = monotonic()
        passed, self._then = now - self._then, now
        if self.race.pauses != self._pauses:  # somebody else has
            self._rest()
        if self.playing and self.speed:
            pace = growing_pace(self._until) if self.speed == GROWING else self.speed
            self._until += min(passed, 0.5) * pace
            self.race.start(until=int(self._until))
        if self.playing and self.race.finished:
            self.playing = False
        if self.playing and self._settled.check(self.race, _READ_SECONDS):
            self._rest()
            self.settled = True
        self.behind = not self.race.read(self.of, _READ_SECONDS)
        key = (  # where it rests there is one more value
            self.race.running,
            [(name, run.length, run.t, run.running) for name, runs in self.race.runs.items() for run in runs],
            self.against,
            self.of,
        )
        new, self._seen = key != self._seen, key
        return new or self.behind

    def state(self) -> dict[str, Any]:
        """All besides the chart: controls, the status line, a row for each racer, the optimizers that can be added."""
        rows, more = shown_rows(self.race.standings(self.against, self.of))
        tone, text = self._status()
        return {
            "step": self.race.t,
            "length": self.race.t,
            "playing": self.active,
            "seekable": False,
            "movable": self.race.can_restart,
            "ended": self.race.finished,
            "speed": self.speed,
            "against": self.against,
            "axes": [[name, f"by {name}"] for name in AXES],
            "of": self.of,
            "columns": [[name, name.replace("_", " ")] for name in self._columns()],
            "tone": tone,
            "status": text,
            "title": self._title() + (f": the first {len(rows)} are listed" if more else ""),
            "unit": "bytes" if self.against == "bytes" else self.race.label_of(self.of),
            "rows": [self._row(row) for row in rows],
            "optimizers": [[name, text] for name, text in offered().items()],
        }

    def chart(self) -> Chart:
        """The race on the chosen axis."""
        return self.race.chart(self.against, self.of)

    def _row(self, row: Standing) -> dict[str, Any]:
        racer = self.race.racers.get(row.name)
        number = readable.size(round(row.value)) if self.against == "bytes" and row.rank else readable.number(row.value)
        far = (
            ""
            if math.isnan(row.behind) or row.rank < 2
            else "∞"
            if math.isinf(row.behind)
            else f"{_ratio(row.behind)} ×"
        )
        return {
            "name": row.name,
            "rank": row.rank,
            "colour": -1 if racer is None else racer.colour,
            "dash": 0 if racer is None else dash_of(racer.colour),
            "value": number if row.rank else "–",
            "behind": far,
            "step": readable.count(int(min(row.at, row.step)) if row.rank and self.against == "step" else row.step),
            "message": row.message,
        }

    def _columns(self) -> list[str]:
        """The columns that every racer records."""
        stored = [run.tail(most=2)[0] for runs in self.race.runs.values() for run in runs]
        return [name for name in _COLUMN_NAMES if all(name in rows for rows in stored)] if stored else ["value"]

    def _status(self) -> tuple[str, str]:
        if self.error:
            return "failed", self.error
        lead = self.race.leader(self.against, self.of)
        text = "Ready at step 0" if lead is None else str(lead)
        if self.active:
            return "running", text
        if self.race.finished:
            return "stopped", f"All have come to their end. {text}"
        if self.settled:
            return "stopped", f"At rest: nothing has moved for {STEPS:,} steps. {text}"
        return ("ready" if lead is None else "paused"), text

    def _title(self) -> str:
        text = readable.problem(self.race.setting.problem)
        seeds = len(self.race.setting.seeds)
        racers = len(self.race.racers)
        return f"{racers} racer{'s' * (racers > 1)} on {text}" + (f", {seeds} seeds" if seeds > 1 else "")

    def _do_play(self, _: Intent) -> None:
        self._pauses = self.race.pauses
        self._until = float(self.race.t)
        self._then = monotonic()
        self.playing = True
        if not self.speed:
            self.race.start()

    def _do_pause(self, _: Intent) -> None:
        self._rest()

    def _rest(self) -> None:
        self.playing = False
        self.race.pause()
        self._pauses = self.race.pauses

    def _do_step(self, intent: Intent) -> None:
        count = whole_from(intent.get("count"), "the number of steps", 1)
        self._rest()
        self.race.start(until=self.race.t + count)

    def _do_start(self, intent: Intent) -> None:
        self._rest()
        start = self.race.setting.start(self.race.setting.seeds[0])
        self.race.restart(point_like(start, (float(intent["x"]), float(intent["y"]))))
        self._do_play(intent)

    def _do_speed(self, intent: Intent) -> None:
        self.speed = float(intent["value"])
        if self.playing:
            self._rest()
            self._do_play(intent)

    def _do_against(self, intent: Intent) -> None:
        self.against = one_of(intent["value"], AXES, "the axis")

    def _do_of(self, intent: Intent) -> None:
        self.of = one_of(intent["value"], self._columns(), "the column")

    def _do_add(self, intent: Intent) -> None:
        kind, text = str(intent["name"]), str(intent.get("lr", "")).strip().replace("−", "-")
        name = f"{kind} {text}".strip()
        taken = self.race.racers
        number = 2
        unique = name
        while unique in taken:
            unique, number = f"{name} ({number})", number + 1
        self.race.add(unique, optimizer_from(kind, text))

    def _do_drop(self, intent: Intent) -> None:
        self.race.drop(str(intent["name"]))


def _ratio(number: float) -> str:
    """Return a factor in three digits or whole: 1.00, 12.3, 1,235, 6.31e6."""
    if number < 99.95:
        return f"{number:.{2 if number < 9.995 else 1}f}"
    return f"{number:,.0f}" if number < 1e5 else readable.number(number, 3)


@cache
def offered() -> dict[str, str]:
    """The optimizers that need no arguments, by name, each with its defaults in words.

    >>> offered()["Momentum"]
    'Momentum (lr = 0.01, mu = 0.9, dampening = 0)'
    """
    found: dict[str, str] = {}
    for name in sorted(optim.__all__, key=str.lower):
        kind = getattr(optim, name)
        if not inspect.isclass(kind) or not issubclass(kind, optim.Optimizer) or inspect.isabstract(kind):
            continue
        own = fields(cast("Any", kind))
        if any(field.default is MISSING and field.default_factory is MISSING for field in own):
            continue
        numbers = [f"{f.name} = {readable.exact(f.default)}" for f in own if isinstance(f.default, (int, float))]
        found[name] = f"{name} ({', '.join(numbers)})" if numbers else name
    return found | {f"SciPy {method}": f"SciPy {method}" for method in METHODS}


def optimizer_from(name: str, lr: str) -> Any:
    """Return one of the offered optimizers. lr: its learning rate as text, "" for the default."""
    if name not in offered():
        raise ArgumentError(f"the optimizer must be one of those that the menu offers; got {shown(name)}.")
    if name.startswith("SciPy "):
        if lr:
            raise ArgumentError(f"{name} has no learning rate. Leave the field empty.")
        return optim.SciPy(name.removeprefix("SciPy "))
    kind = getattr(optim, name)
    if not lr:
        return kind()
    if all(field.name != "lr" for field in fields(kind)):
        raise ArgumentError(f"{name} has no learning rate. Leave the field empty.")
    return kind(lr=real_from(lr, "the learning rate"))
