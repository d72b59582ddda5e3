"""The axis below the curves of a panel, against columns of the history."""

import numpy as np
import pytest

import burlab as bl
from burlab.widgets.panel.panel_axis import AXES, CostColumn
from burlab.widgets.panel.panel_model import PanelModel
from tests.widgets.panel.fake import FakeRun
from tests.widgets.panel.real import quadratic, rested

COSTS = AXES[1:]


def searching(**more):
    """A run whose steps differ in what they cost: a line search asks for values."""
    rng = np.random.default_rng(0)
    problem = bl.FiniteSum(lambda w, a, b: (a @ w - b) ** 2, (rng.normal(size=(20, 2)), rng.normal(size=20)))
    return bl.minimize(problem, np.zeros(2), bl.optim.ArmijoGD(lr=1.0), **more)


def over(model, against, name="value"):
    """A plot of a model, on an axis that is chosen."""
    model.apply({"type": "against", "value": against})
    assert model.error == ""
    model.wait()
    model.refresh()
    return next(part for part in model.chart().parts if part.name == name)


def column(run, against):
    """What the history says that steps have cost."""
    history = run.history
    return history["time"] * 1e-9 if against == "seconds" else history[against].astype(np.float64)


def main(plot):
    return next(curve for curve in plot.curves if curve.colour == 0 and not curve.faint)


def before(plot):
    """The curve of the parents."""
    return next(curve for curve in plot.curves if curve.colour == -1)


def cursor(plot):
    return next((mark.at for mark in plot.marks if mark.kind == "cursor"), None)


@pytest.mark.parametrize("against", COSTS)
def test_curves_lie_over_the_column_of_the_history(against):
    run = searching()
    model = PanelModel(run)
    run.step(12)
    curve = main(over(model, against))
    steps = run.history.steps
    np.testing.assert_allclose(curve.x[:steps], column(run, against), rtol=1e-12)
    np.testing.assert_array_equal(curve.y[:steps], run.history["value"])
    assert (curve.x[steps:] == curve.x[steps - 1]).all()  # where it rests it has spent no more
    assert (np.diff(curve.x[:steps]) > 0).all()


def test_samples_are_those_of_the_batches():
    rng = np.random.default_rng(1)
    problem = bl.FiniteSum(lambda w, a: (w - a) ** 2, (rng.normal(size=30),))
    run = bl.minimize(problem, 1.0, bl.optim.GD(0.01), batch=4, steps=9)
    np.testing.assert_array_equal(main(over(PanelModel(run), "samples")).x[:9], 4.0 * np.arange(1, 10))


def test_all_plots_share_the_axis_and_steps_come_back():
    run = searching()
    model = PanelModel(run)
    run.step(12)
    rested(model)
    before = model.chart()
    for against in ("samples", "flops"):
        over(model, against)
    chart = model.chart()
    plots = [part for part in chart.parts if part.name != "plane"]
    assert {plot.x.label for plot in plots} == {"floating-point operations"}
    end = column(run, "flops")[-1]
    ends = [one.x[-1] for plot in plots for one in (*plot.curves, *plot.bands, *plot.dots) if one.x.size]
    assert len(ends) > 5
    assert max(ends) == end
    assert min(ends) > end / 2
    assert chart.about.endswith("steps, against floating-point operations")
    assert model.chart() is chart
    model.apply({"type": "against", "value": "step"})
    model.refresh()
    assert main(model.chart().parts[0]) is main(before.parts[0])


@pytest.mark.parametrize("against", COSTS)
def test_cursor_stands_at_the_cost_of_its_step_and_a_place_means_that_step(against):
    run = searching()
    model = PanelModel(run)
    run.step(12)
    over(model, against)
    costs = column(run, against)
    for step in (3, 0, 11, 7):
        model.apply({"type": "seek", "place": float(costs[step])})
        assert rested(model)["step"] == run.t == step
        assert cursor(model.chart().parts[0]) == pytest.approx(costs[step], rel=1e-12)
    model.apply({"type": "seek", "place": float(0.9 * costs[4] + 0.1 * costs[5])})
    assert run.t == 4
    model.apply({"type": "seek", "place": float(costs[-1] * 1.1)})  # behind all that there is
    assert rested(model)["step"] == run.length
    model.apply({"type": "seek", "place": 0.0})
    assert rested(model)["step"] == 0
    model.apply({"type": "seek", "step": 5})
    assert rested(model)["step"] == 5


@pytest.mark.parametrize("against", COSTS)
def test_a_parent_lies_over_what_it_has_spent_itself(against):
    run = searching()
    model = PanelModel(run)
    run.step(12)
    over(model, against)
    model.apply({"type": "seek", "step": 4})
    model.apply({"type": "enter", "name": "lr", "text": "1e-3"})
    run.step(3)
    rows = run.parent.history.steps
    assert before(over(model, "step")).x[:rows].tolist() == list(range(rows))
    plot = over(model, against)
    old = before(plot)
    np.testing.assert_allclose(old.x[:rows], column(run.parent, against), rtol=1e-12)
    np.testing.assert_allclose(main(plot).x[: run.length], column(run, against), rtol=1e-12)
    assert plot.dots[0].x[0] == pytest.approx(column(run, against)[4], rel=1e-12)  # where it was changed


def test_a_run_that_begins_elsewhere_has_spent_nothing_of_what_was_before():
    run = quadratic(steps=9)
    model = PanelModel(run)
    over(model, "seconds")
    run.restart(np.array([3.0, 1.0]))
    run.step(4)
    plot = over(model, "seconds")
    np.testing.assert_allclose(main(plot).x[:4], column(run, "seconds"), rtol=1e-12)
    np.testing.assert_allclose(before(plot).x[:9], column(run.parent, "seconds"), rtol=1e-12)


def test_before_the_first_step_nothing_is_spent():
    plot = over(PanelModel(searching()), "samples")
    assert main(plot).x.tolist() == [0.0]


def test_long_records_stay_few_points_in_their_places():
    run = quadratic(1e-9, steps=100_000)
    model = PanelModel(run)
    plot = over(model, "flops")
    x, flops = main(plot).x, column(run, "flops")
    assert plot.x.log
    assert plot.x.floor is None
    assert x.size <= 1300
    assert np.isin(x, flops).all()  # every step costs as much as any other, so places between are exact
    assert x[-1] == flops[-1]


def test_zoom_along_the_axis_reads_these_steps_more_finely():
    run = quadratic(1e-9, steps=100_000)
    model = PanelModel(run)
    model.apply({"type": "axis", "value": "linear"})
    over(model, "flops")
    flops = column(run, "flops")
    low, high = flops[[40_000, 40_500]]
    zoom = {"type": "zoom", "part": "value", "axis": "floating-point operations", "low": low, "high": high}
    model.apply(zoom)
    x = main(over(model, "flops")).x
    np.testing.assert_array_equal(x[(x >= low) & (x <= high)], flops[40_000:40_501])
    x = main(over(model, "step")).x  # which has a zoom of its own
    assert ((x >= 40_000) & (x <= 40_500)).sum() < 100
    x = main(over(model, "flops")).x
    assert ((x >= low) & (x <= high)).sum() == 501
    model.apply(zoom | {"axis": "step"})  # of an axis that is not there any more
    assert model.error == ""
    model.apply(zoom | {"low": None, "high": None})
    x = main(over(model, "flops")).x
    assert ((x >= low) & (x <= high)).sum() < 100


def test_a_watched_loop_has_steps_and_seconds():
    with bl.watch() as loop:
        for k in range(20):
            loop.log(value=0.5**k)
    model = PanelModel(loop)
    assert model.state()["axes"] == [["step", "by step"], ["seconds", "by seconds"]]
    np.testing.assert_allclose(main(over(model, "seconds")).x, loop.history["time"] * 1e-9, rtol=1e-12)
    model.apply({"type": "against", "value": "flops"})
    assert "the axis must be one of 'step', 'seconds'; got 'flops'" in model.error
    assert model.state()["against"] == "seconds"


def test_a_run_offers_all_axes_and_says_which_is_chosen():
    model = PanelModel(quadratic())
    assert [name for name, _ in model.state()["axes"]] == ["step", "samples", "seconds", "flops"]
    assert model.state()["against"] == "step"
    over(model, "samples")
    assert model.state()["against"] == "samples"


def test_time_stamps_of_rows_that_were_cut_are_forgotten():
    model = PanelModel(FakeRun())
    model.run.write(12)
    model.refresh()
    assert model.lines.stamps.all_points()[0].tolist() == [3.0, 7.0, 11.0]
    model.run.t = 6
    model.run.hyper["lr"] = 1e-2
    over(model, "seconds")
    assert model.lines.stamps.all_points()[0].tolist() == [3.0]


def test_of_steps_that_cost_nothing_a_place_means_the_last_one():
    model = PanelModel(FakeRun())
    model.run.write(8)
    model.refresh()
    model.lines.stamps.clear()
    model.lines.stamps.append(np.arange(8.0), np.array([1.0, 2.0, 2.0, 2.0, 3.0, 4.0, 4.0, 5.0]))
    costs = CostColumn(model.lines, "seconds")
    assert costs.read()
    assert [costs.step_at(cost) for cost in (0.5, 1.0, 2.0, 2.5, 4.0, 5.0, 5.1)] == [0, 0, 3, 3.5, 6, 7, 8]
    assert costs.at(np.array([-1.0, 2.0, 3.5, 9.0])).tolist() == [1.0, 2.0, 2.5, 5.0]
