"""Copies of blocks and what becomes of their wires, labels and places."""

import json

import pytest

from burlab.errors import GraphError
from burlab.widgets.builder import GraphBuilder
from burlab.widgets.builder.builder_commands import BuilderCommands
from burlab.widgets.builder.builder_view import state_of


@pytest.fixture
def builder():
    return GraphBuilder(lambda x, y: x * y + x, 2.0, 5.0)


def test_a_duplicate_keeps_wires_from_outside_and_is_one_step(builder):
    commands, states = BuilderCommands(builder), len(builder.history.states)
    commands.apply({"type": "duplicate", "keys": [3, 4]})
    assert commands.refused is None
    assert commands.added == ([5, 6], 1)
    assert [builder.document[key].operands for key in (5, 6)] == [(1, 2), (5, 1)]
    assert float(builder.value(6)) == 12.0
    assert len(builder.history.states) == states + 1
    builder.undo()
    assert len(builder) == 4


def test_what_is_copied_is_read_as_json_and_labels_stay_different(builder):
    commands, text = BuilderCommands(builder), builder.to_json()
    builder.move({key: (100.0 * key, 0.0) for key in builder.document.blocks})
    moved = builder.to_json()
    commands.apply({"type": "paste", "text": moved, "place": [0, 500]})
    assert commands.refused is None
    copies = [builder.document[key] for key in commands.added[0]]
    assert [block.place for block in copies] == [(-150.0, 500.0), (-50.0, 500.0), (50.0, 500.0), (150.0, 500.0)]
    assert [block.label for block in copies][:2] == ["x2", "y2"]
    commands.apply({"type": "paste", "text": text})
    assert [builder.document[key].label for key in commands.added[0]][:2] == ["x3", "y3"]
    assert float(builder.value(commands.added[0][-1])) == 12.0


def test_options_are_read_as_the_page_writes_them():
    builder = GraphBuilder()
    builder.add("nn.Linear", builder.add("constant", value=[1.0, 2.0]), outputs=3)
    commands = BuilderCommands(builder)
    rows = [
        {
            "key": block["key"],
            "kind": block["kind"],
            "label": block["label"],
            "inputs": block["operands"],
            "options": {name: text for name, text, _ in block["options"]},
            "place": [0, 0],
        }
        for block in state_of(builder, commands)["blocks"]
    ]
    commands.apply({"type": "paste", "text": json.dumps({"burlab_builder": 1, "output": None, "blocks": rows})})
    assert commands.refused is None
    one, other = (builder.document[key].options for key in (1, 3))
    assert one == other
    assert builder.value(4).shape == builder.value(2).shape


@pytest.mark.parametrize("text", ["{", '{"a": 1}', '{"burlab_builder": 1, "output": null, "blocks": [{}]}'])
def test_other_text_is_refused(builder, text):
    commands = BuilderCommands(builder)
    commands.apply({"type": "paste", "text": text})
    assert commands.refused is not None
    assert len(builder) == 4
    with pytest.raises(GraphError):
        GraphBuilder.from_json(text)
