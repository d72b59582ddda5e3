"""Formulas as blocks: values and gradients of NumPy's own, names that become inputs, and errors that say where."""

import itertools

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.widgets.builder.block_palette import palette
from burlab.widgets.builder.builder_commands import BuilderCommands
from burlab.widgets.builder.document import Document
from burlab.widgets.builder.evaluate import evaluate
from burlab.widgets.builder.formula_blocks import EXAMPLES, FormulaError, add_formula
from burlab.widgets.builder.typed_values import read_typed

FUNCTIONS = ("exp", "tanh", "sin", "cos", "arctan", "np.sinh", "square")
NAMES = ("a", "b", "c")


def random_formula(rng, depth=4):
    kind = rng.integers(7) if depth else rng.integers(2)
    inner = lambda: random_formula(rng, depth - 1)  # noqa: E731 - each call draws another
    if kind == 0:
        return str(NAMES[rng.integers(3)])
    if kind == 1:
        return repr(round(float(rng.uniform(0.5, 2.0)), 3))
    if kind == 2:
        return f"-({inner()})"
    if kind == 3:
        return f"{FUNCTIONS[rng.integers(len(FUNCTIONS))]}(0.3 * ({inner()}))"
    if kind == 4:
        return f"({inner()}) ** 2"
    if kind == 5:
        return f"({inner()}) / (1.5 + ({inner()}) ** 2)"
    return f"({inner()}) {rng.choice(['+', '-', '*'])} ({inner()})"


@pytest.mark.parametrize("seed", range(40))
def test_blocks_of_a_formula_have_the_value_and_the_gradient_of_python(seed):
    rng = np.random.default_rng(seed)
    text = f"a + b * c + {random_formula(rng)}"
    at = rng.normal(size=3)
    given = "".join(f"{name} = {float(value)!r}; " for name, value in zip(NAMES, at, strict=True))
    document = add_formula(Document(), given + text)
    result = evaluate(document)
    words = {"np": np} | {name.removeprefix("np."): getattr(np, name.removeprefix("np.")) for name in FUNCTIONS}
    f = eval(f"lambda a, b, c: {text}", words)
    np.testing.assert_allclose(result.values[document.root], f(*at), rtol=1e-12)
    keys = {block.label: key for key, block in document.blocks.items() if block.label}
    for name, wanted in zip(NAMES, bl.grad(f, argnums=(0, 1, 2))(*at), strict=True):
        np.testing.assert_allclose(result.gradients[keys[name]], wanted, rtol=1e-10, atol=1e-13)


def test_the_tiny_graph_of_the_paper_is_one_action():
    builder = bl.GraphBuilder()
    BuilderCommands(builder).apply({"type": "formula", "text": EXAMPLES["BurTorch's tiny graph"]})
    assert float(builder.value()) == 612.5
    assert (float(builder.gradient("a")), float(builder.gradient("b"))) == (-35.0, 1050.0)
    builder.undo()
    assert len(builder) == 0


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES)
def test_examples_have_values_and_gradients(text):
    result = evaluate(document := add_formula(Document(), text))
    assert not result.faults
    assert np.ndim(result.values[document.root]) == 0
    inputs = [key for key, block in document.blocks.items() if block.kind == "input"]
    assert all(key in result.gradients for key in inputs)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("x if x > 0 else -x", ["where", "greater", "neg"]),
        ("np.log1p(np.exp(x))", ["log1p", "exp"]),
        ("linalg.norm(x)", ["norm"]),
        ("mse(p, t)", ["nn.mse"]),
        ("sum(X, axis=0)", ["sum"]),
        ("x.T @ W", ["transpose", "matmul"]),
        ("X[0]", ["element"]),
        ("X = ones(2, 3); softmax(X, -1)", ["softmax"]),
        ("einsum(X, Y, subscripts='ij,jk->ik')", ["einsum"]),
    ],
)
def test_spellings(text, kinds):
    made = [block.kind for block in add_formula(Document(), text).blocks.values()]
    assert set(kinds) <= set(made)


def test_options_of_an_operation_follow_its_arguments():
    document = add_formula(Document(), "X = [[1, 2], [3, 4]]; sum(X, 0)")
    assert evaluate(document).values[document.root].tolist() == [4.0, 6.0]


def test_names_are_those_of_the_document():
    builder = bl.GraphBuilder()
    x = builder.add("input", label="x", value=3.0)
    builder.do(add_formula(builder.document, "y = x ** 2; y + x"))
    assert float(builder.value()) == 12.0
    assert float(builder.gradient(x)) == 7.0
    assert float(builder.value("y")) == 9.0


def test_new_names_in_products_are_arrays():
    document = add_formula(Document(), "logsumexp(W @ x + b)")
    assert not evaluate(document).faults
    shapes = {block.label: np.shape(block.option("value")) for block in document.blocks.values() if block.label}
    assert shapes == {"W": (2, 2), "x": (2,), "b": ()}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("foo(x)", r'"foo" \(character 1\) is an unknown operation'),
        ("1 + softmaxx(x)", r'"softmaxx" \(character 5\) is an unknown operation. Similar are: softmax'),
        ("x +", "cannot be read at character 4"),
        ("", "the formula is empty"),
        ("a % b", r"uses an operator that has no block. There are \+ - \* / \*\* @"),
        ("maximum(x)", r'"maximum\(x\)" \(character 1\) lacks y: maximum takes x, y'),
        ("tanh(x, 1)", r"has 2 arguments, and tanh takes 1"),
        ("sum(x, axis='a')", r"does not fit: axis is a, expected an axis"),
        ("sum(x, axes=1)", r"does not fit: sum has no option 'axes'"),
        ("x = 1\nimport os", r'"import os" \(line 2, character 1\) is not an expression'),
        ("__import__('os').system('ls')", "is an unknown operation"),
        ("lambda: 0", "cannot be used here"),
        ("x" * 10_001, "at most 10,000 characters"),
        ("(" * 3000 + "x" + ")" * 3000, "cannot be read"),
    ],
)
def test_errors_say_where_and_what(text, why):
    before = Document()
    with pytest.raises(FormulaError, match=why):
        add_formula(before, text)


def test_a_refused_formula_changes_nothing():
    builder = bl.GraphBuilder("x ** 2")
    commands = BuilderCommands(builder)
    before = builder.document
    commands.apply({"type": "formula", "text": "y * nope(x)"})
    assert builder.document is before
    assert "is an unknown operation" in commands.refused[1]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1/3", 1 / 3),
        ("pi", np.pi),
        ("-2 * pi", -2 * np.pi),
        ("1, 2, 3", (1, 2, 3)),
        ("([1, 2], [3, pi])", ((1, 2), (3, np.pi))),
        ("ones(3)", (1.0, 1.0, 1.0)),
        ("zeros(1, 2)", ((0.0, 0.0),)),
        ("2x3", ((1.0,) * 3,) * 2),
        ("2 × 1", ((1.0,), (1.0,))),
        ("1e-3", 1e-3),
        ("2**10", 1024),
    ],
)
def test_values_as_people_type_them(text, value):
    assert read_typed(text, filled=True) == value
    builder = bl.GraphBuilder()
    key = builder.add("input")
    builder.edit(key, value=text)
    np.testing.assert_array_equal(builder.value(key), np.array(value, float))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1/0", "cannot be computed"),
        ("10**100000", "an exponent must be at most 1,000"),
        ("(-1)**0.5", "a real number"),
        ("ones(100000, 100000)", "is too large for a block"),
        ("ones(1.5)", "sizes must be whole numbers"),
        ("[1, 2] * 2", "takes single numbers"),
        ("__import__('os')", "cannot be read"),
        ("x + 1", "cannot be read"),
    ],
)
def test_values_that_are_none(text, why):
    with pytest.raises(ArgumentError, match=why):
        read_typed(text, filled=True)


def test_sizes_of_shapes():
    builder = bl.GraphBuilder()
    key = builder.add("input")
    builder.reshape(key, "3x4")
    assert builder.value(key).shape == (3, 4)
    assert float(builder.value(builder.add("reshape", key, shape="2x6"))[0, 0]) == 1.0


def test_shapes_that_do_not_fit_are_said_in_words():
    document = add_formula(Document(), "a = ones(3); b = ones(4); a + b")
    assert evaluate(document).faults[document.root].startswith("3 numbers met 4 numbers. Add needs shapes")
    document = add_formula(Document(), "a = ones(2, 3); b = ones(2); a @ b")
    assert evaluate(document).faults[document.root].startswith("2 rows of 3 met 2 numbers. ")


def test_new_inputs_of_the_widget_are_named():
    builder = bl.GraphBuilder()
    commands = BuilderCommands(builder)
    for _ in range(4):
        commands.apply({"type": "add", "kind": "input"})
    assert [block.label for block in builder.document.blocks.values()] == ["x", "y", "z", "x1"]


def test_a_group_of_the_palette_has_one_heading():
    groups = [row.group for row in palette().values()]
    assert sum(a != b for a, b in itertools.pairwise(groups)) == len(set(groups)) - 1
