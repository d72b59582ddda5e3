"""The record of a run or of a watched loop, thinned, as a page plays it."""

from dataclasses import replace
from typing import Any

import numpy as np

from burlab.charts.svg import svg
from burlab.widgets.chart import encode
from burlab.widgets.panel.curves_of_run import NOT_DRAWN
from burlab.widgets.panel.groups import title_of
from burlab.widgets.panel.panel_model import PanelModel

from .page import Section

_MAX_ROWS = 2000  # that the slider knows, half of them evenly among the steps, half among their logarithms


def record(run: Any) -> tuple[str, list[tuple[str, str]], Section]:
    """Return the title of a run, facts about it, and its panel with a slider."""
    model = PanelModel(run)
    model.wait()
    if model.landscape is not None:
        model.landscape.wait()
    model.refresh()
    while model.behind:
        model.refresh()
    state, chart = model.state(), model.chart()
    facts = [("", state["status"]), *((knob["name"], knob["text"]) for knob in state["knobs"])]
    facts.append(("memory", state["memory"]["total"]))
    if state["formats"] is not None:
        facts.append(("numbers", state["formats"]["words"]))
    data = {"chart": encode(chart), **_rows(run, model)}
    return state["title"], facts, Section("record", svg(replace(chart, title="")), data)


def _rows(run: Any, model: PanelModel) -> dict[str, Any]:
    """Some rows of the record, and the run's points at their steps."""
    history = run.history
    steps = np.asarray(history["step"], np.float64)
    retained = _some(steps.size)
    names = [name for name in history if name not in NOT_DRAWN and name in model.lines.curves]
    values = {name: np.asarray(history[name], np.float64)[: steps.size][retained] for name in names}
    steps = steps[retained]
    if model.front is not None:  # where it rests there is a value, and no row yet: the rest is of the last one
        at, value = model.front
        steps = np.append(steps, float(at))
        values = {
            name: np.append(y, value if name == "value" else y[-1] if y.size else np.nan) for name, y in values.items()
        }
    columns = [{"title": title_of(run, name), "unit": "", "values": _buffer(column)} for name, column in values.items()]
    found: dict[str, Any] = {"step": run.t, "steps": _buffer(steps), "columns": columns, "places": None}
    path = model.lines.path
    if model.landscape is not None and path.steps.size:
        along: list[Any] = [np.interp(steps, path.steps, path.points[:, k]) for k in range(2)]
        found["places"] = {"x": _buffer(along[0]), "y": _buffer(along[1])}
    return found


def _some(count: int) -> Any:
    """At most `_MAX_ROWS` of so many positions: finer at the beginning, the first and the last one among them.

    >>> _some(3), _some(10**6).size <= _MAX_ROWS
    (array([0, 1, 2]), True)
    """
    if count <= _MAX_ROWS:
        return np.arange(count)
    even, early = np.linspace(0, count - 1, _MAX_ROWS // 2), np.geomspace(1, count, _MAX_ROWS // 2) - 1
    return np.unique(np.concatenate([even, early]).astype(np.int64))


def _buffer(values: Any) -> memoryview:
    return memoryview(np.ascontiguousarray(values, "<f8").tobytes())
