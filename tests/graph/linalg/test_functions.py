"""Functions of symmetric matrices where eigenvalues are repeated: against closed forms, mpmath and differences."""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import burlab as bl
from tests.engines import GEARS, assert_close

RNG = np.random.default_rng(8)
N = 4
Q = np.linalg.qr(RNG.normal(size=(N, N)))[0]
G, U = RNG.normal(size=(2, N, N))
SPECTRA = {
    "identity": np.ones(N),
    "a multiple of it": np.full(N, 2.5),
    "two pairs": np.array([0.5, 0.5, 2.0, 2.0]),
    "three alike": np.array([0.7, 1.9, 1.9, 1.9]),
    "almost alike": np.array([1.0, 1.0 + 3e-13, 1.0 + 1e-9, 2.0]),
    "close": np.array([1.0, 1.0001, 1.01, 1.3]),
    "apart": np.array([0.3, 0.9, 2.0, 5.0]),
}
BASES = {"axes": np.eye(N), "turned": Q}
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "square root": (np.sqrt, mpmath.sqrt),
    "exponential": (np.exp, mpmath.exp),
    "logarithm": (np.log, mpmath.log),
    "square": (np.square, lambda x: x * x),
    "inverse root": (lambda w: 1 / np.sqrt(w), lambda x: 1 / mpmath.sqrt(x)),
    "of two": (lambda w: w * np.sin(3 * w) / (1 + w), lambda x: x * mpmath.sin(3 * x) / (1 + x)),
    "identity": (lambda w: w, lambda x: x),
    "constant": (lambda w: 1 + 0 * w, lambda _: mpmath.mpf(1)),
}
SPELLINGS: dict[str, Callable[[Any, Any], Any]] = {
    "scaled columns": lambda f, v: (v * f) @ v.T,
    "scaled rows": lambda f, v: v @ (f[:, None] * v.T),
    "a diagonal matrix": lambda f, v: v @ np.diag(f) @ v.T,
    "a diagonal matrix first": lambda f, v: v @ (np.diag(f) @ v.T),
    "einsum of three": lambda f, v: np.einsum("ij,j,kj->ik", v, f, v),
    "einsum of two": lambda f, v: np.einsum("ij,kj->ik", v * f, v),
    "dot": lambda f, v: np.dot(v * f, v.T),
    "columns beside": lambda f, v: (v * f[None, :]) @ np.transpose(v),
    "minus twice": lambda f, v: -(-(v * f) @ v.T),
    "divided": lambda f, v: (v / (1 / f)) @ v.T,
    "halves": lambda f, v: (v * (f / 2)) @ (2 * v).T,
}


def matrix(spectrum: str, basis: str) -> Any:
    """A matrix of that spectrum, symmetric to the bit."""
    q = BASES[basis]
    a = (q * SPECTRA[spectrum]) @ q.T
    return np.tril(a) + np.tril(a, -1).T


def divided(f: Callable[[Any], Any], w: Any) -> Any:
    """(f_j - f_i) / (w_j - w_i), and f' where these are equal, by mpmath in 60 digits."""
    with mpmath.workdps(60):
        values = [mpmath.mpf(float(x)) for x in w]

        def entry(x: Any, y: Any) -> float:
            return float(mpmath.diff(f, x) if x == y else (f(y) - f(x)) / (y - x))

        return np.array([[entry(x, y) for y in values] for x in values])


def derivative(f: Callable[[Any], Any], w: Any, v: Any, change: Any) -> Any:
    """Of the function of v diag(w) v' along a change: Higham 2008, theorem 3.11."""
    inner = v.T @ ((change + change.T) / 2) @ v
    return v @ (divided(f, w) * inner) @ v.T


def spectral(f: Callable[[Any], Any], a: Any, spelling: Callable[[Any, Any], Any]) -> Any:
    """The function of a matrix."""
    w, v = np.linalg.eigh(a)
    return spelling(f(w), v)


@pytest.mark.parametrize("gear", GEARS)
def test_derivatives_of_matrix_functions_hold_where_eigenvalues_are_equal(gear: str) -> None:
    """Gradient and jvp of every function; the theorem's numbers by the spectrum that made the matrix."""

    def all_of(a: Any) -> Any:
        rows: list[Any] = []
        for f, _ in FUNCTIONS.values():
            spelling = SPELLINGS["scaled columns"]
            gradient = bl.grad(lambda x: np.sum(G * spectral(f, x, spelling)))(a)  # noqa: B023
            rows.append((gradient, bl.jvp(lambda x: spectral(f, x, spelling), (a,), (U,))[1]))  # noqa: B023
        return tuple(rows)

    kernel = bl.compile(all_of, np.eye(N), gear=gear)
    for spectrum, w in SPECTRA.items():
        for basis, v in BASES.items():
            got = kernel(matrix(spectrum, basis))
            for (name, (_, exact)), (gradient, tangent) in zip(FUNCTIONS.items(), got, strict=True):
                where = f"{name}, {spectrum}, {basis}"
                for mine, change in ((gradient, G), (tangent, U)):
                    wanted = derivative(exact, w, v, change)
                    np.testing.assert_allclose(mine, wanted, rtol=1e-8, atol=1e-10, err_msg=where)


@pytest.mark.parametrize("gear", GEARS)
def test_second_derivatives_of_functions_of_eigenvalues_hold(gear: str) -> None:
    """The Hessian times U of sum f(w): its gradient is f' of the matrix, whose derivative the theorem states."""

    def all_of(a: Any) -> Any:
        rows: list[Any] = []
        for f, _ in FUNCTIONS.values():
            total = lambda x: np.sum(f(np.linalg.eigvalsh(x)))  # noqa: B023, E731
            by_eigh = lambda x: np.sum(f(np.linalg.eigh(x)[0]))  # noqa: B023, E731
            along = bl.grad(lambda x: np.sum(U * bl.grad(total)(x)))  # noqa: B023
            rows.append((bl.hvp(total)(a, U), bl.hvp(by_eigh)(a, U), along(a)))
        return tuple(rows)

    kernel = bl.compile(all_of, np.eye(N), gear=gear)
    for spectrum, w in SPECTRA.items():
        for basis, v in BASES.items():
            got = kernel(matrix(spectrum, basis))
            for (name, (_, exact)), products in zip(FUNCTIONS.items(), got, strict=True):
                wanted = derivative(lambda x: mpmath.diff(exact, x), w, v, U)  # noqa: B023
                for product in products:
                    np.testing.assert_allclose(
                        product, wanted, rtol=1e-7, atol=1e-9, err_msg=f"{name}, {spectrum}, {basis}"
                    )


def second_derivative(f: Callable[[Any], Any], a: Any, one: Any, other: Any) -> Any:
    """Of a function of a matrix along two changes, by a mixed difference in 60 digits."""
    with mpmath.workdps(60):
        step = mpmath.mpf(10) ** -14
        center, e, h = (mpmath.matrix(((x + x.T) / 2).tolist()) for x in (a, one, other))

        def at(s: int, t: int) -> Any:
            w, v = mpmath.eigsy(center + step * (s * e + t * h))
            return v * mpmath.diag([f(x) for x in w]) * v.T

        return np.array(((at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * step**2)).tolist(), float)


@pytest.mark.parametrize("gear", GEARS)
def test_second_derivatives_of_matrix_functions_at_repeated_eigenvalues_match_differences(gear: Any) -> None:
    """Forward over forward, forward over reverse, reverse over reverse; the third derivative of sum f(w) by f'."""

    def all_of(a: Any) -> Any:
        rows: list[Any] = []
        for f, _ in FUNCTIONS.values():
            value = lambda x: spectral(f, x, SPELLINGS["scaled columns"])  # noqa: B023, E731
            loss = lambda x: np.sum(G * value(x))  # noqa: B023, E731
            total = lambda x: np.sum(f(np.linalg.eigvalsh(x)))  # noqa: B023, E731
            twice = bl.jvp(lambda x: bl.jvp(value, (x,), (G,))[1], (a,), (U,))[1]  # noqa: B023
            across = bl.grad(lambda x: np.sum(U * bl.grad(loss)(x)))(a)  # noqa: B023
            rows.append((twice, bl.hvp(loss)(a, U), across, bl.jvp(lambda x: bl.hvp(total)(x, G), (a,), (U,))[1]))  # noqa: B023
        return tuple(rows)

    kernel = bl.compile(all_of, np.eye(N), gear=gear)
    for spectrum in SPECTRA if gear == "replay" else ("three alike", "almost alike"):
        a = matrix(spectrum, "turned")
        for (name, (_, exact)), (twice, hvp, across, third) in zip(FUNCTIONS.items(), kernel(a), strict=True):
            wanted = second_derivative(exact, a, G, U)
            kwargs: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-9 * max(1.0, np.abs(wanted).max())}
            where = f"{name}, {spectrum}"
            np.testing.assert_allclose(twice, wanted, err_msg=where, **kwargs)
            np.testing.assert_allclose(hvp, across, err_msg=where, **kwargs)
            for change in (U, G @ U):  # the form of three changes is symmetric in them
                along = np.sum(G * second_derivative(exact, a, U, change))
                np.testing.assert_allclose(np.sum(hvp * change), along, rtol=1e-7, atol=1e-7, err_msg=where)
            slope = second_derivative(lambda x: mpmath.diff(exact, x), a, G, U)  # noqa: B023
            np.testing.assert_allclose(third, slope, rtol=1e-6, atol=1e-6, err_msg=where)


def test_second_derivatives_of_projectors_and_indexed_functions_match_differences() -> None:
    """On the upper pair of eigenvalues, and on it times their squares."""
    a = matrix("two pairs", "turned")
    cases: list[tuple[Any, Any]] = [
        (lambda w, v: v[:, 2:] @ v[:, 2:].T, lambda x: mpmath.mpf(x > 1)),
        (lambda w, v: (v * (w > 1)) @ v.T, lambda x: mpmath.mpf(x > 1)),
        (lambda w, v: np.eye(N) - v[:, :2] @ v[:, :2].T, lambda x: mpmath.mpf(x > 1)),
        (lambda w, v: (v[:, 2:] * w[2:] ** 2) @ v[:, 2:].T, lambda x: x * x * (x > 1)),
        (lambda w, v: (v * np.maximum(w - 1, 0)) @ v.T, lambda x: max(x - 1, mpmath.mpf(0))),
    ]
    for k, (f, exact) in enumerate(cases):
        got = bl.jvp(lambda x: bl.jvp(lambda y: f(*np.linalg.eigh(y)), (x,), (G,))[1], (a,), (U,))[1]  # noqa: B023
        np.testing.assert_allclose(got, second_derivative(exact, a, G, U), rtol=1e-9, atol=1e-10, err_msg=str(k))


@pytest.mark.parametrize("f", [
    lambda w: np.abs(w - 1) ** 1.5, lambda w: (w - 1) ** 2 * np.arange(4.0),
])  # fmt: skip
def test_second_derivatives_of_what_is_smooth_once_are_not_finite(f: Any) -> None:
    """The first derivative at the identity is 0."""
    loss = lambda x: np.sum(G * spectral(f, x, SPELLINGS["dot"]))  # noqa: E731
    assert not np.isfinite(bl.hvp(loss)(np.eye(N), U)).all()


def test_every_spelling_is_seen() -> None:
    """And in batches, where the matrices of one have other spectra."""
    many = np.stack([matrix(spectrum, "turned") for spectrum in SPECTRA])
    wanted = np.stack([derivative(mpmath.exp, w, Q, G) for w in SPECTRA.values()])
    for name, spelling in SPELLINGS.items():
        gradient = bl.grad(lambda x: np.sum(G * spectral(np.exp, x, spelling)))  # noqa: B023
        np.testing.assert_allclose(bl.vmap(gradient)(many), wanted, rtol=1e-8, atol=1e-10, err_msg=name)

    def stacked(x: Any) -> Any:
        w, v = np.linalg.eigh(x)
        return np.sum(G * ((v * np.exp(w)[..., None, :]) @ np.swapaxes(v, -1, -2)))

    np.testing.assert_allclose(bl.grad(stacked)(many), wanted, rtol=1e-8, atol=1e-10)
    rows = bl.grad(lambda x: np.sum(bl.vmap(lambda a: np.sum(G * spectral(np.exp, a, SPELLINGS["dot"])))(x)))
    np.testing.assert_allclose(rows(many), wanted, rtol=1e-8, atol=1e-10)


def test_eigenprojectors_are_smooth_between_separate_spaces() -> None:
    """Both eigenvalues of a pair are kept or dropped; a projector moves as P E S + S E P, S = 1 / (kept - dropped)."""
    a = matrix("two pairs", "turned")
    p = Q[:, 2:] @ Q[:, 2:].T
    wanted = (p @ (G + G.T) / 2 @ (np.eye(N) - p) + (np.eye(N) - p) @ (G + G.T) / 2 @ p) / 1.5
    projectors: list[Callable[[Any, Any], Any]] = [
        lambda w, v: v[:, 2:] @ v[:, 2:].T,
        lambda w, v: (v * (w > 1)) @ v.T,
        lambda w, v: (v * np.where(w > 1, 1.0, 0.0)) @ v.T,
        lambda w, v: (v * (np.sign(w - 1) + 1) / 2) @ v.T,
        lambda w, v: (v * np.array([0.0, 0, 1, 1])) @ v.T,
        lambda w, v: np.eye(N) - v[:, :2] @ v[:, :2].T,
    ]
    for k, projector in enumerate(projectors):
        got = bl.grad(lambda x: np.sum(G * projector(*np.linalg.eigh(x))))(a)  # noqa: B023
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12, err_msg=str(k))


def test_parameters_of_eigenvalue_functions_have_derivatives() -> None:
    """A scale inside of f, and one that depends on the matrix itself, by differences along the identity and U."""
    a = matrix("three alike", "turned")
    symmetric = (U + U.T) / 2

    def f(x: Any, s: Any) -> Any:
        w, v = np.linalg.eigh(x)
        return np.sum(G * ((v * np.exp(s * w / np.sum(w))) @ v.T))

    by_matrix, by_scale = bl.grad(f, argnums=(0, 1))(a, 1.3)
    step = 1e-6
    along = (f(a + step * symmetric, 1.3) - f(a - step * symmetric, 1.3)) / (2 * step)
    assert_close(np.sum(by_matrix * symmetric), along, rtol=1e-6)
    assert_close(by_scale, (f(a, 1.3 + step) - f(a, 1.3 - step)) / (2 * step), rtol=1e-6)
    mixed = bl.jvp(lambda s: bl.grad(f)(a, s), (1.3,), (1.0,))[1]
    assert_close(mixed, (bl.grad(f)(a, 1.3 + step) - bl.grad(f)(a, 1.3 - step)) / (2 * step), rtol=1e-5)
    by_two = bl.grad(lambda s: bl.jvp(lambda x: f(x, s), (a,), (U,))[1])(1.3)
    assert_close(by_two, np.sum(mixed * U), rtol=1e-9)
    assert_close(bl.jvp(lambda x: bl.jvp(lambda s: f(x, s), (1.3,), (1.0,))[1], (a,), (U,))[1], by_two, rtol=1e-9)


@pytest.mark.parametrize("f", [
    lambda w, v: (v * np.arange(4.0)) @ v.T,
    lambda w, v: v[:, :1] @ v[:, :1].T,
    lambda w, v: (v * np.cumsum(w - 1)) @ v.T,
    lambda w, v: (v * ((w - 1) * np.arange(1.0, 5.0))) @ v.T,
    lambda w, v: (v * np.sqrt(np.abs(w - 1))) @ v.T,
    lambda w, v: v,
])  # fmt: skip
def test_nonsmooth_function_of_eigenvectors_has_nan_gradient(f: Any) -> None:
    """It depends on the basis that was found, or has no derivative: no finite number is right."""
    got = bl.grad(lambda x: np.sum(G * f(*np.linalg.eigh(x))))(np.eye(N))
    off = got[~np.eye(N, dtype=bool)]
    assert not np.isfinite(off).any()


def test_third_derivatives_of_matrix_functions_are_nan() -> None:
    second = lambda x: bl.hvp(lambda y: np.sum(G * spectral(np.exp, y, SPELLINGS["dot"])))(x, U)  # noqa: E731
    assert np.isnan(bl.jvp(second, (np.eye(N),), (U,))[1]).any()


def test_hessians_by_the_matrix_and_a_number_in_the_function_match_differences() -> None:
    """At the identity, where one number moves the matrix, one the function, and both move one of each."""

    def f(s: Any) -> Any:
        return np.sum(G * spectral(lambda w: np.exp(s[1] * w) + s[0] * w, np.eye(N) + s[0] * U, SPELLINGS["dot"]))

    def exact(x: Any, y: Any) -> Any:
        a = mpmath.matrix((U + U.T).tolist()) * x / 2 + mpmath.eye(N)
        w, v = mpmath.eigsy(a)
        value = v * mpmath.diag([mpmath.exp(y * k) + x * k for k in w]) * v.T
        return sum(mpmath.mpf(float(G[i, j])) * value[i, j] for i in range(N) for j in range(N))

    with mpmath.workdps(60):
        at, e = (mpmath.mpf(0), mpmath.mpf("0.7")), mpmath.mpf(10) ** -14
        moves = [(e, 0), (0, e)]
        wanted = np.array([[float(sum(
            a * b * exact(at[0] + a * p[0] + b * q[0], at[1] + a * p[1] + b * q[1]) for a in (1, -1) for b in (1, -1)
        ) / (4 * e * e)) for p in moves] for q in moves])  # fmt: skip
    s = np.array([0.0, float(at[1])])
    for hessian in (bl.hessian(f), bl.jacobian(bl.grad(f))):
        np.testing.assert_allclose(hessian(s), wanted, rtol=1e-11)


def test_derivatives_of_batches_of_matrices_or_numbers_are_those_of_loops() -> None:
    """The batch is made before it is differentiated: one number for all matrices, and one matrix for all numbers."""
    many = np.stack([matrix(spectrum, "turned") for spectrum in ("two pairs", "three alike", "apart")])
    scales = np.array([0.3, 1.0, 1.7])
    one = lambda x, s: np.sum(G * spectral(lambda w: np.exp(s * w), x, SPELLINGS["dot"]))  # noqa: E731
    by_matrices = lambda s: np.sum(bl.vmap(lambda x: one(x, s))(many))  # noqa: E731
    wanted = sum(bl.grad(lambda s: one(x, s))(0.7) for x in many)  # noqa: B023
    assert_close(bl.grad(by_matrices)(0.7), wanted, rtol=1e-12)
    assert_close(bl.jvp(by_matrices, (0.7,), (1.0,))[1], wanted, rtol=1e-12)
    by_numbers = lambda x: np.sum(bl.vmap(lambda s: one(x, s))(scales))  # noqa: E731
    for x in many:
        wanted = sum(bl.grad(one)(x, s) for s in scales)
        assert_close(bl.grad(by_numbers)(x), wanted, rtol=1e-9)
        assert_close(bl.jvp(by_numbers, (x,), (U,))[1], np.sum(wanted * U), rtol=1e-9)


def test_a_number_that_moves_matrix_and_function_has_a_second_derivative() -> None:
    f = lambda s: np.sum(G * spectral(lambda w: np.exp(s * w), np.eye(N) + s * U, SPELLINGS["dot"]))  # noqa: E731
    two = lambda s: np.sum(G * spectral(lambda w: np.exp(s[0] * w), np.eye(N) + s[1] * U, SPELLINGS["dot"]))  # noqa: E731
    assert_close(bl.grad(bl.grad(f))(0.7), np.sum(bl.hessian(two)(np.array([0.7, 0.7]))), rtol=1e-10)


def test_sparsity_includes_values_read_besides_the_matrix() -> None:
    """One number moves the matrix, one its function."""
    a = matrix("three alike", "turned")

    def f(s: Any) -> Any:
        w, v = np.linalg.eigh(a + s[0] * G @ G.T)
        return ((v * np.exp(s[1] * w)) @ v.T)[0]

    s = np.array([0.0, 0.7, 1.0])
    assert_close(bl.sparse_jacobian(f)(s).toarray(), bl.jacobian(f)(s))


@pytest.mark.parametrize("name", ["square root", "exponential"])
def test_single_precision_is_as_right(name: str) -> None:
    f, exact = FUNCTIONS[name]
    for spectrum, w in SPECTRA.items():
        got = bl.grad(lambda x: np.sum(G.astype(np.float32) * spectral(f, x, SPELLINGS["dot"])))(
            matrix(spectrum, "turned").astype(np.float32)
        )
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, derivative(exact, w, Q, G), rtol=2e-3, atol=2e-3, err_msg=spectrum)
