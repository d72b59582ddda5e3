"""bl.scipy.special and distributions of vectors against SciPy, on arrays and traced, with derivatives against JAX."""

from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import burlab as bl
from tests.engines import GEARS, jax_or_skip

INF, NAN = np.inf, np.nan
A = np.array([[0.25, -1.5, 800.0], [2.0, -INF, 0.5]])
B = np.array([[1.0, -2.0, 0.0], [0.5, 3.0, 1.0]])
ODD = (np.array([-INF, -INF]), np.array([INF, 1.0]), np.array([NAN, 1.0]), np.array([-INF, 0.0]), np.float64(0.5))


def sums(sp: Any, a: Any, b: Any) -> list[Any]:
    """All of logsumexp's options, and the two functions beside it."""
    found = []
    for axis in (None, 0, 1, -1, (0, 1)):
        for keepdims in (False, True):
            options = {"axis": axis, "keepdims": keepdims}
            found += [sp.logsumexp(a, **options), sp.logsumexp(a, b=np.abs(b), **options)]
            found += [*sp.logsumexp(a, b=b, return_sign=True, **options), sp.logsumexp(a, b=b, **options)]
            found += [*sp.logsumexp(a, return_sign=True, **options)]
        found += [sp.softmax(a, axis=axis), sp.log_softmax(a, axis=axis)]
    return found


@pytest.mark.parametrize("gear", GEARS)
def test_sums_of_exponentials_are_scipys(gear: Any) -> None:
    with np.errstate(all="ignore"):
        wanted = sums(special, A, B)
    traced = bl.compile(lambda a, b: sums(bl.scipy.special, a, b), A, B, gear=gear)(A, B)
    for x, got, y in zip(sums(bl.scipy.special, A, B), traced, wanted, strict=True):
        np.testing.assert_array_equal(x, got)
        np.testing.assert_allclose(got, y, rtol=1e-14, atol=1e-16)
        assert np.shape(got) == np.shape(y)


@pytest.mark.parametrize("a", ODD)
def test_sums_of_infinite_entries_are_scipys(a: Any) -> None:
    for options in ({}, {"b": 0.5}, {"b": -1.0}, {"return_sign": True}, {"keepdims": True}):
        with np.errstate(all="ignore"):
            wanted = special.logsumexp(a, **options)
        np.testing.assert_allclose(bl.scipy.special.logsumexp(a, **options), wanted, rtol=1e-15, err_msg=str(options))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_polygamma_and_multigammaln_are_scipys(dtype: Any) -> None:
    x, n = np.array([0.25, 1.5, 2.75, 11.0], dtype), np.arange(5)[:, None]
    got = bl.scipy.special.polygamma(n, x.astype(float))
    np.testing.assert_allclose(got, special.polygamma(n, x.astype(float)), rtol=1e-13)
    assert bl.scipy.special.polygamma(2, x).dtype == dtype
    for d in (1, 2, 5):
        a = x + dtype(d)
        np.testing.assert_allclose(
            bl.scipy.special.multigammaln(a, d), special.multigammaln(a, d), rtol=20 * np.finfo(dtype).eps
        )
    assert np.isnan(bl.scipy.special.multigammaln(1.0, 3))
    for d, expected in ((0.5, "expected a number at least 1"), (1.5, "expected a positive whole number")):
        with pytest.raises(bl.errors.ArgumentError, match=expected):
            bl.scipy.special.multigammaln(3.0, d)


def twice(engine: Any, f: Any, by: tuple[int, ...]) -> Any:
    """Gradients, and the Hessian by each argument alone, as one function."""
    return lambda *args: (engine.grad(f, by)(*args), [engine.hessian(f, k)(*args) for k in by])


def test_special_derivatives_equal_jax() -> None:
    jax = jax_or_skip()
    a, b = np.array([[0.25, -1.5], [2.0, 0.5]]), np.array([[1.0, 0.25], [-0.5, 3.0]])

    def total(sp: Any, np: Any) -> Any:
        def f(a: Any, b: Any) -> Any:
            size, sign = sp.logsumexp(a, axis=0, b=b, return_sign=True)
            rest = np.sum(sp.softmax(a, axis=1) ** 2) + np.sum(sp.log_softmax(a, axis=0) * b)
            return np.sum(size * sign) + rest + np.sum(sp.multigammaln(a + 4, 3))

        return f

    ours, theirs = total(bl.scipy.special, np), total(jax.scipy.special, jax.numpy)
    slopes, second = bl.jit(twice(bl, ours, (0, 1)))(a, b)
    wanted, curvature = jax.jit(twice(jax, theirs, (0, 1)))(a, b)
    for k in (0, 1):
        np.testing.assert_allclose(slopes[k], wanted[k], rtol=1e-11)
        np.testing.assert_allclose(second[k], curvature[k], rtol=1e-9, atol=1e-12)
    third = bl.grad(bl.grad(bl.grad(lambda x: bl.scipy.special.polygamma(1, x))))(1.5)
    np.testing.assert_allclose(third, special.polygamma(4, 1.5), rtol=1e-13)


def test_its_ufuncs_are_scipys_own() -> None:
    assert bl.scipy.special.gammaln is special.gammaln
    assert bl.scipy.special.digamma is special.digamma
    assert bl.grad(bl.scipy.special.erfinv)(0.25) == bl.grad(special.erfinv)(0.25)
    with pytest.raises(AttributeError, match="has no 'ellip_harm'"):
        _ = bl.scipy.special.ellip_harm


MEAN, COV = np.array([0.5, -0.25, 1.0]), np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.2], [0.1, -0.2, 0.75]])
POINTS = np.random.default_rng(4).normal(size=(2, 5, 3))
NORMALS = {
    "full": (POINTS, MEAN, COV), "one": (POINTS[0, 0], MEAN, COV), "no mean": (POINTS, None, COV),
    "diagonal": (POINTS, MEAN, np.diagonal(COV)), "number": (POINTS, MEAN, 2.5), "plain": (POINTS[0, :, 0],),
    "one dimension": (POINTS[0, :, 0], 0.5, 2.0), "a number": (0.25, 0.5, 2.0),
}  # fmt: skip


@pytest.mark.parametrize("args", NORMALS.values(), ids=NORMALS)
def test_normal_vectors_are_scipys(args: tuple[Any, ...]) -> None:
    for method in ("logpdf", "pdf"):
        got = getattr(bl.scipy.stats.multivariate_normal, method)
        wanted = getattr(stats.multivariate_normal, method)(*args)
        np.testing.assert_allclose(got(*args), wanted, rtol=1e-13)
        assert np.shape(got(*args)) == np.shape(wanted)
    entropy = bl.scipy.stats.multivariate_normal.entropy
    if np.ndim(args[-1]) != 1:  # SciPy's takes no diagonal
        np.testing.assert_allclose(entropy(*args[1:]), stats.multivariate_normal.entropy(*args[1:]), rtol=1e-14)


def test_normal_vectors_have_jaxs_derivatives() -> None:
    jax = jax_or_skip()
    x = POINTS[0, 0]

    def f(logpdf: Any) -> Any:
        return lambda x, mean, root: logpdf(x, mean, root @ root.T + np.eye(3))

    ours, theirs = f(bl.scipy.stats.multivariate_normal.logpdf), f(jax.scipy.stats.multivariate_normal.logpdf)
    slopes, second = bl.jit(twice(bl, ours, (0, 1, 2)))(x, MEAN, COV)
    wanted, curvature = jax.jit(twice(jax, theirs, (0, 1, 2)))(x, MEAN, COV)
    for k in range(3):
        np.testing.assert_allclose(slopes[k], wanted[k], rtol=1e-11)
        np.testing.assert_allclose(second[k], curvature[k], rtol=1e-10, atol=1e-13)
    rows = bl.vmap(bl.grad(ours), in_axes=(0, None, None))(POINTS[0], MEAN, COV)
    np.testing.assert_allclose(rows[0], wanted[0], rtol=1e-11)
    np.testing.assert_allclose(rows[3], bl.grad(ours)(POINTS[0, 3], MEAN, COV), rtol=1e-11)


def singular() -> Any:
    """A root of rank 2 in three dimensions."""
    return np.array([[1.0, 0.5], [-0.25, 2.0], [0.75, 0.0]])


def test_normal_vectors_on_a_subspace_are_scipys() -> None:
    root, ours, theirs = singular(), bl.scipy.stats.multivariate_normal, stats.multivariate_normal
    inside = MEAN + (root @ np.random.default_rng(2).normal(size=(2, 4))).T
    for x in (inside, inside[0], np.vstack([inside, inside[:1] + 0.1])):
        for cov in (root @ root.T, np.eye(3), np.diag([2.0, 1.0, 0.0])):
            for method in ("logpdf", "pdf"):
                got = getattr(ours, method)(x, MEAN, np.tril(cov), allow_singular=True)
                wanted = getattr(theirs, method)(x, MEAN, cov, allow_singular=True)
                np.testing.assert_allclose(got, wanted, rtol=1e-12)
                assert np.shape(got) == np.shape(wanted)
    f = ours.logpdf
    np.testing.assert_allclose(f(inside, MEAN, COV, allow_singular=True), f(inside, MEAN, COV), rtol=1e-12)
    flat = np.array([1.0, 0.0, 2.0])
    assert f(MEAN, MEAN, flat, allow_singular=True) == f(MEAN, MEAN, np.diag(flat), allow_singular=True)
    assert np.isnan(f(MEAN, MEAN, -flat, allow_singular=True))


def test_derivatives_of_normal_vectors_on_a_subspace_are_those_of_its_coordinates() -> None:
    """The density of root z is that of z in the plane: by z, and by a change of root, against the reduced problem."""
    jax = jax_or_skip()
    root, z, u = singular(), np.array([0.3, -0.7]), np.array([0.2, 0.4])
    f = bl.scipy.stats.multivariate_normal.logpdf

    def on_subspace(z: Any, u: Any, scale: Any) -> Any:
        spread = root * scale
        return f(root @ z, root @ u, spread @ spread.T, allow_singular=True)

    def in_plane(z: Any, u: Any, scale: Any) -> Any:
        basis = np.linalg.qr(root)[0]
        gap, spread = basis.T @ root @ (z - u), basis.T @ (root * scale)
        return jax.scipy.stats.multivariate_normal.logpdf(gap, jax.numpy.zeros(2), spread @ spread.T)

    given = (z, u, np.array([1.5, 0.5]))
    slopes, second = bl.compile(twice(bl, on_subspace, (0, 1, 2)), *given, gear="replay")(*given)
    wanted, curvature = jax.jit(twice(jax, in_plane, (0, 1, 2)))(*given)
    for k in range(3):
        np.testing.assert_allclose(slopes[k], wanted[k], rtol=1e-10)
        np.testing.assert_allclose(second[k], curvature[k], rtol=1e-9, atol=1e-12)


def test_the_entropy_of_normal_vectors_is_that_of_the_determinant() -> None:
    entropy, root = bl.scipy.stats.multivariate_normal.entropy, COV + np.eye(3)
    slope = bl.grad(lambda c: entropy(MEAN, c))(root)
    np.testing.assert_allclose((slope + slope.T) / 2, np.linalg.inv(root) / 2, rtol=1e-13)
    np.testing.assert_allclose(entropy(None, np.diagonal(COV)), entropy(None, np.diag(np.diagonal(COV))), rtol=1e-15)
    with pytest.raises(bl.errors.ShapeError, match="multivariate_normal needs"):
        entropy(np.zeros(2), COV)


def test_normal_vectors_that_do_not_fit() -> None:
    logpdf = bl.scipy.stats.multivariate_normal.logpdf
    assert np.isnan(logpdf(np.ones(2), np.zeros(2), np.array([[1.0, 2.0], [2.0, 1.0]])))
    for args in (
        (np.ones(2), np.zeros(3), np.eye(3)),
        (np.ones(3), np.zeros(2), np.eye(3)),
        (np.ones(3), None, COV[:2]),
    ):
        with pytest.raises(bl.errors.ShapeError, match="multivariate_normal needs"):
            logpdf(*args)


def test_dirichlet_is_scipys() -> None:
    jax = jax_or_skip()
    alpha, x = np.array([0.5, 2.0, 3.5]), np.random.default_rng(1).dirichlet([2.0, 2.0, 2.0], size=4).T
    ours = bl.scipy.stats.dirichlet
    for points in (x, x[:2], x[:, 0], x[:2, 0]):
        np.testing.assert_allclose(ours.logpdf(points, alpha), stats.dirichlet.logpdf(points, alpha), rtol=1e-13)
        np.testing.assert_allclose(ours.pdf(points, alpha), stats.dirichlet.pdf(points, alpha), rtol=1e-13)
    point = x[:, 1]
    wanted = jax.jit(jax.grad(jax.scipy.stats.dirichlet.logpdf, (0, 1)))(point, alpha)
    for got, slope in zip(bl.grad(ours.logpdf, (0, 1))(point, alpha), wanted, strict=True):
        np.testing.assert_allclose(got, slope, rtol=1e-11)
    bl.check_grads(ours.logpdf, (point, alpha), order=2)
    assert ours.logpdf(np.array([-0.5, 0.5, 1.0]), alpha) == -INF
    assert np.isnan(ours.logpdf(point, np.array([1.0, 0.0, 1.0])))
    with pytest.raises(bl.errors.ShapeError, match="dirichlet needs"):
        ours.logpdf(point, np.ones(5))
