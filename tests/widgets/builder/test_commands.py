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


def test_blocks_stay_where_they_are_when_a_wire_is_pulled():
    """Of a graph that was never moved the layout has the places: another wire would be another layout."""
    builder = GraphBuilder(lambda x, y: np.tanh(x * y) + x, 2.0, 5.0)
    commands, before = BuilderCommands(builder), places(builder)
    commands.apply({"type": "connect", "source": 1, "key": 3, "port": 1})
    commands.apply({"type": "disconnect", "key": 4, "port": 0})
    commands.apply({"type": "delete", "keys": [2], "wires": []})
    assert commands.refused is None
    for key, place in places(builder).items():
        np.testing.assert_array_equal(place, before[key])


def test_blocks_and_wires_are_deleted_in_one_step():
    builder = GraphBuilder()
    a, b = builder.add("input"), builder.add("input")
    stacked = builder.add("stack", a, b, a)
    total = builder.add("add", a, b)
    commands, states = BuilderCommands(builder), len(builder.history.states)
    commands.apply({"type": "delete", "keys": [], "wires": [[stacked, 0], [stacked, 1], [total, 1]]})
    assert commands.refused is None
    assert builder.document[stacked].operands == (a,)
    assert builder.document[total].operands == (a, None)
    assert len(builder.history.states) == states + 1
    commands.apply({"type": "delete", "keys": [b, total], "wires": [[total, 0]]})
    assert commands.refused is None
    assert set(builder.document.blocks) == {a, stacked}


def test_the_end_of_a_wire_is_moved_in_one_step():
    builder = GraphBuilder()
    a, b = builder.add("input"), builder.add("input")
    total = builder.add("add", a, None)
    commands = BuilderCommands(builder)
    commands.apply({"type": "connect", "source": a, "key": total, "port": 1, "was": [total, 0]})
    assert builder.document[total].operands == (None, a)
    commands.apply({"type": "connect", "source": total, "key": b, "port": 0, "was": [total, 1]})
    assert commands.refused is not None
    assert builder.document[total].operands == (None, a), "a refused wire stays where it was"


def test_a_block_is_added_into_a_wire_and_for_an_argument():
    builder = GraphBuilder(lambda x, y: np.tanh(x) * y, 2.0, 5.0)
    commands, states = BuilderCommands(builder), len(builder.history.states)
    commands.apply({"type": "add", "kind": "exp", "operands": [], "wire": [4, 0], "place": [1, 2]})
    assert [builder.document[key].operands for key in (4, 5)] == [(5, 2), (3,)]
    assert len(builder.history.states) == states + 1
    builder.do(builder.document.disconnect(4, 1))
    commands.apply({"type": "add", "kind": "constant", "operands": [], "to": [4, 1]})
    assert builder.document[4].operands == (5, 6)
    document = builder.document
    commands.apply({"type": "add", "kind": "input", "operands": [], "wire": [4, 0]})
    assert "input takes no arguments" in commands.refused[1]
    assert builder.document is document


def test_a_loose_block_is_inserted_into_a_wire_in_one_step():
    builder = GraphBuilder(lambda x, y: np.tanh(x) * y, 2.0, 5.0)
    loose, leaf = builder.add("square", None), builder.add("input")
    commands, states, before = BuilderCommands(builder), len(builder.history.states), places(builder)
    commands.apply({"type": "insert", "key": loose, "wire": [4, 1], "by": [10, -20]})
    assert commands.refused is None
    assert [builder.document[key].operands for key in (4, loose)] == [(3, loose), (2,)]
    np.testing.assert_allclose(places(builder)[loose] - before[loose], [10, -20])
    assert len(builder.history.states) == states + 1
    commands.apply({"type": "insert", "key": leaf, "wire": [4, 0], "by": [0, 0]})
    assert "cannot stand in a wire" in commands.refused[1]


def test_a_message_about_a_wire_that_is_not_there_is_refused():
    builder = GraphBuilder(lambda x, y: np.tanh(x) * y, 2.0, 5.0)
    commands, document = BuilderCommands(builder), builder.document
    for message in ({"type": "add", "kind": "exp", "wire": [4, 7]}, {"type": "insert", "key": 3, "wire": [4, 7]}):
        commands.apply({"key": 3, "by": [0, 0], **message})
        assert commands.refused is not None
        assert builder.document is document
