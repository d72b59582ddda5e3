"""All that the panel shows besides the curves, as plain data: the status line, read-outs, knobs and memory."""

import math
from typing import TYPE_CHECKING, Any

from burlab.charts.limits import PARTS
from burlab.optim import SciPy
from burlab.run import Run
from burlab.widgets.live import readable

from .curves_of_run import PACE
from .groups import TITLES, shown_columns, title_of
from .panel_axis import offered as offered_axes
from .panel_breakpoints import listed, offered
from .panel_memory import colour_of
from .pyramid import Pyramid
from .run_rest import STEPS

if TYPE_CHECKING:
    from .panel_model import PanelModel

_UNKNOWN = ""  # of a number that there is not yet, which no tile shows


def state_of(model: "PanelModel") -> dict[str, Any]:
    """Return the state that a page shows.

    title: what minimizes what. step, length: the cursor and the rows of the record. playing; seekable: whether there is
    a way back; movable: whether it can begin at another point of the plane; ended: whether it cannot go on. speed:
    steps per second of a slow run, 0 for full, -1 for one that grows. smoothing: of the curves, from 0 to 1. splits:
    whether the parts of a step are there for the asking. breakpoints: as `breaks.listed`; conditions: those offered;
    hits: as `Breaks.listed`, and stops: how many there are in all. against: the axis of the curves, one of the `axes`;
    axis: its scale, "auto", "log" or "linear". cliff: of a run that has come to inf or nan, the cause, the text of a
    button that goes back, and whether it has a graph. tone: "ready running paused past stopped failed" for the colour
    of `status`. readouts: pairs of title and text. knobs: a dict per hyperparameter, `place` between 0 and 1. memory:
    total and kinds, each with its share. formats: of numbers, see `FormatSwitch`; None where there is no switch.
    """
    length, t = int(model.run.length), int(model.run.t)  # in this order: a run that plays does not look like the past
    length = max(length, t)
    tone, status = _status(model, t, length)
    if model.run.remark and not model.error:
        status = f"{status.removesuffix('.')}. {model.run.remark}"
    return {
        "step": t,
        "length": length,
        "playing": model.formats.plays if model.formats.compiling else model.active,
        "seekable": model.run.can_seek,
        "movable": model.landscape is not None and getattr(model.run, "can_restart", False),
        "ended": model.cliff.dead or (not isinstance(model.run, Run) and model.run.stopped is not None),
        "speed": model.commands.speed,
        "smoothing": max((model.amount(name) for name in model.lines.curves), default=0.0),
        "breakpoints": listed(model.run),
        "conditions": offered(model.run),
        "hits": model.breaks.listed(),
        "stops": len(model.breaks.hits),
        "splits": model.costs.offered,
        "cliff": _cliff(model),
        "against": model.axis.against,
        "axes": [[name, f"by {name}"] for name in offered_axes(model.run)],
        "axis": {None: "auto", True: "log", False: "linear"}[model.steps_log],
        "title": _title(model),
        "tone": tone,
        "status": status,
        "readouts": _readouts(model, t, length),
        "knobs": [_knob(model, name) for name in model.run.hyper],
        "memory": _memory(model.memory.nbytes),
        "formats": model.formats.state(),
    }


def _title(model: "PanelModel") -> str:
    run = model.run
    if run.title:
        return str(run.title)
    formats = run.formats if isinstance(run, Run) else None
    of = f"in {formats.summary}" if formats is not None else ""
    if run.optimizer is None:
        return f"a loaded run on {model.problem} {of}".rstrip()
    optimizer = run.reopening.optimizer if isinstance(run, Run) and run.reopening is not None else run.optimizer
    name = optimizer.method if isinstance(optimizer, SciPy) else type(optimizer).__name__
    return f"{name} on {model.problem} {of}".rstrip()


def _status(model: "PanelModel", t: int, length: int) -> tuple[str, str]:
    if model.error:
        return "failed", model.error
    if model.commands.backwards:
        return "past", f"Playing backwards: step {readable.count(t)} of {readable.count(length)}"
    if model.formats.compiling:
        return "running", f"Compiling the step in {model.formats.summary}: it goes on from step {readable.count(t)}"
    if model.active:
        speed = f", {readable.rate(model.speed)} steps per second" if model.speed else ""
        again = f" again, of {readable.count(length)} recorded" if model.past is not None else ""
        return "running", f"Running: step {readable.count(t)}{again}{speed}"
    stopped = model.run.stopped
    if stopped is not None:
        return ("failed" if stopped.reason in ("error", "non_finite") else "stopped"), stopped.message
    if model.settled:
        return "stopped", (
            f"At rest at step {readable.count(t)}: none of the last {readable.count(STEPS)} steps moved x by more than "
            "rounding. Play goes on all the same"
        )
    if length == 0:
        return "ready", "Ready at step 0"
    if t < length:
        return "past", (
            f"At step {readable.count(t)} of {readable.count(length)}, in the past: Play runs the record again, "
            "a changed knob branches off"
        )
    return "paused", f"Paused at step {readable.count(t)}"


def _cliff(model: "PanelModel") -> dict[str, Any] | None:
    cliff = model.cliff
    back = cliff.back and cliff.back.text
    return {"cause": cliff.cause, "back": back, "graph": cliff.offers_graph} if cliff.dead else None


def _readouts(model: "PanelModel", t: int, length: int) -> list[list[str]]:
    step, curves = min(t, length - 1), model.lines.curves
    row = model.run.at(step) if length else None
    names = [name for name in TITLES if name in curves and name != PACE]
    names = [*names, *(name for name in shown_columns(model.lines) if name not in TITLES)][:PARTS]
    values = {name: row and row.get(name, math.nan) for name in names}
    if model.front is not None and model.front[0] == t:
        values["value"] = model.front[1]
    shown = [[title_of(model.run, name), _at(step, curves[name], values[name])] for name in names]
    if "validation_value" in names:
        shown[names.index("validation_value")][1] = _last(step, curves["validation_value"])
    pace = 1 / model.speed if model.speed and not model.commands.speed else model.lines.pace
    shown.append([TITLES[PACE], readable.duration(pace) if math.isfinite(pace) else _UNKNOWN])
    return [pair for pair in shown if pair[1] != _UNKNOWN]


def _at(step: int, curve: Pyramid, value: float | None) -> str:
    """A number of one row, or of the last row before it that has one; of merged rows the extremes around it."""
    if value is not None:
        return readable.number(curve.before(step)[1] if math.isnan(value) else value)
    low, high = curve.around(step)
    return _UNKNOWN if math.isnan(low) else f"{readable.number(low, 3)} … {readable.number(high, 3)}"


def _last(step: int, curve: Pyramid) -> str:
    """The last number at or before a step, of a column that has one now and then."""
    at, value = curve.before(step)
    return _UNKNOWN if math.isnan(at) else f"{readable.number(value)} at step {readable.count(int(at))}"


def _knob(model: "PanelModel", name: str) -> dict[str, Any]:
    hyper, scale = model.run.hyper, model.scales[name]
    value = float(hyper[name])
    schedule = ""
    if name in hyper.scheduled:
        schedule = "follows" if hyper.follows(name) else "held"
    return {
        "name": name,
        "place": round(scale.place(value), 6),
        "text": readable.number(value) if schedule == "follows" else readable.exact(value),
        "low": readable.exact(0.0 if scale.kind == "log from zero" else scale.low),
        "high": readable.exact(scale.high),
        "decades": scale.decades,
        "schedule": schedule,
    }


def _memory(nbytes: dict[str, int]) -> dict[str, Any]:
    kinds = {name: n for name, n in nbytes.items() if n}
    total = sum(kinds.values())
    return {
        "total": readable.size(total),
        "kinds": [
            [name.replace("_", " "), readable.size(n), round(n / total, 3), colour_of(name, k)]
            for k, (name, n) in enumerate(kinds.items())
        ],
    }
