"""Drawn graphs: what stands in the boxes, where they stand, and that every arrow has its place."""

import re
from itertools import combinations
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import burlab as bl
from burlab.widgets import drawing
from burlab.widgets.graph_view import stills as graph_view

SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg):
    root = ET.fromstring(svg)
    rects = [{k: float(r.get(k)) for k in ("x", "y", "width", "height")} for r in root.iter(f"{SVG}rect")]
    return root, rects, [t.text for t in root.iter(f"{SVG}text")]


def overlap(a, b):
    return not any(
        a[at] + a[size] <= b[at] or b[at] + b[size] <= a[at] for at, size in (("x", "width"), ("y", "height"))
    )


@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_boxes_of_a_random_graph_never_overlap_and_lie_inside(count):
    rng = np.random.default_rng(count)
    boxes = {k: drawing.Box(("n" * int(rng.integers(1, 20)),) * int(rng.integers(1, 4))) for k in range(count)}
    edges = [(int(rng.integers(0, k)), k) for k in range(1, count) for _ in range(2) if rng.random() < 0.8]
    root, rects, _ = parsed(drawing.draw(boxes, edges))
    assert len(rects) == count
    assert not any(overlap(a, b) for a, b in combinations(rects, 2))
    width, height = float(root.get("width")), float(root.get("height"))
    assert all(r["x"] >= 0 and r["x"] + r["width"] <= width for r in rects)
    assert all(r["y"] >= 0 and r["y"] + r["height"] <= height for r in rects)
    arrows = sum("L" not in p.get("d") for p in root.iter(f"{SVG}path"))
    assert arrows == len(edges)


def test_arrows_run_from_left_to_right():
    chain = {k: drawing.Box((str(k),)) for k in range(6)}
    edges = [(k, k + 1) for k in range(5)] + [(0, 5)]
    root, rects, _ = parsed(drawing.draw(chain, edges))
    assert [r["x"] for r in rects] == sorted(r["x"] for r in rects)
    for path in root.iter(f"{SVG}path"):
        numbers = [float(x) for x in re.findall(r"-?[0-9.]+", path.get("d"))]
        if "L" not in path.get("d"):
            assert numbers[0] < numbers[-2]


def test_a_graph_shows_its_operations_with_known_numbers_inside():
    kernel = bl.compile(lambda x: np.sum(1 - x**2), np.zeros(3))
    _, rects, texts = parsed(graph_view.graph_svg(kernel.graph))
    assert texts == ["x", "float64[3]", "square", "float64[3]", "sub(1, ·)", "float64[3]", "sum", "float64"]
    assert len(rects) == 4
    assert "compiled" in graph_view.kernel_html(kernel)


def test_a_value_shows_value_and_gradient_of_every_node():
    a, b = bl.Value(-4.0, label="a & b"), bl.Value(2.0, label="<b>")
    c = a * b + b**3
    c.backward()
    root, rects, texts = parsed(graph_view.value_svg(c))
    assert len(rects) == 5
    for value in (a, b, c):
        assert f"data {value.data:.6g}" in texts
        assert f"grad {value.grad:.6g}" in texts
    assert {"a & b", "<b>"} <= set(texts)
    kinds = [g.get("class") for g in root.iter(f"{SVG}g")]
    assert sorted(kinds) == ["input", "input", "operation", "operation", "output"]


def test_a_large_graph_is_cut_with_a_note():
    x = bl.Value(1.0)
    y = x
    for _ in range(2 * graph_view.MAX_PICTURE_BOXES):
        y = y + x
    root, rects, _ = parsed(graph_view.value_svg(y))
    assert len(rects) == graph_view.MAX_PICTURE_BOXES
    assert sum("cut" in g.get("class", "") for g in root.iter(f"{SVG}g")) == 1  # where the chain goes on
    html = graph_view.value_html(y)
    assert "121 of 241 nodes are not drawn" in html
    assert ".dot() writes all" in html
    assert "not drawn" not in graph_view.value_html(x + x)


def test_chain_too_long_to_count_is_noted_and_drawn():
    y = bl.Value(1.0)
    for _ in range(30_000):
        y = y * 1.0
    assert "More than 19,879 nodes are not drawn" in graph_view.value_html(y)


@pytest.mark.parametrize("turns", [300, 2000])
def test_large_recorded_graph_reports_omitted_nodes(turns):
    def f(x):
        for _ in range(turns):
            x = np.tanh(x)
        return x

    html = graph_view.graph_html(bl.compile(f, 1.0, gear="replay").graph)
    assert html.count("<rect") == graph_view.MAX_PICTURE_BOXES
    assert f"{turns + 1 - graph_view.MAX_PICTURE_BOXES:,} of {turns + 1:,} nodes are not drawn" in html
    assert "print(graph)" in html


def test_sub_graphs_too_large_for_a_page_are_noted():
    def f(x):
        for _ in range(graph_view.MAX_PAGE_BOXES // 5):
            x = bl.cond(x > 2, lambda x=x: x / 2, lambda x=x: np.sin(np.cos(x)))
        return x

    graph = bl.compile(f, 3.0, gear="replay").graph
    html = graph_view.graph_html(graph)
    drawn = html.count("<svg")
    assert 1 < drawn < 2 * graph_view.MAX_PAGE_BOXES // 5 + 1
    assert f"{2 * graph_view.MAX_PAGE_BOXES // 5 + 1 - drawn} whole sub-graphs" in html
    assert html.count("<rect") <= graph_view.MAX_PAGE_BOXES


def lines_of(root):
    """Starts and ends of the arrows."""
    numbers = ([float(x) for x in re.findall(r"-?[0-9.]+", p.get("d"))] for p in root.iter(f"{SVG}path"))
    return [(n[:2], n[-2:]) for n in numbers if len(n) > 6]


def test_repeated_operand_is_two_distinct_arrows():
    c = bl.Value(3.0, label="c")
    recorded = bl.compile(lambda c: c + c, 3.0, gear="replay").graph
    for svg in (graph_view.value_svg(c + c), graph_view.graph_svg(recorded)):
        (first, last), (other, end) = lines_of(parsed(svg)[0])
        assert abs(first[1] - other[1]) >= 6
        assert abs(last[1] - end[1]) >= 6


def test_many_arrows_between_two_boxes_stay_within_them():
    root, rects, _ = parsed(drawing.draw({"x": drawing.Box(("x",)), "y": drawing.Box(("y",))}, [("x", "y")] * 12))
    heights = {y for line in lines_of(root) for _, y in line}
    assert len(lines_of(root)) == 12
    assert all(r["y"] < y < r["y"] + r["height"] for r in rects for y in heights)


@pytest.mark.parametrize(
    ("make", "head"),
    [
        (lambda x: x * 2, "· * 2"),
        (lambda x: 2 - x, "2 - ·"),
        (lambda x: x / 3, "· / 3"),
        (lambda x: 2**x, "2 ** ·"),
        (lambda x: x**3, "**3"),
        (lambda x: x**0.5, "**0.5"),
        (lambda x: x + x, "+"),
        (lambda x: x.tanh(), "tanh"),
    ],
)
def test_constants_of_values_are_drawn(make, head):
    texts = parsed(graph_view.value_svg(make(bl.Value(3.0))))[2]
    assert texts[3] == head or texts[0] == head


def test_a_drawing_keeps_its_size_and_scrolls_in_a_frame():
    html = graph_view.value_html(bl.Value(3.0) * 2)
    frame = html.index("overflow:auto")
    assert frame < html.index("<svg")
    root, *_ = parsed(graph_view.value_svg(bl.Value(3.0) * 2))
    assert "max-width:none" in root.get("style")
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert 12 <= drawing.FONT <= 13


def test_labels_are_escaped():
    bad = bl.Value(1.0, label='"><script>alert(1)</script>&amp;')
    for html in (graph_view.value_html(bad * 2), drawing.framed("", bad.label)):
        assert "<script" not in html
    assert parsed(graph_view.value_svg(bad))[2][0] == bad.label


def test_the_style_of_a_drawing_holds_for_nothing_else_on_the_page():
    style = ET.fromstring(drawing.draw({"x": drawing.Box(("x",))}, [])).find(f"{SVG}style")
    assert style is not None
    assert all(rule.startswith(".burlab-graph ") for rule in (style.text or "").split("}") if rule)


def test_control_flow_is_drawn_with_its_sub_graphs():
    """Two deep: the loop, its condition and body, and both sides of the choice in the body."""

    def f(x):
        def iteration(y):
            return bl.cond(y > 2, lambda: y / 2, lambda: y - x)

        return bl.while_loop(lambda y: y > 1, iteration, x)

    graph = bl.compile(f, 3.0, gear="replay").graph
    html = graph_view.graph_html(graph)
    assert html.count("<svg") == 5
    for title in ("condition of %1", "body of %1", "true of %", "false of %", "while [0] %1", "cond [0] %"):
        assert title in html
    dot = graph.to_dot()
    assert dot.count("subgraph cluster_") == 4
    assert dot.count("{") == dot.count("}")
