"""Actions of the panel's controls on a run: an intent is a dict with a `type`, as a browser sends it."""

import math
from collections.abc import Callable
from typing import Any

from burlab.errors import StatusError
from burlab.widgets.live.fields import real_from, whole_from
from burlab.widgets.live.live_model import GROWING, dispatch, growing_pace
from burlab.widgets.page_worker import Intent

from . import panel_breakpoints
from .panel_cliff import PanelCliff
from .panel_formats import FormatSwitch, chosen
from .panel_landscape import point_like
from .scales import SliderScale

_REPLAY_SECONDS = 4.0  # seconds for the whole record backwards at full speed


class PanelCommands:
    """Carries out intents on a run.

    play, back (plays backwards), pause, step (count), rewind (count), reset, seek (step), slide (name, place,
    drag: the number of the drag in its view),
    enter (name, text), start (x, y: from another point of the plane), follow (name), hold (name),
    break (kind, text), break_switch (number, on), break_remove (number): see `panel_breakpoints.py`;
    formats (params, compute, gradients, state, stochastic, master, scaled): see `panel_formats.py`;
    rescue (back to where the value was lowest, with a smaller learning rate);
    speed (steps per second, 0 for full, GROWING for one that grows with the steps done).
    """

    def __init__(self, run: Any, scale: Callable[[str], SliderScale], cliff: PanelCliff) -> None:
        self._run = run
        self._scale = scale
        self._cliff = cliff
        self.formats = FormatSwitch(run)
        self.playing = False  # also between the bursts of a slow run
        self.backwards = False  # whether it plays back through the record
        self.speed = GROWING if run.can_seek else 0.0  # steps per second; 0: as fast as it goes
        self._drags: dict[str, tuple[Any, Any]] = {}  # by hyperparameter: the last view that dragged, and which drag
        self._owed = 0.0  # steps that a slow run is behind
        self._seeking = False
        self._pauses = run.pauses  # after what was done here: more of them are somebody else's

    def apply(self, intent: Intent) -> None:
        """Do what an intent says.

        Raises:
            ArgumentError: There is no such intent, or a field of it is wrong; besides what the run raises.
        """
        dispatch(self, intent)

    def cut_short(self) -> None:
        """Interrupt a long seek, because another intent has come; from any thread."""
        if self._seeking:
            self._run.pause()

    @property
    def pace(self) -> float:
        """Steps per second of a run that is not at full speed, or plays backwards."""
        if self.speed == GROWING:
            return growing_pace(self._run.t)
        return self.speed or max(self._run.length / _REPLAY_SECONDS, 1.0)

    def burst(self, seconds: float) -> None:
        """Let a slow run, or one that plays backwards, do what is due after so many seconds."""
        if self.playing and self._run.pauses != self._pauses:
            self.rest()
        if not self.playing or not (self.speed or self.backwards):
            return
        if self.backwards:
            self._owed += seconds * self.pace
            due = min(math.floor(self._owed), int(self._run.t))
            self._owed -= due
            self._run.seek(int(self._run.t) - due)
            self._pauses = self._run.pauses
            if not self._run.t:
                self.rest()
        elif self._run.stopped is not None:
            self.playing = False
        elif not self._run.running:
            pace = self.pace
            self._owed = min(self._owed + seconds * pace, pace)
            due = math.floor(self._owed)
            self._owed -= due
            if due:
                self._run.start(due)

    def _do_play(self, _: Intent) -> None:
        self._check_alive()
        if self.formats.compiling:
            self.formats.plays = True
            return
        if self.backwards:
            self.rest()
        self.playing = True
        self._pauses = self._run.pauses
        self._owed = 0.0
        if not self._run.running:
            self._run.start(1 if self.speed else None)

    def _do_back(self, _: Intent) -> None:
        self.rest()
        self.playing = self.backwards = self._run.t > 0
        self._owed = 1.0

    def _do_pause(self, _: Intent) -> None:
        self.rest()

    def _do_step(self, intent: Intent) -> None:
        count = whole_from(intent.get("count"), "the number of steps", 1)
        if self.formats.compiling:
            raise StatusError(f"the step in {self.formats.summary} is being compiled. Step once it is.")
        self.rest()
        self._check_alive()
        self._run.start(count)

    def _do_rewind(self, intent: Intent) -> None:
        self._seek(max(int(self._run.t) - whole_from(intent.get("count"), "the number of steps", 1), 0))

    def _do_reset(self, _: Intent) -> None:
        self._seek(0)

    def _do_seek(self, intent: Intent) -> None:
        self._seek(min(whole_from(intent.get("step"), "the step", 0), self._run.length))

    def rest(self) -> None:
        """Pause; a cell that waits for the run returns."""
        self.playing = self.backwards = self.formats.plays = False
        self._run.pause()
        self._pauses = self._run.pauses

    def _seek(self, step: int) -> None:
        self.rest()
        self._seeking = True
        try:
            self._run.seek(step)
        finally:
            self._seeking = False

    def _do_start(self, intent: Intent) -> None:
        self.rest()
        self._run.restart(point_like(self._run.x, (float(intent["x"]), float(intent["y"]))))
        self._do_play(intent)

    def _do_formats(self, intent: Intent) -> None:
        self.formats.check()
        formats = chosen(intent, self._run.formats)
        plays = self._run.running or (self.playing and not self.backwards)
        self.rest()
        self.formats.order(formats, plays=plays)

    def finish_formats(self) -> None:
        """Go on in other formats once their step is compiled. Raises what their compilation has raised."""
        plays = self.formats.plays
        if self.formats.finish() and plays:
            self._do_play({})

    def _do_rescue(self, _: Intent) -> None:
        if (back := self._cliff.back) is not None:
            self._seek(back.step)
            self._run.hyper[back.name] = back.value

    def _check_alive(self) -> None:
        """Refuse to go on from inf or nan: all further steps would be nan, too."""
        stopped = None if self._run.running else self._run.stopped
        if stopped is not None and stopped.reason == "non_finite":
            raise StatusError(
                "the run has come to inf or nan, and so would all further steps. Go back to an earlier step, and "
                "change a hyperparameter there."
            )

    def _do_slide(self, intent: Intent) -> None:
        name, drag = str(intent["name"]), (intent.get("view"), intent.get("drag"))
        value = self._scale(name).value(float(intent["place"]))
        self._run.hyper.drag(name, value, begins=drag != self._drags.get(name))
        self._drags[name] = drag

    def _do_enter(self, intent: Intent) -> None:
        self._run.hyper[str(intent["name"])] = real_from(intent["text"], str(intent["name"]))

    def _do_follow(self, intent: Intent) -> None:
        self._run.hyper[str(intent["name"])] = None

    def _do_hold(self, intent: Intent) -> None:
        name = str(intent["name"])
        self._run.hyper[name] = self._run.hyper[name]

    def _do_break(self, intent: Intent) -> None:
        panel_breakpoints.add(self._run, str(intent["kind"]), str(intent["text"]))

    def _do_break_switch(self, intent: Intent) -> None:
        points = self._run.breakpoints
        (points.enable if intent["on"] else points.disable)(int(intent["number"]))

    def _do_break_remove(self, intent: Intent) -> None:
        self._run.breakpoints.remove(int(intent["number"]))

    def _do_speed(self, intent: Intent) -> None:
        self.speed = float(intent["value"])
        if self.backwards:
            return
        if self.playing or (self._run.running and not self._run.can_seek):
            self.rest()
            self._do_play(intent)
