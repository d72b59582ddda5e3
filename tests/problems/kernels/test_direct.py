"""Questions that are asked again go through the C gate: the same bits, the same errors, and signals are heard."""

import copy
import pickle

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError
from burlab.problems.kernels.direct import Direct
from burlab.problems.kernels.oracle import Oracle
from burlab.problems.point import as_point
from burlab.problems.sampling import full
from tests.interrupts import alarm

N, D = 257, 4
rng = np.random.default_rng(0)
A, B = rng.normal(size=(N, D)), rng.normal(size=N)
POINT = {"w": rng.normal(size=D), "c": np.array(0.3)}
OTHER = {"w": rng.normal(size=D), "c": np.array(-2.0)}
KEY = bl.random.key(3)


def loss(x, a, b):
    return np.log1p(np.exp(-b * np.tanh(a @ x["w"] + x["c"]))) + 0.1 * np.sum(x["w"] ** 3) * b


def noisy(x, a, b, *, key):
    return loss(x, a + bl.random.normal(key, (D,)), b)


def ridge(x):
    return 0.05 * np.sum(x["w"] ** 2) + x["c"] ** 4


QUERIES = {
    "value": lambda p, i, k: p.value(POINT, i, key=k),
    "grad": lambda p, i, k: p.grad(POINT, i, key=k),
    "value_and_grad": lambda p, i, k: p.value_and_grad(POINT, i, key=k),
    "grad_difference": lambda p, i, k: p.grad_difference(POINT, OTHER, i, key=k),
    "hvp": lambda p, i, k: p.hvp(POINT, OTHER, i, key=k),
    "jvp": lambda p, i, k: p.jvp(POINT, OTHER, i, key=k),
    "resampled_grad": lambda p, i, k: p.resampled_grad(POINT, i, key=KEY if k is None else k),
}


def alike(left, right):
    """The same numbers, types and shapes."""
    left, right = _leaves(left), _leaves(right)
    assert [(type(x), np.shape(x), np.asarray(x).dtype) for x in left] == [
        (type(y), np.shape(y), np.asarray(y).dtype) for y in right
    ]
    for x, y in zip(left, right, strict=True):
        np.testing.assert_array_equal(x, y)


def _leaves(value):
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in _leaves(value[key])]
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, tuple) else [value]


@pytest.fixture
def no_long_way(monkeypatch):
    """Call it, and from then on only the gate answers."""

    def shut():
        def refuse(*_):
            raise AssertionError("a question took the long way")

        monkeypatch.setattr(Oracle, "mean", refuse)

    return shut


@pytest.mark.parametrize("question", QUERIES)
@pytest.mark.parametrize("indices", [None, [5], [3, 3, 56, 0, 17], np.arange(200)], ids=["all", "one", "list", "array"])
@pytest.mark.parametrize(
    ("f", "regularizer", "threads"), [(loss, None, 1), (loss, ridge, 2), (noisy, ridge, 1)], ids=["plain", "two", "key"]
)
def test_the_third_answer_is_the_first(question, indices, f, regularizer, threads, no_long_way):
    p = bl.FiniteSum(f, (A, B), regularizer, threads=threads, resampled=noisy)
    key = KEY if f is noisy else None
    first, second = (QUERIES[question](p, indices, key) for _ in range(2))
    no_long_way()
    third = QUERIES[question](p, indices, key)
    alike(first, second)
    alike(first, third)


def test_another_point_of_the_same_kind_is_another_answer(no_long_way):
    p = bl.FiniteSum(loss, (A, B), ridge)
    for _ in range(2):
        p.grad(POINT, [5])
    expected = bl.FiniteSum(loss, (A, B), ridge).grad(OTHER, [7])
    no_long_way()
    alike(p.grad(OTHER, [7]), expected)


def test_results_are_the_callers_own():
    p = bl.FiniteSum(lambda x, a: (a @ x) ** 2, A)
    gradients = [p.grad(np.ones(D), [1]) for _ in range(4)]
    gradients[2][:] = 0.0
    np.testing.assert_array_equal(gradients[3], gradients[0])


@pytest.fixture
def evaluated():
    """A problem that answered often enough."""
    p = bl.FiniteSum(lambda x, a, b: (a @ x - b) ** 2, (A, B))
    for _ in range(3):
        p.grad(np.ones(D), [1, 2])
    assert any(isinstance(way, Direct) for way in p.oracle.directs.found.values())
    return p


@pytest.mark.parametrize(
    ("x", "indices", "key", "error"),
    [
        (np.ones(D), [1, N], None, IndexRangeError),
        (np.ones(D), [-1, 0], None, IndexRangeError),
        (np.ones(D), [0.5, 1.0], None, DTypeError),
        (np.ones(D), np.array([True, False]), None, DTypeError),
        (np.ones(D), np.ones((2, 1), int), None, ShapeError),
        (np.ones(D, int), [1, 2], None, DTypeError),
        (np.ones(D), [1, 2], KEY, ArgumentError),
    ],
)
def test_direct_calls_with_wrong_arguments_raise(evaluated, x, indices, key, error):
    with pytest.raises(error):
        evaluated.grad(x, indices, key=key)


def test_direct_calls_convert_strided_and_int32_arguments(evaluated):
    expected = evaluated.grad(np.ones(D), [1, 2])
    np.testing.assert_array_equal(evaluated.grad(np.ones(2 * D)[::2], np.array([1, 2], np.int32)), expected)


def test_failing_sample_of_a_direct_call_is_named():
    p = bl.FiniteSum(lambda x, i: x[i], np.array([0, 1, 2, 9]))
    for _ in range(3):
        p.grad(np.ones(3), [0, 1])
    with pytest.raises(IndexRangeError) as caught:
        p.grad(np.ones(3), [2, 3])
    assert caught.value.__notes__ == ["In sample 3 of the data."]


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_copies_answer_too(duplicate):
    p = bl.FiniteSum(loss, (A, B), ridge)
    answers = [p.grad(POINT, [1]) for _ in range(3)]
    other = duplicate(p)
    for _ in range(3):
        alike(other.grad(POINT, [1]), answers[0])


@pytest.mark.parametrize("threads", [1, 2])
def test_a_loss_that_never_ends_can_be_left(threads):
    """On the caller's thread and on helpers."""
    p = bl.FiniteSum(
        lambda x, a: a * bl.while_loop(lambda s: s > 0, lambda s: s, bl.stop_gradient(x)), np.ones(64), threads=threads
    )
    for _ in range(3):
        p.value(np.array(-1.0))
    alarm(lambda: p.value(np.array(1.0)))
    assert p.value(np.array(-1.0)) == -1.0


@pytest.mark.parametrize("threads", [1, 2])
def test_a_long_sum_can_be_left(threads):
    """Between two tiles, where no kernel loops: it is left long before it is done."""
    p = bl.FiniteSum(lambda x, a: np.sum(np.tanh(a * x)), np.ones((64, 64)), threads=threads)
    point = as_point(np.ones(64), "x")
    kernels = p.oracle.kernels("value", [point])
    hours = full(64)
    hours.batch = 1 << 36  # the samples come again and again
    direct = Direct(kernels, [point], hours, threads)
    alarm(lambda: direct((np.ones(64),), None, None))


def test_every_direct_query_has_a_case():
    asking = {name for name in dir(bl.FiniteSum) if not name.startswith("_")} - {"tiles", "subset"}
    assert asking - {"per_sample_grads", "per_sample_values", "partial_grad"} == set(QUERIES), (
        "rows and entries are no means"
    )


def test_the_answer_has_the_structure_of_the_point_that_was_passed():
    problem = bl.FiniteSum(lambda p, a: sum(q * a for q in (p.values() if isinstance(p, dict) else p)), np.ones(3))
    for _ in range(4):
        assert isinstance(problem.grad((1.0, 2.0), [0]), tuple)
    assert isinstance(problem.grad([1.0, 2.0], [0]), list)
    assert set(problem.grad({"a": 1.0, "b": 2.0}, [0])) == {"a", "b"}
