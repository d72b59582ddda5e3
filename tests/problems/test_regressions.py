"""Regressions against NumPy, JAX and SciPy; their constants against the Hessian."""

import numpy as np
import pytest
from scipy import optimize

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError
from tests.engines import jax_or_skip

N, D, K = 40, 5, 3
rng = np.random.default_rng(1)
A = rng.normal(size=(N, D)) * np.geomspace(0.2, 3.0, D)
B = A @ rng.normal(size=D) + 0.3 * rng.normal(size=N)
Y = (B + rng.normal(size=N) > 0).astype(int)
C = rng.integers(0, K, N)


def squares(np, x, l2):
    r = np.asarray(A) @ x - np.asarray(B)
    return np.sum(r * r) / (2 * N) + l2 / 2 * np.sum(x * x)


def logistic(np, x, l2):
    margins = (2 * np.asarray(Y) - 1) * (np.asarray(A) @ x)
    return np.sum(np.logaddexp(0.0, -margins)) / N + l2 / 2 * np.sum(x * x)


def softmax(np, x, l2):
    z = np.asarray(A) @ x
    chosen = np.sum(z * (np.asarray(C)[:, None] == np.arange(K)), axis=1)
    return np.sum(np.log(np.sum(np.exp(z), axis=1)) - chosen) / N + l2 / 2 * np.sum(x * x)


MODELS = {
    "least_squares": (squares, B, (D,)),
    "logistic_regression": (logistic, Y, (D,)),
    "softmax_regression": (softmax, C, (D, K)),
}
each = pytest.mark.parametrize("name", MODELS)


def make(name, l2=0.0, dtype=np.float64):
    return getattr(bl.problems, name)(A.astype(dtype), MODELS[name][1], l2=l2)


@each
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_value_and_gradient(name, l2):
    jax = jax_or_skip()
    formula, _, shape = MODELS[name]
    problem = make(name, l2)
    assert problem.start.shape == shape
    assert not problem.start.any()
    x = np.random.default_rng(2).normal(size=shape)
    assert problem.value(x) == pytest.approx(float(formula(np, x, l2)), rel=1e-13)
    expected = jax.grad(lambda x: formula(jax.numpy, x, l2))(x)
    np.testing.assert_allclose(problem.grad(x), expected, rtol=1e-12, atol=1e-14)


@each
def test_smoothness_is_the_largest_curvature_and_convexity_the_least(name):
    jax = jax_or_skip()
    formula, _, shape = MODELS[name]
    problem, size = make(name, 0.25), int(np.prod(shape))
    hessian = jax.jit(jax.hessian(lambda x: formula(jax.numpy, x.reshape(shape), 0.25)))
    curvatures = [
        np.linalg.eigvalsh(hessian(scale * np.random.default_rng(3).normal(size=size))) for scale in (0, 1, 5)
    ]
    assert np.max(curvatures) <= problem.smoothness * (1 + 1e-12)
    assert np.min(curvatures) >= problem.strong_convexity * (1 - 1e-12)
    if name != "softmax_regression":  # of which the bound is attained for two classes: see below
        assert np.max(curvatures) == pytest.approx(problem.smoothness)
    if name == "least_squares":
        assert np.min(curvatures) == pytest.approx(problem.strong_convexity)


def test_two_classes_attain_the_bound_of_softmax():
    jax = jax_or_skip()
    problem = bl.problems.softmax_regression(A, Y)

    def f(x):
        z = A @ x.reshape(D, 2)
        return jax.numpy.mean(jax.nn.logsumexp(z, axis=1) - z[np.arange(N), Y])

    assert np.linalg.eigvalsh(jax.jit(jax.hessian(f))(np.zeros(2 * D)))[-1] == pytest.approx(problem.smoothness)


@each
def test_each_sample_has_a_smoothness_of_its_own(name):
    problem = make(name, 0.25)
    start, size = problem.start, problem.start.size
    for i in (0, 17):
        columns = [problem.hvp(start, e.reshape(start.shape), [i]).ravel() for e in np.eye(size)]
        largest = np.linalg.eigvalsh(columns)[-1]
        assert largest <= problem.sample_smoothness[i] * (1 + 1e-12)
        if name != "softmax_regression":
            assert largest == pytest.approx(problem.sample_smoothness[i])
    assert problem.sample_smoothness.shape == (N,)
    assert problem.sample_smoothness.mean() >= problem.smoothness


@each
def test_more_features_than_samples(name):
    problem = getattr(bl.problems, name)(A[:4], np.array([0, 1, 0, 1]), l2=0.5)
    values = np.linalg.eigvalsh(A[:4].T @ A[:4] / 4)
    assert problem.smoothness == pytest.approx(problem._most * values[-1] + 0.5)
    assert problem.strong_convexity == 0.5


@each
def test_gradient_descent_with_one_over_l_goes_down_to_the_minimum_of_scipy(name):
    formula, _, shape = MODELS[name]
    problem = make(name, 0.05)
    found = optimize.minimize(lambda x: formula(np, x.reshape(shape), 0.05), problem.start.ravel(), tol=1e-12)
    run = bl.minimize(problem, problem.start, bl.optim.GD(1 / problem.smoothness), steps=4000)
    values = run.history["value"]
    assert np.all(np.diff(values) <= 1e-15)
    assert values[-1] == pytest.approx(found.fun, abs=1e-9)
    bound = (1 - problem.strong_convexity / problem.smoothness) ** np.arange(len(values))  # the linear rate of theory
    assert np.all(values - found.fun <= bound * (values[0] - found.fun) + 1e-9)


def test_least_squares_by_the_normal_equations():
    l2 = 0.05
    solution = np.linalg.solve(A.T @ A / N + l2 * np.eye(D), A.T @ B / N)
    np.testing.assert_allclose(make("least_squares", l2).grad(solution), 0, atol=1e-13)


@pytest.mark.parametrize(
    "labels", [Y, 2 * Y - 1, Y.astype(bool), Y.astype(float)], ids=["01", "signs", "bool", "float"]
)
def test_labels_of_two_values(labels):
    x = np.ones(D)
    assert bl.problems.logistic_regression(A, labels).value(x) == make("logistic_regression").value(x)


@each
def test_regressions_stay_in_float32(name):
    problem = make(name, 0.1, np.float32)
    assert problem.start.dtype == problem.grad(problem.start).dtype == np.float32
    np.testing.assert_allclose(
        problem.grad(problem.start), make(name, 0.1).grad(make(name).start), rtol=1e-5, atol=1e-6
    )


def test_large_margins_do_not_overflow():
    problem = bl.problems.logistic_regression(np.array([[1000.0], [-1000.0]]), [0, 1])
    assert problem.value(np.array([5.0])) == 5000.0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: bl.problems.least_squares(B, B), ShapeError, r"\(40,\).*\(n, d\)"),
        (lambda: bl.problems.least_squares(A, B[:-1]), ShapeError, r"\(39,\).*40 rows"),
        (lambda: bl.problems.least_squares(A, B[:, None]), ShapeError, r"\(40, 1\)"),
        (lambda: bl.problems.least_squares(A.astype(complex), B), DTypeError, "complex128"),
        (lambda: bl.problems.least_squares(A, B > 0), DTypeError, "bool"),
        (lambda: bl.problems.least_squares(A, B, l2=-1), ArgumentError, "l2 is -1"),
        (lambda: bl.problems.logistic_regression(A, C), ArgumentError, "0, 1, 2.*softmax_regression"),
        (lambda: bl.problems.logistic_regression(A, np.ones(N)), ArgumentError, "both of them"),
        (lambda: bl.problems.softmax_regression(A, C - 1), ArgumentError, "-1, 0, 1"),
        (lambda: bl.problems.softmax_regression(A, B), ArgumentError, "integers from 0"),
    ],
)
def test_regressions_with_wrong_arguments_raise(call, error, words):
    with pytest.raises(error, match=words):
        call()
