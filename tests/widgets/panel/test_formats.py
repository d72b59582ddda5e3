"""The switch for formats of numbers, without a page."""

import time

import numpy as np
import pytest

import burlab as bl
from burlab.optim.number_formats import Formats
from burlab.widgets.export.record_section import record
from burlab.widgets.panel.panel_formats import chosen, offered
from burlab.widgets.panel.panel_model import PanelModel

EXACT = {"params": "", "compute": "", "gradients": "", "state": "", "stochastic": True, "master": True, "scaled": False}
COARSE = EXACT | {"params": "e4m3", "state": "e4m3", "master": False, "stochastic": False}


def opened(steps=0, **options):
    f = bl.problems.rosenbrock()
    return bl.minimize(f, f.start, bl.optim.Momentum(1e-3), steps=steps, **options)


def applied(model, intent):
    """Send an intent, and wait until the step is compiled and the change is made."""
    model.apply({"type": "formats", **intent})
    model.formats.wait()
    model.refresh()
    return model.state()


def test_a_change_is_that_of_python():
    run, same = opened(20), opened(20)
    model = PanelModel(run)
    assert model.state()["title"] == "Momentum on rosenbrock"
    state = applied(model, COARSE)
    same.change_formats(bl.Formats(params="e4m3", state="e4m3", master=False, stochastic=False))
    assert run.formats == same.formats
    assert (state["step"], state["playing"], state["title"]) == (
        20,
        False,
        "Momentum on rosenbrock in params e4m3, state e4m3",
    )
    assert state["formats"]["values"] == {"params": "e4m3", "compute": "", "gradients": "", "state": "e4m3"}
    for one in (run, same):
        one.step(30)
    np.testing.assert_array_equal(run.x, same.x)
    model.refresh()
    mark = [mark for mark in model.chart().parts[0].marks if mark.kind == "rule"]
    assert [(one.at, one.label) for one in mark] == [(20.0, "from here params e4m3, state e4m3")]
    assert model.old[0].run is run.parent
    assert ("numbers", "params e4m3, state e4m3") in record(run)[1]
    model.apply({"type": "seek", "step": 10})
    model.refresh()
    assert model.state()["formats"]["words"] == "float64"
    applied(model, EXACT)
    assert run.formats is None


def test_a_run_that_plays_goes_on_once_its_step_is_compiled():
    f = bl.problems.rosenbrock()
    run = bl.minimize(f, f.start, bl.optim.GD(1e-9))  # so slow that it does not come to rest
    model = PanelModel(run)
    model.apply({"type": "speed", "value": 0})
    model.apply({"type": "play"})
    while run.t < 50:
        time.sleep(0.001)
    model.apply({"type": "formats", **EXACT, "gradients": "bfloat16"})
    at, state = run.t, model.state()
    assert (model.formats.compiling, model.active, model.driven, state["playing"], run.running) == (*[True] * 4, False)
    assert state["status"] == f"Compiling the step in gradients bfloat16: it goes on from step {at:,}"
    for intent, text in (({"type": "step", "count": 1}, "Step once it is"), ({"type": "formats", **EXACT}, "Wait")):
        model.apply(intent)
        assert text in model.error
    assert (run.t, model.state()["playing"]) == (at, True)
    model.formats.wait()
    model.refresh()
    while run.t <= at:
        time.sleep(0.001)
    assert list(run.formats_from) == [0, at]
    assert model.state()["playing"]
    model.apply({"type": "pause"})
    assert not run.running


def test_pause_while_it_compiles_is_heard():
    run = opened(5)
    model = PanelModel(run)
    model.apply({"type": "play"})
    model.apply({"type": "formats", **COARSE})
    model.apply({"type": "pause"})
    assert not model.state()["playing"]
    model.formats.wait()
    model.refresh()
    assert run.formats is not None
    assert not run.running
    assert not model.active


def test_what_cannot_be_is_said():
    residuals = bl.minimize(bl.Residuals(lambda x, a: a - x, np.arange(4.0)), np.zeros(()), bl.optim.GD(0.1))
    model = PanelModel(residuals)
    assert "Residuals are computed" in model.state()["formats"]["exact_loss"]
    assert "expected no residuals" in applied(model, EXACT | {"compute": "bfloat16"})["status"]
    assert residuals.formats is None
    assert applied(model, EXACT | {"gradients": "bfloat16"})["formats"]["words"] == "gradients bfloat16"
    f = bl.problems.rosenbrock()
    scipy = PanelModel(bl.minimize(f, f.start, bl.optim.SciPy()))
    assert "a minimizer of SciPy" in scipy.state()["formats"]["refused"]
    scipy.apply({"type": "formats", **COARSE})
    assert "a minimizer of SciPy" in scipy.error
    model.apply({"type": "formats", **EXACT, "params": "fp8"})
    assert "the format of params must be one of" in model.error
    assert PanelModel(bl.watch(lr=0.1)).state()["formats"] is None


def test_loaded_runs_show_their_formats(tmp_path):
    run = opened(5, formats=Formats(*4 * ["bfloat16"]))
    run.save(tmp_path / "run.burlab")
    state = PanelModel(bl.load_run(tmp_path / "run.burlab")).state()
    assert state["title"] == "a loaded run on a function in bfloat16"
    assert state["formats"]["refused"].startswith("Formats cannot change: a loaded run")


def test_menus_offer_what_the_dtype_holds_and_what_the_run_has():
    assert [value for value, _ in offered("float64")][:4] == ["", "float32", "bfloat16", "float16"]
    assert "float32" not in [value for value, _ in offered("float32")][1:]
    own = Formats(params=(4, 4), gradients="e5m2", scale=2.0**3, accumulate="float32", compute="bfloat16")
    state = PanelModel(opened(formats=own)).state()["formats"]
    assert state["values"] == {"params": "own", "compute": "bfloat16", "gradients": "e5m2", "state": ""}
    assert state["own"]["params"] == "(4, 4)"
    flags = {name: state[name] for name in ("stochastic", "master", "scaled")}
    assert chosen(state["values"] | flags, own) == own
    assert chosen(state["values"] | flags | {"compute": "e4m3"}, own).accumulate is None
    assert chosen(EXACT, own) is None


@pytest.mark.parametrize("scaled", [True, False])
def test_a_scale_is_dynamic_unless_the_run_has_one(scaled):
    found = chosen(EXACT | {"scaled": scaled}, None)
    assert found == (Formats(scale="dynamic") if scaled else None)
