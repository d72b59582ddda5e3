"""The state of the panel of a run, and the actions of its controls. It knows no screen: views and tests read it."""

import math
from time import monotonic
from typing import Any

import numpy as np

from burlab.charts import Chart
from burlab.optim.batches import BATCH
from burlab.optim.live_fields import ranges_of
from burlab.run import Run
from burlab.widgets.live import readable
from burlab.widgets.live.live_model import LiveModel
from burlab.widgets.page_worker import Intent

from .curves_of_run import PACE, RunCurves, family
from .groups import Group, groups_of
from .panel_axis import PanelAxis
from .panel_breakpoints import BreakpointHits
from .panel_chart import PanelChart
from .panel_cliff import PanelCliff
from .panel_commands import PanelCommands
from .panel_costs import PanelCosts
from .panel_landscape import PanelLandscape, flat
from .panel_memory import PanelMemory
from .panel_state import state_of
from .pyramid import Series
from .run_rest import RunRest
from .scales import SliderScale, scale_for, scale_of, texts
from .smooth import noisy

_MEASURE_SECONDS = 0.05  # seconds to wait for a value in one look; the next one finds it
_READ_SECONDS = 0.01  # seconds of reading at once: a long record is caught up with while it is shown
_DISPLAY_INTENTS = ("against", "axis", "smoothing", "zoom", "split", "cause")
_NOISE_SMOOTHING = 0.4  # smoothing of what is noise
_LOG_AXIS_STEPS = 5000  # steps from which their axis is logarithmic, unless someone has chosen
_RATE_SECONDS = 0.5  # seconds over which the speed is measured


class PanelModel(LiveModel):
    """The panel of one run, or of a watched loop, which is a run without a way back.

    lines: the record; old: those of the runs that this one branched from, the nearest first.
    fine: the part of the record that someone has zoomed in on, if there is more to see there than in `lines`. events:
    the changes of hyperparameters. costs: parts of steps. memory: bytes. point: where a run with two parameters is,
    shape (2,). past: the step where it is, if more of them are recorded.
    """

    def __init__(self, run: Any) -> None:
        super().__init__()
        self.run = run
        self.lines = RunCurves(run)
        self.old: list[RunCurves] = []
        self.fine: RunCurves | None = None
        self.scales: dict[str, SliderScale] = {name: self._scale_of(name) for name in run.hyper}
        self.cliff = PanelCliff()
        self.commands = PanelCommands(run, self.scales.__getitem__, self.cliff)
        self.formats = self.commands.formats
        self.landscape = PanelLandscape(run) if self._is_plane() else None
        self.point: Series = np.empty(0)
        self.past: int | None = None
        self.front: tuple[int, float] | None = None  # the end of the record, which has no row, and the value
        self._parent: Any = run.parent
        self.events: list[Any] = []
        self.costs = PanelCosts()
        self.memory = PanelMemory()
        self.breaks = BreakpointHits()
        self._knobs: Any = None  # what the hyperparameters were when the events were read
        self._marks: list[tuple[float, int]] = []  # wall clock and step, for the speed
        self._burst = monotonic()
        self._settled = RunRest()
        self.settled = False  # whether it rests because nothing moved any more
        self._has_settled = False  # whether it ever did: most of its steps are those in which nothing moved
        self.steps_log: bool | None = None  # whether steps stand on a logarithmic axis; None: as `log_steps` finds
        self.axis = PanelAxis()
        self._windows: dict[str, tuple[float, float]] = {}  # by axis, the steps in sight where someone zoomed in
        self.smoothing: float | None = None  # of curves, from 0 to 1; None: as they need
        self._noisy: set[str] = set()
        self._chart = PanelChart()
        self.refresh()

    def _act(self, intent: Intent) -> None:
        if intent.get("type") in _DISPLAY_INTENTS:
            self._apply_display(intent)
            return
        self.error = ""
        self.settled = False
        if intent.get("type") == "seek" and "place" in intent:
            intent = {"type": "seek", "step": round(self.axis.step_at(float(intent["place"])))}
        self.commands.apply(intent)

    def interrupt(self) -> None:
        """Interrupt a long seek."""
        self.commands.cut_short()

    def state(self) -> dict[str, Any]:
        """Return all besides the chart; see `state_of`."""
        return state_of(self)

    def chart(self) -> Chart:
        """Return the curves over the chosen axis, and the plane of two parameters."""
        return self._chart.chart(self)

    @property
    def texts(self) -> dict[str, tuple[str, ...]]:  # pyright: ignore[reportIncompatibleVariableOverride] - not settable
        """The texts of the knobs, by hyperparameter."""
        return {name: texts(scale) for name, scale in self.scales.items()}

    def _apply_display(self, intent: Intent) -> None:
        """Apply an intent about the display. Of a zoom, only one along the axis of steps needs more of the record."""
        kind = intent["type"]
        if kind == "against":
            self.axis.choose(intent.get("value"), [self.lines, *self.old])
        elif kind == "axis":
            self.steps_log = {"log": True, "linear": False}.get(str(intent.get("value")))
        elif kind == "smoothing":
            self.smoothing = min(max(float(intent["value"]), 0.0), 1.0)
        elif kind == "split":
            self.costs.split()
        elif kind == "cause" and self.cliff.offers_graph:
            self.beside = self.cliff.graph()
        elif kind == "zoom" and intent.get("axis") == self.axis.label:
            ends = [self.axis.step_at(float(end)) for end in (intent.get("low"), intent.get("high")) if end is not None]
            self._windows.pop(self.axis.against, None)
            if len(ends) == 2:
                self._windows[self.axis.against] = ends[0], ends[1]

    def amount(self, name: str) -> float:
        """Return the smoothing of a column, from 0 to 1. Unless it was chosen, noisy columns have some."""
        if name in ("validation_value", PACE):
            return 0.0
        if self.smoothing is not None:
            return self.smoothing
        curve = self.lines.curves[name]
        if name not in self._noisy and noisy(curve.means(), log=curve.low > 0):
            self._noisy.add(name)
        return _NOISE_SMOOTHING if name in self._noisy else 0.0

    def _zoom(self, window: tuple[float, float] | None) -> None:
        """Read the steps of a window, first and last, as finely as it can be seen. None: of all steps."""
        coarse = any(curve.width > 1 for curve in self.lines.curves.values())
        wanted = window if coarse else None
        if wanted != (self.fine and self.fine.window):
            self.fine = RunCurves(self.run, wanted) if wanted else None

    def _past(self) -> int | None:
        # In this order, and the row of a step is there while it is done: a run that plays does not look like the past.
        length, t = int(self.run.length), int(self.run.t)
        return t if t < length - int(self.active) else None

    def _front(self) -> tuple[int, float] | None:
        """The step behind all rows, and the value there as soon as it is known: once it has rested there."""
        t, length = int(self.run.t), int(self.run.length)
        if self.active or not hasattr(self.run, "row_value"):
            return None
        if t < length:  # in its past: the record ends where it did
            return self.front if self.front is not None and self.front[0] == length else None
        value = self.run.row_value(_MEASURE_SECONDS)
        return None if math.isnan(value) else (t, value)

    def wait(self, seconds: float = math.inf) -> None:
        """Wait for the value where the run rests: `refresh` waits a moment only."""
        if not self.active and hasattr(self.run, "row_value"):
            self.run.row_value(seconds)

    def refresh(self) -> bool:
        """Read new rows; always return True, because the chart knows itself what has changed."""
        now = monotonic()
        self._do_bursts(now)
        self.past = self._past()
        if self.run.parent is not self._parent:  # it has branched off, and its record ends elsewhere
            self.front, self._parent = None, self.run.parent
        self.front = self._front()
        self._zoom(self._windows.get(self.axis.against))
        self.behind = not self.lines.read(_READ_SECONDS)
        if self.fine is not None:
            self.behind |= not self.fine.read(_READ_SECONDS)
        known = {id(line.run): line for line in self.old}
        self.old = [known.get(id(run)) or RunCurves(run) for run in family(self.run)]
        for line in self.old:
            self.behind |= not line.read(_READ_SECONDS)
        self.behind |= not self.axis.read([self.lines, *self.old], _READ_SECONDS)
        self._refresh_knobs()
        forwards = self.commands.playing and not self.commands.backwards
        if forwards and not self.behind and self._settled.check(self.run, self.lines):
            self.commands.rest()
            self.settled = self._has_settled = True
        if self.landscape is not None:
            self.point = self._place()
            self.landscape.refresh(self.run, self.lines.path.points)
            self.behind |= self.landscape.computing
        self.costs.refresh(self.run)
        self.memory.refresh(self.run)
        self.breaks.refresh(self.run)
        self.cliff.refresh(self.run, self.lines)
        self._mark(now)
        return True

    @property
    def problem(self) -> str:
        """The name of what is minimized."""
        reopening = getattr(self.run, "reopening", None)
        return readable.problem(self.run.problem if reopening is None else reopening.opener.problem)

    @property
    def non_finite(self) -> dict[str, int]:
        """The columns of a loop of the user's own in which there was nan or inf, each with the first such step."""
        return getattr(self.run, "non_finite", {})

    @property
    def active(self) -> bool:
        """Return True while the run plays, slow bursts included."""
        return self.run.running or self.driven

    @property
    def driven(self) -> bool:
        """Return True while it plays slowly or backwards, or is about to go on in other formats."""
        slow = self.commands.playing and (self.commands.speed != 0 or self.commands.backwards)
        return slow or self.formats.compiling

    @property
    def speed(self) -> float:
        """Steps per second just now; 0 at rest."""
        (start, first), (end, last) = self._marks[0], self._marks[-1]
        return (last - first) / (end - start) if end - start > 0.05 else 0.0

    @property
    def log_steps(self) -> bool:
        """Return True if the axis of steps, or of what they cost, is logarithmic."""
        many = self.run.length > _LOG_AXIS_STEPS or self._has_settled
        return many if self.steps_log is None else self.steps_log

    @property
    def groups(self) -> list[Group]:
        """The groups of columns, a plot each."""
        return groups_of([self.lines, *self.old], None if self.front is None else self.front[1])

    def _is_plane(self) -> bool:
        return self.run.path is not None and self.run.path[1].shape[1:] == (2,)

    def _place(self) -> Series:
        """Return the point of the run; of one that runs the newest point of its path is near enough."""
        points = self.lines.path.points
        return points[-1] if self.run.running and len(points) else flat(self.run.x)

    def _scale_of(self, name: str) -> SliderScale:
        """Return the scale of a hyperparameter; that of a batch has its sizes, of a number of the loss its range."""
        allowed = self.run.hyper.range_of(name) if isinstance(self.run, Run) else None
        if allowed is not None and allowed.high > allowed.low:
            if name == BATCH:
                return SliderScale("counts", allowed.low, allowed.high)
            if name not in ranges_of(self.run.optimizer):
                return scale_of(allowed)
        return scale_for(name, self.run.hyper[name])

    def _refresh_knobs(self) -> None:
        """Adapt ranges to values. Events are read where a value has changed: that waits for a step to end."""
        hyper = self.run.hyper
        for name, scale in self.scales.items():
            if not scale.holds(hyper[name]):
                self.scales[name] = self._scale_of(name)
        knobs = (self.run.parent, [None if hyper.follows(name) else hyper[name] for name in hyper])
        if knobs != self._knobs:
            self._knobs, self.events = knobs, self.run.events

    def _do_bursts(self, now: float) -> None:
        try:
            self.commands.finish_formats()
            self.commands.burst(now - self._burst)
        except Exception as error:  # as in obey
            self.commands.rest()
            self.error = f"{type(error).__name__}: {error}"
        self._burst = now

    def _mark(self, now: float) -> None:
        if not self.active or (self._marks and self.run.t < self._marks[-1][1]):
            self._marks.clear()
        self._marks = [mark for mark in self._marks if now - mark[0] < _RATE_SECONDS] + [(now, self.run.t)]
