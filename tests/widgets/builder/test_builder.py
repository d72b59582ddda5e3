"""GraphBuilder as users call it: values and gradients, import and export, files, runs, and what is refused where."""

import re

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.executable import build
from burlab.errors import ArgumentError, FileError, GraphError
from burlab.graph.rewrite.simplify import simplify
from burlab.widgets.builder import GraphBuilder
from burlab.widgets.builder.builder_json import from_json, to_json


def tiny(a, b):
    """The tiny graph of the BurTorch paper, arXiv:2503.13795, Figure 1."""
    return ((a + b) - (a * b + b**3)) ** 2 / 2


def model(w, x):
    """Matrix products, reductions, an extreme and a slice."""
    return np.sum(np.tanh(x @ w + 0.5) ** 2) * 2.5 + np.max(x) + np.mean(w[1:])


def rebuilt(code):
    """The builder that exported code makes."""
    names = {}
    exec(code, names)
    return names["b"]


def same(one, other):
    """Return True if two documents are the same text, up to the numbers of their blocks."""
    return to_json(one.document.renumbered()) == to_json(other.document.renumbered())


def test_the_papers_tiny_graph():
    b = GraphBuilder(tiny, -41.0, 2.0)
    assert (b.value(), b.gradient("a"), b.gradient("b")) == (612.5, -35.0, 1050.0)


def test_a_value_brings_its_labels_and_its_gradients():
    x, y = bl.Value(-41.0, label="a"), bl.Value(2.0, label="b")
    b = GraphBuilder(tiny(x, y))
    assert (b.value(), b.gradient("a"), b.gradient("b")) == (612.5, -35.0, 1050.0)
    mean = bl.reduce_mean([x, y, x * y])
    assert GraphBuilder(mean).value() == pytest.approx(mean.data)
    product = bl.dot([x, y], [y, y])
    assert GraphBuilder(product).value() == pytest.approx(product.data)


def test_a_function_of_arrays_keeps_value_and_gradients():
    rng = np.random.default_rng(0)
    w, x = rng.normal(size=(3, 2)), rng.normal(size=(4, 3))
    b = GraphBuilder(model, w, x)
    kernel = bl.compile(model, w, x, argnums=(0, 1), gear="replay")
    value, gradients = kernel.value_and_grad(w, x)
    assert b.value() == pytest.approx(value, rel=1e-14)
    for name, gradient in zip("wx", gradients, strict=True):
        np.testing.assert_allclose(b.gradient(name), gradient, rtol=1e-13)
    assert simplify(b.graph()).key == simplify(kernel.graph).key, "the graph goes in and out unchanged"


def test_another_engine_agrees_on_a_function_of_arrays():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(1)
    w, x = rng.normal(size=(3, 2)), rng.normal(size=(4, 3))
    b = GraphBuilder(model, w, x)
    truth = jax.grad(
        lambda w, x: jax.numpy.sum(jax.numpy.tanh(x @ w + 0.5) ** 2) * 2.5 + x.max() + w[1:].mean(), argnums=(0, 1)
    )(w, x)
    for name, gradient in zip("wx", truth, strict=True):
        np.testing.assert_allclose(b.gradient(name), gradient, rtol=1e-12)


def test_exported_code_builds_it_again():
    b = GraphBuilder(model, np.ones((3, 2)), np.eye(4, 3))
    b.rename(1, 'w"eights\n\\')
    b.move({1: (3.5, -2.0)})
    b.add("stack", None, 1)
    b.add("nn.Linear", inputs=3, label="'quoted'")
    b.add("constant", value=[float("nan"), float("-inf")])
    other = rebuilt(b.to_python())
    assert same(other, b)
    assert same(GraphBuilder.from_json(b.to_json()), b)


def test_arguments_that_come_later_are_connected_by_the_code():
    b = GraphBuilder()
    y = b.add("square")
    x = b.add("input", value=3.0)
    b.connect(x, y)
    b.choose(y)
    assert rebuilt(b.to_python()).value() == 9.0


def test_labels_are_text_wherever_they_go():
    b = GraphBuilder()
    evil = '<script>alert("1")</script>"];}'
    b.add("input", label=evil)
    assert "<script" not in b.to_svg()
    assert '\\"1\\"' in b.to_dot()
    assert rebuilt(b.to_python()).key(evil) == 1


def test_a_file_keeps_what_was_built(tmp_path):
    path = tmp_path / "tiny.json"
    b = GraphBuilder(tiny, -41.0, 2.0, file=path)
    b.edit("a", value=1.0)
    again = GraphBuilder(tiny, -41.0, 2.0, file=path)
    assert again.document == b.document, "the file comes first"
    again.delete("a")
    assert GraphBuilder(file=path).document == again.document


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no builder that can be read: expected the JSON of a builder"),
        ("[]", 'an object with the key "burlab_builder"'),
        ('{"burlab_builder": 9}', "reads builders of version 1, got version 9"),
        ('{"burlab_builder": 1, "output": null, "blocks": [{}]}', "block 0 is not as a builder writes it"),
    ],
)
def test_file_without_a_builder_is_refused_and_stays(tmp_path, text, said):
    path = tmp_path / "mine.json"
    path.write_text(text)
    with pytest.raises(FileError, match=re.escape(said)):
        GraphBuilder(file=path)
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"inputs": [1]', '"inputs": [2]', "around a circle of blocks"),
        ('"inputs": [1]', '"inputs": [7]', "takes the value of block 7, which does not exist"),
        ('"inputs": [1]', '"inputs": [1, 1]', "has 2 inputs, but square takes 1"),
        ('"kind": "square"', '"kind": "eval"', "expected a kind of block, got 'eval'"),
        ('"value": 3.0', '"value": "os"', "value is os, expected a number"),
        ('"key": 2', '"key": 1', "belongs to two blocks"),
        ('"output": null', '"output": 9', "the output 9 does not exist"),
    ],
)
def test_damaged_json_is_refused_at_the_block(old, new, said):
    b = GraphBuilder()
    b.add("square", b.add("input", value=3.0))
    text = b.to_json()
    assert old in text
    with pytest.raises(GraphError, match=re.escape(said)):
        from_json(text.replace(old, new, 1))


def test_block_with_wrong_shapes_shows_its_error_and_others_evaluate():
    b = GraphBuilder()
    x, y = b.add("input", value=[1.0, 2.0]), b.add("input", value=[1.0, 2.0, 3.0])
    broken, fine = b.add("add", x, y, label="broken"), b.add("sum", y)
    after = b.add("tanh", broken)
    assert b.result.faults[broken].startswith(
        "2 numbers met 3 numbers. Add needs shapes that broadcast, got (2,) and (3,)."
    )
    assert b.result.waiting[after] == "waits for broken"
    assert b.value(fine) == 6.0
    for use in (b.function, b.graph, b.minimize):
        with pytest.raises(GraphError, match="tanh cannot be computed; at broken: 2 numbers met 3"):
            use()
    b.reshape(x, 3)
    assert not b.result.faults


@pytest.mark.parametrize(
    ("kind", "value", "options", "said"),
    [
        ("nn.Linear", 1.0, {}, "expects x of shape (..., 2), got ()"),
        ("nn.Embedding", 0.5, {}, "expects integers as index"),
        ("sum", [1.0], {"axis": 3}, "Axis 3 is out of bounds"),
        ("reshape", [1.0, 2.0], {"shape": [3]}, "Cannot reshape 2 elements"),
        ("broadcast_to", 1.0, {"shape": [4000, 4000]}, "too large to look at"),
        ("einsum", [1.0], {"subscripts": "ij->i"}, "ij"),
        ("nn.SelfAttention", [[1.0, 2.0, 3.0]], {"width": 3, "heads": 2}, "heads"),
    ],
)
def test_every_bad_value_has_a_reason_at_the_block(kind, value, options, said):
    b = GraphBuilder()
    key = b.add(kind, b.add("input", value=value), **options)
    assert said in b.result.faults[key]


def test_open_arguments_are_named():
    b = GraphBuilder()
    key = b.add("matmul", b.add("input"), None)
    assert b.result.waiting[key] == "connect y"
    assert "the output matmul has no value" in b.result.note


def test_first_block_with_nan_is_named():
    b = GraphBuilder()
    root = b.add("log", b.add("input", value=[-1.0, 1.0]))
    after = b.add("sum", root)
    assert b.result.odd == {root: "nan begins here, in 1 of 2 entries"}
    assert np.isnan(b.value(after))


def test_gradients_are_of_one_number():
    b = GraphBuilder(lambda x: x * 2.0, np.ones(3))
    assert b.result.note == "gradients are of one number, but the output mul has shape (3,): add sum or mean"
    with pytest.raises(GraphError, match="x has no gradient: gradients are of one number"):
        b.gradient("x")
    with pytest.raises(ArgumentError, match="Minimizing needs the gradients"):
        b.minimize()


def test_an_input_that_does_not_matter_has_gradient_zero():
    b = GraphBuilder(lambda x, y: x * x, 3.0, np.ones(2))
    assert b.gradient("y").tolist() == [0.0, 0.0]


def test_control_flow_has_no_blocks():
    with pytest.raises(GraphError, match="a node 'while', for which a builder has no block"):
        GraphBuilder(lambda x: bl.while_loop(lambda y: y < 9.0, lambda y: y * 2.0, x), 1.0)


@pytest.mark.parametrize("source", [3, {"a": 1}])
def test_a_source_is_a_function_a_graph_or_a_value(source):
    with pytest.raises(ArgumentError, match="a builder starts from a function"):
        GraphBuilder(source)


def test_a_label_names_one_block():
    b = GraphBuilder()
    b.add("input", label="x")
    assert b.add("square", "x") == 2
    with pytest.raises(ArgumentError, match="no block has the label 'y'"):
        b.value("y")
    b.add("input", label="x")
    with pytest.raises(ArgumentError, match="2 blocks have the label 'x'"):
        b.edit("x", value=1.0)


def test_a_run_minimizes_over_inputs_and_constants_are_live():
    b = GraphBuilder(lambda x: (x - 3.5) ** 2, 0.0)
    run = b.minimize(bl.optim.GD(0.25), steps=100)
    assert type(run.optimizer).__name__ == "GD"
    assert run.x["x"] == pytest.approx(3.5)
    (name,) = set(run.x) - {"x"}
    run.hyper[name] = 1.0
    run.step(100)
    assert run.x["x"] == pytest.approx(1.0)
    assert run.history["gradient_norm"][0] == pytest.approx(7.0), "a constant has no gradient"
    run.seek(100)
    assert run.x["x"] == pytest.approx(3.5), "a slider is part of the record"


def test_a_run_moves_the_parameters_of_layers():
    b = GraphBuilder()
    x = b.add("constant", value=[0.5, -1.0])
    y = b.add("nn.MLP", x, label="net")
    b.add("square", b.add("sub", b.add("sum", y), b.add("constant", value=2)))
    run = b.minimize(steps=300)
    assert set(run.x) == {"net"}
    assert run.history["value"][-1] < 1e-3


def test_whole_numbers_are_part_of_the_program():
    b = GraphBuilder()
    power = b.add("power", b.add("input", value=-2.0), b.add("constant", value=3))
    assert b.value(power) == -8.0
    assert b.result.gradients.keys() == {1, power}
    assert set(b.minimize().x) == {"input"}


def test_an_edit_replays_what_is_there_and_compiles_nothing(monkeypatch):
    b = GraphBuilder(tiny, -41.0, 2.0)
    assert b.value() == 612.5
    gears = []

    def counted(graph, *, gear):
        gears.append(gear)
        return build(graph, gear=gear)

    monkeypatch.setattr("burlab.widgets.builder.evaluate.build", counted)
    b.edit("a", value=3.0)
    b.add("mul", "a", "b")
    assert b.value("a") == 3.0
    assert gears == [], "a number changes no kernel, and there is one for such a product"
    x = b.add("input", value=np.ones((7, 11, 13)))
    b.value(b.add("tanh", x))
    assert set(gears) == {"replay"}


def test_listener_is_called_for_each_change():
    b, heard = GraphBuilder(), []
    b.listen(lambda: heard.append(len(b)))
    b.add("input")
    b.rename(1, "x")
    b.rename(1, "x")  # which changes nothing
    b.undo()
    assert heard == [1, 1, 1]


def trained():
    """A line through three points: an input that moves, a layer, a constant; and a run on it."""
    b = bl.GraphBuilder()
    x = b.add("input", label="x", value=[[1.0], [2.0], [3.0]])
    shift = b.add("constant", label="shift", value=0.5)
    layer = b.add("nn.Linear", b.add("stop_gradient", x), label="line", inputs=1, outputs=1)
    b.add("sum", b.add("square", b.add("sub", layer, b.add("add", x, shift))))
    return b, b.minimize(bl.optim.GD(0.01), steps=3)


def test_result_of_a_run_is_stored_as_one_change():
    b, run = trained()
    before = b.document
    run.hyper["shift"] = 0.25
    run.step(40)
    b.keep(run)
    np.testing.assert_array_equal(b.value("x"), run.x["x"])
    assert b.document[b.key("shift")].option("value") == 0.25
    assert float(b.value()) == pytest.approx(float(bl.compile(run.problem, run.x)(run.x)), rel=1e-12)
    weights = b.document[b.key("line")].option("weights")
    np.testing.assert_array_equal(np.ravel(weights[0]), np.ravel(run.x["line"].weight))
    assert "trained" in b.to_svg()
    for again in (bl.GraphBuilder.from_json(b.to_json()), built_by(b.to_python())):
        assert float(again.value()) == float(b.value())
    np.testing.assert_array_equal(b.minimize().x["line"].weight, run.x["line"].weight)
    b.undo()
    assert b.document is before


def built_by(code):
    names = {}
    exec(code, names)
    return names["b"]


def test_a_layer_that_is_changed_forgets_its_weights():
    b, run = trained()
    b.keep(run)
    b.edit("line", seed=3)
    assert b.document[b.key("line")].option("weights") is None
    b.edit("line", bias=False)
    with pytest.raises(GraphError, match="another layer than the one in the run"):
        b.keep(run)
    with pytest.raises(ArgumentError, match="a run of this builder was expected"):
        b.keep(bl.minimize(lambda x: x**2, 1.0, bl.optim.GD(0.1)))
    b.edit("line", bias=True)
    b.edit("line", weights=[[1.0, 2.0]])
    assert "its weights have the shapes" in b.result.faults[b.key("line")].lower()
