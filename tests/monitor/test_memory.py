"""The memory of a watched loop over its steps."""

import numpy as np

import burlab as bl
from burlab.monitor import monitor
from burlab.monitor.memory_samples import MemorySamples
from burlab.widgets.panel.panel_chart import PanelChart
from burlab.widgets.panel.panel_model import PanelModel


def test_samples_are_bounded_even_and_reach_the_end():
    samples = MemorySamples()
    for step in range(100_000):
        samples.take(step, 2.0 * step, {"a": step})
    found = samples.read()
    steps = found["step"]
    assert 1024 <= steps.size <= 2048
    assert steps[0] == 0
    assert np.unique(np.diff(steps)).size == 1
    assert 100_000 - steps[-1] <= steps[1]
    np.testing.assert_array_equal(found["resident"], 2.0 * steps)
    np.testing.assert_array_equal(found["a"], steps)


def test_a_kind_that_comes_later_is_0_before():
    samples = MemorySamples()
    assert {name: column.size for name, column in samples.read().items()} == {"step": 0, "resident": 0}
    samples.take(0, np.nan, {"b": 1})
    samples.take(7, np.nan, {"a": 2, "b": 3})
    found = samples.read()
    assert list(found) == ["step", "resident", "a", "b"], "in the order of the last sample"
    assert (found["a"].tolist(), found["b"].tolist(), found["step"].tolist()) == ([0, 2], [1, 3], [0, 7])


def test_the_panel_of_a_loop_shows_its_bytes_with_the_process_above_them(monkeypatch):
    monkeypatch.setattr(monitor, "REFRESH_NANOSECONDS", 0)
    with bl.watch(show=False) as w:
        for step in range(10):
            w.track(weights=np.zeros(1000 * (step + 1)))
            w.log(step, value=1.0)
    parts = {part.name: part for part in PanelChart().chart(PanelModel(w)).parts}
    assert "memory" not in parts, "the process is drawn once"
    memory = parts["bytes"]
    weights = next(band for band in memory.bands if band.label == "weights")
    changes, sizes = np.repeat(np.arange(11), 2)[1:], 8000.0 * np.repeat([*range(1, 11), 10], 2)[:-1]
    np.testing.assert_array_equal(weights.x, changes)
    np.testing.assert_array_equal(weights.high - weights.low, sizes)
    process = memory.curves[0]
    np.testing.assert_array_equal(process.y[:-1:2], w.history["memory"])
    assert process.right
    assert memory.right.high > process.y.max() > 1e6
