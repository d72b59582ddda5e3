"""Functions of matrices by singular values where these are repeated: against differences in fifty digits."""

import itertools
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp

import burlab as bl
from tests.engines import GEARS

from .singular_cases import FORMS, FULL, SHAPES, SIDES, SPECTRA, between, checked, exactly, matrix

RNG = np.random.default_rng(9)


def derivative(form: str, f: Callable[[Any], Any], a: Any, change: Any) -> Any:
    """Along a change, by a central difference."""
    with mp.workdps(50):
        step, there = mp.mpf(10) ** -17, mp.matrix(a.tolist())
        way = step * mp.matrix(change.tolist())
        ahead, behind = (exactly(form, f, mp.svd_r(x, full_matrices=False)) for x in (there + way, there - way))
        return np.array(((ahead - behind) / (2 * step)).tolist(), float)


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("shape", SHAPES)
def test_derivatives_hold_where_singular_values_are_equal_or_zero(shape: tuple[int, int], gear: Any) -> None:
    """jvp along one change, and the gradient by what it does along the same: every function that is smooth there."""
    table = checked()
    change, weights = RNG.normal(size=shape), {k: RNG.normal(size=(k, k)) for k in (3, 5)}
    weights = {"between": RNG.normal(size=shape), SIDES[0]: weights[shape[0]], SIDES[1]: weights[shape[1]]}

    def all_of(a: Any) -> Any:
        found: dict[Any, Any] = {}
        for _, form, name, (f, _) in table:
            if (form, name) not in found:
                value = lambda x: FORMS[form](np, f, x)  # noqa: B023, E731
                slope = bl.grad(lambda x: np.sum(weights[form] * value(x)))(a)  # noqa: B023
                found[form, name] = bl.jvp(value, (a,), (change,))[1], np.sum(slope * change)
        return found

    kernel = bl.compile(all_of, matrix("apart", shape), gear=gear)
    matrices = {(spectrum, turned): matrix(spectrum, shape, turned) for spectrum in SPECTRA for turned in (True, False)}
    found = {key: kernel(a) for key, a in matrices.items()}
    for (spectrum, form, name, (_, exact)), turned in itertools.product(table, (True, False)):
        wanted = derivative(form, exact, matrices[spectrum, turned], change)
        tangent, along = found[spectrum, turned][form, name]
        size = max(1.0, np.abs(wanted).max())
        where = f"{form} {name}, {spectrum}"
        np.testing.assert_allclose(tangent, wanted, rtol=1e-7, atol=1e-8 * size, err_msg=where)
        np.testing.assert_allclose(along, np.sum(weights[form] * wanted), rtol=1e-7, atol=1e-7 * size, err_msg=where)


def test_second_derivatives_of_functions_of_singular_values_hold() -> None:
    """The Hessian of sum f(s) times a change: its gradient is f' of the matrix. Forward and reverse, of any rank."""
    functions: dict[str, tuple[Any, Any]] = {
        "square": (np.square, lambda s: 2 * s),
        "log cosh": (lambda s: np.log(np.cosh(s)), mpmath.tanh),
        "sum": (lambda s: s, lambda _: mp.mpf(1)),
        "logarithm": (np.log, lambda s: 1 / s),
    }
    for shape in SHAPES:
        change = RNG.normal(size=shape)

        def all_of(a: Any) -> Any:
            found: list[Any] = []
            for f, _ in functions.values():
                alone = lambda x: np.sum(f(np.linalg.svdvals(x)))  # noqa: B023, E731
                beside = lambda x: np.sum(f(np.linalg.svd(x)[1]))  # noqa: B023, E731
                along = bl.grad(lambda x: np.sum(change * bl.grad(alone)(x)))  # noqa: B023
                found.append((bl.hvp(alone)(a, change), bl.hvp(beside)(a, change), along(a)))  # noqa: B023
            return found

        kernel = bl.compile(all_of, matrix("apart", shape), gear="replay")
        for spectrum in SPECTRA:
            a = matrix(spectrum, shape)
            for (name, (_, slope)), products in zip(functions.items(), kernel(a), strict=True):
                if spectrum in FULL or name in ("square", "log cosh"):
                    wanted = derivative("between", slope, a, change)
                    for product in products:
                        np.testing.assert_allclose(product, wanted, rtol=1e-7, atol=1e-8, err_msg=f"{name}, {spectrum}")


def test_the_square_of_a_nuclear_norm_has_a_hessian_at_the_identity() -> None:
    """|A| = tr A + |skew part|^2 / 2 there, as Q (I + S) turned back has trace 3 + tr S."""
    change = RNG.normal(size=(3, 3))
    skew = (change - change.T) / 2
    got = bl.hvp(lambda a: np.linalg.norm(a, "nuc") ** 2)(np.eye(3), change)
    np.testing.assert_allclose(got, 2 * np.trace(change) * np.eye(3) + 2 * 3 * skew, rtol=1e-13, atol=1e-14)


SPELLINGS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "scaled columns": lambda u, f, vt: (u[:, :3] * f) @ vt,
    "scaled rows": lambda u, f, vt: u[:, :3] @ (f[:, None] * vt),
    "a diagonal matrix": lambda u, f, vt: u[:, :3] @ np.diag(f) @ vt,
    "einsum of three": lambda u, f, vt: np.einsum("ij,j,jk->ik", u[:, :3], f, vt),
    "einsum of two": lambda u, f, vt: np.einsum("ij,jk->ik", u[:, :3] * f, vt),
    "turned": lambda u, f, vt: (vt.T @ (f * u[:, :3]).T).T,
    "turned in a sum": lambda u, f, vt: np.einsum("ij,kj->ki", (vt.T * f), u[:, :3]),
    "divided": lambda u, f, vt: -(u[:, :3] / (-1 / f)) @ vt,
}


def test_every_spelling_is_seen_with_whole_bases_too() -> None:
    """And in batches, where the matrices of one have other spectra."""
    many = np.stack([matrix(spectrum, (5, 3)) for spectrum in SPECTRA if spectrum in FULL])
    weights = RNG.normal(size=(5, 3))
    slope = bl.grad(lambda x: np.sum(weights * between(np, np.tanh, x)))
    wanted = np.stack([slope(a) for a in many])
    for name, spelling in SPELLINGS.items():

        def loss(x: Any) -> Any:
            u, s, vt = np.linalg.svd(x)
            return np.sum(weights * spelling(u, np.tanh(s), vt))  # noqa: B023

        np.testing.assert_allclose(bl.vmap(bl.grad(loss))(many), wanted, rtol=1e-9, atol=1e-12, err_msg=name)

    def stacked(x: Any) -> Any:
        u, s, vt = np.linalg.svd(x, full_matrices=False)
        return np.sum(weights * ((u * np.tanh(s)[..., None, :]) @ vt))

    np.testing.assert_allclose(bl.grad(stacked)(many), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_singular_projectors_are_smooth_between_separate_spaces(shape: tuple[int, int]) -> None:
    """On the space of the pair, of left and of right vectors, against where the pair is mixed: a step away."""
    a, change = matrix("a pair", shape), RNG.normal(size=shape)
    projectors: list[Callable[[Any, Any, Any], Any]] = [
        lambda u, s, vt: u[:, 1:3] @ u[:, 1:3].T,
        lambda u, s, vt: vt[1:3].T @ vt[1:3],
        lambda u, s, vt: (u[:, :3] * (s < 1)) @ u[:, :3].T,
        lambda u, s, vt: u[:, 1:3] @ vt[1:3],
        lambda u, s, vt: (u[:, :3] * np.where(s < 1, s, 0.0)) @ vt[:3],
    ]
    for k, projector in enumerate(projectors):
        got = bl.jvp(lambda x: projector(*np.linalg.svd(x)), (a,), (change,))[1]  # noqa: B023
        step = 1e-5
        ahead, behind = (projector(*np.linalg.svd(a + e * change)) for e in (step, -step))
        np.testing.assert_allclose(got, (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-7, err_msg=str(k))


def test_parameters_of_singular_value_functions_have_derivatives() -> None:
    a, weights = matrix("a pair", (5, 3)), RNG.normal(size=(5, 3))

    def f(x: Any, scale: Any) -> Any:
        return np.sum(weights * between(np, lambda s: np.tanh(scale * s / np.sum(s)), x))

    by_matrix, by_scale = bl.grad(f, argnums=(0, 1))(a, 1.3)
    step = 1e-6
    along = (f(a + step * weights, 1.3) - f(a - step * weights, 1.3)) / (2 * step)
    np.testing.assert_allclose(np.sum(by_matrix * weights), along, rtol=1e-6)
    np.testing.assert_allclose(by_scale, (f(a, 1.3 + step) - f(a, 1.3 - step)) / (2 * step), rtol=1e-6)
    mixed = bl.jvp(lambda t: bl.grad(f)(a, t), (1.3,), (1.0,))[1]
    near = (bl.grad(f)(a, 1.3 + step) - bl.grad(f)(a, 1.3 - step)) / (2 * step)
    np.testing.assert_allclose(mixed, near, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("form", "f"), [
    ("between", lambda s: 1 + 0 * s), ("between", np.cos), ("within_left", lambda s: s), ("within_right", np.cos),
])  # fmt: skip
def test_nonsmooth_function_at_two_zero_singular_values_is_nan(form: str, f: Any) -> None:
    """It jumps or has a kink there, or, with `cos`, what stays outside of the thin bases does."""
    a = matrix("two 0", (5, 3) if form != "within_right" else (3, 5), False)
    weights = RNG.normal(size=FORMS[form](np, f, a).shape)
    assert not np.isfinite(bl.grad(lambda a: np.sum(weights * FORMS[form](np, f, a)))(a)).all()


def test_functions_that_depend_on_the_basis_are_nan() -> None:
    for f in (lambda s: s * np.arange(3.0), np.cumsum, lambda s: np.arange(3.0)):
        got = bl.grad(lambda a: np.sum(np.arange(9.0).reshape(3, 3) * between(np, f, a)))(np.eye(3))  # noqa: B023
        assert not np.isfinite(got).all()
