"""Sliders: every place is a value and back, decades around the value, decay factors near one."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import burlab as bl
from burlab.widgets.live.readable import exact
from burlab.widgets.panel.panel_cliff import PanelCliff
from burlab.widgets.panel.panel_commands import PanelCommands
from burlab.widgets.panel.panel_model import PanelModel
from burlab.widgets.panel.scales import scale_for, texts

VALUES = [("lr", 1e-3), ("lr", 3e-4), ("lr", 0.3), ("eps", 1e-8), ("b1", 0.9), ("mu", 0.0), ("decay", 0.0), ("z", -0.5)]
VALUES += [("weight_decay", 0.0), ("b2", 1 - 1e-9), ("lr", 1e300), ("lr", float("nan")), ("shift", 7.0)]


@pytest.mark.parametrize(("name", "value"), VALUES)
@given(st.floats(0, 1))
def test_places_and_values_agree(name, value, place):
    scale = scale_for(name, value)
    found = scale.value(place)
    assert scale.holds(found) or found == pytest.approx(scale.low) or found == pytest.approx(scale.high)
    assert scale.value(scale.place(found)) == pytest.approx(found, rel=1e-9, abs=1e-12)
    assert 0 <= scale.place(found) <= 1


@pytest.mark.parametrize(("name", "value"), [case for case in VALUES if not math.isnan(case[1])])
def test_scale_holds_its_value(name, value):
    assert scale_for(name, value).holds(value)


@pytest.mark.parametrize(
    ("name", "value", "kind", "ends"),
    [
        ("lr", 1e-3, "log", (1e-6, 1.0)),
        ("lr", 3e-4, "log", (1e-7, 1.0)),
        ("lr", 0.5, "log", (1e-4, 1e3)),
        ("lr_0", 0.9, "log", (1e-4, 1e3)),
        ("rho", 0.9, "near one", (0.0, 0.99999)),
        ("share", 0.9, "near one", (0.0, 0.99999)),
        ("b2", 0.999, "near one", (0.0, 0.99999)),
        ("mu", 0.0, "near one", (0.0, 0.99999)),
        ("weight_decay", 0.0, "log from zero", (0.0, 1.0)),
        ("shift", -2.0, "linear", (-6.0, 6.0)),
    ],
)
def test_slider_covers_the_range_of_its_kind(name, value, kind, ends):
    scale = scale_for(name, value)
    assert scale.kind == kind
    assert (scale.value(0), scale.value(1)) == pytest.approx(ends, rel=1e-9)


@pytest.mark.parametrize("value", [1e-3, 0.9, 0.0, -1.0])
def test_places_rise_with_values(value):
    scale = scale_for("x", value)
    values = [scale.value(k / 200) for k in range(201)]
    assert values == sorted(values)
    assert len(set(values)) > 60


class Hypers(dict):
    def drag(self, name, value, *, begins):
        self[name] = value


@pytest.mark.parametrize(("name", "value"), VALUES)
def test_a_page_knows_what_python_will_answer_at_each_place_of_a_slider(name, value):
    """A page sends a place as a decimal number, and shows the text that it has for it."""
    scale, run = scale_for(name, value), SimpleNamespace(hyper=Hypers(), can_seek=True, pauses=0)
    commands = PanelCommands(run, lambda _: scale, PanelCliff())
    answers = []
    for k in range(201):
        commands.apply({"type": "slide", "name": name, "place": float(f"{k * 0.005:.3f}")})
        answers.append(exact(run.hyper[name]))
    assert list(texts(scale)) == answers


def test_the_slider_of_a_batch_has_its_sizes_and_nothing_between():
    problem = bl.FiniteSum(lambda x, a: np.sum((x - a) ** 2), np.arange(50.0))
    model = PanelModel(bl.minimize(problem, np.zeros(1), bl.optim.GD(0.1), batch=bl.Batch(4)))
    sizes = [float(text) for text in model.texts["batch"]]
    assert (sizes[0], sizes[-1]) == (1.0, 50.0)
    assert sizes == sorted(map(round, sizes))
    for place in (0.0, 0.3, 1.0):
        model.apply({"type": "slide", "name": "batch", "place": place})
        assert model.error == ""
        assert model.run.hyper["batch"] == sizes[round(200 * place)]
