"""Every test function: its values and gradients against mpmath and JAX, its minima against a search."""

import inspect
from functools import cache

import numpy as np
import pytest
from mpmath import mp
from scipy import optimize

import burlab as bl
from burlab import problems
from burlab.errors import ArgumentError, ShapeError
from tests.engines import jax_or_skip
from tests.problems.library_cases import CASES, VARIANTS, points


def each(wanted=lambda f: True):
    """A test of every function of which something is true."""
    chosen = [(case, f) for case, f in VARIANTS if wanted(f)]
    assert chosen
    return pytest.mark.parametrize(("case", "f"), chosen, ids=[f"{f.name}-{f.dim}" for _, f in chosen])


def bounded(f):
    return f.minimum > -np.inf


def test_every_function_has_a_row():
    functions = [f for f in map(problems.__dict__.get, problems.__all__) if inspect.isfunction(f)]
    ours = {f.__name__ for f in functions if inspect.signature(f).return_annotation is problems.TestFunction}
    assert ours == {case.name for case in CASES}


def test_list_of_the_library_has_every_function_once():
    names = [f.name for f in problems.suite()]
    assert names == sorted({case.name for case in CASES})


@each()
def test_values_are_those_of_mpmath(case, f):
    with mp.workdps(40):
        for x in points(f, 20):
            expected = case.exact(mp, [mp.mpf(c) for c in x])
            assert abs(f(x) - expected) <= 1e-13 * max(1, abs(expected))


@each()
def test_gradients_are_those_of_mpmath_and_jax(case, f):
    jax = jax_or_skip()
    second = jax.jit(jax.grad(lambda x: case.exact(jax.numpy, list(x))))
    for x in points(f, 5):
        gradient = bl.grad(f)(x)
        np.testing.assert_allclose(gradient, second(x), rtol=1e-11, atol=1e-11)
        with mp.workdps(40):
            slope = partial_derivative(case.exact, [mp.mpf(c) for c in x])
        assert gradient[-1] == pytest.approx(float(slope), rel=1e-12, abs=1e-11)


def partial_derivative(exact, x):
    """By the last coordinate."""
    return mp.diff(lambda c: exact(mp, [*x[:-1], c]), x[-1])


@each()
def test_stated_minima_are_minima(case, f):
    assert np.all((f.domain[:, 0] <= f.minima) & (f.minima <= f.domain[:, 1]))
    for x in f.minima:
        with mp.workdps(40):
            exact = case.exact(mp, [mp.mpf(c) for c in x])
            scale = max(1, abs(exact))
            assert abs(exact - f.minimum) <= 1e-14 * scale
        assert abs(float(f(x)) - f.minimum) <= 2e-14 * scale
        if f.smooth:
            assert np.abs(bl.grad(f)(x)).max() <= 1e-12 * np.abs(bl.hessian(f)(x)).max()
            curvatures = np.linalg.eigvalsh(bl.hessian(f)(x))
            assert curvatures[0] > (-1e-12 if case.flat else 1e-8)
    assert (len(f.minima) > 0) == bounded(f)


@each(lambda f: not f.smooth)
def test_the_kink_of_what_is_not_smooth(case, f):
    for x in f.minima:
        np.testing.assert_array_equal(bl.grad(f)(x), 0)  # the convention at kinks
        for direction in np.eye(f.dim):
            assert bl.grad(f)(x + 1e-9 * direction) @ direction > 0.1


@each(bounded)
def test_no_search_finds_less(case, f):
    rounds = 60 if f.dim <= 2 else 20
    near = case.within(f.domain)
    found = optimize.differential_evolution(f.formula, near, seed=1, maxiter=rounds, polish=f.smooth, tol=1e-9)
    assert found.fun >= f.minimum - 1e-12 * max(1, abs(f.minimum))
    if f.dim <= 2:
        assert found.fun <= f.minimum + 1e-3


@each(lambda f: not bounded(f))
def test_unbounded_function_falls_without_end(case, f):
    assert len(f.minima) == 0
    far = [float(f(scale * points(f, 1)[0])) for scale in (-2e3, 2e3)]
    assert min(far) < -1e6


@pytest.mark.full
@each(lambda f: bounded(f) and f.smooth and f.dim == 2)
def test_a_descent_from_everywhere_finds_all_minima(case, f):
    gradient = bl.grad(f)
    ends = [
        optimize.minimize(f.formula, x, jac=gradient, method="L-BFGS-B", bounds=f.domain, tol=1e-14).x
        for x in case.within(points(f, 150))
    ]
    lowest = np.array([x for x in ends if f(x) < f.minimum + 1e-9 * max(1, abs(f.minimum))])
    distances = np.linalg.norm(lowest[:, None] - f.minima, axis=-1)
    assert np.all(distances.min(axis=1) < 1e-3), "a minimum that is not stated"
    assert np.all(distances.min(axis=0) < 1e-3), "a stated minimum that no descent finds"


@each(lambda f: len(f.saddles))
def test_saddles_are_saddles(case, f):
    assert np.all((f.domain[:, 0] <= f.saddles) & (f.saddles <= f.domain[:, 1]))
    angles = np.linspace(0, 2 * np.pi, 37)
    around = 1e-3 * np.stack([np.cos(angles), np.sin(angles)], 1)
    for x in f.saddles:
        assert np.abs(bl.grad(f)(x)).max() < 1e-11 * np.abs(bl.hessian(f)(x + 0.1)).max()
        rises = np.array([f(x + step) - f(x) for step in around])
        assert rises.min() < -1e-10 < 1e-10 < rises.max()


@each(lambda f: f.smoothness or f.strong_convexity)
def test_curvature_stays_within_its_bounds(case, f):
    curvatures = np.concatenate([np.linalg.eigvalsh(bl.hessian(f)(x)) for x in (*points(f, 50), *f.minima[:1])])
    if f.smoothness is not None:
        assert np.abs(curvatures).max() == pytest.approx(f.smoothness)  # attained at the minimum
    if f.strong_convexity is not None:
        assert curvatures.min() == pytest.approx(f.strong_convexity)


@each()
def test_the_start_is_a_point_from_which_a_run_goes_down(case, f):
    assert np.all((f.domain[:, 0] <= f.start) & (f.start <= f.domain[:, 1]))
    assert np.linalg.norm(bl.grad(f)(f.start)) > 1e-3
    for dtype in (np.float64, np.float32):
        start = f.start.astype(dtype)
        assert bl.compile(f, start, gear="replay")(start).dtype == dtype, "no constant widens it"
        run = bl.minimize(f, start, bl.optim.GD(1e-9), steps=3)
        assert run.x.dtype == dtype
        assert f(run.x.astype(float)) <= f(f.start) + 1e-6 * abs(f(f.start))


@cache
def rotated(seed: int) -> np.ndarray:
    return bl.hessian(bl.problems.quadratic([1.0, 2.0, 30.0, -4.0], seed=seed))(np.zeros(4))


def test_a_quadratic_has_the_spectrum_that_was_chosen():
    np.testing.assert_allclose(np.linalg.eigvalsh(rotated(0)), [-4, 1, 2, 30], atol=1e-12)
    assert np.abs(rotated(0) - rotated(1)).max() > 1
    f = bl.problems.quadratic(dim=5, condition=1e4)
    np.testing.assert_allclose(np.linalg.eigvalsh(bl.hessian(f)(f.start)), [1, 10, 100, 1000, 10000], rtol=1e-10)


def test_the_start_of_a_quadratic_has_a_part_in_every_eigenvector():
    f = bl.problems.quadratic(dim=5, condition=1e4, seed=3)
    _, vectors = np.linalg.eigh(bl.hessian(f)(f.start))
    np.testing.assert_allclose(np.abs(vectors.T @ f.start), 1, rtol=1e-8)


def test_rotations_are_uniform():
    """The mean of many is zero, and of their squares 1 / d: a missing sign correction makes the diagonal positive."""
    from burlab.problems.library.quadratics import _rotation

    turns = np.array([_rotation(3, seed) for seed in range(4000)])
    np.testing.assert_allclose(turns.mean(0), 0, atol=0.05)
    np.testing.assert_allclose((turns**2).mean(0), 1 / 3, atol=0.05)


def test_facts_of_test_functions_are_read_only():
    f = bl.problems.himmelblau()
    with pytest.raises(ValueError, match="read-only"):
        f.minima[0, 0] = 1.0
    with pytest.raises(AttributeError):
        f.minimum = 1.0


def test_a_trace_of_a_library_function_is_remembered():
    f = bl.problems.rosenbrock()
    assert bl.grad(f) is bl.grad(f)
    assert f.__name__ == "rosenbrock"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: bl.problems.rosenbrock()(np.ones(3)), ShapeError, r"\(3,\).*rosenbrock needs \(2,\).*bl\.vmap"),
        (lambda: bl.grad(bl.problems.booth())(np.ones((4, 2))), ShapeError, r"\(4, 2\)"),
        (lambda: bl.problems.rosenbrock(1), ArgumentError, "dim=1"),
        (lambda: bl.problems.quadratic([]), ArgumentError, "one per dimension"),
        (lambda: bl.problems.quadratic([1.0, np.nan]), ArgumentError, "finite"),
        (lambda: bl.problems.quadratic(condition=0.5), ArgumentError, r"condition is 0\.5, expected"),
        (lambda: bl.problems.quadratic(seed=-1), ArgumentError, "seed=-1"),
        (lambda: bl.problems.shekel(6), ArgumentError, "terms=6 of shekel, expected 5, 7 or 10"),
        (lambda: bl.problems.shekel(0.5), ArgumentError, r"terms=0\.5 is not a whole number"),
        (lambda: bl.problems.hartmann(4), ArgumentError, "dim=4 of hartmann, expected 3 or 6"),
        (lambda: bl.problems.dixmaan(7), ArgumentError, r"dim=7 of dixmaan is not a multiple of 3\. Pass 9"),
    ],
)
def test_test_functions_with_wrong_arguments_raise(call, error, words):
    with pytest.raises(error, match=words):
        call()
