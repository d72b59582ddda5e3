"""AdaHessian, SophiaH, M-FAC and FRUGAL against optax, dense matrices and what they degenerate to."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim import FRUGAL, MFAC, AdaHessian, Adam, AdamW, SignSGD, SophiaH
from tests.engines import jax_or_skip
from tests.optim.paths import PROBLEMS, assert_same_path, burlab_path

STEPS = 60
SCALES = np.array([0.5, 1.0, 2.0, 4.0, 8.0])
START = np.array([1.0, -0.5, 2.0, 0.7, -1.3])


def separable(x, np=np):
    """Its Hessian is diagonal, and there z * (H z) is exact, whatever signs were drawn."""
    return np.sum(np.log(np.cosh(SCALES * x)) + 0.1 * x**2)


def points_of(rule, f=separable):
    run, points = bl.minimize(f, START, rule), []
    for _ in range(STEPS):
        run.step()
        points.append(run.x)
    return np.array(points)


@pytest.mark.parametrize("k", [1.0, 0.5])
def test_adahessian_is_its_algorithm_with_the_exact_diagonal(k):
    g, h = bl.grad(separable), bl.hessian(separable)
    x, m, v, wanted = START, 0.0, 0.0, []
    for t in range(STEPS):
        m, v = 0.8 * m + 0.2 * g(x), 0.95 * v + 0.05 * np.diag(h(x)) ** 2
        root = np.sqrt(v / (1 - 0.95 ** (t + 1))) ** k
        x = x - 0.1 * m / (1 - 0.8 ** (t + 1)) / (root + 1e-3)
        wanted.append(x)
    got = points_of(AdaHessian(0.1, b1=0.8, b2=0.95, eps=1e-3, k=k))
    np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-12)


def test_adahessian_does_not_see_the_scales_of_a_quadratic():
    """It moves through s x as through x where eps is 0."""
    rule = AdaHessian(0.1, eps=0.0)
    plain = bl.minimize(lambda x: np.sum(x**2), START, rule, steps=20).x
    scaled = bl.minimize(lambda x: np.sum((SCALES * x) ** 2), START / SCALES, rule, steps=20).x
    np.testing.assert_allclose(scaled * SCALES, plain, rtol=1e-10)


def test_the_diagonal_is_right_on_average():
    """z * (H z) of a full Hessian, over many draws: within 5 standard deviations."""
    a = np.random.default_rng(0).normal(size=(3, 3))
    a = a + a.T
    run = bl.minimize(lambda x: 0.5 * x @ a @ x, np.zeros(3), SophiaH(0.0, b2=0.0, every=1))
    drawn = []
    for _ in range(2000):
        run.step()
        drawn.append(run.state["h"])
    deviation = np.std(drawn, axis=0) / np.sqrt(len(drawn))
    assert np.all(np.abs(np.mean(drawn, axis=0) - np.diag(a)) < 5 * deviation)
    assert np.all(deviation > 0)


@pytest.mark.parametrize(
    ("rule", "options"),
    [
        (SophiaH(0.05), {}),
        (
            SophiaH(0.02, b1=0.8, b2=0.9, eps=1e-3, gamma=0.5, weight_decay=0.1, every=3),
            {"b1": 0.8, "b2": 0.9, "eps": 1e-3, "gamma": 0.5, "weight_decay": 0.1, "update_interval": 3},
        ),
    ],
    ids=["defaults", "others"],
)
def test_sophia_is_optax(rule, options):
    jax = jax_or_skip()
    optax = pytest.importorskip("optax", reason="optax is not installed: make peers")
    peer = optax.contrib.sophia(rule.lr, **options)
    f = lambda x: separable(x, jax.numpy)  # noqa: E731 - a function of one argument
    x, wanted = jax.numpy.asarray(START), []
    state = peer.init(x)
    step = jax.jit(lambda x, state: peer.update(jax.grad(f)(x), state, x, obj_fn=f))
    for _ in range(STEPS):
        updates, state = step(x, state)
        x = optax.apply_updates(x, updates)
        wanted.append(np.asarray(x))
    np.testing.assert_allclose(points_of(rule), wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("memory", [1, 4])
def test_m_fac_is_the_inverse_of_the_dense_matrix(memory):
    """Before and after its memory is full, by numpy.linalg.solve."""
    f, slope = PROBLEMS["rosenbrock"][0], bl.grad(lambda x: PROBLEMS["rosenbrock"][0](np, x))
    x, gradients, wanted = START, [], []
    for _ in range(STEPS):
        gradients = [*gradients, slope(x)][-memory:]
        fisher = 0.3 * np.eye(5) + sum(np.outer(g, g) for g in gradients) / memory
        x = x - 0.02 * np.linalg.solve(fisher, gradients[-1])
        wanted.append(x)
    got = points_of(MFAC(0.02, damping=0.3, memory=memory), lambda x: f(np, x))
    np.testing.assert_allclose(got, wanted, rtol=1e-9)


@pytest.mark.parametrize("problem", ["quadratic", "logistic"])
def test_frugal_at_its_ends_is_signsgd_and_adamw(problem):
    none = burlab_path(FRUGAL(0.01, density=0.0), problem, np.float64, 40)
    np.testing.assert_array_equal(none, burlab_path(SignSGD(0.01), problem, np.float64, 40))
    options = {"b1": 0.8, "b2": 0.95, "eps": 1e-3}
    every = FRUGAL(0.01, density=1.0, every=6, reset=False, weight_decay=0.1, **options)
    whole = burlab_path(every, problem, np.float64, 40)
    assert_same_path(whole, burlab_path(AdamW(0.01, weight_decay=0.1, **options), problem, np.float64, 40), np.float64)


def test_frugal_moves_its_coordinates_by_adam_and_the_rest_by_signs():
    rule = FRUGAL(0.01, b1=0.8, b2=0.95, eps=1e-3, scale=0.5, weight_decay=0.2, density=0.4, every=6)
    run, slope, draws = bl.minimize(separable, START, rule), bl.grad(separable), set()
    for t in range(30):
        x, g = run.x, slope(run.x)
        run.step()
        chosen = run.state["chosen"]
        if t % 6 == 0:
            adam, inside = Adam(1.0, b1=0.8, b2=0.95, eps=1e-3), Adam().init(np.zeros(2))
        moved, inside = adam.update(g[chosen], inside, np.zeros(2), t % 6)
        step = 0.5 * np.sign(g)
        step[chosen] = -moved
        np.testing.assert_allclose(run.x, x - 0.01 * (step + 0.2 * x), rtol=1e-12)
        draws.add(tuple(chosen))
    assert len(draws) > 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FRUGAL(density=1.5), "density of FRUGAL is 1.5"),
        (lambda: MFAC(memory=0), "memory=0"),
        (lambda: MFAC(damping=0.0), "damping of MFAC"),
        (lambda: AdaHessian(k=2.0), "k of AdaHessian"),
        (lambda: SophiaH(every=1.5), "every=1.5"),
    ],
)
def test_preconditioned_rules_with_numbers_out_of_range_raise(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()
