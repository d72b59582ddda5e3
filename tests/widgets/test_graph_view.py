"""Drawn graphs: what stands in the boxes, where they stand, and that every arrow has its place."""

import re
from itertools import combinations
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import burlab as bl
from burlab.widgets import drawing, graph_view

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
    assert arrows == len(set(edges))


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
    for _ in range(2 * graph_view.LARGEST):
        y = y + x
    _, rects, texts = parsed(graph_view.value_svg(y))
    assert len(rects) == graph_view.LARGEST
    assert "nearest to the result" in texts[-1]


def test_the_style_of_a_drawing_holds_for_nothing_else_on_the_page():
    style = ET.fromstring(drawing.draw({"x": drawing.Box(("x",))}, [])).find(f"{SVG}style")
    assert style is not None
    assert all(rule.startswith(".burlab-graph ") for rule in (style.text or "").split("}") if rule)


def test_control_flow_is_drawn_with_its_sub_graphs():
    """Two deep: the loop, its condition and body, and both sides of the choice in the body."""

    def f(x):
        def turn(y):
            return bl.cond(y > 2, lambda: y / 2, lambda: y - x)

        return bl.while_loop(lambda y: y > 1, turn, x)

    graph = bl.compile(f, 3.0, gear="replay").graph
    html = graph_view.graph_html(graph)
    assert html.count("<svg") == 5
    for title in ("condition of %1", "body of %1", "true of %", "false of %", "while [0] %1", "cond [0] %"):
        assert title in html
    dot = graph.to_dot()
    assert dot.count("subgraph cluster_") == 4
    assert dot.count("{") == dot.count("}")
