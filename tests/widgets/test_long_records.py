"""Messages for the longest records of runs and loops: each widget's model is measured, without a browser."""

import numpy as np
import pytest

import burlab as bl
from burlab.charts.limits import ROWS
from burlab.experiments.sweep_rows import SweepRow
from burlab.experiments.sweep_table import table_of
from burlab.nn.parameter_summary import ModelSummary, Row as ParameterRow
from burlab.widgets.export.page import Page, html
from burlab.widgets.html_table import summary_html
from burlab.widgets.panel.panel_chart import PanelChart
from burlab.widgets.panel.panel_model import PanelModel
from burlab.widgets.panel.panel_state import state_of
from burlab.widgets.profile.profile_chart import live_chart
from burlab.widgets.spectrum.spectrum_model import SpectrumModel
from burlab.widgets.sweep_display import table_html
from tests.widgets.long_records import DRAWS, NOISY, START, all_of, check, noisy


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


WIDGETS = {f.__name__: f for f in (panel, watch, analysis, profile, long_table)}


@pytest.mark.parametrize("name", list(WIDGETS))
def test_a_page_gets_no_more_of_a_long_record(name):
    check(WIDGETS[name], 100_000)


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", list(WIDGETS))
def test_a_page_gets_no_more_of_ten_million_steps(name):
    check(WIDGETS[name], 10_000_000)


def test_no_table_is_longer_than_a_page():
    rows = tuple(ParameterRow(f"layers.{k}.weight", (2, 2), "float64", 4, 32) for k in range(5000))
    failed = [SweepRow(k, "GD", {"lr": 0.1}, k, reason="error", message=f"reason {k}") for k in range(3000)]
    page = Page("many", (), (), (("a", "b"), *((str(k), "x") for k in range(5000))))
    for text in (summary_html(ModelSummary("many", rows)), table_html(table_of(failed, ["lr"])), html(page)):
        assert text.count("<tr>") <= ROWS + 2
        assert "more" in text
        assert len(text) < 400_000
