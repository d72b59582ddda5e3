"""Figures and reports from data alone."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from burlab.errors import ArgumentError, ShapeError
from burlab.plots import bands, training_curve, write_report
from burlab.plots.still_figure import still


def test_a_long_curve_is_thinned_and_keeps_its_extremes():
    value = np.sin(np.arange(100_000) / 500) + np.random.default_rng(0).normal(size=100_000)
    value[77_777], value[50_000] = 50.0, np.nan
    batch, mean = training_curve(np.arange(100_000), value, levels={"guess": 3.0}).data
    assert len(batch.x) == len(mean.x) == 2000
    assert 50.0 in batch.y
    assert 77_777 in batch.x


def test_a_level_stands_in_the_legend_where_no_curve_hides_it():
    figure = training_curve(np.arange(5), np.ones(5), levels={"uniform guess": 3.2961})
    (level,) = figure.layout.shapes
    assert (level.y0, level.name, level.showlegend) == (3.2961, "uniform guess: 3.296", True)


def test_the_running_mean_is_that_of_the_last_values():
    value = np.random.default_rng(1).normal(size=500)
    _, mean = training_curve(np.arange(500), value).data
    expected = [value[max(0, k - 9) : k + 1].mean() for k in range(500)]
    np.testing.assert_allclose(mean.y, expected, atol=1e-12)


def test_a_value_that_is_not_finite_spoils_only_its_window():
    value = np.ones(500)
    value[100] = np.nan
    _, mean = training_curve(np.arange(500), value).data
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(mean.y)), np.arange(100, 110))


def test_a_report_carries_everything_inside(tmp_path: Path):
    page = tmp_path / "report.html"
    figure = training_curve(np.arange(3), np.ones(3))
    write_report(page, "A <run>", {"loss & more": "2.3"}, figure, {"Names": ["o'neil", "<b>"]})
    text = page.read_text()
    assert "<title>A &lt;run&gt;</title>" in text
    assert "<dt>loss &amp; more</dt><dd>2.3</dd>" in text
    assert "<li>&lt;b&gt;</li>" in text
    assert not re.search(r"<(script|link|img|iframe)[^>]*(src|href)=", text)
    assert len(text) > 1_000_000  # plotly itself
    assert isinstance(figure, go.Figure)


def test_bands_of_seeds_have_a_still_picture():
    trials = {"a": [[1.0, 2.0, np.nan], [3.0, 5.0, 4.0]], "b": np.ones((3, 3))}
    figure = bands([0, 1, 2], trials, log_y=True)
    picture = still(figure.to_plotly_json())
    assert picture is not None
    assert picture.count('fill-opacity="0.2"') == 2
    assert [text in picture for text in (">a<", ">b<")] == [True, True]
    assert len(re.findall(r'fill="none" stroke="#[0-9a-f]{6}" stroke-linejoin', picture)) == 2


@pytest.mark.parametrize("trials", [{"a": [1.0, 2.0]}, {"a": np.ones((2, 3))}, {"a": np.ones((0, 2))}])
def test_bands_want_a_row_for_each_seed(trials: Any):
    with pytest.raises(ShapeError, match=re.escape("trials['a']")):
        bands([0.0, 1.0], trials)


@pytest.mark.parametrize("trials", [{}, [[1.0, 2.0]], None])
def test_bands_want_values_by_name(trials: Any):
    with pytest.raises(ArgumentError, match="trials is "):
        bands([0.0, 1.0], trials)


def test_a_figure_with_words_on_an_axis_has_no_still_picture():
    figure = go.Figure(go.Scatter(x=[1.0, 2.0], y=["e4m3", "e5m2"], mode="markers"))
    assert still(figure.to_plotly_json()) is None
    figure.data[0].y = [3.0, None]
    assert still(figure.to_plotly_json()).startswith("<svg")


def test_a_figure_of_words_has_a_still_picture():
    figure = go.Figure()
    figure.add_scatter(x=[0, 1], y=[1, 0], mode="text", text=["a", "é"], textfont={"color": "#d55e00"}, name="vowels")
    picture = still(figure.to_plotly_json())
    assert ">é</text>" in picture
    middle = [float(x) for x in re.findall(r'x="([\d.]+)"[^>]*font-size="16"', picture)]
    assert 60 < min(middle) < max(middle) < 840, "no word is cut by the frame"
    assert 'fill="#d55e00"' in picture
    figure.data[0].mode = "markers+text"
    assert still(figure.to_plotly_json()) is None
