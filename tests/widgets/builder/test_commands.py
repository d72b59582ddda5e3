"""Requests of the widget of a builder."""

import numpy as np

from burlab.widgets.builder import GraphBuilder
from burlab.widgets.builder.builder_commands import BuilderCommands
from burlab.widgets.builder.builder_picture import settled


def places(builder):
    document = settled(builder.document, builder.result)
    return {key: np.array(block.place) for key, block in document.blocks.items()}


def test_blocks_are_moved_from_where_they_are_now():
    """Two keys may come before the page has heard of the first: each moves the blocks, and no other block."""
    builder = GraphBuilder(lambda x, y: x * y, 2.0, 5.0)
    commands, before = BuilderCommands(builder), places(builder)
    for _ in range(2):
        commands.apply({"type": "move", "keys": [1, 3], "by": [12, -5]})
    assert commands.refused is None
    after = places(builder)
    for key in (1, 3):
        np.testing.assert_allclose(after[key] - before[key], [24, -10])
    np.testing.assert_array_equal(after[2], before[2])
    builder.undo()
    np.testing.assert_allclose(places(builder)[1] - before[1], [12, -5])


def test_moving_a_missing_block_is_refused():
    commands = BuilderCommands(GraphBuilder(lambda x: x**2, 2.0))
    commands.apply({"type": "move", "keys": [9], "by": [1, 1]})
    assert "unknown block 9" in commands.refused[1]
