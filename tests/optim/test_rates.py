"""Rates that papers promise, on logistic regression, and numbers of quadratics that are known exactly."""

from dataclasses import dataclass

import numpy as np

import burlab as bl
from burlab.communication.compressors import RandK, TopK
from burlab.optim import EF21, GD, MARINA, PAGE, STORM, CoordinateDescent, Optimizer
from tests.optim.test_federated_theory import ALPHA, OMEGA, PROBLEM, SPREAD, START, THETA, K, M
from tests.optim.theory import (
    FEATURES,
    GAP,
    L_MEAN_SQUARE,
    LABELS,
    MU,
    SMOOTHNESS,
    STAR,
    X0,
    D,
    L,
    N,
    grads,
    loss,
    problem,
    value,
)

START_SQUARED = float(np.sum((X0 - STAR) ** 2))


def gap(rule, steps, seeds=5, on=None, **options):
    """The mean of f - f* over seeds."""
    ends = (bl.minimize(on or problem(), X0, rule, seed=s, steps=steps, **options).x for s in range(seeds))
    return float(np.mean([value(x) - value(STAR) for x in ends]))


def test_a_nice_batch_of_all_is_gradient_descent():
    got = bl.minimize(problem(), X0, GD(0.5), batch=N, sampler="nice", steps=60).x
    np.testing.assert_allclose(got, bl.minimize(problem(), X0, GD(0.5), steps=60).x, rtol=1e-12)


def test_importance_sampling_keeps_its_bound():
    """Gower et al. 2019: p_i = L_i / sum L has the expected smoothness mean L_i; E|x - x*|^2 as for nice batches."""
    wholly = bl.FiniteSum(lambda x, a, b: loss(x, a, b) + MU / 2 * (x @ x), (FEATURES, LABELS))
    p, lr, k = SMOOTHNESS / SMOOTHNESS.sum(), 1 / (2 * SMOOTHNESS.mean()), 300
    noise = np.sum(np.sum(grads(STAR) ** 2, axis=1) / p) / N**2
    bound = (1 - lr * MU) ** k * START_SQUARED + 2 * lr * noise / MU
    ends = [bl.minimize(wholly, X0, GD(lr), batch=1, sampler=p, seed=s, steps=k).x for s in range(10)]
    far = np.mean([np.sum((x - STAR) ** 2) for x in ends])
    assert bound / 100 < far <= bound


def test_the_plateau_of_sgd_is_as_high_as_its_step_is_long():
    def plateau(lr, batch):
        run, far = bl.minimize(problem(), STAR, GD(lr), batch=batch, sampler="nice"), []
        for _ in range(300):
            run.step(10)
            far.append(np.sum((run.x - STAR) ** 2))
        return np.mean(far[100:])

    assert 2.5 < plateau(0.2, 5) / plateau(0.05, 5) < 6.5
    assert plateau(0.2, N) < 1e-24


def test_uniform_coordinates_keep_their_bound():
    """E[f - f*] <= (1 - mu / (d L))^k (f(x0) - f*) with the largest L of all coordinates."""
    largest = float(np.max(np.sum(FEATURES**2, axis=0) / (4 * N) + MU))
    assert 0 < gap(CoordinateDescent(1 / largest), 400, seeds=20) <= (1 - MU / (D * largest)) ** 400 * GAP


def test_page_is_linear_where_the_gradient_dominates():
    """Li et al. 2021, Theorem 3: E[f - f*] <= (1 - lr mu)^T (f(x0) - f*)."""
    b, steps = 10, 400
    p = b / (b + N)
    lr = min(1 / (L + L_MEAN_SQUARE * np.sqrt(2 * (1 - p) / (p * b))), p / (2 * MU))
    assert gap(PAGE(lr), steps, batch=b, sampler="uniform") <= (1 - lr * MU) ** steps * GAP
    assert gap(GD(lr), steps, batch=b, sampler="uniform") > (1 - lr * MU) ** steps * GAP


def test_marina_and_ef21_are_linear_where_the_gradient_dominates():
    """Gorbunov et al. 2021, Theorem 2.2; Richtarik et al. 2021, Theorem 2, which adds the error of the estimates."""
    steps, p = 2500, 1 / (1 + OMEGA)
    lr = min(1 / (SPREAD * (1 + np.sqrt(2 * (1 - p) * OMEGA / (p * M)))), p / (2 * MU))
    assert gap(MARINA(lr, RandK(K)), steps, on=PROBLEM) <= (1 - lr * MU) ** steps * GAP
    lr = min(1 / (L + SPREAD * np.sqrt(2 * (1 - ALPHA)) / THETA), THETA / (2 * MU))
    bound = (1 - lr * MU) ** steps * (GAP + lr / THETA * START[0].mean())
    assert gap(EF21(lr, TopK(K)), steps, seeds=1, on=PROBLEM) <= bound


@dataclass(frozen=True)
class Naive(Optimizer):
    """Biased messages without error feedback."""

    lr: bl.optim.Hyper

    def update(self, g, state, x, t, *, f):
        return x - self.lr * np.mean(bl.vmap(TopK(K))(f.client_grads(x)), axis=0), state


def test_ef21_ends_at_the_minimum_where_biased_messages_alone_do_not():
    feedback, naive = (bl.minimize(PROBLEM, X0, r, steps=6000).x for r in (EF21(0.2, TopK(K)), Naive(0.2)))
    assert np.linalg.norm(feedback - STAR) < 1e-6
    assert np.linalg.norm(naive - STAR) > 1e-2


def test_gradients_of_storm_fall_faster_than_its_bound():
    """Cutkosky and Orabona 2019, Theorem 2 with its constants: the mean of |grad f| is O(T^(-1/3))."""
    bounded, smooth = float(np.max(np.linalg.norm(FEATURES, axis=1))), float(SMOOTHNESS.max())
    k = bounded ** (2 / 3) / smooth
    c = 28 * smooth**2 + bounded**2 / (7 * smooth * k**3)
    w = max((4 * smooth * k) ** 3, 2 * bounded**2, (c * k / (4 * smooth)) ** 3)

    @dataclass(frozen=True)
    class Logging(STORM):
        def update(self, g, state, x, t, *, f):
            return *super().update(g, state, x, t, f=f), {"norm": np.linalg.norm(f.full_grad(x))}

    run = bl.minimize(problem(), X0, Logging(k, w, c), batch=1, sampler="uniform", steps=16000)
    means = [run.history["norm"][:steps].mean() for steps in (1000, 4000, 16000)]
    assert means[0] > 1.58 * means[1] > 1.58**2 * means[2]


def test_gradient_descent_contracts_an_eigenvector_by_one_minus_lr_times_its_eigenvalue():
    rng = np.random.default_rng(0)
    values, vectors = np.array([0.5, 2.0, 3.0]), np.linalg.qr(rng.normal(size=(3, 3)))[0]
    h = (vectors * values) @ vectors.T
    for value_, vector in zip(values, vectors.T, strict=True):
        end = bl.minimize(lambda x: 0.5 * x @ h @ x, vector, GD(0.3), steps=20).x
        np.testing.assert_allclose(end, (1 - 0.3 * value_) ** 20 * vector, rtol=1e-11, atol=1e-14)


def test_sgd_on_a_quadratic_has_the_mean_and_covariance_that_are_known():
    """x - x* <- (I - lr H)(x - x*) + lr H (a_i - mean a): its stationary covariance is a geometric sum."""
    rng = np.random.default_rng(3)
    h, a, lr = np.array([0.5, 1.0, 2.5]), rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3)), 0.3

    @dataclass(frozen=True)
    class Logging(GD):
        def update(self, g, state, x, t):
            return *super().update(g, state, x, t), {f"x{k}": x[k] for k in range(3)}

    sum_ = bl.FiniteSum(lambda x, a: 0.5 * np.sum(h * (x - a) ** 2), a)
    run = bl.minimize(sum_, a.mean(axis=0), Logging(lr), batch=1, sampler="uniform", steps=60000)
    x = np.stack([run.history[f"x{k}"] for k in range(3)], axis=1)[200:]
    kept = np.outer(1 - lr * h, 1 - lr * h)
    exact = lr**2 * np.outer(h, h) * np.cov(a.T, bias=True) / (1 - kept)
    spread = np.sqrt(np.diag(exact))
    np.testing.assert_allclose(np.cov(x.T) / np.outer(spread, spread), exact / np.outer(spread, spread), atol=0.05)
    np.testing.assert_allclose((x.mean(axis=0) - a.mean(axis=0)) / spread, 0, atol=0.05)
