"""Linear algebra against NumPy, against JAX to the second order, and against differences to the third."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.lowering import lower_linalg
from tests.engines import GEARS, assert_close, jax_or_skip
from tests.graph.linalg.linalg_cases import CASES, MANY, ONE_MATRIX, A, B, Case, N

RNG = np.random.default_rng(5)
U, V = RNG.normal(size=(2, N, N))
TWICE = {"solve", "slogdet", "cholesky", "eigh", "svd, tall", "q, tall", "pinv, tall"}  # what JAX compiles in seconds
# Both sides of where LAPACK takes over.
SHAPES = (
    *((0, 0), (3, 0), (0, 2), (1, 1), (7, 3), (2, 5, 8), (0, 3, 3), (6, 6), (7, 7), (8, 9), (10, 10), (11, 11)),
    *((12, 12), (13, 13), (41, 29), (17, 31), (48, 40), (49, 49)),
)
SIZES = (0, 1, 2, 3, 7, 12, 13, 24, 25, 64, 67)


def weighted(module: Any, case: Case, a: Any, b: Any) -> Any:
    """A number that depends on all entries, not linearly."""
    y = case.f(module, a, b)
    weights = np.cos(np.arange(float(y.size)) + len(case.name)).reshape(y.shape)
    return module.sum(weights * y + y**2)


@pytest.mark.parametrize("gear", GEARS)
def test_linalg_values_equal_numpy(gear: str) -> None:
    def all_of(a: Any, b: Any) -> Any:
        return tuple(case.f(np, a, b) for case in CASES)

    kernel = bl.compile(all_of, A, B, gear=gear)
    assert_close(kernel(A, B), all_of(A, B))


def test_batches_are_loops_over_matrices() -> None:
    alone = [case for case in CASES if case.name not in ONE_MATRIX]

    def all_of(a: Any) -> Any:
        return tuple(case.f(np, a, B) for case in alone)

    each = [all_of(a) for a in MANY]
    wanted = tuple(np.stack(column) for column in zip(*each, strict=True))
    assert_close(bl.jit(all_of)(MANY), wanted)
    assert_close(bl.vmap(all_of)(MANY), wanted)


def test_linalg_derivatives_equal_jax() -> None:
    """Gradients, and what the gradient by the matrix does along U: forward over reverse, and reverse over reverse."""
    jax = jax_or_skip()
    cases = [case for case in CASES if case.jax]

    def ours(case: Case, a: Any, b: Any) -> Any:
        by_a = bl.grad(lambda x, y: weighted(np, case, x, y))
        by_b = bl.grad(lambda y: weighted(np, case, a, y))(b)
        return (
            by_a(a, b),
            by_b,
            bl.jvp(lambda x: by_a(x, b), (a,), (U,))[1],
            bl.grad(lambda x: np.sum(by_a(x, b) * U))(a),
        )

    def theirs(case: Case, a: Any, b: Any) -> Any:
        gradient = jax.grad(lambda x, y: weighted(jax.numpy, case, x, y), (0, 1))
        (by_a, by_b), (along, _) = jax.jvp(lambda x: gradient(x, b), (a,), (U,))
        return by_a, by_b, *([along, along] if case.name in TWICE else [])

    got = bl.compile(lambda a, b: tuple(ours(case, a, b) for case in cases), A, B, gear="replay")(A, B)
    wanted = jax.jit(lambda a, b: tuple(theirs(case, a, b) for case in cases))(A, B)
    for case, mine, other in zip(cases, got, wanted, strict=True):
        try:
            assert_close(mine[: len(other)], other, rtol=1e-9)
        except AssertionError as error:
            raise AssertionError(case.name) from error


def test_derivatives_to_the_third_order_are_differences() -> None:
    """Each order against differences of the one below, in one function for all cases."""

    def orders(a: Any) -> Any:
        rows: list[Any] = []
        for case in CASES:
            first = bl.grad(lambda x: weighted(np, case, x, B))  # noqa: B023 - called within the loop
            second = bl.grad(lambda x: np.sum(first(x) * U))  # noqa: B023
            third = bl.grad(lambda x: np.sum(second(x) * V))  # noqa: B023
            rows.append((weighted(np, case, a, B), np.sum(first(a) * U), np.sum(second(a) * V), np.sum(third(a) * U)))
        return tuple(rows)

    kernel = bl.compile(orders, A, gear="replay")
    step = 1e-5
    along = (U, V, U)
    for k, way in enumerate(along):
        ahead, behind, here = kernel(A + step * way), kernel(A - step * way), kernel(A)
        for case, more, less, exact in zip(CASES, ahead, behind, here, strict=True):
            difference = (more[k] - less[k]) / (2 * step)
            scale = max(abs(exact[k + 1]), abs(more[k]), 1.0)
            assert abs(difference - exact[k + 1]) < 1e-6 * scale, (case.name, k + 1)


@pytest.mark.parametrize("name", lower_linalg.ROUTINES)
def test_every_routine_is_found_in_scipys_lapack(name: str) -> None:
    assert all(lower_linalg.address_of(prefix + name, lower_linalg.ROUTINES[name]) for prefix in "sd")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_systems_of_every_size(dtype: Any) -> None:
    tight = 1e-9 if dtype is np.float64 else 2e-2
    for n in SIZES:
        for lead in ((), (0,), (2, 2)):
            a = RNG.normal(size=(*lead, n, n)).astype(dtype) + 3 * np.eye(n, dtype=dtype)
            b = RNG.normal(size=(*lead, n, 3)).astype(dtype)

            def f(a: Any, b: Any) -> Any:
                square = a @ np.swapaxes(a, -1, -2)
                upper = np.linalg.cholesky(square, upper=True)
                return np.linalg.solve(a, b), np.linalg.inv(a), *np.linalg.slogdet(a), np.linalg.cholesky(square), upper

            got = bl.compile(f, a, b, gear="replay")(a, b)
            assert all(y.dtype == dtype for y in got)
            assert_close(got, f(a, b), rtol=tight)


def assert_near(got: Any, wanted: Any) -> None:
    """Within the rounding errors of a dtype, for numbers of the size of a matrix."""
    eps = 4e3 * np.finfo(got.dtype).eps
    np.testing.assert_allclose(got, wanted, rtol=eps, atol=eps * max(1.0, np.abs(wanted).max(initial=0)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_factors_of_every_shape(dtype: Any) -> None:
    """Factors multiply to the matrix and their vectors are orthonormal, whatever the signs."""

    def f(a: Any) -> Any:
        square = a @ np.swapaxes(a, -1, -2)
        values = np.linalg.eigvalsh(square, "U"), np.linalg.svdvals(a)
        return (
            *np.linalg.eigh(square), *values, *np.linalg.svd(a, full_matrices=False), *np.linalg.svd(a),
            *np.linalg.qr(a), *np.linalg.qr(a, "complete"), square,
        )  # fmt: skip

    for shape in SHAPES:
        a = RNG.normal(size=shape).astype(dtype)
        w, v, alone, s, *svds, q, r, all_q, all_r, square = bl.compile(f, a, gear="replay")(a)
        m, n = shape[-2:]
        k = min(m, n)
        reduced, full = svds[:3], svds[3:]
        assert all(x.dtype == dtype for x in (w, v, s, q, r))
        assert_near((v * w[..., None, :]) @ np.swapaxes(v, -1, -2), square)
        assert_near(alone, np.linalg.eigvalsh(square))
        for values in (s, reduced[1], full[1]):
            assert_near(values, np.linalg.svd(a, compute_uv=False))
        for u, values, vt in ((full[0][..., :k], full[1], full[2][..., :k, :]), reduced):
            assert_near((u * values[..., None, :]) @ vt, a)
        for basis in (v, q, all_q, full[0], reduced[0], *(np.swapaxes(x[2], -1, -2) for x in (full, reduced))):
            eye = np.broadcast_to(np.eye(basis.shape[-1]), (*basis.shape[:-2], *basis.shape[-1:] * 2))
            assert_near(np.swapaxes(basis, -1, -2) @ basis, eye)
        assert_near(q @ r, a)
        assert_near(all_q @ all_r, a)
        wanted = *np.linalg.qr(a), *np.linalg.qr(a, "complete")
        assert [x.shape for x in (q, r, all_q, all_r)] == [x.shape for x in wanted]
        assert_near(np.triu(r), r)
        assert_near(r, np.linalg.qr(a)[1])


def test_factors_of_hopeless_matrices_are_nan_and_come_to_an_end() -> None:
    def f(a: Any) -> Any:
        return *np.linalg.eigh(a), *np.linalg.svd(a), np.linalg.pinv(a), np.linalg.matrix_rank(a)

    for n in (4, 30):
        for bad in (np.nan, np.inf):
            a = np.eye(n)
            a[1, 2] = a[2, 1] = bad
            *factors, _ = bl.jit(f)(a)
            assert all(np.isnan(x).all() for x in factors)
        for a in (np.zeros((n, n)), np.ones((n, n)), np.full((n, n), 1e-320), 1e300 * np.eye(n)):
            w, v, u, s, vt, inverse, rank = bl.jit(f)(a)
            scale = np.abs(a).max() or 1.0
            near = 1e-12 if scale > 1e-300 else 1e-2  # numbers of size 1e-320 have three digits
            np.testing.assert_allclose((v * (w / scale)) @ v.T, a / scale, atol=near)
            np.testing.assert_allclose((u * (s / scale)) @ vt, a / scale, atol=near)
            np.testing.assert_allclose(u.T @ u, np.eye(n), atol=1e-12)
            assert rank == np.linalg.matrix_rank(a)
            assert np.isfinite(inverse).all() or scale < 1e-300


def test_repeated_eigenvalues_have_derivatives_and_their_vectors_none() -> None:
    a = np.diag([2.0, 2.0, 5.0])
    np.testing.assert_allclose(bl.grad(lambda a: np.sum(np.linalg.eigvalsh(a) ** 2))(a), 2 * a, atol=1e-14)
    np.testing.assert_allclose(bl.grad(lambda a: np.sum(np.linalg.eigh(a)[0]))(a), np.eye(3), atol=1e-14)
    np.testing.assert_allclose(bl.grad(lambda a: np.sum(np.linalg.svdvals(a)))(a), np.eye(3), atol=1e-14)
    assert not np.isfinite(bl.grad(lambda a: np.linalg.eigh(a)[1][0, 0])(a)).all()


def test_singular_matrices_and_nan_give_numbers_and_no_error() -> None:
    def f(a: Any) -> Any:
        log = np.linalg.slogdet(a)
        return np.linalg.solve(a, np.ones(4)), np.linalg.inv(a), np.linalg.det(a), *log, np.linalg.cholesky(a - 1)

    for a in (np.zeros((4, 4)), np.ones((4, 4)), np.full((4, 4), np.nan), np.full((4, 4), np.inf)):
        solution, inverse, det, sign, log, factor = bl.jit(f)(a)
        assert not np.isfinite(solution).any()
        assert not np.isfinite(inverse).all()
        assert np.isnan(factor[-1]).all() or np.isinf(a).all()
        assert np.isnan(det) or (det, sign, log) == (0, 0, -np.inf)
        assert not np.isfinite(bl.grad(lambda a: np.linalg.slogdet(a)[1])(a)).all()


def test_a_small_singular_determinant_has_a_derivative() -> None:
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_array_equal(bl.grad(np.linalg.det)(a), [[4.0, -2.0], [-2.0, 1.0]])


def test_integers_become_float64() -> None:
    a = np.array([[2, 1], [1, 3]])
    got = bl.jit(np.linalg.inv)(a)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, np.linalg.inv(a), rtol=1e-15)


def test_shapes_that_fit_nothing_are_refused() -> None:
    for f, shapes in (
        (np.linalg.inv, [(2, 3)]),
        (np.linalg.det, [(3,)]),
        (np.linalg.solve, [(3, 3), (2, 2)]),
        (np.linalg.solve, [(3, 3), (2,)]),
        (np.linalg.solve, [(2, 3, 3), (5, 3, 1)]),
    ):
        with pytest.raises(np.linalg.LinAlgError, match=r"needs|broadcast") as error:
            bl.jit(f)(*[np.ones(shape) for shape in shapes])
        assert isinstance(error.value, bl.errors.ShapeError)


def test_many_right_hand_sides_of_one_matrix_are_columns() -> None:
    many = RNG.normal(size=(6, N))
    solve = bl.vmap(lambda b: np.linalg.solve(A, b))
    np.testing.assert_allclose(solve(many), np.linalg.solve(A, many.T).T, rtol=1e-10)
    jacobian = bl.jacobian(lambda b: np.linalg.solve(A, b))(many[0])
    np.testing.assert_allclose(jacobian, np.linalg.inv(A), rtol=1e-10)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_right_hand_side_has_the_same_bits_among_any_number(dtype: str) -> None:
    """They are solved in packets as wide as they fill."""
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(7, 7)).astype(dtype), rng.normal(size=(7, 45)).astype(dtype)
    whole = bl.jit(np.linalg.solve)(a, b)
    np.testing.assert_allclose(a.astype(float) @ whole, b, rtol=0, atol=1e-12 if dtype == "float64" else 1e-4)
    for count in (2, 3, 5, 8, 12, 17, 31):
        np.testing.assert_array_equal(bl.jit(np.linalg.solve)(a, b[:, :count].copy()), whole[:, :count])


def cofactors(a: Any) -> Any:
    """By the determinants of minors."""
    n = len(a)
    rows = [[np.delete(np.delete(a, i, 0), j, 1) for j in range(n)] for i in range(n)]
    return np.array([[(-1) ** (i + j) * np.linalg.det(rows[i][j]) for j in range(n)] for i in range(n)])


def singular_matrices(n: int) -> list[Any]:
    """Of every rank, with repeated singular values, repeated rows, and rows out of order."""
    given = [RNG.normal(size=(n, rank)) @ RNG.normal(size=(rank, n)) for rank in range(n + 1)]
    flat = np.diag([0.0, *[2.0] * (n - 1)])
    return [*given, np.arange(float(n * n)).reshape(n, n), np.vstack([given[n][:1], given[n][:-1]]), flat, flat[::-1]]


@pytest.mark.parametrize("n", [4, 5, 7])
def test_determinants_of_singular_matrices_have_cofactors(n: int) -> None:
    """Gradient, jvp and both kinds of second derivatives, in four to seven rows, and in a batch."""
    way = np.cos(np.arange(float(n * n)).reshape(n, n))
    slope = bl.grad(np.linalg.det)

    def orders(a: Any) -> Any:
        along = bl.jvp(np.linalg.det, (a,), (way,))[1]
        return slope(a), along, bl.hvp(np.linalg.det)(a, way), bl.grad(lambda a: np.sum(slope(a) * way))(a)

    kernel = bl.compile(orders, np.eye(n), gear="replay")
    matrices = np.array(singular_matrices(n))
    step = 1e-3
    for a in matrices:
        wanted = cofactors(a)
        near, far = (cofactors(a + e * way) - cofactors(a - e * way) for e in (step, 2 * step))
        bend = (8 * near - far) / (12 * step)
        first, along, *second = kernel(a)
        np.testing.assert_allclose(first, wanted, atol=1e-10 * max(1, np.abs(wanted).max()))
        np.testing.assert_allclose(along, np.sum(wanted * way), atol=1e-9 * max(1, np.abs(wanted).max()))
        for got in second:
            np.testing.assert_allclose(got, bend, atol=1e-7 * max(1, np.abs(bend).max()))
    together = bl.grad(lambda a: np.sum(np.linalg.det(a)))
    wanted = np.stack([cofactors(a) for a in matrices])
    for got in (together(matrices), bl.vmap(slope)(matrices)):
        np.testing.assert_allclose(got, wanted, atol=1e-10 * np.abs(wanted).max())


def test_third_derivative_of_singular_determinant_is_not_invented() -> None:
    flat = np.diag([0.0, 0.0, 0.0, 2.0])
    slope = bl.grad(np.linalg.det)
    second = bl.grad(lambda a: np.sum(slope(a) * np.eye(4)))
    assert np.all(np.isfinite(second(flat)))
    assert np.all(np.isnan(bl.grad(lambda a: np.sum(second(a) * np.eye(4)))(flat)))
