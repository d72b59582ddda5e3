"""Complex arguments and results of every transform: in as arrays, out as arrays, with JAX's conventions."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError, TraceError
from tests.engines import assert_close, jax_or_skip

RNG = np.random.default_rng(3)
Z, V = RNG.normal(size=(2, 5)) + 1j * RNG.normal(size=(2, 5))
M = RNG.normal(size=(4, 5)) + 1j * RNG.normal(size=(4, 5))


def energy(np: Any, z: Any) -> Any:
    """A real number of complex ones, with complex values on the way."""
    return np.sum(np.abs(np.exp(1j * z) + z[::-1] ** 2) ** 2)


def curve(np: Any, z: Any) -> Any:
    return np.exp(z) / (1 + z) + np.conj(z)


def test_arguments_and_results_are_arrays_and_numbers() -> None:
    f = bl.jit(lambda tree, k: {"sum": tree["a"] + tree["b"] * k, "size": abs(tree["b"])})
    for _ in range(3):
        got = f({"a": Z.astype(np.complex64), "b": 1 + 2j}, 3)
        assert got["sum"].dtype == np.complex64
        assert_close(got["sum"], Z + 3 + 6j, rtol=1e-6)
        assert got["size"] == np.sqrt(5)
    assert isinstance(bl.jit(np.exp)(1j), np.complex128)
    assert_close(bl.jit(lambda z: z.T)(M[:, ::2]), M[:, ::2].T)
    assert_close(bl.jit(lambda x: x.astype(np.complex64))(np.ones(2)), np.ones(2, np.complex64))


@pytest.mark.parametrize("gear", ["compiled", "replay"])
def test_kernels(gear: Any) -> None:
    kernel = bl.compile(lambda z: energy(np, z), Z, gear=gear)
    value, gradient = kernel.value_and_grad(Z)
    assert_close(value, energy(np, Z))
    assert_close(gradient, bl.grad(lambda z: energy(np, z))(Z))
    rows = bl.compile(lambda z: curve(np, z), Z, gear=gear, threads=2).map(M)
    assert_close(rows, curve(np, M))
    assert "z.real" in str(kernel.graph)


def test_complex_gradients_equal_jax() -> None:
    jax = jax_or_skip()
    jnp = jax.numpy
    theirs = jax.grad(lambda z: energy(jnp, z))
    ours = bl.grad(lambda z: energy(np, z))
    assert_close(ours(Z), theirs(Z))
    assert_close(bl.value_and_grad(lambda z: energy(np, z))(Z)[1], theirs(Z))
    assert_close(bl.hvp(lambda z: energy(np, z))(Z, V), jax.jvp(theirs, (Z,), (V,))[1])
    assert_close(bl.jvp(lambda z: curve(np, z), (Z,), (V,)), jax.jvp(lambda z: curve(jnp, z), (Z,), (V,)))
    assert_close(bl.vjp(lambda z: curve(np, z), Z)[1](V), jax.vjp(lambda z: curve(jnp, z), Z)[1](V))
    x = Z.real
    assert_close(bl.vjp(lambda x: curve(np, x * 1j), x)[1](V), jax.vjp(lambda x: curve(jnp, x * 1j), x)[1](V))
    whole = bl.grad(lambda z: np.exp(z[0]) * z[1], holomorphic=True)(Z)
    assert_close(whole, jax.grad(lambda z: jnp.exp(z[0]) * z[1], holomorphic=True)(Z))
    value, _ = bl.value_and_grad(lambda z: z[0] * z[1], holomorphic=True)(Z)
    assert_close(value, Z[0] * Z[1])


def test_checks_and_batches() -> None:
    bl.check_grads(lambda z: energy(np, z), Z)
    bl.check_grads(lambda z: curve(np, z), Z, order=3)
    assert_close(bl.vmap(lambda z, w: curve(np, z) * w, in_axes=(0, None))(M, V), curve(np, M) * V)
    assert_close(bl.vmap(np.sum, in_axes=1)(M), M.sum(axis=0))
    each = np.stack([bl.grad(lambda z: energy(np, z))(row) for row in M])
    assert_close(bl.vmap(bl.grad(lambda z: energy(np, z)))(M), each)


def test_control_flow_carries_them() -> None:
    def turned(z: Any) -> Any:
        last, rows = bl.scan(lambda c, x: (c * x, c + 1j), z[0], z)
        doubled = bl.while_loop(
            lambda s: s["k"] < 3, lambda s: {"k": s["k"] + 1, "z": s["z"] * 2j}, {"k": 0, "z": last}
        )
        return bl.cond(np.abs(z[0]) > 100.0, lambda y: y, lambda y: y * doubled["z"], rows)

    rows = np.concatenate([[Z[0]], Z[0] * np.cumprod(Z)[:-1]]) + 1j
    assert_close(bl.jit(turned)(Z), rows * Z[0] * np.prod(Z) * (2j) ** 3)


def test_a_rule_of_ones_own() -> None:
    size = bl.custom_vjp(lambda z: np.sum(np.abs(z) ** 2), lambda g, y, z: g * 2 * np.conj(z), Z)
    assert_close(bl.grad(lambda z: size(z) ** 2)(Z), 4 * np.sum(np.abs(Z) ** 2) * np.conj(Z))


def test_minimize_goes_downhill() -> None:
    target = {"a": Z, "b": 2.0 - 1j}
    run = bl.minimize(
        lambda x: np.sum(np.abs(x["a"] - target["a"]) ** 2) + np.abs(x["b"] - target["b"]) ** 2,
        {"a": V, "b": 0j}, bl.optim.GD(0.2), steps=200,
    )  # fmt: skip
    assert_close(run.x, target, rtol=1e-9)
    assert run.x["a"].dtype == np.complex128


@pytest.mark.parametrize(
    ("error", "call", "said"),
    [
        (DTypeError, lambda: bl.grad(lambda z: z[0])(Z), "real result.*complex128.*holomorphic=True"),
        (DTypeError, lambda: bl.grad(lambda z: abs(z[0]), holomorphic=True)(Z), "Leave holomorphic out"),
        (DTypeError, lambda: bl.jacobian(lambda z: z * 2)(Z), "bl.jvp and bl.vjp"),
        (DTypeError, lambda: bl.jit(lambda z: z)(Z.astype(np.clongdouble)), "float128; float32, float64, complex64"),
        (DTypeError, lambda: bl.jit(bl.softmax)(Z), "x of softmax is complex"),
        (ShapeError, lambda: bl.vjp(np.exp, Z)[1](Z.real), "must be a complex array or number, got an array or number"),
        (ArgumentError, lambda: bl.compile(np.abs, Z)(Z.real), "for a complex array or number as argument 0"),
        (ArgumentError, lambda: bl.compile(np.exp, Z)(Z, out=np.empty(5, complex)), "Leave out away"),
        (TraceError, lambda: bl.jit(np.sort)(Z), "np.sort of complex numbers.*no order.*np.abs"),
        (TraceError, lambda: bl.jit(lambda z: z > 1)(Z), "np.greater of complex numbers.*no order"),
        (TraceError, lambda: bl.jit(lambda z: z.max())(Z), ".max of complex numbers.*no order"),
        (TraceError, lambda: bl.jit(np.linalg.svd)(M), "np.linalg.svd of complex numbers.*z.real"),
        (TraceError, lambda: bl.jit(lambda z: z.astype(float))(Z), "astype.float64. of complex numbers.*np.abs"),
        (TraceError, lambda: bl.jit(lambda z: complex(z[0]))(Z), "no number yet"),
        (TraceError, lambda: bl.jit(lambda z: 1.0 if z[0] else 2.0)(Z), "branch on a traced complex value"),
    ],
)
def test_complex_errors_name_the_remedy(error: Any, call: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        call()
