"""Complex arrays against NumPy, and their derivatives against JAX to the second order."""

from typing import Any

import mpmath
import numpy as np
import pytest

import burlab as bl
from tests.engines import GEARS, assert_close, jax_or_skip
from tests.graph.complex.complex_cases import CASES, SMOOTH, Case, W, X, Z, complexes

V = complexes(*Z.shape)


def number(module: Any, case: Case, z: Any, w: Any, x: Any) -> Any:
    """A real number that depends on both parts of all entries, not linearly."""
    y = case.f(module, z, w, x)
    weights = np.exp(1j * np.arange(float(y.size)) + len(case.name)).reshape(y.shape)
    return module.sum(module.real(weights * y) + module.imag(y) * module.real(y))


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("strict", [False, True])
def test_complex_values_equal_numpy(gear: str, strict: bool) -> None:
    def all_of(z: Any, w: Any, x: Any) -> Any:
        return {case.name: case.f(np, z, w, x) for case in CASES}

    got, wanted = bl.compile(all_of, Z, W, X, gear=gear, strict=strict)(Z, W, X), all_of(Z, W, X)
    for case in CASES:
        assert got[case.name].dtype == wanted[case.name].dtype, case.name
        assert_close(got[case.name], wanted[case.name])


def test_values_in_single_precision() -> None:
    singles = Z.astype(np.complex64), W.astype(np.complex64), X.astype(np.float32)
    for case in CASES:
        if case.name in ("known array", "build", "astype"):  # what meets complex128 becomes that
            continue
        got, wanted = bl.jit(lambda *args, f=case.f: f(np, *args))(*singles), case.f(np, *singles)
        assert got.dtype == wanted.dtype, case.name
        assert_close(got, wanted, rtol=2e-5)


@pytest.mark.parametrize("name", "arcsin arcsinh arctan arctanh expm1 log1p sin sinh tan tanh sqrt".split())
def test_small_numbers_keep_their_digits(name: str) -> None:
    """Of each part, where the function is nearly linear: relative to the number, against 450 digits."""
    small = np.array([1e-9 + 3e-9j, -2e-12 + 1e-12j, 1e-200 - 1e-200j, -3e-30j, 1e-5 + 2e-4j])
    function = getattr(mpmath, {"arctanh": "atanh", "arcsinh": "asinh"}.get(name, name.replace("arc", "a")))
    with mpmath.workdps(450):
        wanted = [complex(function(mpmath.mpc(z))) for z in small]
    np.testing.assert_allclose(bl.jit(getattr(np, name))(small), wanted, rtol=1e-14)


@pytest.mark.parametrize("case", [case for case in SMOOTH if not case.jax], ids=lambda case: case.name)
def test_complex_derivatives_equal_differences(case: Case) -> None:
    bl.check_grads(lambda z: case.f(np, z, W, X), Z)


@pytest.mark.full
def test_complex_derivatives_equal_jax() -> None:
    """Gradients by all three, and the gradient by z moved along V, by forward over reverse."""
    jax = jax_or_skip()
    cases = [case for case in SMOOTH if case.jax]

    def theirs(z: Any, w: Any, x: Any) -> Any:
        return [
            jax.jvp(lambda *a, case=case: jax.grad(lambda *b: number(jax.numpy, case, *b), (0, 1, 2))(*a),
                    (z, w, x), (V, W, X))
            for case in cases
        ]  # fmt: skip

    def ours(z: Any, w: Any, x: Any) -> Any:
        return [
            bl.jvp(bl.grad(lambda *args, case=case: number(np, case, *args), (0, 1, 2)), (z, w, x), (V, W, X))
            for case in cases
        ]

    wanted, found = jax.jit(theirs)(Z, W, X), bl.compile(ours, Z, W, X, gear="replay")(Z, W, X)
    for case, got, (gradient, moved) in zip(cases, found, wanted, strict=True):
        for a, b in zip((*got[0], *got[1]), (*gradient, *moved), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(b).max()), err_msg=case.name)
