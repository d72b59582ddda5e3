"""Exports of a builder as NumPy, LaTeX and C++: the function that comes out is the function that was built."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import GraphError
from burlab.widgets.builder.block_palette import palette
from burlab.widgets.builder.builder_commands import FORMATS
from burlab.widgets.builder.document import Document
from burlab.widgets.builder.evaluate import evaluate, known
from burlab.widgets.builder.exporting import cpp_of
from burlab.widgets.builder.formula_blocks import EXAMPLES, add_formula
from burlab.widgets.builder.latex_text import latex_of
from burlab.widgets.builder.numpy_text import numpy_of
from tests.widgets.builder.test_formula import random_formula

mathtext = pytest.importorskip("matplotlib.mathtext")
VALUES = ([0.5, 1.5], [[1.0, 2.0], [3.0, 5.0]], 0.7, [1, 0], 1)
OPTIONS = {"subscripts": "ij,jk->ik"}


def inputs_of(document):
    return [np.asarray(known(document[key])) for key in document.inputs]


def exported(document):
    """Return the function that the exported text defines."""
    space = {}
    exec(numpy_of(document), space)
    return space["loss"]


def applied(kind):
    """Return a document in which a block of this kind has a value."""
    for value in VALUES:
        for last in VALUES:
            document, keys = Document(), []
            for port in range(len(kind.ports) if not kind.many else 2):
                given = last if port == len(kind.ports) - 1 and len(kind.ports) > 1 else value
                dtype = "float64" if np.asarray(given).dtype.kind == "f" else "int64"
                document, key = document.add("input", options={"value": given, "dtype": dtype})
                keys.append(key)
            options = {o.name: OPTIONS[o.name] for o in kind.options if o.name in OPTIONS}
            options |= {"shape": (2, 2)} if kind.name == "broadcast_to" else {}
            document, key = document.add(kind.name, keys, options=options)
            if key in evaluate(document).values:
                return document
    raise AssertionError(f"no arguments are known for {kind.name}")


WRITTEN = [kind for kind in palette().values() if not kind.is_leaf and kind.layer is None and kind.group != "graph"]


@pytest.mark.parametrize("kind", WRITTEN, ids=lambda kind: kind.name)
def test_every_kind_of_the_palette_is_written(kind):
    document = applied(kind)
    wanted = evaluate(document).values[document.root]
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(exported(document)(*inputs_of(document)), wanted, rtol=1e-12)
    mathtext.MathTextParser("path").parse(f"${latex_of(document)}$")


@pytest.mark.parametrize("seed", range(30))
def test_the_exported_function_has_the_value_and_the_gradient_of_the_blocks(seed):
    document = add_formula(Document(), f"d = a * b; {random_formula(np.random.default_rng(seed))} + d * d + c")
    result, values = evaluate(document), inputs_of(document)
    f = exported(document)
    np.testing.assert_allclose(f(*values), result.values[document.root], rtol=1e-12)
    gradients = bl.grad(f, argnums=tuple(range(len(values))))(*values)
    for key, gradient in zip(document.inputs, gradients, strict=True):
        np.testing.assert_allclose(gradient, result.gradients[key], rtol=1e-10, atol=1e-13)


def test_what_several_blocks_read_has_a_name():
    document = add_formula(Document(), "d = a * b; d * d")
    assert numpy_of(document).endswith("def loss(a, b):\n    d = a * b\n    return d * d")
    assert latex_of(document) == "\\begin{aligned}\nd &= a \\cdot b \\\\\nf &= d \\cdot d\n\\end{aligned}"


@pytest.mark.parametrize(
    ("formula", "numpy", "latex"),
    [
        ("(a + b) * c", "(a + b) * c", r"(a + b) \cdot c"),
        ("a - (b - c)", "a - (b - c)", "a - (b - c)"),
        ("a / (b / c)", "a / (b / c)", r"\frac{a}{\frac{b}{c}}"),
        ("(a ** b) ** c", "(a ** b) ** c", "{({a}^{b})}^{c}"),
        ("a ** b ** c", "a ** (b ** c)", "{a}^{{b}^{c}}"),
        ("-a ** 2", "-a ** 2", "-{a}^{2}"),
        ("(-a) ** 2", "(-a) ** 2", "{(-a)}^{2}"),
        ("exp(-theta)", "np.exp(-theta)", r"e^{-\theta}"),
        ("relu(x_1 - 1e-9)", "bl.relu(x_1 - 1e-09)", r"\operatorname{relu}\left(x_{1} - 1 \cdot 10^{-9}\right)"),
        ("where(a > b, a, b)", "np.where(a > b, a, b)", r"\operatorname{where}\left(a > b, a, b\right)"),
    ],
)
def test_parentheses_and_names(formula, numpy, latex):
    document = add_formula(Document(), formula)
    assert numpy_of(document).rpartition("return ")[2] == numpy
    assert latex_of(document) == latex


def test_labels_that_are_no_names_are_replaced():
    document, x = Document().add("input", label="my value")
    document, y = document.add("input", label="np")
    document, _ = document.add("add", [x, y])
    document, z = document.add("input", label="lambda")
    document, _ = document.add("mul", [document.root, z])
    assert "def loss(x, np2, x2):" in numpy_of(document)
    assert exported(document)(1.0, 2.0, 3.0) == 9.0


def test_layers_have_no_text_in_numpy():
    document, x = Document().add("input", options={"value": [1.0, 2.0]})
    document, _ = document.add("nn.Linear", [x])
    with pytest.raises(GraphError, match="Export Python or JSON instead"):
        numpy_of(document)


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES)
def test_examples_are_exported_in_every_format(text):
    builder = bl.GraphBuilder(text)
    for name, write in FORMATS.items():
        assert len(write(builder)) > 30, name


def test_cpp_is_a_kernel():
    assert "#include" in cpp_of(add_formula(Document(), EXAMPLES["BurTorch's tiny graph"]))
