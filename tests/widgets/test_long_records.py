"""Messages for the longest records: each widget's model is measured, without a browser."""

import ctypes
import gc
import json

import numpy as np
import pytest

import burlab as bl
from burlab.charts.limits import PARTS, POINTS, POINTS_OF_CHART, ROWS
from burlab.charts.svg import svg
from burlab.experiments.sweep_rows import SweepRow
from burlab.experiments.sweep_table import table_of
from burlab.nn.summary import ModelSummary, Row as ParameterRow
from burlab.widgets.branches.branches_model import BranchesModel
from burlab.widgets.chart.encode_chart import encode
from burlab.widgets.export.page import Page, html
from burlab.widgets.html_table import summary_html
from burlab.widgets.panel.panel_chart import PanelChart
from burlab.widgets.panel.panel_model import PanelModel
from burlab.widgets.panel.panel_state import state_of
from burlab.widgets.profile.profile_chart import live_chart
from burlab.widgets.race.race_model import RaceModel
from burlab.widgets.spectrum.spectrum_model import SpectrumModel
from burlab.widgets.still import MAX_PICTURE_BYTES
from burlab.widgets.sweep_display import table_html
from tests.threads import end_soon, threads

DRAWS = np.random.default_rng(0).normal(size=(300, 3))
NOISY = bl.FiniteSum(lambda w, row: (w[0] * row[0] + w[1] * row[1] - row[2]) ** 2, DRAWS)  # it never comes to rest
START = np.array([4.0, -3.0])


@pytest.fixture(autouse=True)
def freed():
    """A worker has 1.5 GB: the system gets back what a record took before the next one is made."""
    before = threads()
    yield
    gc.collect()
    end_soon(threads() - before, seconds=30.0)  # a thread holds the run whose landscape it computes
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def noisy(steps, optimizer=None):
    return bl.minimize(NOISY, START, optimizer or bl.optim.Momentum(0.05, mu=0.9), batch=1, steps=steps, progress=False)


def all_of(model):
    model.refresh()
    while getattr(model, "behind", False):
        model.refresh()
    return model


def panel(steps):
    """One with a parent, and a landscape below its path."""
    run = noisy(steps)
    run.seek(steps // 2)
    run.hyper["lr"] = 0.04
    run.step(steps)
    model = all_of(PanelModel(run))
    model.landscape.wait()
    model.refresh()
    yield PanelChart().chart(model), state_of(model)
    run.seek(3)
    model.refresh()
    yield PanelChart().chart(model), state_of(model)


def race(steps):
    rules = {f"rate {k}": bl.optim.GD(0.02 * (k + 1)) for k in range(6)}
    model = all_of(RaceModel(bl.race(NOISY, START, rules, seeds=12, batch=1, steps=steps // 10)))
    for against in ("step", "seconds", "bytes"):
        model.apply({"type": "against", "value": against})
        yield model.chart(), model.state()


def branches(steps):
    tree = bl.branches(noisy(steps))
    for k in range(40):  # early, as each branch has the rows before it, too
        tree.fork("A", at=(k * steps) // 1000, lr=0.01 + k * 1e-4).run.step(steps // 100)
    model = all_of(BranchesModel(tree))
    yield model.chart(), model.state()


def watch(steps):
    with bl.watch(show=False, lr=0.1) as w:
        for k in range(steps // 10):
            w.log(
                value=1.0 + k % 7, **({f"column {j}": float(k % (j + 2)) for j in range(200)} if k % 1000 == 0 else {})
            )
    model = all_of(PanelModel(w))
    yield PanelChart().chart(model), state_of(model)


def analysis(steps):
    run = noisy(steps)
    yield bl.analysis.landscape(run).chart(), {}
    yield bl.analysis.landscape(NOISY, START, resolution=301).chart(), {}
    many = bl.FiniteSum(lambda w, row: (w @ row[:2] - row[2]) ** 2, np.tile(DRAWS, (20, 1)))
    yield bl.analysis.samples(many, START).chart(), {}
    data = np.random.default_rng(1).normal(size=(8000, 2))
    yield bl.analysis.boundary(lambda p: p[0], data, np.arange(8000) % 5, resolution=250).chart(), {}
    model = SpectrumModel(run)
    model.refresh()
    yield model.chart(), model.state()


def profile(_steps):
    def long(x):
        for _ in range(1500):
            x = np.tanh(x) @ np.ones((2, 2))
        return x

    yield live_chart(bl.compile(long, np.ones((2, 2)), gear="replay").profile(np.ones((2, 2)))), {}


def long_table(_steps):
    rates = bl.performance_profile({f"rate {k}": bl.optim.GD(1e-3 / (k + 1)) for k in range(3)}, steps=50)
    yield rates.chart(), {}


WIDGETS = {f.__name__: f for f in (panel, race, branches, watch, analysis, profile, long_table)}


def check(chart, state):
    data = encode(chart)
    curves = [one for part in data["parts"] for kind in ("curves", "bands", "dots") for one in part.get(kind, ())]
    assert len(data["parts"]) <= PARTS
    assert sum(len(one["x"]) // 8 for one in curves) <= POINTS_OF_CHART
    assert max((len(one["x"]) // 8 for one in curves), default=0) <= POINTS
    assert len(svg(chart).encode()) < MAX_PICTURE_BYTES, "a notebook keeps the picture"
    assert len(json.dumps(state, default=str)) < 500_000


@pytest.mark.parametrize("name", list(WIDGETS))
def test_a_page_gets_no_more_of_a_long_record(name):
    for chart, state in WIDGETS[name](100_000):
        check(chart, state)


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", list(WIDGETS))
def test_a_page_gets_no_more_of_ten_million_steps(name):
    for chart, state in WIDGETS[name](10_000_000):
        check(chart, state)


def test_no_table_is_longer_than_a_page():
    rows = tuple(ParameterRow(f"layers.{k}.weight", (2, 2), "float64", 4, 32) for k in range(5000))
    failed = [SweepRow(k, "GD", {"lr": 0.1}, k, reason="error", message=f"reason {k}") for k in range(3000)]
    page = Page("many", (), (), (("a", "b"), *((str(k), "x") for k in range(5000))))
    for text in (summary_html(ModelSummary("many", rows)), table_html(table_of(failed, ["lr"])), html(page)):
        assert text.count("<tr>") <= ROWS + 2
        assert "more" in text
        assert len(text) < 400_000
