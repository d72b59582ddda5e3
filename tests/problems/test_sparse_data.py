"""Sparse matrices as data: the answers of the same problem over dense rows, and time and memory by stored entries."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, FileError, IndexRangeError, ShapeError

N, D = 120, 30
_rng = np.random.default_rng(11)


def matrix_of(form: str = "csr", dtype: str = "float64") -> Any:
    """Rows of 0 to 12 entries, with empty rows at both ends and in the middle, and an empty column."""
    dense = np.where(_rng.random((N, D)) < 0.1, _rng.random((N, D)), 0.0)
    dense[[0, 60, N - 1]] = 0.0
    dense[:, 7] = 0.0
    return sparse.csr_array(dense).asformat(form).astype(dtype)


LABELS = np.sign(_rng.normal(size=N))
LOSSES: dict[str, Callable[..., Any]] = {
    "logistic": lambda x, a, b: np.logaddexp(0.0, -b * (a @ x)),
    "least squares": lambda x, a, b: 0.5 * (a @ x - b) ** 2,
    "two products": lambda x, a, b: np.tanh(a @ x) * (a @ x[::-1]) + b * x[0],
    "norms and sums": lambda x, a, b: np.linalg.norm(1.5 * a) * np.sum(a) * (a @ x) * b + np.mean(a) * x[1],
    "functions of entries": lambda x, a, b: np.sin(b * (np.log1p(a) @ x)) + (a**2) @ x,
    "scaled by x": lambda x, a, b: np.sin(np.sum(a * x) * b) + ((x[0] * a) @ x) ** 2,
    "dense": lambda x, a, b: np.sum(np.cos(a.toarray() * x) if hasattr(a, "toarray") else np.cos(a * x)) * b,
    "a dense term": lambda x, a, b: (a @ x - b) ** 2 + np.sum(x**2),
}


def both(loss: Callable[..., Any], matrix: Any, regularizer: Any = None, **options: Any) -> tuple[Any, Any]:
    return tuple(
        bl.FiniteSum(loss, (features, LABELS), regularizer, **options) for features in (matrix, matrix.toarray())
    )


def close(found: Any, wanted: Any, digits: float = 1e-12) -> None:
    for one, other in zip(bl_leaves(found), bl_leaves(wanted), strict=True):
        np.testing.assert_allclose(one, other, digits, digits)


def bl_leaves(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in bl_leaves(part)]
    return [value.toarray() if sparse.issparse(value) else value]


@pytest.mark.parametrize("name", LOSSES)
def test_all_queries_answer_as_over_dense_rows(name: str) -> None:
    ours, dense = both(LOSSES[name], matrix_of(), lambda x: 0.05 * np.sum(x**2))
    x, v = _rng.normal(size=D), _rng.normal(size=D)
    for indices in (None, [3], [60, 60, 5], _rng.integers(0, N, 70)):
        for query in ("value", "grad", "value_and_grad", "per_sample_grads", "per_sample_values"):
            close(getattr(ours, query)(x, indices), getattr(dense, query)(x, indices))
        for query in ("hvp", "jvp", "grad_difference"):
            close(getattr(ours, query)(x, v, indices), getattr(dense, query)(x, v, indices))
        close(ours.partial_grad(x, [2, 7, 2], indices), dense.partial_grad(x, [2, 7, 2], indices))


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_forms_and_dtypes(form: str, dtype: str) -> None:
    matrix = (10 * matrix_of(form)).astype(dtype) if dtype == "int64" else matrix_of(form, dtype)
    floats = np.float32 if dtype == "float32" else np.float64
    x, labels = _rng.normal(size=D).astype(floats), LABELS.astype(floats)
    for kind in (lambda m: m, sparse.csr_matrix):
        ours = bl.FiniteSum(LOSSES["logistic"], (kind(matrix), labels)).grad(x)
        close(ours, bl.FiniteSum(LOSSES["logistic"], (matrix.toarray().astype(floats), labels)).grad(x), 1e-6)
        assert ours.dtype == floats


def test_indices_of_64_bits_unsorted_rows_and_duplicates() -> None:
    values, columns = np.array([1.0, 2.0, 4.0, 8.0]), np.array([3, 1, 3, 0], np.int64)
    matrix = sparse.csr_array((values, columns, np.array([0, 3, 3, 4], np.int64)), (3, 5))
    dense = np.array([[0.0, 2, 0, 5, 0], [0] * 5, [8.0, 0, 0, 0, 0]])
    loss, x = (lambda x, a: np.sin(a @ x)), np.arange(5.0)
    close(bl.FiniteSum(loss, matrix).grad(x), bl.FiniteSum(loss, dense).grad(x))
    close(bl.FiniteSum(loss, matrix).per_sample_grads(x), bl.FiniteSum(loss, dense).per_sample_grads(x))
    norms = lambda x, a: np.linalg.norm(a) * (np.log1p(a) @ x)  # noqa: E731 - which two entries of a place would change
    close(bl.FiniteSum(norms, matrix).grad(x), bl.FiniteSum(norms, dense).grad(x))


def test_matrices_of_parameters() -> None:
    matrix, labels = matrix_of(), _rng.integers(0, 3, N)
    x = _rng.normal(size=(D, 3))

    def loss(w: Any, a: Any, label: Any) -> Any:
        scores = a @ w["W"] + w["b"]
        return bl.logsumexp(scores) - scores[label]

    start = {"W": x, "b": np.zeros(3)}
    ours, dense = (bl.FiniteSum(loss, (a, labels)).grad(start) for a in (matrix, matrix.toarray()))
    close(tuple(ours.values()), tuple(dense.values()))
    rows = bl.FiniteSum(loss, (matrix, labels)).per_sample_grads(start, [1, 2])
    assert rows["W"].shape == (2, D, 3)
    close(
        bl.FiniteSum(lambda w, a: np.sum(np.sin(w @ a)), matrix).grad(x.T),
        bl.FiniteSum(lambda w, a: np.sum(np.sin(w @ a)), matrix.toarray()).grad(x.T),
    )


def test_two_matrices_and_arrays_between_them() -> None:
    first, second, middle = matrix_of(), matrix_of("csc"), _rng.normal(size=(N, 2))
    x = _rng.normal(size=D)

    def loss(x: Any, a: Any, m: Any, b: Any) -> Any:
        return (a @ x) * (b @ x) * m[0] + m[1] * (b @ x)

    ours = bl.FiniteSum(loss, (first, middle, second))
    dense = bl.FiniteSum(loss, (first.toarray(), middle, second.toarray()))
    close(ours.value_and_grad(x), dense.value_and_grad(x))
    close(ours.subset([4, 9, 4]).grad(x), dense.subset([4, 9, 4]).grad(x))
    assert f"float64[{N}, 2], float64[{N}, {D}] with {second.nnz} stored entries" in repr(ours)


def test_gradients_of_samples_are_sparse() -> None:
    matrix = matrix_of()
    ours = bl.FiniteSum(LOSSES["logistic"], (matrix, LABELS))
    found = ours.per_sample_grads(np.ones(D), [5, 60, 5])
    assert isinstance(found, sparse.csr_array)
    assert found.shape == (3, D)
    assert found.nnz == 2 * (matrix.indptr[6] - matrix.indptr[5])
    assert isinstance(bl.FiniteSum(LOSSES["a dense term"], (matrix, LABELS)).per_sample_grads(np.ones(D)), np.ndarray)


OPTIMIZERS = {
    "GD": (bl.optim.GD(0.1), {"batch": 1}),
    "Adam": (bl.optim.Adam(0.05), {"batch": 7}),
    "SAGA": (bl.optim.SAGA(0.05), {"batch": 1}),
    "SVRG": (bl.optim.SVRG(0.05), {"batch": 5}),
    "momentum, without replacement": (bl.optim.Momentum(0.05), {"batch": 9}),
    "NewtonCG": (bl.optim.NewtonCG(), {}),
    "L-BFGS": (bl.optim.LBFGS(), {}),
    "coordinates": (bl.optim.CoordinateDescent(0.5), {}),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_runs_go_where_those_over_dense_rows_go(name: str) -> None:
    optimizer, options = OPTIMIZERS[name]
    ours, dense = both(LOSSES["logistic"], matrix_of(), lambda x: 0.05 * np.sum(x**2))
    runs = [bl.minimize(problem, np.zeros(D), optimizer, steps=25, seed=3, **options) for problem in (ours, dense)]
    close(runs[0].x, runs[1].x, 1e-9)
    close(np.asarray(runs[0].history["value"]), np.asarray(runs[1].history["value"]), 1e-9)
    runs[0].seek(11)
    before = runs[0].x.copy()
    runs[0].seek(25)
    runs[0].seek(11)
    assert np.array_equal(runs[0].x, before)


@pytest.mark.parametrize("sampler", ["sequential", "reshuffle", "uniform", "nice"])
def test_every_sampler(sampler: str) -> None:
    ours, dense = both(LOSSES["least squares"], matrix_of())
    runs = [
        bl.minimize(p, np.zeros(D), bl.optim.GD(0.1), steps=20, batch=4, sampler=sampler, seed=1) for p in (ours, dense)
    ]
    close(runs[0].x, runs[1].x, 1e-10)


@pytest.mark.parametrize("batch", [1, 4])
def test_sweeps_and_pickles(batch: int) -> None:
    problem = bl.FiniteSum(LOSSES["logistic"], (matrix_of(), LABELS))
    rates = [0.1, 0.2, 0.3, 0.4]
    swept = bl.sweep(problem, np.zeros(D), bl.optim.GD(), {"lr": rates}, steps=12, batch=batch)
    for rate, run in zip(rates, swept.runs, strict=True):
        assert np.array_equal(run.x, bl.minimize(problem, np.zeros(D), bl.optim.GD(rate), steps=12, batch=batch).x)
    module = bl.FiniteSum(np.dot, (matrix_of(),))
    close(pickle.loads(pickle.dumps(module)).grad(np.ones(D)), module.grad(np.ones(D)))


def test_bits_do_not_depend_on_threads_or_tiles() -> None:
    big = sparse.vstack([matrix_of() for _ in range(40)], format="csr")
    labels, x = np.tile(LABELS, 40), _rng.normal(size=D)
    wanted = bl.FiniteSum(LOSSES["logistic"], (big, labels)).grad(x)
    for options in ({"threads": 2}, {"threads": 3}, {"tile": 1}, {"tile": 5}, {"tile": 64}):
        found = bl.FiniteSum(LOSSES["logistic"], (big, labels), **options).grad(x)
        assert np.array_equal(found, wanted), options


def test_weights_and_clients() -> None:
    matrix = matrix_of()
    clients = [(matrix[:50], LABELS[:50]), (matrix[50:], LABELS[50:])]
    dense = [(a.toarray(), b) for a, b in clients]
    ours, wanted = (bl.problems.federated(LOSSES["logistic"], c) for c in (clients, dense))
    x = _rng.normal(size=D)
    close(ours.grad(x), wanted.grad(x))
    for optimizer in (bl.optim.DIANA(0.1, bl.compressors.RandK(5)), bl.optim.EF21(0.1, bl.compressors.TopK(3))):
        runs = [bl.minimize(p, np.zeros(D), optimizer, steps=6, seed=2) for p in (ours, wanted)]
        close(runs[0].x, runs[1].x, 1e-10)
    with pytest.raises(ShapeError, match="client 1 holds float64"):
        bl.problems.federated(LOSSES["logistic"], [clients[0], dense[1]])


def test_a_run_is_saved_and_goes_on(tmp_path: Any) -> None:
    matrix = matrix_of()
    problem = bl.FiniteSum(LOSSES["functions of entries"], (matrix, LABELS))
    run = bl.minimize(problem, np.zeros(D), bl.optim.SAGA(0.05), steps=20, batch=3)
    run.save(tmp_path / "run.burlab")
    again = bl.load_run(tmp_path / "run.burlab", (matrix, LABELS))
    run.step(10)
    again.step(10)
    assert np.array_equal(run.x, again.x)
    with pytest.raises(FileError, match="other numbers"):
        bl.load_run(tmp_path / "run.burlab", (2 * matrix, LABELS))
    with pytest.raises(FileError, match="float64"):
        bl.load_run(tmp_path / "run.burlab", (matrix.toarray(), LABELS))


def test_memory_follows_the_stored_entries() -> None:
    n, d = 2000, 20_000
    matrix = sparse.random_array((n, d), density=5e-4, rng=_rng, format="csr")
    problem = bl.FiniteSum(LOSSES["logistic"], (matrix, np.ones(n)))
    run = bl.minimize(problem, np.zeros(d), bl.optim.GD(0.1), steps=2)
    assert sum(run.memory.values()) < 100 * d * 8
    assert problem.oracle.data.nbytes < 20 * matrix.nnz + 40 * n


def test_functions_of_entries_are_computed_once() -> None:
    problem = bl.FiniteSum(LOSSES["functions of entries"], (matrix_of(), LABELS))
    for query in ("value", "grad", "value_and_grad", "per_sample_values"):
        getattr(problem, query)(np.ones(D))
    assert len(problem.oracle.data.derived) == 2


def test_what_does_not_fit_is_said() -> None:
    matrix = matrix_of()
    with pytest.raises(ShapeError, match="120, 3 samples"):
        bl.FiniteSum(LOSSES["logistic"], (matrix, LABELS[:3]))
    with pytest.raises(ShapeError, match="no sample"):
        bl.FiniteSum(LOSSES["logistic"], (matrix[:0], LABELS[:0]))
    with pytest.raises(DTypeError, match="complex128"):
        bl.FiniteSum(LOSSES["logistic"], (matrix * 1j, LABELS))
    with pytest.raises(ShapeError, match=r"expected \(n, d\)"):
        bl.FiniteSum(lambda x, a: a @ x, sparse.coo_array(np.ones(5)))
    with pytest.raises(ArgumentError, match="2 arrays"):
        bl.FiniteSum(lambda x, a: a @ x, (matrix, LABELS))


def test_a_column_that_does_not_exist_is_an_error_of_its_sample() -> None:
    matrix = matrix_of()
    problem = bl.FiniteSum(LOSSES["logistic"], (matrix, LABELS))
    k = int(np.flatnonzero(np.diff(matrix.indptr))[3])
    matrix.indices[matrix.indptr[k]] = D + 5
    with pytest.raises(IndexRangeError) as caught:
        problem.grad(np.ones(D))
    assert f"In sample {k} of the data." in str(caught.value.__notes__)
