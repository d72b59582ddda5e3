"""FiniteSum: every question, against a plain loop of our own derivatives and against PyTorch."""

import copy
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, BurlabError, DTypeError, IndexRangeError, ShapeError
from tests.interrupts import alarm

N, D = 57, 4
rng = np.random.default_rng(0)
A, B = rng.normal(size=(N, D)), rng.normal(size=N)
X, Y, V = rng.normal(size=(3, D))
BATCH = [3, 3, 56, 0, 17]


def logistic(x, a, b):
    return np.log1p(np.exp(-b * np.tanh(a @ x))) + 0.1 * np.sum(x**3) * b


def ridge(x):
    return 0.05 * np.sum(x**2)


def problem(dtype=np.float64, regularizer=ridge, **options) -> bl.FiniteSum:
    return bl.FiniteSum(logistic, (A.astype(dtype), B.astype(dtype)), regularizer, **options)


def looped(f, regularized, indices=None):
    """The mean of f(a, b) over samples, plus what the regularizer adds."""
    indices = range(N) if indices is None else indices
    return np.mean([f(A[i], B[i]) for i in indices], axis=0) + regularized


@pytest.mark.parametrize("indices", [None, BATCH, [5], np.arange(N)[::-1]], ids=["all", "batch", "one", "reversed"])
class TestAgainstALoop:
    def test_value(self, indices):
        expected = looped(lambda a, b: logistic(X, a, b), ridge(X), indices)
        np.testing.assert_allclose(problem().value(X, indices), expected, rtol=1e-13)

    def test_grad(self, indices):
        expected = looped(lambda a, b: bl.grad(logistic)(X, a, b), bl.grad(ridge)(X), indices)
        np.testing.assert_allclose(problem().grad(X, indices), expected, rtol=1e-12)

    def test_value_and_grad(self, indices):
        value, gradient = problem().value_and_grad(X, indices)
        assert value == problem().value(X, indices)
        np.testing.assert_array_equal(gradient, problem().grad(X, indices))

    def test_per_sample_grads(self, indices):
        chosen = range(N) if indices is None else indices
        expected = np.stack([bl.grad(logistic)(X, A[i], B[i]) for i in chosen])
        np.testing.assert_allclose(problem().per_sample_grads(X, indices), expected, rtol=1e-12, atol=1e-15)

    def test_grad_difference(self, indices):
        p = problem()
        expected = p.grad(X, indices) - p.grad(Y, indices)
        np.testing.assert_allclose(p.grad_difference(X, Y, indices), expected, rtol=1e-11)

    def test_partial_grad(self, indices):
        got = problem().partial_grad(X, [2, 0, 2], indices)
        np.testing.assert_allclose(got, problem().grad(X, indices)[[2, 0, 2]], rtol=1e-13)

    def test_hvp(self, indices):
        expected = looped(lambda a, b: bl.hvp(logistic)(X, a, b, V), bl.hvp(ridge)(X, V), indices)
        np.testing.assert_allclose(problem().hvp(X, V, indices), expected, rtol=1e-12)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_against_torch(dtype, tolerance):
    torch = pytest.importorskip("torch")
    a, b = torch.tensor(A.astype(dtype)), torch.tensor(B.astype(dtype))

    def total(x):
        return torch.mean(
            torch.log1p(torch.exp(-b * torch.tanh(a @ x))) + 0.1 * torch.sum(x**3) * b
        ) + 0.05 * torch.sum(x**2)

    x, v = torch.tensor(X.astype(dtype), requires_grad=True), torch.tensor(V.astype(dtype))
    value = total(x)
    (gradient,) = torch.autograd.grad(value, x)
    curvature = torch.autograd.functional.hvp(total, x.detach(), v)[1]
    p = problem(dtype)
    point = X.astype(dtype)
    assert p.value(point).dtype == p.grad(point).dtype == dtype
    np.testing.assert_allclose(p.value(point), value.item(), rtol=tolerance)
    np.testing.assert_allclose(p.grad(point), gradient.numpy(), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(p.hvp(point, V.astype(dtype)), curvature.numpy(), rtol=tolerance, atol=tolerance)


def test_a_tree_of_leaves_and_integer_data():
    def loss(model, word, label):
        hidden = np.tanh(model["table"][word].reshape(-1) @ model["w"] + model["b"])
        return bl.logsumexp(hidden) - hidden[label]

    words, labels = rng.integers(0, 5, (N, 2)), rng.integers(0, 3, N)
    model = {"table": rng.normal(size=(5, 2)), "w": rng.normal(size=(4, 3)), "b": np.zeros(3)}
    p = bl.FiniteSum(loss, (words, labels.astype(np.int8)))
    gradient = p.grad(model, [1, 2])
    one, two = (bl.grad(loss)(model, words[i], labels[i]) for i in (1, 2))
    assert list(gradient) == list(model)
    for name, leaf in gradient.items():
        assert leaf.shape == model[name].shape
        np.testing.assert_allclose(leaf, (one[name] + two[name]) / 2, rtol=1e-12, atol=1e-16)
    rows = p.per_sample_grads(model, [1, 2])
    assert rows["w"].shape == (2, 4, 3)
    np.testing.assert_allclose(rows["table"][1], two["table"], rtol=1e-12, atol=1e-16)
    flat = np.concatenate([gradient[name].ravel() for name in sorted(model)])
    np.testing.assert_allclose(p.partial_grad(model, [0, 20, 4], [1, 2]), flat[[0, 20, 4]], rtol=1e-12)


def test_one_array_of_numbers_and_a_scalar_point():
    p = bl.FiniteSum(lambda x, a: (x - a) ** 2, [1.0, 2.0, 6.0])
    assert p.value(3.0) == pytest.approx(np.mean((3.0 - np.array([1.0, 2.0, 6.0])) ** 2))
    assert p.grad(3.0).shape == ()
    assert p.per_sample_grads(np.array(3.0)).shape == (3,)


def test_leaves_may_differ_in_dtype():
    p = bl.FiniteSum(lambda x, a: np.sum(x[0] * a).astype(np.float64) + np.sum(x[1] ** 2), A.astype(np.float32))
    x = (np.ones(D, np.float32), np.ones(3))
    gradient = p.grad(x)
    assert [g.dtype for g in gradient] == [np.float32, np.float64]
    np.testing.assert_allclose(gradient[0], A.mean(axis=0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gradient[1], 2 * np.ones(3), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_finite_sum_threads_change_no_bit(dtype):
    big = np.random.default_rng(1).normal(size=(5000, D)).astype(dtype)
    point = X.astype(dtype)

    def gradient(threads, indices=None):
        return bl.FiniteSum(lambda x, a: np.tanh(a @ x) ** 2, big, threads=threads).grad(point, indices)

    for indices in (None, np.arange(100), np.arange(33), [1, 2]):
        first = gradient(1, indices)
        for threads in (2, 3, 16, 50):
            np.testing.assert_array_equal(gradient(threads, indices), first)


def test_the_order_of_a_sum_is_the_documented_one():
    values = np.random.default_rng(2).normal(size=1000).astype(np.float32)
    terms = list(np.zeros(0))
    for s in range(8):  # slots of consecutive samples, at least 64 of light ones, ...
        slot, whole = values[1000 * s // 8 : 1000 * (s + 1) // 8], 0.0
        for first in range(0, len(slot), 64):  # ... each in pieces that are summed in order, and these in double ...
            piece = np.float32(0)
            for value in slot[first : first + 64]:
                piece = piece + value
            whole += float(piece)
        terms.append(np.float32(whole))
    while len(terms) > 1:  # ... and then by a binary tree
        terms = [a + b for a, b in zip(terms[::2], terms[1::2], strict=True)]
    got = bl.FiniteSum(lambda x, a: x * a, values).grad(np.float32(1))
    assert got == terms[0] / np.float32(1000)
    assert got != np.float32(sum(values[1:], start=values[0]) / np.float32(1000))


def test_a_loss_draws_where_it_names_a_key():
    """Not where it takes any keyword, nor where an array of the data has that name."""

    def loss(x, a, **key):
        assert not key
        return np.sum((x - a) ** 2)

    def about(x, key, /):
        return np.sum((x - key) ** 2)

    for f in (loss, about):
        np.testing.assert_array_equal(bl.FiniteSum(f, np.arange(4.0)).grad(np.ones(1)), [-1.0])
    with pytest.raises(ArgumentError, match="takes none"):
        bl.FiniteSum(loss, np.arange(4.0)).grad(np.ones(1), key=bl.random.key(0))


def test_a_stochastic_loss_draws_by_key_and_place():
    def loss(x, a, *, key):
        return np.sum((x - a) ** 2) * bl.random.uniform(key, ())

    p = bl.FiniteSum(loss, A)
    key = bl.random.key(3)
    first = p.per_sample_grads(X, [4, 4, 5], key=key)
    np.testing.assert_array_equal(first, p.per_sample_grads(X, [4, 4, 5], key=key))
    assert not np.array_equal(first[0], first[1])
    np.testing.assert_allclose(p.grad(X, [4, 4, 5], key=key), first.mean(axis=0), rtol=1e-12)
    assert not np.array_equal(p.grad(X, key=bl.random.key(4)), p.grad(X, key=key))
    for place in range(3):
        own = bl.random.fold_in(key, place)
        np.testing.assert_allclose(first[place], bl.grad(loss)(X, A[[4, 4, 5][place]], key=own), rtol=1e-12)
    with pytest.raises(ArgumentError, match="needs one"):
        p.grad(X)
    with pytest.raises(BurlabError, match="uint64"):
        p.grad(X, key=3)
    with pytest.raises(ArgumentError, match="takes none"):
        problem().grad(X, key=key)


def test_arrays_that_numpy_lays_out_differently():
    strided, swapped = np.asfortranarray(A), B.astype(">f8")
    p = bl.FiniteSum(logistic, (strided, swapped))
    expected = problem(regularizer=None).grad(X)
    np.testing.assert_array_equal(p.grad(X), expected)
    np.testing.assert_array_equal(p.grad(np.repeat(X, 2)[::2]), expected)
    np.testing.assert_array_equal(p.grad(X.astype(">f8")), expected)
    frozen = X.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(p.grad(frozen), expected)


def test_one_problem_may_be_queried_by_several_threads():
    p = problem()
    expected = p.grad(X)
    results = []
    workers = [threading.Thread(target=lambda: results.append(p.grad(X))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(np.array_equal(r, expected) for r in results)
    assert len(results) == 4


def test_values_that_are_not_finite_come_through():
    p = bl.FiniteSum(lambda x, a: np.log(x) * a, np.array([1.0, 2.0]))
    assert p.value(0.0) == -np.inf
    assert np.isnan(p.value(-1.0))


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ((), ArgumentError, "empty tuple"),
        (np.zeros((0, 3)), ShapeError, "no sample"),
        (3.0, ShapeError, "leading sample axis"),
        ((A, B[:-1]), ShapeError, "57, 56"),
        ([A, A], ArgumentError, "tuple"),
        (np.array(["a", "b"]), DTypeError, "dtype"),
        (np.zeros(3, complex), DTypeError, "complex128"),
        (np.array([object()]), DTypeError, "object"),
        ({"a": A, "b": B}, ArgumentError, "tuple of its arrays"),
        (((A, B),), ShapeError, r"data\[0\] is a tuple"),
        (([[1.0, 2.0], [3.0]], B[:2]), ShapeError, r"data\[0\] is a list"),
    ],
)
def test_data_that_cannot_be_samples_is_refused(data, error, message):
    with pytest.raises(error, match=message):
        bl.FiniteSum(logistic, data)


@pytest.mark.parametrize(
    ("indices", "error", "message"),
    [
        ([], ArgumentError, "empty"),
        ([57], IndexError, "holds 57"),
        ([0, -1], IndexRangeError, "holds -1"),
        ([0.0], DTypeError, "float64"),
        ([[1, 2]], ShapeError, r"\(1, 2\)"),
        (3, ShapeError, r"\(\)"),
        (np.zeros(N, bool), DTypeError, "flatnonzero"),
        (np.array([2**63], np.uint64), IndexRangeError, "holds"),
        (["a"], DTypeError, "integers"),
    ],
)
def test_indices_that_name_no_samples_are_refused(indices, error, message):
    for ask in (problem().value, problem().grad, problem().per_sample_grads):
        with pytest.raises(error, match=message):
            ask(X, indices)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: p.grad(np.zeros(D, int)), DTypeError, "int64"),
        (lambda p: p.grad(()), ArgumentError, "no array"),
        (lambda p: p.grad("x"), DTypeError, "x is a str, expected numbers"),
        (lambda p: p.hvp(X, V[:-1]), ShapeError, r"\(3,\)"),
        (lambda p: p.hvp(X, (V,)), ShapeError, "structure"),
        (lambda p: p.grad_difference(X, None), ArgumentError, "no array"),
        (lambda p: p.partial_grad(X, [4]), IndexRangeError, "4 entries of x"),
        (lambda p: p.partial_grad(X, []), ArgumentError, "empty"),
        (lambda _: bl.FiniteSum(lambda x, a: a * x, A).grad(X), ShapeError, r"\(4,\)"),
        (lambda _: bl.FiniteSum(lambda x, a: a * x, A).value(X), ShapeError, r"\(4,\)"),
        (lambda _: bl.FiniteSum(lambda x, a: np.sum(x) * a[0], A, lambda x: x).grad(X), ShapeError, r"\(4,\)"),
        (lambda _: bl.FiniteSum(None, A), ArgumentError, "loss"),
        (lambda _: bl.FiniteSum(logistic, A), ArgumentError, "sample of 1 array: missing a required argument: 'b'"),
        (lambda _: bl.FiniteSum(logistic, (A, B, B)), ArgumentError, "sample of 3 arrays: too many positional"),
        (lambda _: bl.FiniteSum(logistic, (A, B), logistic), ArgumentError, "regularizer .* x alone: missing"),
        (lambda _: bl.FiniteSum(logistic, (A, B), has_aux=True).grad(X), ArgumentError, "logistic returned one number"),
        (lambda p: bl.grad(p)(X), ArgumentError, "expected a function of arrays, got FiniteSum"),
        (lambda _: bl.FiniteSum(logistic, A, 0.1), ArgumentError, "regularizer"),
        (lambda _: bl.FiniteSum(logistic, A, threads=0), ArgumentError, "threads"),
    ],
)
def test_wrong_questions_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(problem())


def test_node_and_sample_at_fault_are_named():
    p = bl.FiniteSum(lambda x, i: x[i] ** 2, np.array([0, 1, 9]))
    np.testing.assert_allclose(p.grad(np.ones(2), [0, 1]), [1.0, 1.0])
    with pytest.raises(IndexRangeError, match=r"test_finite_sum\.py.*outside") as caught:
        p.grad(np.ones(2))
    assert caught.value.__notes__ == ["In sample 2 of the data."]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_loss_that_never_ends_can_be_interrupted(threads: int):
    """On the caller's thread and on helpers."""

    def endless(x, a):
        return x[0] * bl.while_loop(lambda s: s > 0, lambda s: s, bl.stop_gradient(a))

    data = -np.ones(64)
    assert bl.FiniteSum(endless, data, threads=threads).value(np.ones(1)) == -1
    data[63 if threads == 2 else 5] = 1.0
    problem = bl.FiniteSum(endless, data, threads=threads)
    for ask in (problem.value, problem.per_sample_grads):
        alarm(lambda ask=ask: ask(np.ones(1)))


def outer(x, a, *, key):
    return (np.sum((a @ x - bl.random.normal(key)) ** 2), {"twice": 2.0 * x[0]})


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_copies_of_an_evaluated_sum_work(duplicate):
    """Compiled code points into memory of C++, which no copy takes along."""
    p = bl.FiniteSum(outer, A.copy(), ridge, has_aux=True, threads=2, tile=3)
    key = bl.random.key(1)
    expected = p.grad(X, key=key)
    run = bl.minimize(p, X, bl.optim.GD(0.01), batch=5, steps=3)
    other = duplicate(p)
    assert np.array_equal(other.grad(X, key=key), expected)
    assert (other.threads, other.tiles["grad", N], len(other)) == (2, p.tiles["grad", N], N)
    again = bl.minimize(other, X, bl.optim.GD(0.01), batch=5, steps=3)
    assert np.array_equal(again.x, run.x)
    assert np.array_equal(again.history["twice"], run.history["twice"])


def test_a_deep_copy_has_data_of_its_own():
    p = bl.FiniteSum(lambda x, a: np.sum((a - x) ** 2), A.copy())
    before, other = p.grad(X), copy.deepcopy(p)
    p.oracle.data.arrays[0][:] = 0.0
    np.testing.assert_allclose(p.grad(X), 2 * X, rtol=1e-14)
    assert np.array_equal(other.grad(X), before)


SUBSETS = {"a slice": np.arange(3, 30), "every third": np.arange(1, 40, 3), "any": [5, 2, 2, 39], "one": [7]}


@pytest.mark.parametrize("how", SUBSETS)
def test_a_subset_has_the_bits_of_a_sum_over_these_rows(how: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    data = rng.normal(size=(40, 3)), rng.normal(size=40)
    options: Any = {"threads": 2, "tile": 4}
    whole = bl.FiniteSum(lambda x, a, b: (a @ x - b) ** 2, data, lambda x: x @ x, **options)
    x, indices = rng.normal(size=3), np.asarray(SUBSETS[how])
    part = whole.subset(SUBSETS[how])
    other = bl.FiniteSum(whole.oracle.loss, tuple(a[indices] for a in data), lambda x: x @ x, **options)
    assert len(part) == len(indices)
    assert part.value(x).tobytes() == other.value(x).tobytes()
    assert part.grad(x).tobytes() == other.grad(x).tobytes()
    np.testing.assert_array_equal(part.per_sample_grads(x), other.per_sample_grads(x))
    runs = [bl.minimize(p, x, bl.optim.Adam(0.1), batch=1, steps=9, progress=False) for p in (part, other)]
    assert runs[0].x.tobytes() == runs[1].x.tobytes()
    runs[0].save(tmp_path / "part.burlab")
    loaded = bl.load_run(tmp_path / "part.burlab", tuple(a[indices] for a in data))
    loaded.step(3)
    runs[1].step(3)
    assert loaded.x.tobytes() == runs[1].x.tobytes()
    in_place = [np.shares_memory(a, b) for a, b in zip(part.oracle.data.arrays, data, strict=True)]
    assert in_place == [how != "any"] * 2
    data[1][indices[0]] += 1.0
    assert (part.value(x) != other.value(x)) == (how != "any")


def test_subsets_of_what_is_not_there_are_refused() -> None:
    whole = bl.FiniteSum(lambda x, a: (x - a) ** 2, np.arange(5.0))
    with pytest.raises(bl.errors.IndexRangeError, match="holds 5, but there are 5 samples"):
        whole.subset([5])
    with pytest.raises(bl.errors.ArgumentError, match="is empty"):
        whole.subset([])
    with pytest.raises(bl.errors.ArgumentError, match="belong to clients"):
        bl.problems.federated(lambda x, a: (x - a) ** 2, [np.arange(5.0)]).subset([0])
