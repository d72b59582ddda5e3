"""Loops over rows that are reduced: softmax, norms and cross-entropy are one loop each, with the bits of replay."""

import sys

import numpy as np
import pytest

import burlab as bl
from burlab.compiler import build
from burlab.compiler.ir.library import register
from burlab.compiler.ir.options import PlanOptions
from burlab.compiler.ir.plan import LoopStep
from burlab.compiler.passes import make_plan
from burlab.errors import NonFiniteError
from burlab.graph import vjp
from burlab.graph.linear_nodes import broadcast
from burlab.graph.node import constant
from burlab.graph.rewrite.simplify import simplify
from tests.compiler.pages import at_the_end_of_a_page
from tests.compiler.trace import traced
from tests.transforms.models import MODELS, cross_entropy, normalised

rng = np.random.default_rng(4)


def softmax(x, mask):
    return bl.softmax(np.where(mask, x * 0.5, -1e30))


def norm(x, gain, bias):
    return normalised(np, x, gain, bias)


def entropy(x, targets):
    return cross_entropy(np, x, targets)


def gradient(function, x, *others):
    """A function of x that gives the cotangent of x too."""

    def both(x, *others):
        y = function(x, *others)
        pulled = broadcast(constant(1.0, y.dtype), y.shape) * 0.5 + y * y  # some cotangent that differs by element
        return y, vjp([y], [x], [pulled])[0]

    return both


def plan_of(function, *examples, **options):
    return make_plan(simplify(traced(function, *examples)), PlanOptions(**options))


def kinds(plan):
    return ["loop" if isinstance(s, LoopStep) else s.kernel.symbol.removeprefix("burlab_") for s in plan.steps]


SHAPES = [
    (8, 24),
    (10, 4, 5),
    (3, 4, 8, 8),
    (6, 8, 8),
    (3, 65),
    (17, 5),
    (2, 3),
    (40, 19),
    (5, 1, 9),
    (33, 512),
    (7, 16),
]


def arguments(function, shape, dtype):
    x = rng.normal(size=shape).astype(dtype)
    if function is softmax:
        return x, rng.random(shape[-2:]) < 0.7
    if function is entropy:
        return x.reshape(-1, shape[-1]), rng.integers(0, shape[-1], x.size // shape[-1])
    return x, *(rng.normal(size=shape[-1]).astype(dtype) for _ in range(2))


def test_compositions_are_one_loop():
    x, gain = np.zeros((8, 24)), np.zeros(24)
    assert kinds(plan_of(softmax, x, np.ones((8, 24), bool))) == ["loop"]
    assert kinds(plan_of(norm, x, gain, gain)) == ["loop"]
    assert kinds(plan_of(lambda x: np.sum(x * x, axis=-1), x)) == ["loop"]
    assert kinds(plan_of(lambda x: x - bl.logsumexp(x, axis=(1, 2), keepdims=True), np.zeros((5, 2, 9)))) == ["loop"]
    assert kinds(plan_of(lambda x: np.max(np.abs(x), axis=1) * np.min(x, axis=1), x)) == ["loop"]


def test_so_are_their_gradients():
    x, gain = np.zeros((8, 24)), np.zeros(24)
    assert kinds(plan_of(gradient(softmax, x), x, np.ones((8, 24), bool))) == ["loop"]
    assert kinds(plan_of(gradient(norm, x), x, gain, gain)) == ["loop"]


def test_a_reduction_alone_is_the_librarys():
    assert kinds(plan_of(lambda x: np.sum(x, axis=1), np.zeros((8, 24)))) == ["sum_float64"]
    assert "loop" in kinds(plan_of(lambda x: np.sum(x * 2.0, axis=1), np.zeros((8, 513))))
    assert "sum_float64" in kinds(plan_of(lambda x: np.sum(x * 2.0, axis=1), np.zeros((8, 513))))


def test_reader_of_a_whole_array_starts_a_new_loop():
    plan = plan_of(lambda x: np.sum(x * 2.0, axis=1)[::-1, None] + x * 2.0, np.zeros((8, 24)))
    assert kinds(plan) == ["loop", "loop"]
    plan = plan_of(lambda x: np.sum((x * 2.0).T + x, axis=1) + np.sum(x, axis=1), np.zeros((8, 8)))
    assert kinds(plan) == ["loop", "loop"]


def test_the_steps_of_a_gpt():
    """Twelve blocks of the same kind would add to both numbers: what is counted is the waste in between."""
    function, p, data = MODELS["gpt"]
    plan = bl.compile(lambda p: function(np, p, *data), p).gradient_graph
    steps = kinds(make_plan(plan))
    assert steps.count("loop") <= 32, steps.count("loop")
    assert sum("sum_float" in s or "reduce" in s for s in steps) <= 2


@pytest.mark.parametrize(("shape", "dtype"), [(s, ("float32", "float64")[k % 2]) for k, s in enumerate(SHAPES)])
@pytest.mark.parametrize("function", [softmax, norm, entropy])
def test_both_gears(function, shape, dtype):
    examples = arguments(function, shape, dtype)
    graph = traced(gradient(function, examples[0]), *examples)
    exact = build(traced(gradient(function, examples[0]), *(_double(a) for a in examples)), gear="replay")
    exact = exact(*(_double(a) for a in examples))
    for strict in (True, False):
        compiled, replayed = (build(graph, gear=gear, strict=strict)(*examples) for gear in ("compiled", "replay"))
        for a, b, c in zip(compiled, replayed, exact, strict=True):
            assert not strict or a.tobytes() == b.tobytes()
            np.testing.assert_allclose(a, b, rtol=300 * np.finfo(dtype).eps, atol=30 * np.finfo(dtype).eps)
            np.testing.assert_allclose(a, c, rtol=3e-4 if dtype == "float32" else 1e-12, atol=1e-5)


REDUCED = {
    "sum": lambda x: np.sum(np.exp(x), axis=-1),
    "max": lambda x: np.max(x * 2.0, axis=-1),
    "min": lambda x: np.min(x * 2.0, axis=-1),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", REDUCED)
def test_a_row_has_the_bits_of_the_library(name, dtype):
    """Rows of a loop are reduced eight at a time, the library's one by one."""
    for rows, width in [
        (2, 2),
        (9, 7),
        (8, 8),
        (23, 13),
        (19, 12),
        (3, 65),
        (2, 512),
    ]:
        x = rng.normal(size=(2, rows, width)).astype(dtype)
        x[rng.random(x.shape) < 0.1], x[rng.random(x.shape) < 0.1] = -0.0, 0.0
        if name == "sum":
            x[rng.random(x.shape) < 0.05] = -np.inf
        else:
            x[0, 0, 0] = np.nan
        strict = rows % 2 == 0
        got, want = (build(traced(REDUCED[name], x), gear=g, strict=strict)(x)[0] for g in ("compiled", "replay"))
        assert got.tobytes() == want.tobytes(), (rows, width, strict)


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages as Linux does")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_row_loops_stay_inside_their_arrays(dtype):
    for rows, width in [(3, 2), (5, 5), (8, 8), (9, 13), (7, 24), (17, 65)]:
        x = at_the_end_of_a_page(rng.normal(size=(rows, width)).astype(dtype))
        exe = build(traced(lambda x: x - np.max(x, axis=-1, keepdims=True) * np.sum(x, axis=-1, keepdims=True), x))
        out = at_the_end_of_a_page(np.empty_like(x))
        exe(x, out=(out,))
        want = x - x.max(-1, keepdims=True) * x.sum(-1, keepdims=True)
        np.testing.assert_allclose(out, want, rtol=0, atol=1e3 * np.finfo(dtype).eps)


def _double(a):
    return a.astype(float) if a.dtype.kind == "f" else a


@pytest.mark.parametrize("width", [5, 8, 24, 65, 300])
@pytest.mark.parametrize("function", [softmax, norm])
def test_a_row_has_the_same_bits_among_any_others(function, width):
    x, *others = arguments(function, (21, width), "float32")
    if function is softmax:
        others = [np.ones((1, width), bool)]
    many = bl.compile(function, x, *others)(x, *others)
    for k in (1, 2, 7):
        few = bl.compile(function, x[:k], *others)(x[:k], *others)
        np.testing.assert_array_equal(few, many[:k])


def over_mean(x):
    return np.sum(x / np.mean(x, axis=-1, keepdims=True))


def over_norm(x):
    return np.sum(np.tanh(x / np.sqrt(np.sum(x * x, axis=-1, keepdims=True) + 0.1)))


def less_its_softmax(x):
    e = np.exp(x)
    return np.sum((x - e / np.sum(e, axis=-1, keepdims=True)) ** 3)


@pytest.mark.parametrize("function", [over_mean, over_norm, less_its_softmax])
@pytest.mark.parametrize("shape", [(2, 4, 1), (2, 4, 1, 1), (2, 1, 4, 1), (3, 1, 1), (2, 4, 0), (0, 4, 1), (2, 40, 1)])
def test_axes_of_one_and_none(function, shape):
    """A value computed in a loop is also read through a view of itself: that of a sum over an axis of size 1."""
    X = rng.normal(size=shape) + 3.0
    several = bl.vmap(bl.value_and_grad(function))
    values, gradients = bl.compile(several, X)(X)
    one = bl.compile(bl.value_and_grad(function), X[0], gear="replay") if len(X) else None
    assert gradients.shape == X.shape
    for k, x in enumerate(X):
        value, gradient = one(x)
        np.testing.assert_allclose(values[k], value, rtol=1e-13)
        np.testing.assert_allclose(gradients[k], gradient, rtol=1e-12, atol=1e-14)


def test_nan_and_zeros_in_rows():
    x = rng.normal(size=(6, 24))
    x[0, 3], x[1], x[2, 23], x[3, 0] = np.nan, -0.0, np.inf, -np.inf

    def extremes(x):
        return np.max(x + 0.0, axis=1) - 0.0, np.min(x * 1.0, axis=1) * 1.0, np.sum(x * 1.0, axis=1) * 1.0

    compiled, replayed = (bl.compile(extremes, x, gear=gear)(x) for gear in ("compiled", "replay"))
    with np.errstate(invalid="ignore"):
        for a, b, c in zip(compiled, replayed, (x.max(1), x.min(1), x.sum(1)), strict=True):
            assert a.tobytes() == b.tobytes()
            np.testing.assert_allclose(a, c)


@pytest.mark.parametrize("gear", ["compiled", "replay"])
def test_check_finite_checks_rows(gear):
    k = bl.compile(lambda x: np.log(np.sum(x * 2.0, axis=1)), np.ones((6, 24)), gear=gear, check_finite=True)
    k(np.ones((6, 24)))
    x = np.ones((6, 24))
    x[4] = 0
    with pytest.raises(NonFiniteError, match=r"log.*element \[4\]"):
        k(x)
    k = bl.compile(lambda x: x * 0.0 + 1.0 / np.sum(x * 2.0, axis=1)[:, None], x, gear=gear, check_finite=True)
    with pytest.raises(NonFiniteError, match="sum"):
        k(np.full((6, 24), 1e307))


@pytest.mark.parametrize(("model", "shared"), [("gpt", 2), ("mlp", 0)])
def test_partials_are_computed_where_the_backward_pass_needs_them(model, shared):
    """None is stored, but those that two loops of the backward pass share."""
    function, p, data = MODELS[model]
    graph = bl.compile(lambda p: function(np, p, *data), p).gradient_graph
    loops = [step for step in make_plan(graph).steps if isinstance(step, LoopStep) and step.shape]
    assert sum("'" in n.op for step in loops for n in step.nodes) > 2
    assert sum("'" in n.op for step in loops for n in step.stores) <= shared


def test_loops_are_not_delayed_where_that_needs_more_memory():
    """The sum of two arrays that nobody else needs is taken at once, though the product waits: else both would stay."""

    def late(x, y):
        product = np.exp(x) @ y
        return (np.tanh(x) + np.cumsum(x, 1)) * np.sum(product @ product)

    plan = plan_of(late, np.zeros((8, 8)), np.zeros((8, 8)))
    found = [[n.op for n in step.nodes] for step in plan.steps if isinstance(step, LoopStep)]
    assert any("tanh" in ops and "add" in ops for ops in found)
    assert not any("add" in ops and "mul" in ops for ops in found)
    x, y = rng.normal(size=(2, 8, 8))
    np.testing.assert_allclose(bl.compile(late, x, y)(x, y), late(x, y), rtol=1e-12)


@pytest.mark.parametrize(("size", "width"), [(65, 16), (24, 8), (8, 8), (12, 4), (27, 8), (17, 16), (5, 4), (96, 16)])
def test_short_rows_leave_few_remainder_iterations(monkeypatch, size, width):
    from burlab.compiler.codegen import simd

    monkeypatch.setattr(simd, "register", lambda: 64)
    assert f"vectorize_width({width}) " in simd.lanes_pragma(size, 4)


def early(h):
    e = np.exp(h)
    return e, e / np.sum(e, axis=-1, keepdims=True)


def late(h):
    twice = h * 2.0
    return twice, h + np.sum(twice, axis=-1, keepdims=True)


@pytest.mark.parametrize(("function", "heir"), [(early, "exp"), (late, "add")])
def test_a_result_takes_the_place_of_what_is_read_no_more(function, heir):
    def products(a, b):
        return tuple(y @ b for y in function(a @ b))

    a, b = rng.normal(size=(8, 24)), rng.normal(size=(24, 24))
    plan = plan_of(products, a, b)
    (loop,) = (s for s in plan.steps if isinstance(s, LoopStep))
    place = next(plan.allocations[n] for n in plan.graph.nodes if n.op == "contract")
    assert [n.op for n in loop.stores if plan.allocations[n] == place] == [heir]
    for got, want in zip(build(plan.graph)(a, b), products(a, b), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-11)


def long_rows(x):
    """Sums of neighbours and of columns with weights: rows of odd lengths, whose functions fill registers."""
    weights = np.arange(1.0, x.shape[-1])
    near = np.exp(x[..., 1:]) * np.tanh(x[..., :-1]) * np.expm1(x[..., 1:])
    return np.sum(near, axis=-1), np.max(np.exp(x / 3) * np.tanh(x), axis=-1), np.sum(near * np.exp(-weights), axis=-1)


@pytest.mark.parametrize("shape", [(1, 10), (5, 10), (16, 10), (17, 10), (32, 10), (4, 16, 12), (2, 33, 10), (40, 19)])
def test_rows_of_odd_lengths_are_walked_as_one(shape):
    x = at_the_end_of_a_page(rng.normal(size=shape))
    compiled, replayed = (bl.compile(long_rows, x, gear=gear, strict=True)(x) for gear in ("compiled", "replay"))
    for a, b in zip(compiled, replayed, strict=True):
        assert a.tobytes() == b.tobytes()


def test_a_walk_over_rows_with_gaps_ends_with_the_last_row():
    """Between two rows it computes what nobody reads; behind the last one there may be no memory."""
    source = bl.compile(lambda x: long_rows(x)[0], np.zeros((33, 10))).source
    if register() == 64:
        assert "i < 10 * m - (b + 16 < 33 ? 0 : 1)" in source
