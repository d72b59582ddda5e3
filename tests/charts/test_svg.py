"""Still pictures show what a chart holds, where it is."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from burlab.charts import Axis, Band, Chart, Curve, Dots, DotShape, Map, Mark, MarkKind, Plot
from burlab.charts.frame import right_scale, scales
from burlab.charts.palette import PALETTE, TINTS, colour
from burlab.charts.strokes import MARK_STYLES, SHAPES
from burlab.charts.svg import svg

STEPS = np.arange(10.0)
LINE = Curve(STEPS, 2.0**-STEPS, "value")


def plot(*curves: Curve, **more: object) -> Plot:
    return replace(Plot("value", "Value", Axis("step"), Axis("f", log=True), curves), **more)


def tree(chart: Chart, width: int = 860) -> ET.Element:
    return ET.fromstring(svg(chart, width).replace(' xmlns="http://www.w3.org/2000/svg"', ""))


def texts(root: ET.Element) -> list[str]:
    return ["".join(node.itertext()) for node in root.iter("text")]


def points(root: ET.Element, ink: str) -> list[list[tuple[float, float]]]:
    """The pixels of all lines of a colour inside of the plots, a list for each uninterrupted piece."""
    pieces: list[list[tuple[float, float]]] = []
    lines = [p for p in root.findall("./g/path") if p.get("stroke") == ink and p.get("fill") == "none"]
    for piece in (piece for line in lines for piece in line.get("d", "").split("M")[1:]):
        pieces += [[tuple(map(float, pair.split())) for pair in piece.split("L")]]
    return pieces


def test_a_curve_passes_through_its_points():
    part = plot(LINE)
    root = tree(Chart((part,)))
    ((*line,),) = points(root, colour(0))
    a, u = np.array(line).T
    # Equal ratios are equal distances on a logarithmic axis, equal differences on a linear one.
    np.testing.assert_allclose(np.diff(a), np.diff(a)[0], atol=0.11)
    np.testing.assert_allclose(np.diff(u), np.diff(u)[0], atol=0.11)
    assert np.diff(a)[0] > 0 < np.diff(u)[0]


def test_nan_and_what_a_logarithm_cannot_show_interrupt_a_curve():
    y = np.array([1.0, 2.0, np.nan, 3.0, -1.0, 4.0, 5.0])
    root = tree(Chart((plot(Curve(np.arange(7.0), y)),)))
    assert [len(piece) for piece in points(root, colour(0))] == [2, 1, 2]


def test_zeros_lie_on_the_floor_labelled_0():
    zeros = Curve(STEPS, np.where(STEPS < 5, 1e-3, 0.0))
    root = tree(Chart((plot(zeros, y=Axis("f", log=True, floor=1e-5)),)))
    ((*line,),) = points(root, colour(0))
    (floor,) = [node for node in root.iter("path") if node.get("stroke-dasharray") == "2 3"]
    at = float(re.findall(r"[\d.]+", floor.get("d", ""))[1])
    assert {y for _, y in line[5:]} == {at}
    assert line[0][1] < at
    assert "0" in texts(root)


def test_a_long_curve_keeps_its_extremes():
    y = np.sin(np.arange(10**5) / 1e3)
    y[77_777], y[33_333] = 30.0, -20.0
    part = plot(Curve(np.arange(float(10**5)), y), y=Axis())
    root = tree(Chart((part,)))
    ((*line,),) = points(root, colour(0))
    _, scale = scales(part, 0, 1, 26, 190 - 44)
    lowest, highest = max(v for _, v in line), min(v for _, v in line)
    assert (highest, lowest) == pytest.approx([float(v) for v in scale.place([30.0, -20.0])], abs=0.06)
    assert len(line) < 4000


def test_words_of_users_are_letters_and_never_markup():
    hostile = '<script>alert("x")</script>'
    chart = Chart((plot(LINE, Curve(STEPS, STEPS, hostile), title=hostile, note=hostile),), hostile, hostile)
    root = tree(chart)
    assert not list(root.iter("script"))
    assert texts(root).count(hostile) == 4
    assert root.findtext("title") == hostile


def test_a_map_has_its_image_and_its_path_in_one_scale():
    heights = np.add.outer(np.linspace(-1, 1, 21) ** 2, np.linspace(-2, 2, 31) ** 2)
    path = Curve(np.array([-2.0, 2.0]), np.array([-1.0, 1.0]))
    part = Map("m", "f", Axis("x", low=-2, high=2), Axis("y", low=-1, high=1), heights, curves=(path,), equal=True)
    root = tree(Chart((part,)))
    (image,) = root.iter("image")
    x, y, wide, tall = (float(image.get(name, "nan")) for name in ("x", "y", "width", "height"))
    assert wide / tall == pytest.approx(2.0, abs=0.01)  # equal: a unit is as long on both axes
    ((first, last),) = points(root, colour(0))
    assert first == pytest.approx((x, y + tall), abs=0.11)
    assert last == pytest.approx((x + wide, y), abs=0.11)


def test_the_shade_of_a_map_is_its_own_where_it_is_given():
    heights, ends = np.arange(12.0).reshape(3, 4), {"x": Axis(low=0, high=1), "y": Axis(low=0, high=1)}
    plain, same, logs = (
        svg(Chart((Map("m", "f", **ends, heights=heights, shade=shade),)))
        for shade in (None, heights, np.log(heights + 1))
    )
    assert plain == same != logs


def test_bands_dots_and_marks_are_there():
    band = Band(STEPS, STEPS + 1.0, STEPS + 2.0, "range", 2)
    dots = Dots(STEPS[:3], STEPS[:3] + 1.0, "best", 3, "star")
    part = plot(LINE, bands=(band,), dots=(dots,), marks=(Mark(4.0, "lr = 0.1"), Mark(400.0, "outside")))
    root = tree(Chart((part,)))
    inside = root.findall("./g/path")
    assert sum(node.get("fill") == colour(2) for node in inside) == 1
    assert sum(node.get("fill") == colour(3) for node in inside) == 3
    assert {"range", "best", "value", "lr = 0.1"} <= set(texts(root))
    assert "outside" not in texts(root)


@pytest.mark.parametrize("width", [420, 860, 1400])
def test_parts_do_not_overlap_and_are_not_cut_off(width: int):
    parts = [plot(LINE), plot(LINE), Map("m", "f", Axis("x", low=0, high=1), Axis("y", low=0, high=1))]
    root = tree(Chart(tuple(parts)), width)
    boxes = [[float(node.get(key, "nan")) for key in ("x", "y", "width", "height")] for node in root.iter("rect")]
    assert len(boxes) == 3
    tall = float(root.get("height", "nan"))
    for k, (x, y, w, h) in enumerate(boxes):
        assert x >= 0
        assert y >= 0
        assert x + w <= width
        assert y + h <= tall
        for a, b, c, d in boxes[:k]:
            assert a + c <= x or x + w <= a or b + d <= y or y + h <= b


def test_clips_of_two_charts_have_two_names():
    one, other = (svg(Chart((plot(Curve(STEPS, STEPS + k)),))) for k in (1, 2))
    assert set(re.findall(r'id="([^"]+)"', one)).isdisjoint(re.findall(r'id="([^"]+)"', other))


@pytest.mark.parametrize(
    "y", [np.empty(0), np.full(10, 3.0), np.zeros(10), np.full(10, np.nan), np.array([1e-320, 1e308])]
)
@pytest.mark.parametrize("log", [True, False])
def test_every_column_makes_a_picture(y: list[float], log: bool):
    root = tree(Chart((plot(Curve(np.arange(float(len(y))), np.array(y)), y=Axis("f", log=log)),)))
    numbers = " ".join(value for node in root.iter() for value in node.attrib.values())
    assert "nan" not in numbers
    assert "inf" not in numbers


def test_a_right_axis_has_a_scale_of_its_own():
    x = np.array([0.0, 1.0])
    small, large = Curve(x, np.array([0.0, 2.0]), "small"), Curve(x, np.array([1e6, 2e6]), "large", 1, right=True)
    plot = Plot("a", "A", Axis("x"), Axis(), (small, large), right=Axis(unit="B", low=0.0, high=4e6))
    _, up = scales(plot, 0.0, 100.0, 0.0, 100.0)
    assert up.high < 3, "what is on the right does not flatten the others"
    right = right_scale(plot, up)
    np.testing.assert_allclose(right.place([0.0, 2e6, 4e6]), [100.0, 50.0, 0.0])
    picture = svg(Chart((plot,)))
    assert "2 MB" in picture
    assert "4e6" not in picture
    assert right_scale(replace(plot, right=None), up) is None


def frames(root: ET.Element) -> list[tuple[float, ...]]:
    """Left, top, bottom and right of the frame of each part."""
    found = [re.fullmatch(r"M(\S+) (\S+)V(\S+)H(\S+)V\S+Z", node.get("d", "")) for node in root.iter("path")]
    return [tuple(map(float, one.groups())) for one in found if one]


@pytest.mark.parametrize("tall", [[2.0, 1.0, 1.0, 1.0, 1.2], [1.0], [3.0, 1.0, 1.0]])
@pytest.mark.parametrize("mapped", [True, False])
def test_columns_end_at_one_height_and_a_map_heads_the_right_one(tall, mapped):
    parts = [plot(LINE, name=f"p{k}", tall=t) for k, t in enumerate(tall)]
    plane = Map("m", "m", Axis("x", low=0.0, high=1.0), Axis("y", low=0.0, high=1.0))
    found = frames(tree(Chart((*parts, plane) if mapped else tuple(parts))))
    assert len(found) == len(tall) + mapped
    columns = {left: [one for one in found if one[0] == left] for left, *_ in found}
    assert len(columns) == (2 if len(found) > 1 else 1)
    ends = [max(bottom for _, _, bottom, _ in column) for column in columns.values()]
    np.testing.assert_allclose(ends, ends[0], atol=0.11)


def test_empty_plot_shows_a_message_and_no_numbers():
    words = texts(
        tree(Chart((plot(Curve(np.empty(0), np.empty(0), "later"), Curve(np.empty(0), np.empty(0), "too")),)))
    )
    assert words == ["Value", "nothing yet"]


def test_a_chart_without_parts_is_a_picture_of_nothing():
    assert texts(tree(Chart((), title="soon"))) == ["soon"]


def test_words_stand_where_their_points_are():
    at = Dots(np.array([0.0, 9.0]), np.array([1.0, 1.0]), "letters", 1, "word", ("q", "<b>"))
    root = tree(Chart((plot(LINE, dots=(at,)),)))
    inside = {"".join(node.itertext()): float(node.get("x", "nan")) for node in root.findall("./g/text")}
    assert set(inside) == {"q", "<b>"}
    assert inside["<b>"] - inside["q"] > 600


def test_coordinates_far_outside_stay_readable_numbers():
    far = np.array([0.0, 1.0, 3e60, -4e120])
    axes = Axis(low=0.0, high=1.0), Axis(low=0.0, high=1.0)
    dots = Dots(far, far[::-1], shape="cross")
    text = svg(Chart((Plot("far", "far", *axes, (Curve(far, far[::-1]), Curve(far[::-1], far)), dots=(dots,)),)))
    numbers = [float(x) for d in re.findall(r' (?:d|transform)="([^"]*)"', text) for x in re.findall(r"-?[\d.]+", d)]
    assert numbers
    assert max(map(abs, numbers)) <= 1e4


def test_an_axis_that_ends_before_its_numbers_begins_close_to_them():
    part = plot(Curve(STEPS, 24.0 * 1e25**STEPS, "value"), y=Axis("f", log=True, high=2.4e5))
    _, upwards = scales(part, 0, 100, 0, 100)
    assert 5 < upwards.low < 24
    assert upwards.high == 2.4e5


def test_each_kind_of_mark_and_each_shape_of_dots_has_its_look():
    """A row of `strokes.py` each; "word" and "none" draw no shape."""
    assert set(MARK_STYLES) == set(get_args(MarkKind))
    assert set(SHAPES) == set(get_args(DotShape)) - {"word", "none"}
    looks = {tuple(look.items()) for look in MARK_STYLES.values()}
    assert len(looks) == len(MARK_STYLES)


@pytest.mark.parametrize(("at", "below"), [(1.0, True), (0.5, False)])
def test_the_label_of_a_level_stays_inside_of_its_frame(at, below):
    level = Mark(at, "level", "y", "break")
    root = tree(Chart((plot(Curve(STEPS, STEPS / 9), y=Axis(low=0.0, high=1.0), marks=(level,)),)))
    ((_, top, bottom, _),) = frames(root)
    (label,) = [float(node.get("y", "nan")) for node in root.iter("text") if "".join(node.itertext()) == "level"]
    line = bottom + at * (top - bottom)
    assert top < label < bottom
    assert (label > line) == below


def test_a_floor_below_the_end_of_an_axis_is_out_of_sight():
    zeros = Curve(STEPS, np.where(STEPS < 5, 1e-3, 0.0))
    root = tree(Chart((plot(zeros, y=Axis("f", log=True, low=1e-4, floor=1e-9)),)))
    assert not [path for path in root.iter("path") if path.get("stroke-dasharray") == "2 3"]


def test_tints_are_the_first_colours_half_way_to_white():
    """The page mixes them anew: see `chart/theme.js`."""
    for tint, base in zip(TINTS, PALETTE, strict=False):
        mixed = [channel + (255 - channel) / 2 for channel in bytes.fromhex(base[1:])]
        assert bytes.fromhex(tint[1:]) == bytes(round(channel) for channel in mixed)


def test_a_curve_of_one_point_is_a_dot():
    one = Curve(np.zeros(1), np.full(1, 24.2), "value", 1)
    drawn = svg(Chart((Plot("value", "value", Axis("step"), Axis(log=True), (one,)),)))
    assert drawn.count(f'fill="{colour(1)}"') >= 1
    assert SHAPES["dot"][0] in drawn


def test_a_legend_lists_each_name_once():
    steps = np.arange(3.0)
    curves = (Curve(steps, steps, "value", faint=True), Curve(steps, steps, "value"), Curve(steps, steps, "other", 1))
    drawn = svg(Chart((Plot("p", "all", Axis("step"), Axis(), curves),)))
    assert (drawn.count(">value<"), drawn.count(">other<")) == (1, 1)


def test_a_legend_has_the_order_of_the_curves_where_dots_share_a_name():
    steps = np.arange(3.0)
    curves = (Curve(steps, steps, "first"), Curve(steps, steps, "second", 1))
    drawn = svg(Chart((Plot("p", "all", Axis("step"), Axis(), curves, dots=(Dots(steps, steps, "first"),)),)))
    assert drawn.index(">first<") < drawn.index(">second<")
