"""The state of a GraphView without a page: what opens, what is found, and what does not fit."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.widgets.graph_view.collapse import MAX_LOOSE
from burlab.widgets.graph_view.graph_model import MAX_BOXES, GraphModel
from burlab.widgets.graph_view.viewed_graph import subjects_of

TOKENS = np.array([3, 1, 4, 1, 5, 9, 2, 6])


def model_of(thing, *args):
    return GraphModel(next(iter(subjects_of(thing, args).values()))())


def chain(x):
    for _ in range(1000):
        x = np.tanh(x) * x
    return x


@pytest.fixture(scope="module")
def gpt():
    return model_of(bl.nn.GPT(key=bl.random.key(0)), TOKENS)


def titles(model, group):
    return [model.groups.titles.get(x) or model.network.vertices[x].head for x in model.groups.children[group]]


def test_a_gpt_opens_as_its_blocks(gpt):
    gpt.close_all()
    assert titles(gpt, gpt.groups.root) == ["embedding", *(f"blocks.{k}" for k in range(6)), "head"]
    assert len(gpt.picture.boxes) == 8
    ways = {(gpt.lines(a)[0], gpt.lines(b)[0]) for a, b in (link.ends for link in gpt.picture.links)}
    assert ("blocks.0", "blocks.1") in ways
    assert ("blocks.0", "blocks.5") not in ways  # the mask is drawn in each block, not handed on


def test_every_vertex_is_in_one_group_and_every_arrow_reaches_a_rim(gpt):
    """In all pictures: each operand of each vertex is one arrow, in the group where the two part."""
    groups = gpt.groups
    assert sorted(k for g, c in groups.children.items() for k in c) == sorted(
        set(range(len(groups.parent))) - {groups.root}
    )
    inner = sum(
        n for g in groups.arrows.values() for (a, b), n in g.items() if isinstance(a, int) and isinstance(b, int)
    )
    assert inner == sum(len(v.operands) for v in gpt.network.vertices)


@pytest.mark.parametrize("opened", [(), ("blocks.2",), ("blocks.2", "attention"), None])
def test_boxes_stay_inside_their_frames(gpt, opened):
    gpt.close_all()
    if opened is None:
        assert gpt.open_all() == 0
    else:
        group = gpt.groups.root
        for title in opened:
            group = next(x for x in gpt.groups.children[group] if gpt.groups.titles.get(x) == title)
            gpt.toggle(group)
    picture = gpt.picture
    frames = {f.item: f for f in picture.frames}
    assert set(frames) == set(gpt.opened)
    for rect in (*picture.boxes, *picture.frames):
        around = frames.get(gpt.groups.parent[rect.item])
        left, top = (around.x, around.y) if around else (0, 0)
        right, bottom = (left + around.width, top + around.height) if around else (picture.width, picture.height)
        assert left <= rect.x
        assert top <= rect.y
        assert rect.x + rect.width <= right + 1e-6
        assert rect.y + rect.height <= bottom + 1e-6


def test_arrows_meet_at_the_rim_of_an_open_group(gpt):
    gpt.close_all()
    group = next(x for x in gpt.groups.titles if gpt.groups.titles[x] == "blocks.2")
    gpt.toggle(group)
    frame = next(f for f in gpt.picture.frames if f.item == group)
    arrivals = {round(y, 6) for link in gpt.picture.links if link.ends[1] == group for x, y in link.route[-1:]}
    inside = (link for link in gpt.picture.links if isinstance(link.ends[0], tuple))
    departures = {round(link.route[0][1], 6) for link in inside}
    assert arrivals
    assert arrivals <= departures
    assert all(frame.y <= y <= frame.y + frame.height for y in arrivals)


def test_closing_a_group_closes_what_is_in_it_and_opening_reveals(gpt):
    gpt.close_all()
    found = gpt.search("softmax")
    assert found.items == ()
    found = gpt.search("exp")
    assert len(found.items) == 6
    assert gpt.network.vertices[gpt.selected].operation == "exp"
    assert gpt.groups.line(gpt.selected)[1:-1] == sorted(gpt.opened, key=lambda g: len(gpt.groups.line(g)))
    first = gpt.selected
    gpt.search("exp")
    assert gpt.found.at == 2
    gpt.search("exp", -1)
    assert gpt.selected == first
    gpt.toggle(gpt.groups.line(first)[1])
    assert gpt.groups.shown(first, gpt.opened) == gpt.groups.line(first)[1]


def test_searching_by_line_name_and_scope(gpt):
    assert gpt.search("qkv.weight").items
    assert len(gpt.search("blocks.3/attention").items) > 20


def test_a_long_chain_without_scopes_is_grouped_in_its_order():
    model = model_of(chain, 0.5)
    assert len(model.network.vertices) == 2001
    assert len(model.picture.boxes) <= MAX_LOOSE
    members = [model.groups.members[g] for g in model.groups.children[model.groups.root] if model.groups.is_group(g)]
    assert [k for group in members for k in group] == sorted(k for group in members for k in group)
    assert model.open_all() == 0
    assert len(model.picture.boxes) == 2001 <= MAX_BOXES


def test_groups_too_large_for_a_page_stay_closed(monkeypatch):
    monkeypatch.setattr("burlab.widgets.graph_view.graph_model.MAX_BOXES", 300)
    model = model_of(chain, 0.5)
    assert model.open_all() > 0
    assert len(model.picture.boxes) <= 300


def test_a_graph_in_one_scope_opens_into_it():
    def f(x):
        with bl.scope("all"), bl.scope("of it"):
            return np.tanh(x) + x

    model = model_of(f, 0.5)
    assert [model.lines(box.item)[0] for box in model.picture.boxes] == ["x", "tanh", "add"]


def test_a_kernel_shows_both_passes_and_gradients_by_name():
    def loss(params, x):
        return np.sum(np.tanh(x @ params["w"] + params["b"]) ** 2)

    kernel = bl.compile(loss, {"w": np.ones((3, 2)), "b": np.ones(2)}, np.ones((4, 3)))
    subjects = subjects_of(kernel, ())
    assert list(subjects) == ["value and gradient", "value"]
    model = GraphModel(subjects["value and gradient"]())
    named = {v.name for v in model.network.vertices if v.name}
    assert named == {"params.w", "params.b"}
    backward = {v.operation for v in model.network.vertices if v.backward}
    assert "tanh'0" in backward
    assert "tanh" not in backward
    assert not any(v.backward for v in GraphModel(subjects["value"]()).network.vertices)


def test_colours_and_items_that_there_are_not(gpt):
    with pytest.raises(ArgumentError, match="coloured by none, gradient"):
        gpt.colour_by("name")
    with pytest.raises(ArgumentError, match="no item"):
        gpt.toggle(-1)


@pytest.mark.parametrize(
    ("thing", "args", "words"),
    [
        (np.ones(3), (), "shows a Graph, a Kernel, a Value"),
        (np.tanh, (), "Pass examples"),
        (bl.Value(1.0), (1,), "Leave them out"),
        (bl.compile(np.tanh, 0.5).graph, (1.0, 2.0), "1 inputs, but 2"),
    ],
)
def test_viewing_an_unsupported_object_raises(thing, args, words):
    with pytest.raises(ArgumentError, match=words):
        model_of(thing, *args)


def test_view_without_arguments_has_no_numbers_and_names_the_remedy():
    with pytest.raises(ArgumentError, match="give arrays"):
        model_of(bl.compile(np.tanh, 0.5).graph).step()


def test_a_kernel_of_many_arrays_has_a_short_title():
    def loss(parts):
        return sum(np.sum(part) for part in parts)

    view = bl.GraphView(bl.compile(loss, [np.ones(2)] * 40))
    assert view.model.network.title == "the kernel of loss"
