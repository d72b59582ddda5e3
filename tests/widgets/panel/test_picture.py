"""Pictures of real runs in the panel: curves, bands, the plane of two parameters."""

import itertools
import time
from time import monotonic

import numpy as np
import pytest

import burlab as bl
from burlab.charts import Plot
from burlab.charts.strokes import ink
from burlab.widgets.live import readable
from burlab.widgets.panel.panel_chart import PanelChart, same
from burlab.widgets.panel.panel_costs import SMALL_PARTS
from burlab.widgets.panel.panel_memory import COLOURS
from burlab.widgets.panel.panel_model import PanelModel
from burlab.widgets.panel.panel_state import state_of
from burlab.widgets.panel.panel_view import PanelView
from tests.widgets.panel.real import quadratic, rested


def test_two_parameters_are_drawn_as_a_path_over_the_function():
    run = bl.minimize(bl.problems.himmelblau(), np.array([0.0, 0.0]), bl.optim.GD(0.01))
    model = PanelModel(run)
    run.step(50)
    model.refresh()
    model.landscape.wait()
    model.refresh()
    picture = PanelChart()
    plane = picture.chart(model).parts[-1]
    assert plane.heights.shape == plane.shade.shape == (121, 121)
    assert (plane.x.low, plane.x.high) == tuple(model.landscape.box[0])
    dots = {dots.label: dots for dots in plane.dots}
    assert len(dots["minimum"].x) == 4
    np.testing.assert_array_equal([dots["here"].x[0], dots["here"].y[0]], run.x)
    path = run.path[1]
    np.testing.assert_array_equal(plane.curves[0].x[[0, -1]], path[[0, -1], 0])
    model.apply({"type": "seek", "step": 20})
    model.refresh()
    later = picture.chart(model).parts[-1]
    ahead, way = later.curves
    assert (ahead.label, way.label) == ("ahead", "path")
    np.testing.assert_array_equal([way.x[-1], ahead.x[0]], path[20, 0])
    np.testing.assert_array_equal(ahead.x[-1], path[50, 0])
    assert later.version == plane.version, "the same heights are not sent again"


@pytest.mark.parametrize(("lr", "stop"), [(1.0, bl.Stop()), (0.01, bl.Stop(grad_norm=1e-3))])
def test_stopped_run_has_no_steps_ahead(lr, stop):
    run = bl.minimize(bl.problems.himmelblau(), np.array([3.5, 1.5]), bl.optim.GD(lr), stop=stop, progress=False)
    run.start()
    while run.running:  # `wait` would warn
        time.sleep(0.01)
    model = PanelModel(run)
    model.refresh()
    assert run.stopped is not None
    plane = PanelChart().chart(model).parts[-1]
    assert [curve.label for curve in plane.curves] == ["path"]


def test_zoom_shows_more_points():
    run = quadratic(1e-6, steps=200_000)
    model = PanelModel(run)
    model.apply({"type": "axis", "value": "linear"})
    picture = PanelChart()

    def drawn(low, high):
        model.apply({"type": "zoom", "axis": "step", "low": low, "high": high})
        model.refresh()
        while model.behind:
            model.refresh()
        return picture.chart(model)

    def value(chart):
        return chart.parts[0].curves[0]

    x = value(drawn(None, None)).x
    assert np.sum((x >= 100_000) & (x <= 100_500)) < 20
    chart = drawn(100_000, 100_500)
    x, y = value(chart).x, value(chart).y
    assert np.sum((x >= 100_000) & (x <= 100_500)) == 501
    curves = [curve for part in chart.parts for curve in part.curves if part.name not in ("plane", "bytes")]
    assert len(curves) == 4
    assert all((np.diff(curve.x) > 0).all() for curve in curves), "each curve goes on from left to right"
    assert (x[-1], y[-1]) == (run.t, run.value), "and ends where the run rests"
    np.testing.assert_array_equal(y[:-1], run.history["value"][x[:-1].astype(int)])
    assert x[-2] == 199_999, "around it the whole curve stays"
    x = value(drawn(None, None)).x
    assert model.fine is None
    assert np.sum((x >= 100_000) & (x <= 100_500)) < 20


def test_unchanged_parts_are_not_drawn_again():
    run = quadratic(1e-3, steps=100)
    model, picture = PanelModel(run), PanelChart()
    first = picture.chart(model)
    model.apply({"type": "seek", "step": 50})
    model.refresh()
    model.costs.wait()  # what steps cost comes when it is known
    model.landscape.wait()  # and heights when they are computed
    again = picture.chart(model)
    assert not same(first, again)
    for a, b in zip(first.parts[:4], again.parts[:4], strict=True):
        assert a.curves == b.curves
    assert same(again, picture.chart(model))
    model.apply({"type": "smoothing", "value": 0.5})
    smooth = picture.chart(model).parts[0]
    assert [(curve.label, curve.faint) for curve in smooth.curves] == [("value", True), ("value", False)]


def test_memory_is_a_stack_of_steps_that_ends_with_what_the_run_holds():
    run = quadratic(1e-7, steps=2_000)
    model, picture = PanelModel(run), PanelChart()
    for _ in range(3):
        run.step(20_000)
        model.refresh()
    drawn = next(part for part in picture.chart(model).parts if part.name == "bytes")
    held = {kind: n for kind, n in run.memory.items() if kind not in ("total", "peak")}
    state = state_of(model)["memory"]
    top = drawn.bands[-1]
    assert (top.x[-1], top.high[-1]) == (run.length, run.memory["total"])
    assert state["total"] == readable.size(run.memory["total"])
    shares = {band.label: band.high[-1] - band.low[-1] for band in drawn.bands}
    largest = max(held, key=held.get)
    assert shares[largest.replace("_", " ")] == held[largest], "what is largest is named"
    assert sum(shares.values()) == run.memory["total"]
    colours = {band.label: band.colour for band in drawn.bands}
    assert len({ink(colour) for colour in colours.values()}) == len(colours) > 2
    bar = {name: colour for name, _, _, colour in state["kinds"]}
    assert len(set(bar.values())) == len(bar)
    assert colours == {name: bar.get(name, COLOURS[SMALL_PARTS]) for name in colours}, "bar and curves agree"
    assert {2_000.0, 22_000.0, 42_000.0, 62_000.0} <= set(top.x.tolist()), "each look is there"
    rises = np.flatnonzero(np.diff(top.high))
    assert rises.size
    assert all(top.x[k] == top.x[k + 1] for k in rises), "between two looks it is level"
    (process,) = drawn.curves
    assert process.right
    assert "right scale" in process.label
    assert drawn.right.high > process.y.max() > top.high.max(), "a line over the stack"


def test_memory_after_a_branch_forgets_what_lay_ahead():
    run = quadratic(1e-3, steps=100)
    model = PanelModel(run)
    model.apply({"type": "seek", "step": 40})
    model.apply({"type": "enter", "name": "lr", "text": "1e-4"})
    rested(model)
    assert model.memory.steps.max() == 40 == run.length


def test_cost_of_steps_is_stacked_and_small_parts_are_merged():
    run = quadratic(1e-7, steps=20_000)
    model, picture = PanelModel(run), PanelChart()
    while model.costs.steps.size < 4:
        run.step(20_000)
        model.refresh()
    model.costs.wait()
    model.refresh()
    parts = {part.name: part for part in picture.chart(model).parts}
    traces = run.traces
    bands = parts["parts"].bands
    assert all(np.array_equal(below.high, above.low) for below, above in itertools.pairwise(bands))
    np.testing.assert_array_equal(bands[0].x, [*traces["step"], run.length])
    named = ("data", "forward", "backward", "fused", "update", "other")
    steps = range(traces["step"].size)
    near = [min(max(k - 2, 0), max(len(steps) - 5, 0)) for k in steps]
    middles = [sum(np.median(traces[name][k : k + 5]) for name in named) for k in near]
    np.testing.assert_allclose(bands[-1].high[:-1], 1e-9 * np.array(middles))


def test_the_picture_of_a_run_without_steps_shows_where_it_starts():
    run = bl.minimize(bl.problems.rosenbrock(), np.array([-1.2, 1.0]), bl.optim.GD(1e-3))
    view = PanelView(run)
    view.settle(monotonic() + 60.0)
    picture = view.picture()
    assert "Ready at step 0" in picture
    assert ">here<" in picture
    assert "gradient norm" not in picture
    assert "nothing yet" not in picture
    run.step(50)
    view.settle(monotonic() + 60.0)
    assert "gradient norm" in view.picture()
    view.close()


def test_a_panel_begins_with_the_value_at_the_start():
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(5), bl.optim.GD(0.1))
    view = PanelView(run)
    view.settle(monotonic() + 60.0)
    model = PanelModel(run)
    model.wait()
    model.refresh()
    (part,) = PanelChart().chart(model).parts
    assert (part.curves[0].x.tolist(), part.curves[0].y.tolist()) == ([0.0], [5.0])
    assert state_of(model)["readouts"] == [["value", "5"]]
    assert "nothing yet" not in view.picture()
    assert run.length == 0, "no step was done for it"
    view.close()


def test_the_line_of_a_breakpoint_is_drawn_while_it_is_on():
    run = quadratic()
    key = run.breakpoints.add(grad_norm=100.0)
    model = PanelModel(run)
    model.apply({"type": "step", "count": 20})
    rested(model)

    def lines():
        parts = PanelChart().chart(model).parts
        return [
            (part.name, mark.at) for part in parts if isinstance(part, Plot) for mark in part.marks if mark.axis == "y"
        ]

    assert lines() == [("gradient_norm", 100.0)]
    run.breakpoints.disable(key)
    assert lines() == []
