"""What sparse matrices know in traced functions, against the same words on dense ones, and what is refused by name."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import burlab as bl
from burlab.errors import ArgumentError, BurlabError, DTypeError, ShapeError, TraceError
from burlab.problems.data import Data

_rng = np.random.default_rng(7)
MATRIX = sparse.random_array((7, 5), density=0.4, rng=_rng, format="csr")
DENSE = MATRIX.toarray()
X, V, Y, W = _rng.normal(size=(5, 3)), _rng.normal(size=5), _rng.normal(size=7), _rng.normal(size=(4, 7))

MATRIX_WORDS: dict[str, Callable[[Any], Any]] = {
    "A @ v": lambda a: a @ V,
    "A @ X": lambda a: a @ X,
    "A.T @ y": lambda a: a.T @ Y,
    "y @ A": lambda a: Y @ a,
    "W @ A": lambda a: W @ a,
    "X.T @ A.T": lambda a: X.T @ a.T,
    "np.dot": lambda a: np.dot(a, V),
    "np.dot of the other": lambda a: np.dot(Y, a),
    "np.matmul": lambda a: np.matmul(a, X),
    "A.dot": lambda a: a.dot(V),
    "np.inner": lambda a: np.inner(a, V) + np.inner(V, a) + np.inner(a, X.T) @ V[:3] + np.inner(X.T, a).T @ V[:3],
    "np.vdot of rows": lambda a: np.vdot(a[1], V) * np.vdot(V, a[2]),
    "sum": lambda a: np.sum(a) + a.sum() + np.sum(a, axis=(0, 1)) + np.sum(a, keepdims=False),
    "sum of rows": lambda a: np.sum(a, axis=1),
    "sum of columns": lambda a: a.sum(axis=0) + a.T.sum(axis=1) + np.sum(a, axis=-2),
    "mean": lambda a: a.mean() + np.mean(a, axis=0),
    "norm": lambda a: np.linalg.norm(a) * np.linalg.norm(a, "fro"),
    "a number times A": lambda a: (2.0 * a / 3.0) @ V,
    "columns times A": lambda a: (a * V) @ X,
    "rows times A": lambda a: (Y[:, None] * a) @ X,
    "both": lambda a: (Y[:, None] * (a * V) * 0.5).T @ Y,
    "of the transpose": lambda a: (a.T * Y) @ np.ones(7) + (a.T * V[:, None]) @ Y,
    "negative": lambda a: -a @ V + np.negative(a) @ V + (+a) @ V,
    "abs": lambda a: abs(a * V) @ V + np.fabs(a) @ V,
    "log1p": lambda a: np.log1p(a) @ V,
    "powers": lambda a: (a**2) @ V + (a ** np.int64(3)) @ V + np.square(a) @ V + np.sqrt(a) @ V + (a**1.5) @ V,
    "more functions of zero": lambda a: (np.sinh(a) @ V + np.tanh(a) @ V + np.arctan(a) @ V) * (np.sign(a) @ V),
    "rows": lambda a: a[2] @ V + a[1:6] @ X[:, 0] @ np.ones(5) + a[np.array([0, 3])] @ V @ np.ones(2),
    "dense": lambda a: np.cos(a.toarray()) @ V if hasattr(a, "toarray") else np.cos(a) @ V,
    "transposed dense": lambda a: (a.T.toarray() if hasattr(a, "toarray") else a.T) @ Y,
    "its form": lambda a: (a @ V) * a.shape[0] * a.ndim * np.size(a) * len(a.shape) * np.size(a, 1),
    "np.transpose": lambda a: np.transpose(a) @ Y + np.transpose(a, (1, 0)) @ Y + a.transpose(1, 0) @ Y,
}


# A matrix of float32 meets vectors of float64.
@pytest.mark.filterwarnings("ignore::burlab.graph.numpy_api.promotion.PrecisionWarning")
@pytest.mark.parametrize("word", MATRIX_WORDS)
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
def test_words_on_matrices(word: str, form: str) -> None:
    f, matrix = MATRIX_WORDS[word], MATRIX.asformat(form)
    if form == "csc" and "rows" in word and "sum" not in word and "times" not in word:  # its transpose has rows
        matrix = MATRIX.T.asformat("csc")
        f = lambda a: MATRIX_WORDS[word](a.T)  # noqa: E731
        np.testing.assert_allclose(bl.jit(f)(matrix), f(DENSE.T), 1e-13, 1e-13)
        return
    np.testing.assert_allclose(bl.jit(f)(matrix), f(DENSE), 1e-13, 1e-13)
    matrix32 = matrix.astype(np.float32)
    np.testing.assert_allclose(bl.jit(f)(matrix32), f(DENSE.astype(np.float32)), 1e-4, 1e-4)


@pytest.mark.parametrize("word", [w for w in MATRIX_WORDS if w not in ("dense", "powers", "norm")])
def test_gradients_by_stored_entries(word: str) -> None:
    f = MATRIX_WORDS[word]
    found = bl.grad(lambda a: np.sum(np.sin(f(a))))(MATRIX)
    wanted = bl.grad(lambda a: np.sum(np.sin(f(a))))(DENSE)
    assert isinstance(found, sparse.csr_array)
    assert np.array_equal(found.indices, MATRIX.indices)
    np.testing.assert_allclose(found.toarray(), wanted * (DENSE != 0), 1e-12, 1e-12)


@pytest.mark.parametrize("kind", ["csr_array", "csc_array", "coo_array", "csr_matrix", "csc_matrix"])
def test_a_matrix_from_around_the_function(kind: str) -> None:
    matrix = getattr(sparse, kind)(MATRIX)
    words: dict[str, Callable[[Any, Any], Any]] = {
        "A @ x": lambda a, x: np.sum(np.sin(a @ x)),
        "x @ A": lambda a, x: np.sum(np.sin(x @ a.T)),
        "np.dot": lambda a, x: np.sum(np.sin(np.dot(a, x))),
        "x * A": lambda a, x: np.sum(np.sin((x * a) @ V)) if "matrix" not in kind else np.sum(a @ x),
    }
    for f in words.values():
        found, wanted = bl.grad(lambda x, f=f: f(matrix, x))(V), bl.grad(lambda x, f=f: f(DENSE, x))(V)
        np.testing.assert_allclose(found, wanted, 1e-13, 1e-13)
        hessian, dense = bl.hessian(lambda x, f=f: f(matrix, x))(V), bl.hessian(lambda x, f=f: f(DENSE, x))(V)
        np.testing.assert_allclose(hessian, dense, 1e-12, 1e-12)


def test_of_the_older_class_a_star_is_a_product() -> None:
    matrix = sparse.csr_matrix(MATRIX)
    np.testing.assert_allclose(bl.jit(lambda x: matrix * x)(V), DENSE @ V)


def test_changes_of_a_captured_matrix_are_seen() -> None:
    matrix = MATRIX.copy()
    f = bl.jit(lambda x: matrix @ x)
    np.testing.assert_allclose(f(V), DENSE @ V)
    matrix.data *= 2
    np.testing.assert_allclose(f(V), 2 * DENSE @ V)


def test_results_are_matrices_of_scipy() -> None:
    found = bl.jit(lambda a, v: (2.0 * a * v) / 4.0)(MATRIX, V)
    assert isinstance(found, sparse.csr_array)
    np.testing.assert_allclose(found.toarray(), DENSE * V / 2)
    np.testing.assert_allclose(bl.jit(lambda a: a.T)(MATRIX).toarray(), DENSE.T)


def test_arguments_beside_matrices() -> None:
    def f(x: Any, a: Any, b: float) -> Any:
        return np.sum((a @ x) ** 2) * b

    gradients = bl.grad(f, argnums=(0, 1, 2))(V, MATRIX, 3.0)
    wanted = bl.grad(f, argnums=(0, 1, 2))(V, DENSE, 3.0)
    for one, other in zip(gradients, wanted, strict=True):
        whole = one.toarray() if isinstance(one, sparse.csr_array) else one
        np.testing.assert_allclose(whole, other * (DENSE != 0) if np.ndim(other) == 2 else other, 1e-12)


def test_a_pull_back_has_the_stored_entries() -> None:
    y, pull = bl.vjp(lambda a, x: np.sin(a @ x), MATRIX, V)
    of_matrix, of_vector = pull(Y)
    wanted, other = bl.vjp(lambda a, x: np.sin(a @ x), DENSE, V)[1](Y)
    assert np.array_equal(of_matrix.indptr, MATRIX.indptr)
    np.testing.assert_allclose(of_matrix.toarray(), wanted * (DENSE != 0), 1e-13)
    np.testing.assert_allclose(of_vector, other, 1e-13)
    np.testing.assert_allclose(y, np.sin(DENSE @ V), 1e-13)


@pytest.mark.parametrize("transform", ["jvp", "jacobian", "jacfwd", "hessian", "hvp", "linearize"])
def test_other_derivatives_by_a_matrix_are_refused(transform: str) -> None:
    def f(a: Any) -> Any:
        return np.sum((a @ V) ** 2)

    calls = {
        "jvp": lambda: bl.jvp(f, (MATRIX,), (MATRIX,)),
        "hvp": lambda: bl.hvp(f)(MATRIX, MATRIX),
        "linearize": lambda: bl.linearize(f, MATRIX),
    }
    with pytest.raises(DTypeError, match="by argument 0, a sparse matrix, is not defined; grad and vjp are"):
        calls.get(transform, lambda: getattr(bl, transform)(f)(MATRIX))()


def test_a_matrix_is_shared_by_the_samples_of_vmap() -> None:
    found = bl.vmap(lambda a, x: a @ x, in_axes=(None, 1))(MATRIX, X)
    np.testing.assert_allclose(found, (DENSE @ X).T, 1e-13)
    with pytest.raises(ArgumentError, match="vmap maps argument 0 of <lambda>, a sparse matrix"):
        bl.vmap(lambda a, x: a @ x, in_axes=(0, None))(MATRIX, V)


def test_complex_numbers_beside_matrices() -> None:
    z = V + 1j * X[:, 0]
    found = bl.jit(lambda a, z: a @ z.real + np.sum(z.imag) * (a @ z.imag))(MATRIX, z)
    np.testing.assert_allclose(found, DENSE @ V + np.sum(X[:, 0]) * (DENSE @ X[:, 0]), 1e-13)
    with pytest.raises(TraceError, match=r"complex numbers. Use products with z.real"):
        bl.jit(lambda a, z: a @ z)(MATRIX, z)


def test_no_array_is_as_long_as_a_dense_matrix() -> None:
    matrix = sparse.random_array((400, 300), density=0.01, rng=_rng, format="csr")
    kernel = bl.compile(lambda x, a: np.sum(np.logaddexp(0, a @ x)), np.ones(300), matrix, argnums=(0, 1))
    assert max(n.size for n in kernel.graph.nodes) <= matrix.nnz
    kernel.value_and_grad(np.ones(300), matrix)
    assert sum(kernel.memory.values()) < 60_000


SIMPLE: dict[str, Callable[[Any], Any]] = {
    "np.exp": lambda a: np.exp(a) @ V,
    "np.cos": lambda a: np.cos(a) @ V,
    "+": lambda a: (a + 1.0) @ V,
    "-": lambda a: (1.0 - a) @ V,
    "1 / a": lambda a: (1.0 / a) @ V,
    "np.max": np.max,
    "np.maximum": lambda a: np.maximum(a, 0.0) @ V,
    "np.einsum": lambda a: np.einsum("ij,j->i", a, V),
    "a comparison": lambda a: (a > 0) @ V,
    "an equality": lambda a: (a == 1.0) @ V,
    "an inequality": lambda a: (a != 0.0) @ V,
    "a power": lambda a: (a**-1) @ V,
    "np.where": lambda a: np.where(a, 1.0, 2.0) @ V,
    ".max": lambda a: a.max(),
    "an element": lambda a: a[1, 2] * V,
    "np.multiply.outer": lambda a: np.multiply.outer(a, V),
    "two": lambda a: a @ a.T,
    "two products": lambda a: (a * a) @ V,
    "after a scaling": lambda a: np.log1p(2.0 * a) @ V,
    "float": lambda a: V * float(a),
    "np.array": lambda a: np.array(a) @ V,
    "bool": lambda a: V if a else -V,
    "norms": lambda a: np.linalg.norm(a, axis=1),
    "np.vdot of matrices": lambda a: np.vdot(a, DENSE),
    "other axes": lambda a: np.transpose(a, (0, 1)) @ V,
}


@pytest.mark.parametrize("word", SIMPLE)
def test_other_words_are_refused_by_name_with_what_to_do(word: str) -> None:
    with pytest.raises(TraceError, match=r"Use |one of these|test_sparse_words") as caught:
        bl.jit(SIMPLE[word])(MATRIX)
    assert "sparse" in str(caught.value)


SCALED_BY_X: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "np.multiply(A, x)": (lambda a, x: a * x, np.multiply),
    "np.multiply(A, x) ": (lambda a, x: a.multiply(x), np.multiply),
    "np.divide(A, x)": (lambda a, x: a / x, np.divide),
}


@pytest.mark.parametrize("word", SCALED_BY_X)
def test_a_scaling_by_x_on_the_right_of_a_matrix_around_f_says_what_to_write(word: str) -> None:
    """SciPy's own methods ask x for its numbers; what the error says instead has the derivative of the dense one."""
    refused, written = SCALED_BY_X[word]
    with pytest.raises(TraceError, match=re.escape(f"write {word.strip()}, for the matrix A")):
        bl.grad(lambda x: np.sum(refused(MATRIX, x) @ V))(V + 3)
    for scale in (V + 3, np.float64(1.5)):
        found = bl.grad(lambda x: np.sum(np.sin(written(MATRIX, x) @ V)))(scale)
        wanted = bl.grad(lambda x: np.sum(np.sin(written(DENSE, x) @ V)))(scale)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_what_does_not_fit_is_said() -> None:
    cases: list[tuple[Callable[[], Any], type[BurlabError], str]] = [
        (lambda: bl.jit(lambda a: a @ np.ones(7))(MATRIX), ShapeError, "needs 5 rows"),
        (lambda: bl.jit(lambda a: a.T @ np.ones(5))(MATRIX), ShapeError, "needs 7 rows"),
        (lambda: bl.jit(lambda a: a @ np.ones((5, 2, 2)))(MATRIX), ShapeError, "a vector or a matrix"),
        (lambda: bl.jit(lambda a: (a * np.ones(7)) @ V)(MATRIX), ShapeError, "one for each row"),
        (lambda: bl.jit(lambda a: a @ V)(MATRIX * 1j), DTypeError, "complex128"),
        (lambda: bl.jit(lambda a: a @ V)(sparse.coo_array(np.ones(5))), ShapeError, "expected a matrix"),
    ]
    for call, kind, words in cases:
        with pytest.raises(kind, match=words):
            call()


def test_entries_of_one_place_are_one_number() -> None:
    twice = sparse.csr_array((np.array([1.0, 2.0, 4.0, 3.0]), np.array([3, 1, 3, 0]), np.array([0, 3, 4])), (2, 5))
    dense = twice.toarray()
    for word in ("A @ v", "norm", "log1p", "powers", "abs"):
        f = MATRIX_WORDS[word]
        np.testing.assert_allclose(bl.jit(f)(twice), f(dense), 1e-13)
        np.testing.assert_allclose(bl.jit(f)(twice.tocsc()), f(dense), 1e-13)
    gradient = bl.grad(lambda a: np.sum(np.sin(a @ V) ** 2))(twice)
    np.testing.assert_allclose(gradient.toarray(), bl.grad(lambda a: np.sum(np.sin(a @ V) ** 2))(dense) * (dense != 0))
    assert twice.nnz == 4  # the caller's own


def test_data_of_a_problem_are_read_in_place() -> None:
    data = Data.of((MATRIX, np.ones(7)))
    assert np.shares_memory(data.wholes[0], MATRIX.data)
    assert np.shares_memory(data.wholes[1], MATRIX.indices)
    assert np.shares_memory(data.arrays[0], MATRIX.indptr)
