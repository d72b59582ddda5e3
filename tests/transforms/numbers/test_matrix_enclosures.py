"""Enclosures of linear algebra: inner matrices, 50 digits of mpmath, widths, what has no proof, gradients."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp

import burlab as bl
from burlab.errors import NonFiniteError, TraceError

B = np.cos(np.arange(5.0))


def lower_of(a: Any) -> Any:
    return bl.scipy.linalg.solve_triangular(a, B, lower=True)


def upper_of(a: Any) -> Any:
    return bl.scipy.linalg.solve_triangular(a, B, lower=False, unit_diagonal=True, trans=1)


def symmetric(a: Any) -> Any:
    return a @ np.swapaxes(a, -1, -2) + np.eye(a.shape[-1])


def triangle(a: Any) -> Any:
    return a + 3 * np.eye(a.shape[-1])


def as_symmetric(a: Any) -> Any:
    return np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2)


def mp_solve(a: Any) -> Any:
    return mp.lu_solve(a, mp.matrix([float(v) for v in B]))


def mp_lower(a: Any) -> Any:
    return mp_solve(mp.matrix(5, 5) + mp.matrix([[a[i, j] if i >= j else 0 for j in range(5)] for i in range(5)]))


def mp_upper(a: Any) -> Any:
    return mp_solve(mp.matrix([[a[j, i] if i > j else int(i == j) for j in range(5)] for i in range(5)]))


def mp_lower_symmetric(a: Any) -> Any:
    return mp.matrix([[a[max(i, j), min(i, j)] for j in range(5)] for i in range(5)])


def mp_eigenvalues(a: Any) -> Any:
    return mp.matrix(sorted(mp.eigsy(mp_lower_symmetric(a), eigvals_only=True)))


CASES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Callable[[Any], Any], float]] = {
    "solve": (lambda a: np.linalg.solve(a, B), mp_solve, triangle, 40),
    "inv": (np.linalg.inv, lambda a: a**-1, triangle, 40),
    "lower triangle": (lower_of, mp_lower, triangle, 40),
    "upper triangle": (upper_of, mp_upper, lambda a: a / 4, 40),
    "det": (np.linalg.det, lambda a: mp.matrix([mp.det(a)]), triangle, 150),
    "logabsdet": (lambda a: np.linalg.slogdet(a)[1], lambda a: mp.matrix([mp.log(abs(mp.det(a)))]), triangle, 60),
    "sign": (lambda a: np.linalg.slogdet(a)[0], lambda a: mp.matrix([mp.sign(mp.det(a))]), triangle, 0),
    "cholesky": (np.linalg.cholesky, lambda a: mp.cholesky(mp_lower_symmetric(a)), symmetric, 60),
    "eigenvalues": (np.linalg.eigvalsh, mp_eigenvalues, symmetric, 60),
    "singular values": (
        lambda a: np.linalg.svd(a, compute_uv=False), lambda a: mp.svd_r(a, compute_uv=False), triangle, 150
    ),
    "expm": (bl.scipy.linalg.expm, lambda a: mp.expm(a, method="taylor"), lambda a: a, 3000),
}  # fmt: skip
"""The function; in mpmath; what makes a matrix of a random one; the width at a point, in units of condition * n * u."""


def matrix_of(name: str, seed: int) -> Any:
    return CASES[name][2](np.random.default_rng(seed).normal(size=(5, 5)))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("radius", [1e-13, 1e-7, 1e-3, 0.02])
def test_inner_matrices_are_never_outside(name: str, radius: float) -> None:
    """2000 matrices of each of three boxes, corners too, as NumPy and burlab compute them: a quarter of a million."""
    f = CASES[name][0]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        middle = matrix_of(name, seed)
        radii = radius * rng.uniform(size=middle.shape)
        low, high = middle - radii, middle + radii
        a, b = bl.interval(f)(low, high)
        share = rng.uniform(size=(2000, 5, 5))
        share[:500] = rng.integers(0, 2, (500, 5, 5))
        inner = np.clip(low + share * (high - low), low, high)
        values = bl.vmap(f)(inner)
        assert np.all((a <= values) & (values <= b)), (name, radius, seed)
        assert np.all(np.isfinite(a) & np.isfinite(b))


@pytest.mark.parametrize("name", CASES)
def test_50_digits_are_inside_and_widths_are_as_stated(name: str) -> None:
    f, exact_of, _, units = CASES[name]
    for seed in range(4):
        x = matrix_of(name, seed)
        a, b = (np.atleast_1d(end) for end in bl.interval(f)(x, x))
        with mp.workdps(50):
            exact = exact_of(mp.matrix(x.tolist()))
            places = range(len(exact)) if a.ndim == 1 else np.ndindex(5, 5)
            wanted = [exact[place] for place in places]
            for low, value, high in zip(a.ravel(), wanted, b.ravel(), strict=True):
                assert mp.mpf(float(low)) <= value <= mp.mpf(float(high)), (name, low, value, high)
        condition = np.linalg.cond(np.tril(x) if name == "lower triangle" else x)
        assert np.max(b - a) <= units * condition * 5 * 2.0**-53 * np.max(np.abs(b)), (name, np.max(b - a), condition)


@pytest.mark.parametrize("name", ["solve", "inv", "det", "cholesky", "eigenvalues"])
def test_bounds_of_small_boxes_are_near_the_range(name: str) -> None:
    """For radii of 1e-6 the width is at most three times what derivatives add up to, of eigenvalues 12 times."""
    f, _, _, _ = CASES[name]
    x = matrix_of(name, 1)
    a, b = bl.interval(f)(x - 1e-6, x + 1e-6)
    slopes = bl.jacobian(f)(x)
    reach = np.abs(slopes).sum(axis=(-2, -1)) * 2e-6
    assert np.all(b - a <= (12 if name == "eigenvalues" else 3) * reach + 1e-12), (b - a) / reach


@pytest.mark.parametrize("n", [1, 2, 12, 40])
def test_sizes_and_many_matrices(n: int) -> None:
    rng = np.random.default_rng(n)
    x = rng.normal(size=(3, n, n)) + np.sqrt(n) * np.eye(n)
    s = symmetric(x)
    for f, m in ((np.linalg.inv, x), (np.linalg.cholesky, s), (np.linalg.eigvalsh, s), (np.linalg.det, x)):
        a, b = bl.interval(f)(m, m * (1 + 1e-12 * np.sign(m)))
        values = f(m)
        assert a.shape == values.shape
        assert np.all((a <= values) & (values <= b))
        assert np.all(b - a <= 1e-7 * np.max(np.abs(values), initial=1))
        rows = bl.vmap(bl.interval(f))(m, m)
        assert np.all((rows[0] <= values) & (values <= rows[1]))


def test_wide_boxes_of_positive_definite_matrices() -> None:
    low, high = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[4.0, 0.5], [0.5, 4.0]])
    a, b = bl.interval(np.linalg.cholesky)(low, high)
    np.testing.assert_allclose(a, [[1, 0], [0, np.sqrt(0.75)]], atol=1e-14)
    np.testing.assert_allclose(b, [[2, 0], [0.5, 2]], atol=1e-14)


def test_badly_scaled_and_ill_conditioned_systems() -> None:
    hilbert = 1 / (np.arange(8)[:, None] + np.arange(8) + 1.0)
    a, b = bl.interval(lambda h: np.linalg.solve(h, np.ones(8)))(hilbert, hilbert)
    with mp.workdps(60):
        exact = mp.lu_solve(mp.matrix(hilbert.tolist()), mp.matrix([1] * 8))
        assert all(mp.mpf(float(low)) <= v <= mp.mpf(float(high)) for low, v, high in zip(a, exact, b, strict=True))
    values = np.linalg.solve(hilbert, np.ones(8))
    assert np.all((a <= values) & (values <= b))
    scaled = hilbert[:4, :4] * 10.0 ** np.array([[-200], [0], [150], [3]])
    a, b = bl.interval(np.linalg.inv)(scaled, scaled)
    with mp.workdps(600):
        exact = mp.matrix(scaled.tolist()) ** -1
        for i in range(4):
            for j in range(4):
                assert mp.mpf(float(a[i, j])) <= exact[i, j] <= mp.mpf(float(b[i, j]))
    assert np.all(b - a <= 1e-8 * np.abs(b))


def test_without_a_proof_bounds_are_infinite() -> None:
    singular = np.ones((4, 4)) + np.diag([0.0, 0, 1e-3, 0])
    low, high = singular - 1e-2, singular + 1e-2
    a, b = bl.interval(np.linalg.inv)(low, high)
    assert np.all((a == -math.inf) & (b == math.inf))
    sign, log = np.linalg.slogdet(singular + 1e-3 * np.eye(4))
    a, b = bl.interval(np.linalg.slogdet)(low, high)
    assert (a[0], b[0]) == (-1, 1)
    assert a[1] == -math.inf < log < b[1] < 4
    a, b = bl.interval(np.linalg.det)(low, high)
    assert -20 < a < sign * np.exp(log) < b < 20
    a, b = bl.interval(bl.scipy.linalg.expm)(500 * np.eye(3), 500 * np.eye(3))
    assert np.all((a == -math.inf) & (b == math.inf))
    message = r"line \d+: no proof was found that all matrices of an interval are positive"
    with pytest.raises(NonFiniteError, match=message):
        bl.interval(np.linalg.cholesky)(low, high)
    inside = bl.vmap(bl.interval(np.linalg.cholesky))(low[None], high[None])
    assert np.all(np.isnan(inside[0][0][np.tril_indices(4)]))
    with pytest.raises(NonFiniteError, match="leaves the domain of log"):
        bl.interval(lambda m: np.linalg.inv(np.log(m)))(low - 1, high)


def test_gradients_hold_at_inner_matrices() -> None:
    rng = np.random.default_rng(6)
    middle = symmetric(rng.normal(size=(4, 4)))
    y = rng.normal(size=4)

    def log_density(a: Any) -> Any:
        factor = np.linalg.cholesky(a)
        z = bl.scipy.linalg.solve_triangular(factor, y, lower=True)
        return -0.5 * z @ z - np.sum(np.log(np.diag(factor)))

    def by_slogdet(a: Any) -> Any:
        return -0.5 * y @ np.linalg.solve(a, y) - 0.5 * np.linalg.slogdet(a)[1]

    low, high = middle - 1e-3, middle + 1e-3
    inner = low + rng.uniform(size=(3000, 4, 4)) * (high - low)
    inner = as_symmetric(inner)
    for f in (log_density, by_slogdet):
        for g in (f, bl.grad(f), bl.hessian(f)):
            a, b = bl.interval(g)(low, high)
            values = bl.vmap(g)(inner)
            assert np.all((a <= values) & (values <= b))
            assert np.all(b - a < 1)


def test_float32_and_gears() -> None:
    x = matrix_of("inv", 2).astype(np.float32)
    for f in (np.linalg.inv, np.linalg.det, bl.scipy.linalg.expm, np.linalg.eigvalsh):
        a, b = bl.interval(f)(x, x)
        values = bl.jit(f)(x)
        assert a.dtype == np.float32
        assert np.all((a <= values) & (values <= b))
        assert np.all((a <= f(x.astype(np.float64))) & (f(x.astype(np.float64)) <= b))
    f = bl.interval(np.linalg.inv)
    compiled, replay = (bl.compile(f, x, x, gear=gear, strict=True) for gear in ("compiled", "replay"))
    for one, other in zip(compiled(x, x), replay(x, x), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (lambda a: np.linalg.eigh(a)[1], "eigh, because the signs and the order"),
        (lambda a: np.linalg.svd(a)[0], "svd"), (lambda a: np.linalg.qr(a)[0], "qr"), (np.linalg.pinv, "svd"),
        (bl.grad(lambda a: np.sum(np.linalg.eigvalsh(a) ** 3)), "eigh"), (bl.grad(np.linalg.det), "lu"),
    ],
)  # fmt: skip
def test_factors_are_refused_by_name(f: Any, what: str) -> None:
    x = matrix_of("eigenvalues", 0)
    with pytest.raises(TraceError, match=rf"line \d+: bl.interval has no enclosure of {what}"):
        bl.interval(f)(x, x + 1e-9)
