"""Random edits: the model stays consistent, all can be undone, and what is exported computes the same."""

import math
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import burlab as bl
from burlab.errors import BurlabError
from burlab.widgets.builder import GraphBuilder
from burlab.widgets.builder.builder_json import from_json, to_json
from burlab.widgets.builder.document import Document
from burlab.widgets.builder.evaluate import evaluate
from burlab.widgets.builder.literals import parse, written
from burlab.widgets.builder.undo_history import UndoHistory

SMOOTH = ("add", "sub", "mul", "tanh", "sin", "sigmoid", "square", "softplus", "arctan")
KINDS = ("input", "constant", *SMOOTH, "sum", "matmul", "reshape", "stack", "nn.Linear", "log", "where", "maximum")
VALUES = ("0.5", "-2", "[1.0, 2.0]", "[[1.0, 0.5], [0.25, -1.0]]", "[[1, 2]]", "nan", "true", "[", "import os")
KEY = st.integers(0, 9)
EDIT = st.one_of(
    st.tuples(st.just("add"), st.sampled_from(KINDS), st.lists(st.one_of(st.none(), KEY), max_size=3)),
    st.tuples(st.just("connect"), KEY, KEY, st.integers(-1, 3)),
    st.tuples(st.just("disconnect"), KEY, st.integers(-1, 3)),
    st.tuples(
        st.just("edit"), KEY, st.sampled_from(("value", "axis", "shape", "dtype", "inputs")), st.sampled_from(VALUES)
    ),
    st.tuples(st.just("reshape"), KEY, st.sampled_from(("[]", "2", "[2, 2]", "x"))),
    st.tuples(st.just("rename"), KEY, st.text(max_size=5)),
    st.tuples(st.just("delete"), KEY),
    st.tuples(st.just("choose"), KEY),
    st.tuples(st.just("move"), st.fixed_dictionaries({}, optional={1: st.just((1.0, 2.0)), 2: st.none()})),
)


def edited(document, edit):
    """The document after an edit; as it was where the edit is refused."""
    name, *arguments = edit
    try:
        result = getattr(document, name)(*arguments)
    except BurlabError:
        return document
    return result[0] if name == "add" else result


@settings(max_examples=30, deadline=None)
@given(st.lists(EDIT, max_size=25))
def test_any_sequence_of_edits_is_consistent_and_can_be_undone(edits):
    history = UndoHistory()
    for edit in edits:
        history = history.do(edited(history.now, edit))
        document = history.now
        assert set(document.order) == set(document.blocks)
        for key, block in document.blocks.items():
            assert all(x is None or x in document.blocks for x in block.operands)
            assert document.order.index(key) > max((document.order.index(x) for x in block.operands if x), default=-1)
        assert document.output is None or document.output in document.blocks
        result = evaluate(document)
        assert {*result.values, *result.faults, *result.waiting} == set(document.blocks)
        assert len(result.values) + len(result.faults) + len(result.waiting) == len(document)
    last = to_json(history.now)
    assert to_json(from_json(last)) == last
    names = {}
    exec(GraphBuilder(history.now).to_python(), names)
    assert to_json(names["b"].document) == to_json(history.now.renumbered())
    while history.can_undo:
        history = history.undone
    assert history.now == Document()
    while history.can_redo:
        history = history.redone
    assert to_json(history.now) == last


@st.composite
def documents(draw):
    """A document of smooth operations on numbers and vectors, with one number as its output."""
    document = Document()
    count = draw(st.integers(1, 3))
    for k in range(count):
        value = draw(st.sampled_from((0.5, -0.25, (0.5, -1.0, 0.25))))
        document, _ = document.add("input", label=f"x{k}", options={"value": value})
    document, _ = document.add("constant", options={"value": draw(st.sampled_from((2, 0.75)))})
    for _ in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(SMOOTH))
        operands = [draw(st.integers(1, len(document))) for _ in range(2 if kind in ("add", "sub", "mul") else 1)]
        document, _ = document.add(kind, operands)
    document, root = document.add("mean", [len(document)])
    return document.choose(root)


@settings(max_examples=25, deadline=None)
@given(documents())
def test_values_and_gradients_are_those_of_the_exported_function(document):
    b = GraphBuilder(document)
    values = [b.value(key) for key in document.inputs]
    kernel = bl.compile(b.function(), *values, argnums=tuple(range(len(values))), gear="replay")
    value, gradients = kernel.value_and_grad(*values)
    assert b.value() == pytest.approx(value, rel=1e-12, abs=1e-300)
    for key, gradient in zip(document.inputs, gradients, strict=True):
        np.testing.assert_allclose(b.gradient(key), gradient, rtol=1e-10, atol=1e-13)


@settings(max_examples=8, deadline=None)
@given(documents())
def test_jax_gives_the_same_gradients(document):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy
    rules = {"sub": jnp.subtract, "mul": jnp.multiply, "sigmoid": jax.nn.sigmoid, "softplus": jax.nn.softplus}

    def f(*xs):
        at = dict(zip(document.inputs, xs, strict=True))
        for key, block in document.blocks.items():
            if block.kind == "constant":
                at[key] = float(block.option("value"))
            elif key not in at:
                rule = rules.get(block.kind) or getattr(jnp, block.kind)
                at[key] = rule(*(at[x] for x in block.operands))
        return at[document.root] * 1.0

    b = GraphBuilder(document)
    values = [jnp.asarray(b.value(key)) for key in document.inputs]
    for key, gradient in zip(document.inputs, jax.grad(f, tuple(range(len(values))))(*values), strict=True):
        np.testing.assert_allclose(b.gradient(key), gradient, rtol=1e-9, atol=1e-12)


ENTRY = st.one_of(st.booleans(), st.integers(-(10**20), 10**20), st.floats())


@given(st.recursive(ENTRY, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=20))
def test_literals_go_through_text(value):
    back = parse(written(value))
    assert repr(back) == repr(value)
    assert not isinstance(value, float) or math.isnan(value) or back == value


@given(st.text(max_size=40))
def test_any_text_is_a_literal_or_refused(text):
    with suppress(BurlabError):  # and no other error
        assert repr(parse(written(parse(text)))) == repr(parse(text))
