"""Wires that go around blocks."""

import re

import numpy as np

from burlab.widgets.builder import GraphBuilder
from burlab.widgets.builder.builder_commands import BuilderCommands
from burlab.widgets.builder.builder_picture import arranged, boxes_of, size
from burlab.widgets.builder.builder_view import state_of
from burlab.widgets.builder.document import Document
from burlab.widgets.builder.routing import routed


def row():
    """x -> tanh -> square -> add, and a wire from x to add, past the two between."""
    builder = GraphBuilder(lambda x: np.tanh(x) ** 2 + x, 2.0)
    builder.move({key: (160.0 * k, 0.0) for k, key in enumerate(builder.document.blocks)})
    return builder


def bends(builder):
    document = builder.document
    boxes = boxes_of(document, builder.result)
    sizes = {key: size(box, len(document[key].operands)) for key, box in boxes.items()}
    return routed(document, arranged(document, boxes), sizes), sizes


def test_a_wire_goes_around_the_blocks_between_its_ends():
    builder = row()
    found, sizes = bends(builder)
    (last,) = [key for key, block in builder.document.blocks.items() if block.kind == "add"]
    ((way, points),) = found.items()
    assert way == (last, builder.document[last].operands.index(1))
    lane = points[0][1]
    between = [key for key in builder.document.blocks if key not in (1, last)]
    assert abs(lane) > max(sizes[key][1] for key in between) / 2 + 4
    assert points[0][1] == points[1][1]
    state = state_of(builder, BuilderCommands(builder))
    told = {(block["key"], port): way for block in state["blocks"] for port, way in block["bends"].items()}
    assert told == found


def test_a_free_wire_is_not_bent():
    builder = row()
    for key in list(builder.document.blocks)[1:-1]:
        builder.move({key: (160.0 * key, 300.0)})
    found, _ = bends(builder)
    assert (max(builder.document.blocks), 1) not in found


def test_pictures_have_the_same_way_and_room_for_it():
    builder = row()
    text = builder.to_svg()
    height = float(re.search(r'height="(\d+)"', text)[1])
    paths = [np.array(re.findall(r"(-?\d+) (-?\d+)", d), float) for d in re.findall(r'<path d="(M[^"]*C[^"]*)"', text)]
    assert max(map(len, paths)) == 10, "a curve of three parts"
    assert all((path[:, 1] >= 0).all() and (path[:, 1] <= height).all() for path in paths)


def test_a_wire_stays_straight_where_both_ways_cross_as_much():
    document, x = Document().add("input")
    document, wall = document.add("tanh")
    document, total = document.add("add", [x])
    at = {x: (0.0, 0.0), wall: (100.0, 0.0), total: (200.0, 0.0)}
    small = dict.fromkeys((x, wall, total), (40.0, 20.0))
    assert routed(document, at, small)
    assert not routed(document, at, small | {wall: (144.0, 20.0)})
