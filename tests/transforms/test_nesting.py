"""Transforms nest in any order, and a derivative by one variable never sees another."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import TraceError
from tests.engines import assert_close, jax_or_skip, on

X = np.array([0.3, -1.2, 0.7, 1.9])
V, U = np.array([1.0, 0.5, -2.0, 0.25]), np.array([-0.5, 1.5, 1.0, 0.75])
ROWS = np.stack([X, X * 2 - 1, np.cos(X)])


def scalar(np: Any, x: Any) -> Any:
    """A number, with every kind of node between."""
    y = np.tanh(x * np.roll(x, 1)) + np.cumsum(x)[::-1] / 4
    return np.sum(np.exp(-y * y)) + np.max(x * y) + np.var(y) * np.prod(np.cos(x)) + np.linalg.norm(y) + x[1] ** 5


def vector(np: Any, x: Any) -> Any:
    """Three numbers."""
    m = np.outer(x, np.sin(x)) @ np.where(x > 0, x, x**3)
    return np.stack([m[0] * m[1], np.sum(m), np.log1p(m[2] ** 2)])


# Each row: how both engines nest their transforms, and on what. b: the engine's transforms, f: scalar, g: vector.
NESTED: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "grad": (lambda b, f, g: b.grad(f), (X,)),
    "grad grad": (lambda b, f, g: b.grad(lambda x: b.grad(f)(x) @ V), (X,)),
    "grad grad grad": (lambda b, f, g: b.grad(lambda x: b.grad(lambda x: b.grad(f)(x) @ V)(x) @ U), (X,)),
    "jvp grad": (lambda b, f, g: lambda x: b.jvp(b.grad(f), (x,), (V,)), (X,)),
    "jvp jvp grad": (lambda b, f, g: lambda x: b.jvp(lambda x: b.jvp(b.grad(f), (x,), (V,))[1], (x,), (U,)), (X,)),
    "jvp jvp jvp": (
        lambda b, f, g: lambda x: b.jvp(lambda x: b.jvp(lambda x: b.jvp(f, (x,), (V,))[1], (x,), (U,))[1], (x,), (V,)),
        (X,),
    ),
    "grad jvp": (lambda b, f, g: b.grad(lambda x: b.jvp(f, (x,), (V,))[1]), (X,)),
    "grad jvp by the tangent": (lambda b, f, g: b.grad(lambda v: b.jvp(f, (X,), (v,))[1] ** 2), (V,)),
    "vjp grad": (lambda b, f, g: lambda x: b.vjp(b.grad(f), x)[1](V), (X,)),
    "vjp jvp": (lambda b, f, g: lambda x: b.vjp(lambda x: b.jvp(g, (x,), (V,))[1], x)[1](U[:3]), (X,)),
    "jvp vjp": (lambda b, f, g: lambda x: b.jvp(lambda x: b.vjp(g, x)[1](U[:3])[0], (x,), (V,)), (X,)),
    "hessian": (lambda b, f, g: b.hessian(f), (X,)),
    "grad of hessian": (lambda b, f, g: b.grad(lambda x: (b.hessian(f)(x) ** 2).sum()), (X,)),
    "jacobian": (lambda b, f, g: b.jacobian(g), (X,)),
    "jacobian of jacobian": (lambda b, f, g: b.jacobian(b.jacobian(g)), (X,)),
    "vmap": (lambda b, f, g: b.vmap(g), (ROWS,)),
    "vmap grad": (lambda b, f, g: b.vmap(b.grad(f)), (ROWS,)),
    "grad vmap": (lambda b, f, g: b.grad(lambda r: (b.vmap(f)(r) ** 2).sum()), (ROWS,)),
    "vmap hessian": (lambda b, f, g: b.vmap(b.hessian(f)), (ROWS,)),
    "vmap jvp": (lambda b, f, g: b.vmap(lambda x: b.jvp(g, (x,), (V,))), (ROWS,)),
    "jvp vmap": (lambda b, f, g: lambda r: b.jvp(b.vmap(f), (r,), (r * 2,)), (ROWS,)),
    "vmap vmap": (lambda b, f, g: b.vmap(b.vmap(f)), (np.stack([ROWS, -ROWS]),)),
    "vmap over a captured value": (lambda b, f, g: lambda x: b.vmap(lambda r: f(r * x))(ROWS), (X,)),
    "grad of vmap of grad": (lambda b, f, g: b.grad(lambda r: (b.vmap(b.grad(f))(r) ** 2).sum()), (ROWS,)),
    "hessian of vmap": (lambda b, f, g: b.hessian(lambda x: (b.vmap(lambda r: f(r + x))(ROWS)).sum()), (X,)),
    "jit grad": (lambda b, f, g: b.jit(b.grad(b.jit(f))), (X,)),
    "grad jit grad jit": (lambda b, f, g: b.grad(lambda x: b.jit(b.grad(b.jit(f)))(x) @ V), (X,)),
    "value_and_grad of grad": (lambda b, f, g: b.value_and_grad(lambda x: b.value_and_grad(f)(x)[1] @ V), (X,)),
    "vjp by several": (lambda b, f, g: lambda x: b.vjp(lambda a, c: g(a * c), x, V)[1](U[:3]), (X,)),
}


@pytest.mark.parametrize("name", NESTED)
def test_nested_transforms_equal_jaxs(name: str) -> None:
    jax = jax_or_skip()
    make, args = NESTED[name]
    ours = make(bl, on(np, scalar), on(np, vector))(*args)
    theirs = jax.jit(make(jax, on(jax.numpy, scalar), on(jax.numpy, vector)))(*args)
    assert_close(ours, theirs, 1e-9)


def test_no_perturbation_is_confused() -> None:
    """The classic cases of Siskind and Pearlmutter 2005: an inner derivative must not see the outer variable move."""
    assert bl.grad(lambda x: x * bl.grad(lambda y: x + y)(1.0))(1.0) == 1
    assert bl.grad(lambda x: x * bl.grad(lambda y: x * y)(x))(3.0) == 6
    assert bl.jvp(lambda x: x * bl.jvp(lambda y: x * y, (2.0,), (1.0,))[1], (3.0,), (1.0,))[1] == 6
    assert bl.grad(lambda x: bl.grad(lambda x: x**3)(x * 1.0))(2.0) == pytest.approx(12)
    assert bl.grad(bl.grad(lambda x: x**4))(2.0) == 48
    curry = bl.grad(lambda x: bl.grad(lambda y: bl.grad(lambda z: x * y * z)(5.0) * y)(4.0))
    assert curry(3.0) == 8


def test_a_captured_value_belongs_to_the_trace_around() -> None:
    """The inner call has only known arguments, and still it is no kernel of its own."""
    inner = lambda y: bl.vmap(lambda r: np.sum(r * y))(ROWS)  # noqa: E731
    np.testing.assert_allclose(bl.jit(lambda y: np.sum(inner(y)))(X), np.sum(ROWS @ X))
    np.testing.assert_allclose(bl.grad(lambda y: np.sum(inner(y) ** 2))(X), 2 * ROWS.T @ ROWS @ X)
    np.testing.assert_allclose(bl.jit(lambda y: bl.hvp(lambda x: np.sum(x**2 * y))(X, V))(X), 2 * X * V)
    with pytest.raises(TraceError, match=r"Pass it in as an argument, or use bl\.jit"):
        bl.jit(lambda y: bl.compile(lambda r: r * y, X)(X))(X)


def test_the_same_array_in_two_arguments_is_two_variables() -> None:
    f = bl.grad(lambda a, b: np.sum(a**2 * b), argnums=(0, 1))
    ga, gb = f(X, X)
    np.testing.assert_allclose(ga, 2 * X**2)
    np.testing.assert_allclose(gb, X**2)


def test_a_kernel_in_a_traced_function_is_its_graph() -> None:
    f = on(np, scalar)
    k = bl.compile(f, X, gear="replay")
    for inner in (k, bl.jit(f)):
        assert_close(bl.grad(lambda x, h=inner: h(x) * 2)(X), 2 * bl.grad(f)(X))
        assert_close(bl.hessian(lambda x, h=inner: h(x))(X), bl.hessian(f)(X))
        assert_close(bl.vmap(inner)(ROWS), np.stack([f(r) for r in ROWS]))
    value, gradient = bl.jit(lambda x: k.value_and_grad(x * 1.0))(X)
    assert_close((value, gradient), bl.value_and_grad(f)(X))
    assert_close(bl.grad(lambda x: k.hvp(x, V) @ U)(X), bl.grad(lambda x: bl.hvp(f)(x, V) @ U)(X))


def test_a_gradient_is_an_update_rule() -> None:
    """Differentiating through steps of gradient descent: the derivative by the step size, against differences."""

    def descend(rate: Any, x: Any) -> Any:
        for _ in range(4):
            x = x - rate * bl.grad(on(np, scalar))(x)
        return scalar(np, x)

    bl.check_grads(lambda rate: descend(rate, X / 2), 0.01, order=2)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_high_orders_of_one_variable(order: int) -> None:
    jax = jax_or_skip()

    def f(np: Any, x: Any) -> Any:
        return np.tanh(x) * np.exp(x / 2) + np.arctan2(x, 1 + x * x) + np.log1p(x * x) / x + x**1.5

    ours, theirs = on(np, f), on(jax.numpy, f)
    for _ in range(order):
        ours, theirs = bl.grad(ours), jax.grad(theirs)
    np.testing.assert_allclose(ours(0.7), jax.jit(theirs)(0.7), rtol=1e-9)
