"""The chart of a panel: its curves over steps or over what these cost, and the plane of two parameters."""

import math
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from burlab.charts import Axis, Band, Chart, Curve, Dots, Mark, Plot, limits
from burlab.charts.outliers import within
from burlab.run.record.traces import PARTS
from burlab.widgets.live.readable import count, duration, number

from .column import FIRST_STEP
from .curves_of_run import PACE, RunCurves
from .divergence import calm_ends
from .groups import TITLES, Group, title_of
from .panel_axis import STEP, PanelAxis
from .panel_costs import gathered, stacked
from .panel_memory import PanelMemory, colour_of, stairs
from .panel_plane import plane
from .pyramid import NOTHING, Series
from .smooth import smoothed, spread

if TYPE_CHECKING:
    from .panel_model import PanelModel

_MAX_POINTS = 1200  # of a curve
_MAX_PLOTS = limits.PARTS - 3  # of columns, beside those of time and memory and the plane
_BREAK = np.array([np.nan])  # where a drawn line stops and another one starts
_MAX_FORMATS = 20  # changes of formats that are marked, the last ones
_MAX_EVENTS = 300  # changes of hyperparameters that are marked, the last ones
_HEIGHT_NEXT_TO_PLANE, _HEIGHT_ALONE, _HEIGHT_STACK = 2.0, 3.0, 1.2  # of the value, and of stacks
_NORMS, _MEMORY = "norms and time", "memory"  # sections
_PROCESS_HEADROOM = 1.4  # the end of the axis of the process, times its most bytes
_NOISE_MARGIN = 100.0  # how far noise is shown around the smooth curve through it, where the axis is logarithmic
_UNITS = {PACE: "s"}
_VALUE, _VALIDATION, _CHANGE, _INK = 0, 2, 1, -1  # colours


class PanelChart:
    """The chart of a model, computed again and again: parts that have not changed are cached."""

    def __init__(self) -> None:
        self._cache: dict[str, tuple[Any, Any]] = {}
        self._last = Chart(())

    def chart(self, model: "PanelModel") -> Chart:
        """All that a panel draws: the last chart itself where nothing has changed."""
        chart = self._drawn(model)
        if not same(chart, self._last):
            self._last = chart
        return self._last

    def _drawn(self, model: "PanelModel") -> Chart:
        known = [group for k, group in enumerate(model.groups) if k == 0 or not math.isnan(group.low)]
        groups, left = known[:_MAX_PLOTS], len(known) - _MAX_PLOTS
        first = groups[0].name if groups else ""
        plots = [self._plot(model, group, first=group.name == first) for group in groups]
        if left > 0:
            plots[-1] = replace(plots[-1], note=f"{count(left)} more columns are in the history and not drawn")
        over = [plane(model, self._once)] if model.landscape is not None else []
        costs = (self._placed(model.axis, plot) for plot in self._costs(model))
        return Chart((*plots, *costs, *over), title="run", about=_about(model, groups))

    def _plot(self, model: "PanelModel", group: Group, *, first: bool) -> Plot:
        curves, bands = self._pace(model) if group.name == PACE else (tuple(self._lines(model, group)), ())
        old = tuple(self._parents(model, group))
        broken = {name: step for name, step in model.non_finite.items() if name in group.columns}
        upright = _upright(group, (*old, *curves), watched=model.past is None)
        beyond = _beyond(upright, group.low, group.high)
        plot = Plot(
            group.name,
            group.title,
            _across(model),
            upright,
            curves,
            bands,
            dots=(self._events(model, group.columns[0]),) if first and model.events else (),
            marks=(*_marks(model), *model.breaks.marks(model.run, group), *_broken(broken)),
            note="; ".join(_notes(beyond, broken)),
            tall=1.0 if not first else _HEIGHT_NEXT_TO_PLANE if model.landscape is not None else _HEIGHT_ALONE,
            section=_NORMS if group.name in ("gradient_norm", "step_norm", PACE) else "",
        )
        plot = self._placed(model.axis, plot)
        return replace(plot, curves=(*old, *plot.curves)) if old else plot

    def _placed(self, axis: PanelAxis, plot: Plot) -> Plot:
        """Put all of a plot that lies over steps of the run on the chosen axis."""
        if axis.against == STEP:
            return plot

        def on_axis(one: Any) -> Any:
            return replace(one, x=axis.places(one.x))

        curves, bands, dots = (
            tuple(self._once(f"{plot.name} {kind} {k}", (one, axis.version), partial(on_axis, one)) for k, one in parts)
            for kind, parts in (
                ("c", enumerate(plot.curves)),
                ("b", enumerate(plot.bands)),
                ("d", enumerate(plot.dots)),
            )
        )
        marks = (
            replace(mark, at=float(axis.places(np.array(mark.at)))) if mark.axis == "x" else mark for mark in plot.marks
        )
        return replace(plot, curves=curves, bands=bands, dots=dots, marks=tuple(marks))

    def _parents(self, model: "PanelModel", group: Group) -> Iterator[Curve]:
        """Yield the parents of the run, each placed by its own costs."""
        look, main = (group.log, model.log_steps), group.columns[0]
        old = tuple((id(line), line.version) for line in model.old), look, model.axis.version
        if any(main in line.curves for line in model.old):
            yield self._once(f"old {main}", old, lambda: _parents(model.old, model.axis, main, *look))

    def _lines(self, model: "PanelModel", group: Group) -> Iterator[Curve]:
        """Yield the columns of the run: where they are smoothed, with what they are behind it."""
        for name in group.columns:
            yield from self._column(model, group, name)

    def _column(self, model: "PanelModel", group: Group, name: str) -> Iterator[Curve]:
        amount, fine = model.amount(name), model.fine and (id(model.fine), model.fine.version)
        label = title_of(model.run, name) if name in TITLES else group.title
        look = label, _VALIDATION if name == "validation_value" else _VALUE
        front = model.front if name == "value" else None
        new = model.lines.version, fine, group.log, model.log_steps, group.floor, amount, front
        yield self._once(name, new, lambda: _curve(model, group, name, *look, amount > 0))
        if amount:
            yield self._once(f"smooth {name}", new, lambda: _smooth(model, group, name, *look, amount))

    def _pace(self, model: "PanelModel") -> tuple[tuple[Curve, ...], tuple[Band, ...]]:
        def make() -> tuple[tuple[Curve, ...], tuple[Band, ...]]:
            x, middle, low, high = spread(_means(model, PACE), log_steps=model.log_steps)
            return (Curve(x, middle, "median", _VALUE),), (Band(x, low, high, "90% of steps", _VALUE),)

        fine = model.fine and (id(model.fine), model.fine.version)
        return self._once(PACE, (model.lines.version, fine, model.log_steps), make)

    def _costs(self, model: "PanelModel") -> Iterator[Plot]:
        """Yield the time of steps by part, and the bytes of the run by kind, each a stack."""
        costs, memory, step, marks = model.costs, model.memory, _across(model), tuple(_marks(model))
        if costs.seconds:
            bands = self._once("parts", costs.version, lambda: _stack(costs.steps, costs.seconds))
            high, note = _outliers(bands)
            axis = Axis(unit="s", high=high)
            yield Plot("parts", "time by part", step, axis, (), bands, (), marks, note, _HEIGHT_STACK, section=_NORMS)
        if memory.kinds and memory.steps[-1] > 0:
            bands = self._once("bytes", memory.version, lambda: _held_bytes(memory))
            curves, right = self._process(memory)
            axis = Axis(unit="B")
            yield Plot("bytes", "memory", step, axis, curves, bands, (), marks, "", _HEIGHT_STACK, right, _MEMORY)

    def _process(self, memory: PanelMemory) -> tuple[tuple[Curve, ...], Axis | None]:
        """Bytes of the whole process, and an axis for them, on which they lie below the top of the stack."""
        held = memory.resident
        if not np.isfinite(held).any():
            return (), None
        curve = self._once("process", memory.version, lambda: _process(memory))
        return (curve,), Axis("the process", unit="B", low=0.0, high=_PROCESS_HEADROOM * float(np.nanmax(held)))

    def _events(self, model: "PanelModel", main: str) -> Dots:
        """Return the changes of hyperparameters, on the curve of the main column."""
        shown = [event for event in model.events if not event.passing][-_MAX_EVENTS:]
        done = model.run.length > shown[-1].step  # its row is there
        version = (tuple(shown), done, id(model.run.parent))
        return self._once("events", version, lambda: _changes(model, shown, main))

    def _once(self, name: str, version: Any, make: Callable[[], Any]) -> Any:
        """Return the cached result of `make`, computed again for another version."""
        if name not in self._cache or self._cache[name][0] != version:
            self._cache[name] = version, make()
        return self._cache[name][1]


def same(a: Chart, b: Chart) -> bool:
    """Return True if two charts of one `PanelChart` are equal: cached parts are the same objects."""
    unlike = (x for p, q in zip(a.parts, b.parts, strict=False) for x in fields(p) if _differ(p, q, x.name))
    return len(a.parts) == len(b.parts) and a.about == b.about and next(unlike, None) is None


def _differ(a: Any, b: Any, name: str) -> bool:
    return name not in ("heights", "shade") and getattr(a, name) != getattr(b, name)


def _upright(group: Group, curves: tuple[Curve, ...], *, watched: bool) -> Axis:
    """The axis of values. watched: whether the run is at its front, where it is followed however far it goes."""
    low, high = None, None
    if group.log:
        low, high = _around_smooth(group, curves)
    old, own = ([curve.y for curve in curves if (curve.colour == _INK) is k] for k in (True, False))
    if watched and any(group.is_far(float(np.abs(y).max(initial=0.0))) for y in own):
        calm = None, None
    else:
        calm = calm_ends(old, own, log=group.log) if watched else calm_ends(old + own, log=group.log)
    if calm != (None, None):
        low, high = calm
    elif group.top is not None:
        low = None if group.log else max(group.low, -group.top)
        high = min(group.high, group.top)
    elif not group.log:
        low, high = within(curve.y for curve in curves)
    return Axis(unit=_UNITS.get(group.name, ""), log=group.log, low=low, high=high, floor=group.floor)


def _around_smooth(group: Group, curves: tuple[Curve, ...]) -> tuple[float | None, float | None]:
    """The ends of an axis of logarithms that noise behind a smooth curve would stretch: two decades from that curve."""
    if not any(curve.faint and curve.colour >= 0 for curve in curves):
        return None, None
    smooth = np.concatenate([curve.y for curve in curves if not curve.faint])
    smooth = smooth[smooth > 0]
    if not smooth.size:
        return None, None
    low, high = float(smooth.min()) / _NOISE_MARGIN, float(smooth.max()) * _NOISE_MARGIN
    return low if group.least < low or group.low == 0 else None, high if group.high > high else None


def _beyond(axis: Axis, *extremes: float) -> list[float]:
    """The extremes that lie off an axis."""
    low, high = (-math.inf if axis.low is None else axis.low), (math.inf if axis.high is None else axis.high)
    return [value for value in extremes if value < low or value > high]


def _across(model: "PanelModel") -> Axis:
    """The axis that plots share. Step 0 has a place on one of logarithms, too; all others have spent something."""
    axis, log = model.axis, model.log_steps
    return Axis(axis.label, axis.unit, log, floor=FIRST_STEP if log and axis.against == STEP else None)


def _held_bytes(memory: PanelMemory) -> tuple[Band, ...]:
    steps, *rows = stairs(memory.steps, *memory.kinds.values())
    return _stack(steps, dict(zip(memory.kinds, rows, strict=True)))


def _process(memory: PanelMemory) -> Curve:
    x, y = stairs(memory.steps, memory.resident)
    return Curve(x, y, "the process, on the right scale", _INK, dashed=1, right=True)


def _stack(steps: Series, parts: dict[str, Series]) -> tuple[Band, ...]:
    """A band for each large part, in the colours that all of them have, and one for the others."""
    own = {name: k for k, name in enumerate(PARTS)}
    colours = {name: own.get(name, colour_of(name, k)) for k, name in enumerate(parts)}
    return tuple(
        Band(steps, *edge, name.replace("_", " "), colours.get(name, _INK), solid=True)
        for name, edge in stacked(gathered(parts)).items()
    )


def _outliers(bands: tuple[Band, ...]) -> tuple[float | None, str]:
    """Return the end of the axis of a stack that ignores a few interrupted steps, and a note about them."""
    top = bands[-1].high
    usual, most = 2 * float(np.quantile(top, 0.9)), float(top.max())
    return (usual, f"goes on to {duration(most)}") if most > 1.5 * usual else (None, "")


def _marks(model: "PanelModel") -> Iterator[Mark]:
    if model.past is not None:
        yield Mark(float(model.past), kind="cursor")
    changes = [*getattr(model.run, "formats_from", {}).items()][1:]
    for step, formats in changes[-_MAX_FORMATS:]:
        yield Mark(float(step), f"from here {'exact' if formats is None else formats.summary}")


def _notes(beyond: list[float], broken: dict[str, int]) -> Iterator[str]:
    """Yield notes of a plot. beyond: values off its axis; broken: first steps of columns with nan or inf."""
    if beyond:
        yield f"goes on to {number(max(beyond, key=abs), 2)}"
    if broken:
        yield f"first nan or inf at step {count(min(broken.values()))}"


def _broken(columns: dict[str, int]) -> Iterator[Mark]:
    """Yield marks at the first nan or inf of columns."""
    for name, step in columns.items():
        yield Mark(float(step), f"{TITLES.get(name, name)} is nan or inf here first", kind="break")


def _curve(model: "PanelModel", group: Group, name: str, label: str, colour: int, faint: bool) -> Curve:
    """A column, with more points where someone has zoomed in, and its zeros on the floor of logarithms."""
    x, y = _points(model.lines, name, group.log, model.log_steps, group.floor is not None)
    fine = model.fine
    if fine is not None and fine.window is not None and name in fine.curves:
        first, last = fine.window
        between = _points(fine, name, group.log, model.log_steps, group.floor is not None)
        before, after = x < first, x > last
        x = np.concatenate([x[before], between[0], x[after]])
        y = np.concatenate([y[before], between[1], y[after]])
    if name == "value" and model.front is not None and math.isfinite(model.front[1]):
        x, y = np.append(x, float(model.front[0])), np.append(y, model.front[1])
    return Curve(x, y, label, colour, faint=faint)


def _points(lines: RunCurves, name: str, log: bool, log_steps: bool, zeros: bool) -> tuple[Series, Series]:
    column = lines.curves[name]
    x, y = column.along(_MAX_POINTS, log=log, log_steps=log_steps)
    if not zeros:
        return x, y
    at = column.zeros(_MAX_POINTS)
    order = np.argsort(np.concatenate([x, at]), kind="stable")
    return np.concatenate([x, at])[order], np.concatenate([y, np.zeros(at.size)])[order]


def _smooth(model: "PanelModel", group: Group, name: str, label: str, colour: int, amount: float) -> Curve:
    x, y = smoothed(_means(model, name), amount, log=group.log, log_steps=model.log_steps)
    return Curve(x, y, label, colour)


def _means(model: "PanelModel", name: str) -> Series:
    """Return the means of the whole record; after a zoom of what is in sight."""
    lines = model.fine if model.fine is not None and name in model.fine.curves else model.lines
    return lines.curves[name].means_along(log_steps=model.log_steps)


def _parents(old: list[RunCurves], axis: PanelAxis, name: str, log: bool, log_steps: bool) -> Curve:
    """One line after the other, with breaks between."""
    lines = [line for line in old if name in line.curves]
    pieces = [line.curves[name].along(_MAX_POINTS, log=log, log_steps=log_steps) for line in lines]
    places = [axis.places(x, line) for line, (x, _) in zip(lines, pieces, strict=True)]
    x = np.concatenate([NOTHING, *(part for x in places for part in (x, _BREAK))])
    y = np.concatenate([NOTHING, *(part for _, y in pieces for part in (y, _BREAK))])
    return Curve(x, y, "before it branched", _INK, faint=True)


def _changes(model: "PanelModel", events: list[Any], main: str) -> Dots:
    curve = model.lines.curves[main]
    rows = [(event, model.run.at(event.step)) for event in events if event.step < model.run.length]
    x = np.array([float(event.step) for event, _ in rows])
    y = np.array([row[main] if row and main in row else curve.around(event.step)[1] for event, row in rows])
    hints = (
        f"{e.name} follows its schedule" if np.isnan(e.value) else f"{e.name} = {number(e.value)}" for e, _ in rows
    )
    return Dots(x, y, "changes", _CHANGE, "dot", tuple(hints))


def _about(model: "PanelModel", groups: list[Group]) -> str:
    """Return the description of the chart for screen readers."""
    shown = ", ".join(group.title for group in groups)
    over = "" if model.axis.against == STEP else f", against {model.axis.label}"
    return f"{shown} over {count(int(model.run.length))} steps{over}" if model.run.length else "No steps yet"
