"""hvp, hessian and jacobian: of trees, in both modes, against JAX and against each other."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError
from tests.engines import assert_close, jax_or_skip, on

A = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
B = np.array([0.3, -0.4])


def energy(np: Any, p: Any, c: Any) -> Any:
    z = np.tanh(p["a"] @ np.arange(3.0)) * p["b"] * c
    return np.sum(z**2) + np.max(p["a"]) ** 3 + np.sum(p["b"]) ** 2 * c


def wide(np: Any, p: Any, c: Any) -> Any:
    """More results than arguments: by columns."""
    return {"m": np.outer(p["a"], p["b"]) * c, "s": np.sum(p["a"]) ** 2 * c}


def narrow(np: Any, p: Any, c: Any) -> Any:
    """Fewer results than arguments: by rows."""
    return (np.sum(p["a"] ** 2, axis=1) * p["b"], c**3)


P = {"a": A, "b": B}


@pytest.mark.parametrize("f", [energy])
@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
def test_hessian_of_trees_equals_jaxs(f: Any, argnums: Any) -> None:
    jax = jax_or_skip()
    theirs = jax.jit(jax.hessian(on(jax.numpy, f), argnums))(P, 1.5)
    assert_close(bl.hessian(on(np, f), argnums)(P, 1.5), theirs)


@pytest.mark.parametrize("f", [energy, wide, narrow])
@pytest.mark.parametrize("argnums", [0, 1, (1, 0)])
def test_jacobian_of_trees_equals_jaxs(f: Any, argnums: Any) -> None:
    jax = jax_or_skip()
    theirs = jax.jit(jax.jacrev(on(jax.numpy, f), argnums))(P, 1.5)
    assert_close(bl.jacobian(on(np, f), argnums)(P, 1.5), theirs)


def test_hvp_is_the_hessian_times_v() -> None:
    x, v = np.array([0.5, -1.0, 2.0, 0.1]), np.array([1.0, 2.0, -1.0, 0.5])
    f = lambda x: np.sum(np.sin(x) * np.roll(x, 1) ** 2) + np.prod(x)  # noqa: E731
    np.testing.assert_allclose(bl.hvp(f)(x, v), bl.hessian(f)(x) @ v, rtol=1e-12)
    h = bl.hessian(f)(x)
    np.testing.assert_allclose(h, h.T, rtol=1e-14)


def test_hvp_by_another_argument_and_of_trees() -> None:
    v = {"a": np.ones((2, 3)), "b": np.array([1.0, -1.0])}
    got = bl.hvp(on(np, energy))(P, 1.5, v)
    block = bl.hessian(on(np, energy))(P, 1.5)
    for k in ("a", "b"):
        wanted = np.tensordot(block[k]["a"], v["a"], 2) + block[k]["b"] @ v["b"]
        np.testing.assert_allclose(got[k], wanted, rtol=1e-12)
    assert bl.hvp(lambda x, c: np.sum(x) * c**3, argnums=1)(B, 2.0, 5.0) == pytest.approx(np.sum(B) * 60)
    with pytest.raises(ArgumentError, match=r"hvp is about one argument, got argnums=\(0, 1\). Several are one"):
        bl.hvp(lambda x, y: np.sum(x * y), argnums=(0, 1))


def test_curvature_transforms_with_wrong_arguments_raise() -> None:
    with pytest.raises(ShapeError, match=r"vector of hvp must have shape \(2,\), got \(3,\)"):
        bl.hvp(np.sum)(B, np.ones(3))
    with pytest.raises(ShapeError, match="returned shape"):
        bl.hvp(lambda x: x)(B, B)
    with pytest.raises(ArgumentError, match=r"floating results.*bool"):
        bl.jacobian(lambda x: x > 0)(B)
    with pytest.raises(DTypeError, match="needs floats"):
        bl.jacobian(lambda x: x * 2)(np.arange(3))


def test_shapes_of_scalars() -> None:
    assert bl.jacobian(lambda x: x**2)(3.0) == 6
    assert bl.jacobian(lambda x: np.stack([x, x**2]))(3.0).tolist() == [1, 6]
    assert bl.hessian(lambda x: x**3)(2.0) == 12
    assert bl.jacobian(np.sum)(A).shape == (2, 3)


def test_curvature_transforms_stay_in_float32() -> None:
    x = A.astype(np.float32)
    assert bl.hessian(lambda x: np.sum(x**3))(x).dtype == np.float32
    assert bl.jacobian(np.sin)(x).dtype == np.float32


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: np.logaddexp(x[0], x[1]), [2.0, 2.0]),
        (lambda x: np.logaddexp(0.0, x[0] + x[1] ** 2), [0.0, 0.0]),
        (lambda x: np.hypot(x[0], x[1]), [3.0, 3.0]),
        (lambda x: np.hypot(x[0], x[1]), [-2.0, 0.0]),
        (lambda x: bl.nn.huber(x, np.array([0.0, 0.5])), [0.0, 0.5]),
        (lambda x: bl.logsumexp(x) + bl.softplus(x[0]), [0.0, 0.0]),
        (lambda x: np.linalg.norm(x) + np.var(x), [1.0, 1.0]),
    ],
)
def test_second_derivatives_of_what_is_smooth_where_its_parts_are_not(f: Any, x: Any) -> None:
    x, h = np.array(x), 1e-6
    wanted = [(bl.grad(f)(x + h * e) - bl.grad(f)(x - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(bl.hessian(f)(x), wanted, atol=1e-8)
