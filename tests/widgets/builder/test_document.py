"""Operations on documents: what they give, and what they refuse with the document unchanged."""

import re

import pytest

from burlab.errors import ArgumentError, GraphError
from burlab.widgets.builder.document import Document
from burlab.widgets.builder.undo_history import UndoHistory


def chain():
    """x -> square -> tanh, with their keys."""
    document, x = Document().add("input", label="x")
    document, y = document.add("square", [x], label="y")
    document, z = document.add("tanh", [y], label="z")
    return document, x, y, z


def test_the_output_is_the_last_sink_unless_another_is_chosen():
    document, _, y, z = chain()
    assert document.root == z
    assert document.choose(y).root == y
    assert document.choose(y).choose(None).root == z
    assert document.add("constant")[0].root == z, "a constant computes nothing"
    assert Document().root is None


def test_a_circle_is_refused_and_named():
    document, _, y, z = chain()
    for source, target in ((z, y), (y, y)):
        with pytest.raises(GraphError, match=r"is computed from y, so it cannot be an argument of it"):
            document.connect(source, target, 0)


def test_an_argument_that_does_not_exist_is_refused():
    document, x, y, _ = chain()
    with pytest.raises(ArgumentError, match=r"y takes one argument, counted from 0; got argument 1"):
        document.connect(x, y, 1)
    with pytest.raises(ArgumentError, match=r"x takes no arguments"):
        document.connect(y, x, 0)
    with pytest.raises(ArgumentError, match="unknown block 99"):
        document.connect(99, y, 0)
    with pytest.raises(ArgumentError, match="add takes 2 arguments, got 3"):
        document.add("add", [x, x, x])


def test_any_number_of_arguments():
    document, x, y, _ = chain()
    document, joined = document.add("stack", [x])
    document = document.connect(y, joined, 1).connect(x, joined, 2)
    assert document[joined].operands == (x, y, x)
    assert document.disconnect(joined, 1)[joined].operands == (x, x)
    assert document.delete(x)[joined].operands == (y,)
    with pytest.raises(ArgumentError, match="got argument 4"):
        document.connect(y, joined, 4)


def test_deleting_leaves_arguments_open_and_forgets_the_output():
    document, _, y, z = chain()
    left = document.choose(y).delete(y)
    assert left[z].operands == (None,)
    assert left.output is None
    with pytest.raises(ArgumentError, match="unknown block 2"):
        left.delete(y)


def test_edit_without_effect_returns_the_same_document():
    document, x, y, _ = chain()
    assert document.rename(y, "y") is document
    assert document.connect(x, y, 0) is document
    assert document.edit(x, "value", "1.0") is document
    assert document.edit(x, "value", "1") is not document, "1 is a whole number, 1.0 is none"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("value", "os.system('true')", "cannot be read"),
        ("value", "[1, [2]]", "expected a number such as 2.5"),
        ("value", "float64", "expected a number"),
        ("value", None, "expected a number"),
        ("value", object(), "expected numbers"),
        ("dtype", "complex128", "expected one of float64, float32"),
        ("colour", 3, "has no option 'colour'. Its options: value, dtype"),
    ],
)
def test_an_option_that_does_not_fit_is_refused(name, value, said):
    document, x, *_ = chain()
    with pytest.raises(ArgumentError, match=re.escape(said)):
        document.edit(x, name, value)


def test_another_shape_repeats_the_numbers():
    document, x, *_ = chain()
    document = document.edit(x, "value", "[1, 2, 3]").reshape(x, "(2, 2)")
    assert document[x].option("value") == ((1, 2), (3, 1))
    assert document.reshape(x, "[]")[x].option("value") == 1
    for shape in ((-1,), 10**9, "[1.5]", "wide"):
        with pytest.raises(ArgumentError, match="must be sizes"):
            document.reshape(x, shape)


def test_places_and_labels_are_checked():
    document, x, *_ = chain()
    for place in ((1, 2, 3), ("a", "b"), (float("nan"), 0), (1e9, 0)):
        with pytest.raises(ArgumentError, match="a place must be two pixel numbers"):
            document.move({x: place})
    with pytest.raises(ArgumentError, match="at most 200 characters"):
        document.rename(x, "x" * 201)


def test_an_unknown_kind_names_similar_ones():
    with pytest.raises(ArgumentError, match=r"expected a kind of block, got 'tan_h'. Similar are: .*tanh"):
        Document().add("tan_h")


def test_edits_with_one_tag_are_one_step_back():
    document, x, *_ = chain()
    history = UndoHistory((document,))
    for k in range(5):
        history = history.do(history.now.edit(x, "value", float(k)), tag=("value", x))
    assert history.now[x].option("value") == 4.0
    assert history.undone.now is document
    assert history.undone.redone.now[x].option("value") == 4.0
    history = history.undone.do(document.rename(x, "other"))
    assert not history.can_redo
