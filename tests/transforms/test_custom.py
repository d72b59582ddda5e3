"""custom_vjp, stop_gradient and check_grads. The mutants are wrong callables that the checks must find."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, GradientError, ShapeError
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tracing.trace import trace
from tests.engines import assert_close

X, Y = np.array([0.5, -1.0, 2.0]), np.array([1.5, 2.5, -0.5])
ROWS = np.stack([X, 2 * X, X - 1])


def scaled(x: Any, y: Any, n: int) -> Any:
    return np.sum(np.exp(x) * y**n)


def scaled_rule(g: Any, value: Any, x: Any, y: Any, n: int) -> Any:
    return g * np.exp(x) * y**n, g * np.exp(x) * n * y ** (n - 1), None


def scaled_forward(x: Any, y: Any, n: int) -> Any:
    """The value, and as residuals an exponential that the backward half would compute again, arguments and an int."""
    value = np.exp(x) * y**n
    return np.sum(value), {"share": value, "power": n, "y": y, "nothing": None}


def scaled_backward(residuals: Any, g: Any) -> Any:
    share = g * residuals["share"]
    return share, residuals["power"] * share / residuals["y"], None


RULED = {
    "whole": bl.custom_vjp(scaled, scaled_rule, X, Y, 2),
    "halves": bl.custom_vjp(scaled, scaled_backward, X, Y, 2, forward=scaled_forward),
}


@pytest.mark.parametrize("rule", RULED)
def test_a_rule_takes_the_place_of_the_derivative(rule: str) -> None:
    """In every transform the function with its rule equals the function that it stands for."""
    plain = lambda x, y: scaled(x, y, 3)  # noqa: E731
    ruled = lambda x, y: RULED[rule](x, y, 3)  # noqa: E731
    for transform in (
        lambda f: bl.grad(f, (0, 1))(X, Y),
        lambda f: bl.jvp(f, (X, Y), (Y, X)),
        lambda f: bl.hvp(f)(X, Y, X),
        lambda f: bl.hessian(f, (0, 1))(X, Y),
        lambda f: bl.vmap(bl.grad(f), (0, None))(ROWS, Y),
        lambda f: bl.grad(lambda x: np.sum(bl.vmap(f, (0, None))(x, Y) ** 2))(ROWS),
        lambda f: bl.grad(lambda x: bl.grad(lambda x: bl.grad(f)(x, Y) @ X)(x) @ Y)(X),
        lambda f: bl.jvp(bl.grad(f, (0, 1)), (X, Y), (Y, X)),
        lambda f: bl.grad(lambda x: bl.checkpoint(f)(x, Y) ** 2)(X),
        lambda f: bl.FiniteSum(lambda w, x: f(x * w, Y), (ROWS,)).grad(X),
        lambda f: bl.FiniteSum(lambda w, x: f(x * w, Y), (ROWS,)).per_sample_grads(X, [2, 0]),
    ):
        assert_close(transform(ruled), transform(plain))


def test_the_forward_half_computes_residuals_where_a_derivative_needs_them() -> None:
    """Once, in place of the function; not at all for a value."""
    ruled = RULED["halves"]
    count = lambda f, op: [n.op for n in simplify(trace(f, (X, Y)).graph).nodes].count(op)  # noqa: E731
    assert count(bl.value_and_grad(lambda x, y: ruled(x, y, 3), (0, 1)), "exp") == 1
    told = bl.custom_vjp(np.sin, lambda cosine, g: g * cosine, X, forward=lambda x: (np.sin(x), np.cos(x)))
    assert (count(lambda x, _: told(x), "cos"), count(lambda x, _: told(x), "sin")) == (0, 1)
    assert (count(bl.grad(lambda x, _: np.sum(told(x) ** 2)), "cos")) == 1


def test_wrong_halves() -> None:
    sine, g = (lambda x: (np.sin(x), np.cos(x))), (lambda cosine, g: g * cosine)
    with pytest.raises(GradientError, match="rule of sin differs"):
        bl.custom_vjp(np.sin, lambda cosine, g: -g * cosine, X, forward=sine)
    with pytest.raises(GradientError, match="returns another value than sin on the examples, by up to"):
        bl.custom_vjp(np.sin, g, X, forward=lambda x: (np.sin(x) + 1, np.cos(x)), surrogate=True)
    for wrong in (lambda x: np.sin(x), lambda x: (np.sin(x),), lambda x: [1.0, 2.0, 3.0]):  # noqa: PLW0108
        with pytest.raises(ArgumentError, match=r"forward half <lambda> must return a pair \(y, residuals\)"):
            bl.custom_vjp(np.sin, g, X, forward=wrong)
    for wrong in (lambda x: (x[:2], x), lambda x: (x.astype("float32"), x), lambda x: ((x, x), x)):
        with pytest.raises(ArgumentError, match="must return what sin returns and residuals"):
            bl.custom_vjp(np.sin, g, X, forward=wrong)
    with pytest.raises(ShapeError, match=r"cotangent 0 must have shape \(3,\), got \(2,\)"):
        bl.custom_vjp(np.sin, lambda cosine, g: g[:2], X, forward=sine)


def test_a_graph_with_halves_is_written_and_read() -> None:
    graph = trace(bl.grad(lambda x: RULED["halves"](x, Y, 3)), (X,)).graph
    assert "halves" in {n.op for n in graph.nodes}
    again = bl.Graph.from_json(graph.to_json())
    assert [n.op for n in simplify(again).nodes] == [n.op for n in simplify(graph).nodes]


def clipped() -> Callable[..., Any]:
    return bl.custom_vjp(lambda x: x, lambda g, y, x: np.clip(g, -1, 1), X, surrogate=True)


def test_a_surrogate_differs_on_purpose_wherever_it_is_used() -> None:
    """Its rule, not the derivative of its composition, holds inside of vmap and jit too."""
    clip = clipped()
    assert_close(bl.grad(lambda x: 5 * np.sum(clip(x)))(X), np.ones(3))
    assert_close(bl.grad(lambda r: 5 * np.sum(bl.vmap(clip)(r)))(ROWS), np.ones((3, 3)))
    assert_close(bl.grad(lambda x: 5 * np.sum(bl.jit(clip)(x)))(X), np.ones(3))
    assert_close(bl.vmap(bl.grad(lambda x: 5 * np.sum(clip(x))))(ROWS), np.ones((3, 3)))


def test_integer_and_tree_arguments() -> None:
    def pick(p: Any, i: Any) -> Any:
        return p["table"][i] * p["scale"]

    def rule(g: Any, y: Any, p: Any, i: Any) -> Any:
        hot = (np.arange(3) == i[:, None]).astype(float)
        return {"table": (g * p["scale"]) @ hot, "scale": np.sum(g * p["table"][i])}, None

    p, i = {"table": X, "scale": 2.0}, np.array([2, 2, 0])
    ruled = bl.custom_vjp(pick, rule, p, i)
    assert_close(bl.grad(lambda p: ruled(p, i) @ Y)(p), bl.grad(lambda p: pick(p, i) @ Y)(p))
    assert_close(bl.hessian(lambda p: ruled(p, i) @ Y)(p), bl.hessian(lambda p: pick(p, i) @ Y)(p))


# Wrong rules, which the check on registration must find.
MUTANTS: dict[str, Callable[..., Any]] = {
    "factor": lambda g, y, x: 3 * g * x,
    "sign": lambda g, y, x: -2 * g * x,
    "one entry": lambda g, y, x: 2 * g * x * np.array([1.0, 1.0, 1.0001]),
    "zero": lambda g, y, x: None,
    "ignores the cotangent": lambda g, y, x: 2 * x,
    "of the value": lambda g, y, x: 2 * g * y,
    "permuted": lambda g, y, x: 2 * g * x[::-1],
}


@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_rules_are_found(name: str) -> None:
    with pytest.raises(GradientError, match=r"rule of <lambda> differs.*surrogate=True"):
        bl.custom_vjp(lambda x: x**2, MUTANTS[name], X)
    bl.custom_vjp(lambda x: x**2, lambda g, y, x: 2 * g * x, X)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (lambda g, y, x, z: g, "must give 2 cotangents, one per argument, got 1"),
        (lambda g, y, x, z: (g, g[:2]), r"cotangent 1 must have shape \(3,\), got \(2,\)"),
        (lambda g, y, x, z: (g, (g, g)), "cotangent 1 must have the structure"),
    ],
)
@pytest.mark.parametrize("surrogate", [False, True])
def test_rules_of_wrong_shape(rule: Any, words: str, surrogate: bool) -> None:
    with pytest.raises(ShapeError, match=words):
        bl.custom_vjp(lambda x, z: x * z, rule, X, Y, surrogate=surrogate)


def test_custom_rule_of_an_unsuitable_function_raises() -> None:
    with pytest.raises(ArgumentError, match="needs example arguments"):
        bl.custom_vjp(lambda x: x, lambda g, y, x: g)
    for f in (lambda x: (x, x), lambda x: np.argmax(x), lambda x: {"y": x}):  # noqa: PLW0108
        with pytest.raises(ArgumentError, match="returns one floating array"):
            bl.custom_vjp(f, lambda g, y, x: g, X)


def test_stop_gradient() -> None:
    assert_close(bl.grad(lambda x: np.sum(x * bl.stop_gradient(x)))(X), X)
    assert_close(bl.jvp(lambda x: bl.stop_gradient(x), (X,), (Y,)), (X, np.zeros(3)))  # noqa: PLW0108
    assert_close(bl.grad(lambda p: p["a"] * bl.stop_gradient(p)["b"])({"a": 2.0, "b": 3.0}), {"a": 3.0, "b": 0.0})
    assert_close(bl.vmap(bl.grad(lambda x: np.sum(x * bl.stop_gradient(x))))(ROWS), ROWS)
    assert bl.stop_gradient({"known": 1.5}) == {"known": 1.5}


def test_check_grads_accepts_what_is_right() -> None:
    bl.check_grads(lambda x, y: np.sum(np.tanh(x * y) ** 2), (X, Y), order=3)
    bl.check_grads(lambda p: {"out": [p["w"] @ X, p["b"] * 2]}, {"w": ROWS, "b": 0.5})
    bl.check_grads(lambda x: np.sum(np.sin(x)), X.astype(np.float32))


PLANTED: dict[str, Callable[..., Any]] = {
    name: bl.custom_vjp(lambda x: x**2, rule, X, surrogate=True) for name, rule in MUTANTS.items()
}


@pytest.mark.parametrize("name", PLANTED)
def test_check_grads_finds_planted_mistakes(name: str) -> None:
    with pytest.raises(GradientError, match=r"J v of .*burlab gives .* the check .*largest difference"):
        bl.check_grads(lambda x: np.sum(PLANTED[name](x)), X, order=1)


def test_check_grads_finds_a_mistake_of_second_order() -> None:
    """The first derivative is right, its derivative is not: the rule stops the gradient of its own argument."""
    stale = bl.custom_vjp(lambda x: x**2, lambda g, y, x: 2 * g * bl.stop_gradient(x), X)
    bl.check_grads(lambda x: np.sum(stale(x)), X, order=1)
    with pytest.raises(GradientError, match=r"\(J v of <lambda>\)|\(g J of <lambda>\)"):
        bl.check_grads(lambda x: np.sum(stale(x)), X, order=2)


def test_check_grads_at_a_kink() -> None:
    with pytest.raises(GradientError, match="Near a kink this is expected"):
        bl.check_grads(lambda x: np.sum(np.abs(x)), np.array([1e-4, 1.0]), order=1)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_straight_through_is_the_value_to_the_bit(dtype: str) -> None:
    """Where w + stop_gradient(q - w) strays; with the derivative of the other, in every transform and order."""
    w = np.random.default_rng(0).normal(size=200).astype(dtype)
    known = 0.1 * np.sign(w)
    quantized = lambda w: bl.straight_through(0.1 * np.sign(w), w)  # noqa: E731
    assert (bl.jit(lambda w: w + bl.stop_gradient(0.1 * np.sign(w) - w))(w) != known).any()
    for y in (bl.jit(quantized)(w), quantized(w), bl.vmap(quantized)(w[None])[0]):
        assert y.dtype == dtype
        np.testing.assert_array_equal(y, known)
    f = lambda w: np.sum(quantized(w) ** 3)  # noqa: E731
    np.testing.assert_allclose(bl.grad(f)(w), 3 * known**2, rtol=1e-6)
    np.testing.assert_allclose(bl.hvp(f)(w, w), 6 * known * w, rtol=1e-6)
    np.testing.assert_array_equal(bl.jvp(quantized, (w,), (w,))[1], w)


def test_straight_through_takes_trees_numbers_and_shapes_that_broadcast() -> None:
    assert bl.straight_through(1, 0.25) == 1.0
    assert type(bl.straight_through(1, 0.25)) is np.float64
    p = {"w": X, "b": 0.3}
    rounded = lambda p: bl.straight_through({"w": np.sign(p["w"]), "b": 1}, p)  # noqa: E731
    assert_close(bl.jit(rounded)(p), {"w": np.sign(X), "b": 1.0})
    assert_close(bl.grad(lambda p: np.sum(rounded(p)["w"] ** 2) + rounded(p)["b"])(p), {"w": 2 * np.sign(X), "b": 1.0})
    for f in (lambda s: bl.straight_through(np.floor(X), s), lambda s: bl.straight_through(X > 0, s)):
        assert f(2.0).shape == bl.jit(f)(2.0).shape == (3,)
        assert bl.grad(lambda s: np.sum(f(s)))(2.0) == 3.0  # noqa: B023 - it is called at once
    z = X + 1j * Y
    np.testing.assert_array_equal(bl.jit(lambda z: bl.straight_through(2 * z, z))(z), 2 * z)
    with pytest.raises(ArgumentError, match="trees of different structure"):
        bl.straight_through({"w": X}, X)
    for call in (bl.straight_through, bl.jit(bl.straight_through)):
        with pytest.raises(ShapeError, match=r"straight_through.*shapes"):
            call(X, X[:2])
