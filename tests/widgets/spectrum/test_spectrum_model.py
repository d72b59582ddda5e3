"""Model of the live spectrum, without a page."""

import numpy as np
import pytest

import burlab as bl
from burlab.widgets.spectrum.spectrum_model import STAGES, SpectrumModel

SLOPES = np.arange(1.0, 4.0)


def bowl(x):
    return np.sum(SLOPES * x["a"] ** 2) + 10.0 * np.sum(x["b"] ** 4)


def started(lr=0.01, size=3):
    return bl.minimize(bowl, {"a": np.ones(3), "b": np.ones(size)}, bl.optim.GD(lr))


def settled(model):
    for _ in range(10):
        model.refresh()
    return model


def test_spectrum_equals_the_plain_call_and_follows_the_run():
    run = started()
    model = settled(SpectrumModel(run))
    before = model.found[0]
    np.testing.assert_allclose(before.values, bl.analysis.spectrum(run).values)
    assert (model.step, model.active) == (0, False)
    assert not model.refresh()  # nothing has changed: nothing is computed
    run.step(5)
    assert model.refresh()
    assert model.step == 5
    assert model.found[0].largest < before.largest


def test_layers_are_separate_and_two_over_lr_is_shown():
    run = started(lr=0.25)
    model = SpectrumModel(run)
    model.apply({"type": "part", "value": "layers"})
    settled(model)
    assert [one.name for one in model.found] == ["a", "b"]
    assert [part.marks[0].at for part in model.chart().parts] == [8.0, 8.0]
    assert model.state()["tone"] == "past"  # 120 is above 8
    assert "above 2 / lr = 8" in model.state()["status"]
    run.hyper["lr"] = 0.01
    assert model.refresh()
    assert "0.6 of 2 / lr = 200" in model.state()["status"]


def test_a_large_one_is_refined_at_rest_and_begins_anew_when_the_run_moves():
    run = started(size=300)
    model = SpectrumModel(run)
    sizes = []
    while model.active:
        assert model.refresh()
        sizes.append(len(model.found[0].values))
    assert len(sizes) == len(STAGES)
    assert sizes == sorted(sizes)
    assert model.found[0].largest == pytest.approx(120.0)
    run.step()
    model.refresh()
    assert (model.stage, model.step) == (1, 1)


def test_point_without_a_spectrum_is_reported():
    run = bl.minimize(lambda x: np.sum(np.sqrt(x)), np.zeros(2), bl.optim.GD(0.1))
    model = SpectrumModel(run)
    model.refresh()
    assert model.state()["tone"] == "failed"
    assert "not finite" in model.state()["status"]
    assert not model.active
