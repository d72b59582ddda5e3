"""The value of a run: one number at a point, wherever it is shown, and what it costs to know it."""

import time

import numpy as np
import pytest

import burlab as bl
from burlab.widgets.export.record_section import record
from burlab.widgets.panel.panel_chart import PanelChart
from burlab.widgets.panel.panel_model import PanelModel
from burlab.widgets.panel.panel_state import state_of

_rng = np.random.default_rng(5)
A, B = _rng.normal(size=(60, 3)), _rng.normal(size=60)
F = bl.problems.rosenbrock()
SUM = bl.FiniteSum(lambda x, a, b: (a @ x - b) ** 2, (A, B), lambda x: 0.1 * x @ x)
RULES = {
    "gd": bl.optim.GD(1e-3),
    "adam": bl.optim.Adam(1e-2),
    "line search": bl.optim.ArmijoGD(),
    "lbfgs": bl.optim.LBFGS(),
    "newton": bl.optim.NewtonCG(),
    "scipy": bl.optim.SciPy("BFGS"),
    "scipy without gradients": bl.optim.SciPy("Nelder-Mead"),
}


def mean_at(x, of=slice(None)):
    """In plain NumPy."""
    return np.mean((A[of] @ x - B[of]) ** 2) + 0.1 * x @ x


def written(value):
    return f"{value:.6g}"


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_value_is_that_of_x_and_of_the_next_row(rule):
    run = bl.minimize(F, F.start, rule)
    seen = [run.value]
    for _ in range(4):
        assert run.value == pytest.approx(float(F(run.x)), rel=1e-14)
        run.step()
        seen.append(run.value)
    run.step()
    for step, value in enumerate(seen):
        assert run.history["value"][step] == value, "the bits of the row"
        run.seek(step)
        assert run.value == value
        assert step == 0 or f"value {written(value)}" in repr(run)


def numbers_of(run):
    """Return the value that each display shows where the run rests."""
    model, picture = PanelModel(run), PanelChart()
    chart = picture.chart(model)
    tile = dict(state_of(model)["readouts"])["value"]
    section = record(run)[2]
    (column,) = (c for c in section.data["columns"] if c["title"] == "value")
    race = bl.race(run.problem, run.x, {"it": run})
    return {
        "chart": (chart.parts[0].curves[0].x[-1], chart.parts[0].curves[0].y[-1]),
        "page": (np.frombuffer(section.data["steps"])[-1], np.frombuffer(column["values"])[-1]),
        "race": (race.standings()[0].at, race.standings()[0].value),
        "race's chart": (race.chart().parts[0].curves[0].x[-1], race.chart().parts[0].curves[0].y[-1]),
        "branch": (run.t, bl.branches(run).tree[0].value),
    }, tile


def test_value_is_the_same_in_every_display(tmp_path):
    f = bl.problems.rosenbrock()
    run = bl.minimize(f, f.start, bl.optim.GD(1e-3), steps=7)
    shown, tile = numbers_of(run)
    assert shown == dict.fromkeys(shown, (7, run.value))
    assert float(tile) == pytest.approx(run.value, rel=1e-3)
    assert run.value == float(f(run.x))
    run.save(tmp_path / "run.burlab")
    assert bl.load_run(tmp_path / "run.burlab").value == run.value
    other = run.fork()
    other.step()
    assert other.history["value"][7] == run.value


def test_value_of_a_stopped_run_is_the_same_in_every_display():
    f = bl.problems.rosenbrock()
    run = bl.minimize(f, f.start, bl.optim.GD(1e-3), stop=bl.Stop(grad_norm=1e-5), steps=10**6)
    shown, tile = numbers_of(run)
    assert run.length == run.t + 1 > 20_000, "it has a row there, and rows are merged"
    assert shown == dict.fromkeys(shown, (run.t, float(f(run.x))))
    assert float(tile.replace("\u2212", "-")) == pytest.approx(run.value, rel=1e-3)


@pytest.mark.parametrize("problem", [F, SUM], ids=["function", "sum"])
def test_value_is_the_same_in_table_race_and_runs_of_a_sweep(problem):
    x0 = F.start if problem is F else np.zeros(3)
    sweep = bl.sweep(problem, x0, bl.optim.GD(), {"lr": [1e-3, 5e-4]}, steps=9)
    standings = {row.name: row for row in sweep.race().standings()}
    for row in sweep.rows:
        run = sweep.runs[row.number]
        assert row.value == run.value == standings[sweep.trials[row.number].label].value
        assert written(row.value) in repr(run)


def test_the_bar_ends_with_it(capsys):
    run = bl.minimize(F, F.start, bl.optim.GD(1e-3), steps=20, progress=True)
    assert f"value {written(run.value)}" in capsys.readouterr().err.splitlines()[-1]


def test_the_value_of_a_batch_is_named_as_one():
    run = bl.minimize(SUM, np.zeros(3), bl.optim.GD(1e-2), batch=5, steps=6)
    assert run.value_name == "batch value"
    assert run.value == pytest.approx(mean_at(run.x), rel=1e-13)
    value = run.row_value()
    assert f"batch value {written(value)}" in repr(run)
    model = PanelModel(run)
    assert "batch value" in dict(state_of(model)["readouts"])
    assert PanelChart().chart(model).parts[0].title == "batch value"
    assert "batch value" in repr(bl.branches(run))
    race = bl.race(SUM, np.zeros(3), {"gd": bl.optim.GD(1e-2)}, batch=5, steps=3)
    assert race.chart().parts[0].title == "batch value"
    run.step()
    assert run.history["value"][6] == value != run.value


def test_of_an_average_it_is_the_value_there():
    run = bl.minimize(SUM, np.zeros(3), bl.optim.ScheduleFreeSGD(0.05), steps=9)
    assert run.value_name == "value at the iterate"
    assert run.value == pytest.approx(mean_at(run.x), rel=1e-13)
    assert run.row_value() == pytest.approx(mean_at(run.iterate), rel=1e-13)


def test_of_weighted_samples_it_is_the_plain_mean():
    p = np.arange(1.0, 61.0)
    run = bl.minimize(SUM, np.zeros(3), bl.optim.GD(1e-2), batch=5, sampler=p / p.sum(), steps=6)
    assert run.value == pytest.approx(mean_at(run.x), rel=1e-13)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_to_know_it_costs_the_run_nothing(rule):
    one, other = (bl.minimize(F, F.start, rule) for _ in range(2))
    for _ in range(5):
        one.step()
        before = one.counts, one.length, one.engine.view().elapsed
        value = one.value
        assert value == one.value
        assert before == (one.counts, one.length, one.engine.view().elapsed)
    other.step(5)
    assert one.counts == other.counts
    for name in ("value", "gradient_norm", "step_norm", "samples"):
        np.testing.assert_array_equal(one.history[name], other.history[name])
    np.testing.assert_array_equal(one.x, other.x)


def test_value_is_evaluated_once_per_point():
    calls = []
    run = bl.minimize(SUM, np.zeros(3), bl.optim.GD(1e-2), batch=5, steps=6)
    evaluated = run.engine.evaluated
    run.engine.evaluated = lambda: calls.append(1) or evaluated()
    assert run.value == run.value
    assert len(calls) == 1
    run.step()
    assert run.value == run.value
    assert len(calls) == 2


def test_breakpoints_and_criteria_do_not_see_it():
    run = bl.minimize(F, F.start, bl.optim.GD(1e-3), stop=bl.Stop(value=5.0))
    run.breakpoints.add(every=1)
    run.step(3)
    value = run.value
    assert (run.t, run.stopped.reason, run.length) == (1, "breakpoint", 2)
    assert value == run.history["value"][1]
    hits = len(run.breakpoints.hits)
    run.value, repr(run)
    assert len(run.breakpoints.hits) == hits


def test_an_order_does_not_wait_for_it():
    data = np.ones((200_000, 50))
    problem = bl.FiniteSum(lambda x, a: np.sum(np.tanh(a * x) ** 2), data)
    run = bl.minimize(problem, np.ones(50), bl.optim.GD(1e-3))
    assert np.isnan(run.row_value(0.0)), "it is under way"
    run.start(1)
    assert run.wait(60)
    assert run.t == 1
    assert run.value == pytest.approx(float(problem.value(run.x)), rel=1e-12)


def test_of_a_run_that_steps_it_is_that_of_its_newest_row():
    run = bl.minimize(F, F.start, bl.optim.GD(1e-5))
    run.start()
    while run.length < 1000:
        time.sleep(0.001)
    assert run.value in run.history["value"] or run.running
    run.pause()
    assert run.value == pytest.approx(float(F(run.x)), rel=1e-14)
    run.stop()
    assert run.value == pytest.approx(float(F(run.x)), rel=1e-14), "and after its end"


def test_a_change_does_not_leave_an_old_one():
    run = bl.minimize(F, F.start, bl.optim.GD(1e-3), steps=5)
    before = run.value
    run.seek(2)
    run.hyper["lr"] = 2e-3
    run.step(3)
    assert run.t == 5
    assert run.value == pytest.approx(float(F(run.x)), rel=1e-14)
    assert run.value != before
