"""grad, value_and_grad, jvp, vjp, jit: arguments, results, errors."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError
from tests.engines import assert_close, jax_or_skip, on

X, Y = np.array([0.5, -1.0, 2.0]), np.array([1.5, 2.5, -0.5])
P = {"w": np.arange(6.0).reshape(2, 3) / 3, "b": [np.ones(2), 0.5]}


def loss(np: Any, p: Any, x: Any, power: int = 2) -> Any:
    return np.sum((p["w"] @ x + p["b"][0]) ** power) * p["b"][1]


def test_argnums() -> None:
    f = lambda a, b, n: np.sum(a * b**n)  # noqa: E731
    first, second = Y**2, 2 * X * Y
    np.testing.assert_allclose(bl.grad(f)(X, Y, 2), first)
    np.testing.assert_allclose(bl.grad(f, argnums=1)(X, Y, 2), second)
    np.testing.assert_allclose(bl.grad(f, argnums=-2)(X, Y, 2), second)
    assert_close(bl.grad(f, argnums=(1, 0))(X, Y, 2), (second, first))
    value, (gradient,) = bl.value_and_grad(f, argnums=(0,))(X, Y, 2)
    assert_close((value, gradient), (f(X, Y, 2), first))


def test_trees_equal_jaxs() -> None:
    jax = jax_or_skip()
    for argnums in (0, 1, (0, 1)):
        ours = bl.value_and_grad(on(np, loss), argnums)(P, X, 3)
        assert_close(ours, jax.value_and_grad(on(jax.numpy, loss), argnums)(P, X, 3))


def test_has_aux() -> None:
    f = lambda x: (np.sum(x**2), {"half": x / 2, "n": 3})  # noqa: E731
    gradient, aux = bl.grad(f, has_aux=True)(X)
    np.testing.assert_allclose(gradient, 2 * X)
    np.testing.assert_allclose(aux["half"], X / 2)
    assert aux["n"] == 3
    (value, aux), gradient = bl.value_and_grad(f, has_aux=True)(X)
    assert_close((value, aux["half"], gradient), (np.sum(X**2), X / 2, 2 * X))


@pytest.mark.parametrize(
    ("f", "args", "error", "words"),
    [
        (lambda x: x * 2, (X,), ShapeError, r"returned shape \(3,\).*np.sum or np.mean, or use bl.jacobian"),
        (lambda x: (np.sum(x), x), (X,), ShapeError, "returned a tuple.*has_aux=True"),
        (lambda x: x > 0, (1.0,), DTypeError, "floating result.*bool"),
        (np.argmax, (X,), DTypeError, "int64"),
        (np.sum, (np.arange(3),), DTypeError, r"argument 0 needs floats, got int64.*x.astype\(float\)"),
        (lambda x: x * 2.0, (3,), DTypeError, r"got int. Pass a float \(3.0\)"),
        (lambda p: p["a"], ({"a": 1.0, "b": 2},), DTypeError, r"argument 0\['b'\] needs floats"),
        (lambda: 1.0, (), ArgumentError, "argnums=0"),
    ],
)
def test_errors_of_grad_name_the_given_value(f: Any, args: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        bl.grad(f)(*args)


def test_independent_argument_has_gradient_zero() -> None:
    assert bl.grad(lambda x: 3.0)(1.0) == 0
    np.testing.assert_array_equal(bl.grad(lambda x, y: np.sum(y))(X, Y), np.zeros(3))
    assert bl.grad(lambda x: x)(2.0) == 1
    np.testing.assert_array_equal(bl.grad(lambda x: x[1])(X), [0, 1, 0])
    value, tangent = bl.jvp(lambda x: np.ones(2), (X,), (Y,))
    assert_close((value, tangent), (np.ones(2), np.zeros(2)))


def test_jvp_and_vjp_are_transposes() -> None:
    f = lambda p, x: {"y": np.tanh(p["w"] @ x), "z": (np.exp(x) * p["b"][1], p["b"][0][::-1])}  # noqa: E731
    rng = np.random.default_rng(2)
    move = {"w": rng.normal(size=(2, 3)), "b": [rng.normal(size=2), 0.25]}
    value, pushed = bl.jvp(f, (P, X), (move, Y))
    assert_close(value, f(P, X))
    back = {"y": rng.normal(size=2), "z": (rng.normal(size=3), rng.normal(size=2))}
    again, pull = bl.vjp(f, P, X)
    assert_close(again, value)
    gp, gx = pull(back)
    left = sum(np.sum(a * b) for a, b in [(back["y"], pushed["y"]), *zip(back["z"], pushed["z"], strict=True)])
    right = np.sum(gp["w"] * move["w"]) + np.sum(gp["b"][0] * move["b"][0]) + gp["b"][1] * 0.25 + np.sum(gx * Y)
    np.testing.assert_allclose(left, right)


def test_integer_arguments_have_no_tangent() -> None:
    i = np.array([2, 0])
    _, tangent = bl.jvp(lambda x, i: x[i] ** 2, (X, i), (Y, None))
    np.testing.assert_allclose(tangent, 2 * X[i] * Y[i])
    _, pull = bl.vjp(lambda x, i, name: x[i] ** 2, X, i, "static")
    gx, gi, name = pull(np.ones(2))
    np.testing.assert_allclose(gx, [2 * X[0], 0, 2 * X[2]])
    assert gi is None
    assert name is None


@pytest.mark.parametrize(
    ("tangents", "error", "words"),
    [
        ((np.ones(4),), ShapeError, r"must have shape \(3,\), got \(4,\)"),
        ((X, X), ShapeError, r"the tree \(\*,\), got the tree \(\*, \*\)"),
        (({"a": X},), ShapeError, r"must be the tree \(\*,\)"),
        ((None,), ShapeError, "must be the tree"),
    ],
)
def test_wrong_tangents(tangents: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        bl.jvp(np.sin, (X,), tangents)


def test_wrong_cotangents() -> None:
    _, pull = bl.vjp(np.sin, X)
    with pytest.raises(ShapeError, match=r"cotangent of vjp must have shape \(3,\), got \(\)"):
        pull(1.0)


def test_transforms_keep_name_and_documentation() -> None:
    def square(x: Any) -> Any:
        """x squared."""
        return x * x

    gradient = bl.grad(square)
    assert gradient.__doc__ == "x squared."
    assert gradient.__name__ == "grad(square)"
    assert bl.jit(square).__name__ == "square"
    assert "square" in repr(gradient)
    assert bl.grad(square) is gradient


def test_jit_of_nothing_traced() -> None:
    assert bl.jit(lambda: 3.0)() == 3
    np.testing.assert_array_equal(bl.jit(np.arange)(4), np.arange(4))


def test_empty_arrays() -> None:
    empty = np.zeros((0, 3))
    value, gradient = bl.value_and_grad(lambda x: np.sum(x**2))(empty)
    assert (value, gradient.shape) == (0, (0, 3))
    assert bl.jacobian(lambda x: x * 2)(np.zeros(0)).shape == (0, 0)
    assert bl.grad(lambda x: np.sum(x @ np.ones((3, 2))))(empty).shape == (0, 3)


def test_lists_of_numbers_are_trees() -> None:
    assert [float(g) for g in bl.grad(lambda xs: xs[0] * xs[1] ** 2)([2.0, 3.0])] == [9, 12]
