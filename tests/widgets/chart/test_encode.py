"""Messages of a chart to its page."""

import json
import re
from typing import get_args

import numpy as np
import pytest

from burlab.charts import Axis, Band, Chart, Curve, Dots, DotShape, Map, Mark, MarkKind, Plot
from burlab.charts.palette import PALETTE
from burlab.widgets import assets
from burlab.widgets.chart import ChartView, encode

X = np.arange(4.0)
HEIGHTS = np.arange(6.0).reshape(2, 3)


def chart(version=0, low=None, at=2.0):
    plot = Plot(
        "loss",
        "Loss <b>",
        Axis("step"),
        Axis(log=True, low=low),
        (Curve(X, X, "a"),),
        (Band(X, X, 2 * X),),
        (Dots(X[:1], X[:1], hints=("here",)),),
        (Mark(at, "stop"),),
    )
    plane = Map("plane", "f", Axis("x", low=0, high=2), Axis("y", low=0, high=1), HEIGHTS, version)
    return Chart((plot, plane), about="a test")


def without_numbers(value):
    if isinstance(value, dict):
        return {name: without_numbers(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [without_numbers(inner) for inner in value]
    return None if isinstance(value, memoryview) else value


def test_numbers_are_buffers_and_all_else_is_json():
    data = encode(chart())
    json.dumps(without_numbers(data), allow_nan=False)
    loss, plane = data["parts"]
    assert (loss["kind"], plane["kind"]) == ("plot", "map")
    for line, name, expected in (("curves", "y", X), ("bands", "high", 2 * X), ("dots", "x", X[:1])):
        np.testing.assert_array_equal(np.frombuffer(loss[line][0][name]), expected)
    assert loss["dots"][0]["hints"] == ["here"]
    assert loss["marks"] == [{"at": 2.0, "label": "stop", "axis": "x", "kind": "rule"}]
    assert (plane["heights"]["rows"], plane["heights"]["columns"]) == (2, 3)
    assert plane["heights"]["shade"] == plane["heights"]["values"] == HEIGHTS.tobytes()
    assert data["palette"] == list(PALETTE)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_without_json_are_left_out(bad):
    loss = encode(chart(low=bad, at=bad))["parts"][0]
    assert loss["y"]["low"] is None
    assert loss["marks"] == []


@pytest.mark.parametrize(
    ("interface", "field", "kinds"), [("Mark", "kind", MarkKind), ("Dots<N = Float64Array>", "shape", DotShape)]
)
def test_pages_know_every_kind(interface, field, kinds):
    declared = (assets.WIDGETS / "messages.d.ts").read_text().split(f"export interface {interface} ")[1].split("}")[0]
    (union,) = re.findall(rf"  {field}: (.*);", declared)
    assert union.replace('"', "").split(" | ") == list(get_args(kinds))


def test_single_precision_and_strided_numbers_become_double():
    curve = Curve(np.arange(8, dtype=np.float32)[::2], np.arange(4))
    found = encode(Chart((Plot("p", "p", Axis(), Axis(), (curve,)),)))["parts"][0]["curves"][0]
    np.testing.assert_array_equal(np.frombuffer(found["x"]), [0, 2, 4, 6])
    np.testing.assert_array_equal(np.frombuffer(found["y"]), np.arange(4))


def test_heights_are_sent_once_per_version():
    view = ChartView(chart())
    sent = []
    view.observe(lambda change: sent.append(change["name"]), ["data", "heights"])
    view.chart = chart(at=3.0)
    assert sent == ["data"]
    assert view.data["parts"][1]["heights"] is None
    assert view.heights["plane"]["values"] == HEIGHTS.tobytes()
    view.chart = chart(version=1)
    assert sent[1:] == ["heights", "data"]
    assert view.heights["plane"]["version"] == 1
    view.chart = Chart(())
    assert view.heights == {}


def test_intents_of_a_chart_are_handled():
    view = ChartView(chart())
    heard = []
    view.on_intent(heard.append)
    view._handle_custom_msg({"type": "pick", "part": "loss"}, [])
    assert heard == [{"type": "pick", "part": "loss"}]
