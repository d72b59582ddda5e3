"""One look for all figures: legible on white and on black, for every kind of colour vision, as wide as the page."""

from itertools import combinations

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
import pytest

import burlab as bl
from burlab.charts import palette
from burlab.plots import style

GROUNDS = {"light": "#ffffff", "dark": "#111111"}  # of JupyterLab's cells

# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(colour):
    """sRGB without its gamma (IEC 61966-2-1)."""
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(colour, ground):
    """As WCAG 2.1 has it."""
    low, high = sorted(float(linear(c) @ [0.2126, 0.7152, 0.0722]) + 0.05 for c in (colour, ground))
    return high / low


def lab(rgb):
    """CIELAB of linear sRGB, under D65."""
    matrix = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    x = np.array(matrix) @ np.clip(rgb, 0, 1) / [0.95047, 1, 1.08883]
    a, b, c = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * b - 16, 500 * (a - b), 200 * (b - c)])


@pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS)
def test_colours_and_letters_stand_out_on_both_grounds(ground):
    for colour in palette.PALETTE:
        assert contrast(colour, ground) >= 3
    assert contrast(palette.INK, ground) >= 4.3
    assert contrast("#000000", "#111111") < 1.2  # what this asks is not met by any colour


@pytest.mark.parametrize("matrix", VISION.values(), ids=VISION)
def test_any_two_colours_differ_for_everybody(matrix):
    seen = [lab(np.array(matrix) @ linear(colour)) for colour in palette.PALETTE]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) >= 20


def figures():
    f = bl.problems.himmelblau()
    history = {"step": np.arange(1, 9), "time": np.arange(1, 9) * 1e6, "value": 2.0 ** -np.arange(8)}
    yield bl.plots.contour(f, paths={"one": [[0, 0], [1, 1]]}, title="A map")
    yield bl.plots.compare({"a": history}, title="A race")
    yield bl.plots.training_curve(np.arange(9), np.ones(9), levels={"guess": 3.0})


def test_every_figure_is_clear_and_as_wide_as_its_place():
    for figure in figures():
        common = figure.layout.template.layout
        assert common.paper_bgcolor == common.plot_bgcolor == "rgba(0, 0, 0, 0)"
        assert figure.layout.paper_bgcolor is figure.layout.plot_bgcolor is figure.layout.width is None
        assert common.autosize
        assert common.font.size >= 12
        assert "white" not in str(figure.to_dict())
        assert all(figure.layout[axis].title.text for axis in ("xaxis", "yaxis"))
        assert any(trace.showlegend is not False for trace in figure.data)


def test_shades_are_clear_where_it_is_low_and_never_hide_the_ground():
    alphas = [float(colour.strip("rgba()").split(",")[3]) for _, colour in palette.SHADES]
    assert alphas[0] == 0
    assert alphas == sorted(alphas)
    assert alphas[-1] <= 0.5
    ground = bl.plots.contour(bl.problems.booth()).data[0]
    assert ground.contours.coloring == "heatmap"  # clear levels, one on another, would add up


def test_the_theme_is_that_of_all_figures_from_then_on(monkeypatch):
    monkeypatch.setattr(pio.templates, "default", "plotly_white")
    bl.plots.theme()
    assert pio.templates.default == "burlab"
    assert go.Figure().layout.template.layout.colorway == palette.PALETTE


def test_lines_beyond_the_palette_have_another_dash():
    looks = [(style.line(k)["color"], style.line(k)["dash"]) for k in range(4 * len(palette.PALETTE))]
    assert len(set(looks)) == len(looks)


def numbered(low, high):
    """The values between `low` and `high` that a logarithmic axis has numbers at."""
    tick = style.log_axis([np.array([low, high])])["dtick"]
    powers = 10.0 ** np.arange(-30, 31)
    if isinstance(tick, int):
        values = powers[np.arange(-30, 31) % tick == 0]
    elif tick == "D2":
        values = np.multiply.outer(powers, [1, 2, 5]).ravel()
    else:
        values = np.arange(1, 5000) * float(tick[1:])
    return np.count_nonzero((values >= low) & (values <= high))


@pytest.mark.parametrize(
    ("low", "high"),
    [(1.8, 4.6), (2.2, 3.3), (1e-3, 9e-3), (0.7, 12), (3, 300), (1e-3, 1), (1e-9, 1), (1e-22, 1e3), (95, 105)],
)
def test_a_logarithmic_axis_has_numbers_to_read_values_from(low, high):
    assert 3 <= numbered(low, high) <= 12


def test_an_axis_without_anything_positive_is_still_one():
    for values in ([], [np.zeros(3)], [np.array([np.nan, 2.0, 2.0])]):
        assert style.log_axis(values)["type"] == "log"
