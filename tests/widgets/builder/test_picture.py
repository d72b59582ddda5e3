"""Where the blocks of a builder stand."""

from itertools import combinations

import numpy as np

from burlab.widgets.builder import GraphBuilder
from burlab.widgets.builder.builder_picture import arranged, boxes_of, size


def overlapping(builder):
    """Pairs of blocks that lie over each other, as a page draws them."""
    document = builder.document
    boxes = boxes_of(document, builder.result)
    at = arranged(document, boxes)
    wide = {key: np.array(size(box, len(document[key].operands))) for key, box in boxes.items()}
    return [
        (a, b)
        for a, b in combinations(at, 2)
        if (np.abs(np.subtract(at[a], at[b])) < (wide[a] + wide[b]) / 2 + 5).all()
    ]


def test_small_blocks_are_arranged_apart():
    b = GraphBuilder(lambda x, y: x * y, 2.0, 5.0)
    b.add("add", 1, 2)
    assert overlapping(b) == []


def test_new_blocks_stand_apart_from_those_that_were_moved():
    b = GraphBuilder(lambda x, y: x * y, 2.0, 5.0)
    b.move({1: (300, 10), 2: (240, 200)})
    for _ in range(6):
        b.add("where", 1, 2, 3)
    assert overlapping(b) == []


def test_in_a_still_picture_a_fault_is_red():
    root = GraphBuilder(lambda x: np.where(x > 0, np.sqrt(x), 0.0), -1.0)
    faults = root.to_svg().split('<g class="fault">')[1:]
    assert ["nan begins here" in fault.partition("</g>")[0] for fault in faults] == [True]
    shapes = GraphBuilder()
    shapes.add("matmul", shapes.add("input", value=np.ones((2, 3))), shapes.add("input", value=np.ones((2, 3))))
    assert shapes.to_svg().count('<g class="fault">') == 1
    assert '<g class="fault">' not in GraphBuilder(lambda x: x * 2.0, 1.0).to_svg()
