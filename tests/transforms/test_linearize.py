"""linearize, jacfwd, jacrev and ggn_vp against JAX; trees as they are flattened, mapped and ravelled."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError
from tests.engines import assert_close, jax_or_skip, on
from tests.transforms.scans import arguments, rnn

A = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
P = {"a": A, "b": np.array([0.3, -0.4])}
V = {"a": np.cos(A), "b": np.array([1.0, 2.0])}


def model(np: Any, p: Any, x: Any) -> Any:
    hidden = np.tanh(p["a"] @ x)
    return {"z": hidden * p["b"], "s": np.sum(p["a"] ** 2) * hidden[0]}


def loss(np: Any, z: Any, y: Any) -> Any:
    return np.sum(np.exp(z["z"] - y)) + z["s"] ** 4 + np.sum(z["z"]) * z["s"]


X, Y = np.array([0.2, -0.7, 1.1]), np.array([0.5, 0.1])


@pytest.mark.parametrize("mode", ["jacfwd", "jacrev"])
@pytest.mark.parametrize("argnums", [0, 1, (1, 0)])
def test_jacobians_of_trees_equal_jaxs(mode: str, argnums: Any) -> None:
    jax = jax_or_skip()
    theirs = getattr(jax, mode)(on(jax.numpy, model), argnums)(P, X)
    assert_close(getattr(bl, mode)(on(np, model), argnums)(P, X), theirs)
    with pytest.raises(ArgumentError, match=f"{mode} needs floating results"):
        getattr(bl, mode)(lambda x: x > 0)(X)
    with pytest.raises(DTypeError, match=f"{mode} by argument 0 needs floats"):
        getattr(bl, mode)(lambda x: x * 2)(np.arange(3))


@pytest.mark.parametrize(("mode", "sweep"), [("jacfwd", "jvp"), ("jacrev", "vjp")])
def test_a_mode_sweeps_in_its_direction(mode: str, sweep: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from burlab.graph.autodiff import sweep as sweeps

    used: list[str] = []
    for name in ("jvp", "vjp"):
        plain = getattr(sweeps, name)
        monkeypatch.setattr(sweeps, name, lambda *args, f=plain, name=name: (used.append(name), f(*args))[1])
    getattr(bl, mode)(lambda x: np.sin(x) * x[::-1])(X)
    assert set(used) == {sweep}


def test_jacobians_of_jacobians_are_third_derivatives() -> None:
    jax = jax_or_skip()

    def f(np: Any, x: Any) -> Any:
        return np.sin(x) * np.prod(x)

    theirs = jax.jit(jax.jacfwd(jax.jacrev(jax.jacfwd(on(jax.numpy, f)))))(X)
    assert_close(bl.jacfwd(bl.jacrev(bl.jacfwd(on(np, f))))(X), theirs)


def test_linearize_equals_jaxs() -> None:
    jax = jax_or_skip()
    y, push = bl.linearize(on(np, model), P, X)
    jax_y, jax_push = jax.linearize(on(jax.numpy, model), P, X)
    assert_close(y, jax_y)
    for scale in (1.0, -2.5):
        tangents = ({k: v * scale for k, v in V.items()}, X * scale)
        assert_close(push(*tangents), jax_push(*tangents))


def test_the_point_of_a_linear_function_stays() -> None:
    """Neither the array that it was made at, nor the value, is read later."""
    x = X.copy()
    y, push = bl.linearize(np.exp, x)
    before = push(np.ones(3))
    x[:], y[:] = 0, 0
    np.testing.assert_array_equal(push(np.ones(3)), before)


def test_products_cost_the_linear_part_alone() -> None:
    """The kernel of the products has no transcendental operation: its values were kept."""
    f = lambda x: np.tanh(np.exp(x) @ A.T)  # noqa: E731
    _, push = bl.linearize(f, X)
    kernel = bl.compile(push, X)
    assert not {n.op for n in kernel.graph.nodes} & {"exp", "tanh"}
    np.testing.assert_allclose(kernel(V["a"][0]), bl.jacobian(f)(X) @ V["a"][0], rtol=1e-12)


def test_linearize_in_a_trace_and_of_a_scan() -> None:
    jax = jax_or_skip()
    xs, w, h = arguments(5)

    def ends(np: Any, linearize: Any, scan: Any) -> Any:
        def f(w: Any) -> Any:
            (y, _), push = linearize(lambda w: rnn(np, scan, xs, w, h), w)
            return np.sum(push(w * 2)[1] ** 2) + np.sum(y)

        return f

    theirs = jax.grad(ends(jax.numpy, jax.linearize, jax.lax.scan))(w)
    assert_close(bl.grad(ends(np, bl.linearize, bl.scan))(w), theirs, 1e-11)


def test_integers_have_no_tangents() -> None:
    _, push = bl.linearize(lambda x, k: x[k] ** 2, X, np.array([2, 0]))
    assert_close(push(np.ones(3), None), 2 * X[[2, 0]])
    with pytest.raises(ShapeError, match=r"tangents of linearize must have shape \(3,\), got \(2,\)"):
        push(np.ones(2), None)
    with pytest.raises(ShapeError, match="tangents of linearize must be the tree"):
        push(np.ones(3))


def test_ggn_vp_equals_jaxs_composition() -> None:
    jax = jax_or_skip()
    f = on(jax.numpy, model)
    z, push = jax.linearize(lambda p: f(p, X), P)
    curved = jax.jvp(jax.grad(lambda z: loss(jax.numpy, z, Y)), (z,), (push(V),))[1]
    (theirs,) = jax.vjp(lambda p: f(p, X), P)[1](curved)
    product = bl.ggn_vp(on(np, model), on(np, loss))
    assert_close(product(P, X, V, targets=(Y,)), theirs)
    by_x = bl.ggn_vp(on(np, model), lambda z: loss(np, z, Y), argnums=1)
    jacobian = bl.jacobian(on(np, model), 1)(P, X)
    rows = np.vstack([jacobian["z"], jacobian["s"]])
    z = model(np, P, X)
    h = bl.hessian(lambda v: loss(np, {"z": v[:2], "s": v[2]}, Y))(np.append(z["z"], z["s"]))
    np.testing.assert_allclose(by_x(P, X, X), rows.T @ h @ rows @ X, rtol=1e-12)


def test_ggn_vp_refuses() -> None:
    product = bl.ggn_vp(lambda x: x * 2, lambda z: np.sum(z**2))
    with pytest.raises(ArgumentError, match="got 1 arguments, expected those of the model and then a vector"):
        product(X)
    with pytest.raises(ShapeError, match=r"vector of ggn_vp must have shape \(3,\), got \(2,\)"):
        product(X, np.ones(2))
    with pytest.raises(ShapeError, match="returned shape"):
        bl.ggn_vp(lambda x: x, lambda z: z)(X, X)


def test_trees() -> None:
    jax = jax_or_skip()
    pairs = {"x": (1.0, None, [np.ones((2, 2)), np.arange(3)]), "e": np.float32(2)}
    assert [np.shape(leaf) for leaf in bl.tree.leaves(pairs)] == [np.shape(leaf) for leaf in jax.tree.leaves(pairs)]
    from jax.flatten_util import ravel_pytree

    theirs, back = ravel_pytree(pairs)
    assert_close(bl.tree.ravel(pairs), theirs)
    assert_close(bl.tree.leaves(bl.tree.unravel(theirs, pairs)), jax.tree.leaves(back(theirs)))
    assert bl.tree.unravel(np.asarray(theirs), pairs)["x"][2][1].dtype == np.int64
    total = bl.tree.map(lambda a, b, c: a * b + c, pairs, pairs, pairs)
    assert_close(bl.tree.leaves(total), jax.tree.leaves(jax.tree.map(lambda a, b, c: a * b + c, pairs, pairs, pairs)))
    assert bl.tree.structure(total) == bl.tree.structure(pairs) != bl.tree.structure(pairs["x"])
    assert bl.tree.ravel(()).shape == (0,)


def test_trees_in_traces() -> None:
    flat = lambda v: np.sum(bl.tree.unravel(np.sin(v), P)["a"] ** 2)  # noqa: E731
    v = bl.tree.ravel(P)
    np.testing.assert_allclose(bl.grad(flat)(v), np.append(np.sin(2 * v[:6]), [0, 0]), rtol=1e-14)
    g = bl.grad(lambda p: np.sum(bl.tree.ravel(p) ** 2))(P)
    assert_close(g, bl.tree.map(lambda x: 2 * x, P))


def test_complex_arrays_are_one_leaf() -> None:
    jax = jax_or_skip()
    p = {"z": np.array([3.0 + 4.0j, 1.0 - 1.0j]), "x": [2.0, 1j]}
    assert_close(bl.tree.leaves(p), jax.tree.leaves(p))
    assert_close(bl.tree.map(np.abs, p), jax.tree.map(np.abs, p))
    assert_close(
        bl.jit(lambda p: bl.tree.map(lambda a, b: a * np.conj(b), p, p))(p),
        bl.tree.map(np.square, bl.tree.map(np.abs, p)),
    )
    assert bl.tree.structure(p) == bl.tree.structure({"z": 0.0, "x": [1.0, 2.0]})
    assert_close(bl.tree.unravel(bl.tree.ravel(p), p), p)
    np.testing.assert_array_equal(bl.tree.ravel(p["z"]), [3.0, 1.0, 4.0, -1.0])


def test_trees_refuse() -> None:
    with pytest.raises(ArgumentError, match=r"tree.map got the tree \[\*, \*\] and, as argument 2, an array or number"):
        bl.tree.map(max, [1.0, 2.0], 1.0)
    with pytest.raises(ShapeError, match=r"a vector of shape \(7,\), but the tree .* has 8 elements"):
        bl.tree.unravel(np.ones(7), P)
