"""Charts as figures of plotly and Matplotlib hold the numbers of the chart."""

import shutil
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import burlab as bl
from burlab.charts import Axis, Band, Chart, Curve, Dots, Map, Mark, Plot
from burlab.charts.strokes import ink
from burlab.errors import ArgumentError

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pytest.importorskip("plotly")
plt = pytest.importorskip("matplotlib.pyplot")

STEPS = np.arange(1.0, 6.0)
LOSS = Curve(STEPS, 0.5**STEPS, "loss", 2)
OTHER = Curve(STEPS, np.array([0.5, 0.0, np.nan, 0.1, 0.2]), "other", 1, dashed=2)
BEST = Dots(STEPS[:2], LOSS.y[:2], "best", 4, "ring", ("one", "two"))
WORD = Dots(STEPS[:1], LOSS.y[:1], shape="word", hints=("A",))
PLOT = Plot(
    "loss",
    "Loss",
    Axis("step"),
    Axis("value", log=True, floor=1e-3),
    (LOSS, OTHER, Curve(STEPS, 9 * STEPS, "B", right=True)),
    (Band(STEPS, 0.4**STEPS, 0.6**STEPS, "all seeds", 3),),
    (BEST, WORD),
    (Mark(2.0, "here"), Mark(0.1, "level", "y", "break")),
    "a note",
    right=Axis("bytes", "B"),
)
HEIGHTS = np.add.outer(np.arange(3.0), np.arange(4.0))
MAP = Map("map", "Plane", Axis("a", low=0.0, high=3.0), Axis("b", low=-1.0, high=1.0), HEIGHTS, 1, equal=True)
CHART = Chart((PLOT, MAP), "All of it")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def real_charts():
    f = bl.problems.rosenbrock()
    race = bl.race(f, f.start, {"GD": bl.optim.GD(1e-3), "Adam": bl.optim.Adam(1e-2)})
    race.step(20)
    yield race.chart()
    yield bl.analysis.landscape(f, f.start, resolution=9).chart()
    yield bl.analysis.spectrum(f, f.start).chart()
    yield bl.find_lr(f, f.start, bl.optim.GD()).chart()
    yield bl.performance_profile({"GD": bl.optim.GD(1e-3)}, [f], steps=20).chart()
    yield bl.analysis.boundary(lambda a: a[0] * a[1], np.eye(2), np.arange(2)).chart()


def curves_of(chart):
    return [curve for part in chart.parts for curve in part.curves]


def on_floor(chart):
    """Return y of all curves; zeros stand on the floor of a logarithmic axis."""
    found = []
    for part in chart.parts:
        floor = part.y.floor if part.y.log else None
        found += [np.where(curve.y == 0, floor, curve.y) if floor else curve.y for curve in part.curves]
    return found


@pytest.mark.parametrize("chart", [CHART, *real_charts()])
def test_plotly_has_the_numbers_of_every_curve(chart):
    figure = chart.to_plotly()
    lines = [trace for trace in figure.data if trace.type == "scatter" and trace.mode == "lines" and trace.line.width]
    for curve, y in zip(curves_of(chart), on_floor(chart), strict=True):
        mine = [line for line in lines if line.name == curve.label and np.array_equal(line.y, y, equal_nan=True)]
        assert len(mine) >= 1
        np.testing.assert_array_equal(mine[0].x, curve.x)
        assert mine[0].line.color == ink(curve.colour)


@pytest.mark.parametrize("chart", [CHART, *real_charts()])
def test_matplotlib_has_the_numbers_of_every_curve(chart):
    axes = chart.to_matplotlib()
    drawn = [line for ax in axes[0].figure.axes for line in ax.lines]
    for curve, y in zip(curves_of(chart), on_floor(chart), strict=True):
        assert any(
            np.array_equal(line.get_xdata(), curve.x)
            and np.array_equal(line.get_ydata(), y, equal_nan=True)
            and line.get_color() == ink(curve.colour)
            for line in drawn
        )


def test_plotly_shows_bands_dots_marks_maps_and_the_right_axis():
    figure = CHART.to_plotly()
    by_name = {trace.name: trace for trace in figure.data if trace.name}
    np.testing.assert_array_equal(by_name["all seeds"].y, PLOT.bands[0].high)
    assert by_name["all seeds"].fill == "tonexty"
    below = figure.data[[trace.name for trace in figure.data].index("all seeds") - 1]
    np.testing.assert_array_equal(below.y, PLOT.bands[0].low)
    assert by_name["best"].text == ("one", "two")
    assert by_name["B"].yaxis == "y2"
    (ground,) = [trace for trace in figure.data if trace.type == "contour"]
    np.testing.assert_array_equal(ground.z, HEIGHTS)
    np.testing.assert_array_equal(ground.x, [0.0, 1.0, 2.0, 3.0])
    assert {(shape.x0, shape.y0) for shape in figure.layout.shapes} >= {(2.0, 0), (0, 0.1)}
    assert {"here", "level", "Loss <i>a note</i>"} <= {note.text for note in figure.layout.annotations}
    assert figure.layout.yaxis.type == "log"
    assert figure.layout.yaxis3.scaleanchor == "x2"


def test_matplotlib_shows_bands_dots_marks_maps_and_the_right_axis():
    loss, plane = CHART.to_matplotlib()
    twin = next(ax for ax in loss.figure.axes if ax not in (loss, plane))
    assert twin.get_ylabel() == "bytes, B"
    assert (loss.get_yscale(), loss.get_title("left"), loss.get_title("right")) == ("log", "Loss", "a note")
    assert {text.get_text() for text in loss.texts} == {"A", "here", "level"}
    assert [text.get_text() for text in loss.get_legend().get_texts()] == ["all seeds", "loss", "other", "best", "B"]
    assert plane.images[0].get_extent() == [0.0, 3.0, -1.0, 1.0]
    assert (plane.get_xlabel(), plane.get_aspect()) == ("a", 1.0)


@pytest.mark.parametrize("kind", ["pdf", "svg"])
def test_files_for_papers(tmp_path, kind):
    path = tmp_path / f"loss.{kind}"
    CHART.to_matplotlib()[0].figure.savefig(path)
    if kind == "svg":
        assert ET.parse(path).getroot().tag.endswith("svg")
    else:
        assert path.read_bytes().startswith(b"%PDF-")


@pytest.mark.skipif(shutil.which("xelatex") is None, reason="LaTeX is not installed")
def test_pgf_for_papers(tmp_path):
    CHART.to_matplotlib()[0].figure.savefig(tmp_path / "loss.pgf", backend="pgf")
    assert (tmp_path / "loss.pgf").read_text().startswith("%% Creator: Matplotlib, PGF backend")


def test_axes_of_the_user_are_drawn_into():
    figure, axes = plt.subplots(1, 2)
    assert CHART.to_matplotlib(axes) == list(axes)
    assert replace(CHART, parts=(PLOT,)).to_matplotlib(figure.add_subplot()) != list(axes)
    with pytest.raises(ArgumentError, match="the chart has 2 parts, and axes holds 1 Axes"):
        CHART.to_matplotlib(axes[0])


def test_a_chart_without_parts_is_an_empty_figure():
    assert Chart(()).to_matplotlib() == []
    assert len(Chart((), "nothing").to_plotly().data) == 0
