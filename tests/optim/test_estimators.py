"""Estimators of gradients: step for step in plain NumPy, what they degenerate to, and the bounds of their papers."""

from dataclasses import dataclass

import numpy as np
import pytest

import burlab as bl
from burlab.communication.compressors import RandK
from burlab.errors import ArgumentError
from burlab.optim import (
    GD,
    LSVRG,
    MARINA,
    MVR,
    PAGE,
    PPMARINA,
    SAGA,
    SARAH,
    STORM,
    SVRG,
    VRMARINA,
    Wrapper,
    sparse_zeroth_order,
)
from tests.optim.theory import (
    FEATURES,
    GAP,
    L_MAX,
    L_MEAN_SQUARE,
    LABELS,
    MU,
    STAR,
    X0,
    L,
    N,
    descended,
    grad,
    grads,
    loss,
    problem,
    value,
)

STEPS, LR = 150, 0.05
EVEN = np.ones(N)


@dataclass(frozen=True)
class watched(Wrapper):
    """Tells the samples of each step."""

    most: int = 2

    def update(self, g, state, x, t, *, f):
        f.log({f"sample {k}": f.indices[k] for k in range(self.most)})
        return self.advance(g, state, x, t, f)


def drawn_by(run, steps, most=2):
    return np.stack([run.history[f"sample {k}"][-steps:] for k in range(most)], axis=1).astype(int)


def coin(t, p):
    return bl.random.uniform(bl.random.fold_in(bl.random.key(0), t), ()) < p


def svrg(fresh):
    kept = {}

    def estimate(i, x, t):
        if fresh(t):
            kept["w"], kept["full"] = x, grad(x)
        return grads(x)[i].mean(axis=0) - grads(kept["w"])[i].mean(axis=0) + kept["full"]

    return estimate


def saga(i, x, t, kept={}, weights=EVEN):  # noqa: B006 - one path per table, which begins at t = 0
    if t == 0:
        kept["table"] = grads(X0) - MU * X0
    rows, table = grads(x) - MU * x, kept["table"]
    estimate = np.mean(weights[i, None] * (rows[i] - table[i]), axis=0) + table.mean(axis=0) + MU * x
    table[i] = rows[i]
    return estimate


def recursive(fresh):
    kept = {}

    def estimate(i, x, t):
        change = 0 if t == 0 else kept["v"] - grads(kept["x"])[i].mean(axis=0)
        kept["v"] = grad(x) if fresh(t) else grads(x)[i].mean(axis=0) + change
        kept["x"] = x
        return kept["v"]

    return estimate


def mvr(a):
    kept = {}

    def estimate(i, x, t):
        g = grads(x)[i].mean(axis=0)
        kept["v"] = g if t == 0 else g + (1 - a) * (kept["v"] - grads(kept["x"])[i].mean(axis=0))
        kept["x"] = x
        return kept["v"]

    return estimate


PATHS = {
    "SVRG": (SVRG(LR, every=20), svrg(lambda t: t % 20 == 0)),
    "LSVRG": (LSVRG(LR, p=0.1), svrg(lambda t: t == 0 or coin(t, 0.1))),
    "LSVRG by n": (LSVRG(LR), svrg(lambda t: t == 0 or coin(t, 1 / N))),
    "SAGA": (SAGA(LR), saga),
    "SARAH": (SARAH(LR, every=20), recursive(lambda t: t % 20 == 0)),
    "PAGE": (PAGE(LR, p=0.2), recursive(lambda t: t == 0 or coin(t, 0.2))),
    "PAGE by n": (PAGE(LR), recursive(lambda t: t == 0 or coin(t, 2 / (2 + N)))),
    "MVR": (MVR(LR, a=0.3), mvr(0.3)),
}


@pytest.mark.parametrize("name", PATHS)
def test_estimators_take_the_steps_of_their_papers(name):
    """Batches of two with replacement, so that one sample may come twice."""
    rule, estimate = PATHS[name]
    run = bl.minimize(problem(), X0, watched(rule), batch=2, sampler="uniform")
    points = [run.x]
    for _ in range(STEPS):
        run.step()
        points.append(run.x)
    drawn = drawn_by(run, STEPS)
    x = X0
    for t, i in enumerate(drawn):
        x = x - LR * estimate(i, x, t)
        np.testing.assert_allclose(points[t + 1], x, rtol=1e-10, atol=1e-12)
    assert len(np.unique(drawn)) > 50
    assert np.any(drawn[:, 0] == drawn[:, 1])


@pytest.mark.parametrize(
    ("rule", "asked"),
    [  # of the batch at two points, and now and then of all samples
        (SVRG(LR, every=3), [N + 8, 8, 8, N + 8]),
        (LSVRG(LR, p=1.0), [N + 8] * 4),
        (SARAH(LR, every=3), [N + 4, 8, 8, N + 4]),
        (PAGE(LR, p=1.0), [N + 4] * 4),
        (SAGA(LR), [N + 4, 4, 4, 4]),  # its table is filled before the first step
        (MVR(LR), [8] * 4),
        (STORM(), [8] * 4),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_sample_gradient_is_counted(rule, asked):
    run = bl.minimize(problem(), X0, rule, batch=4, steps=4)
    np.testing.assert_array_equal(np.diff(run.history["samples"], prepend=0), asked)


def test_page_queries_all_samples_at_the_papers_rate():
    """Li et al. 2021, section 3.2: p = b / (b + n)."""
    run = bl.minimize(problem(), X0, PAGE(LR), batch=25, steps=STEPS)
    asked = np.diff(run.history["samples"], prepend=0)
    np.testing.assert_array_equal(asked == asked[0], [t == 0 or coin(t, 25 / (25 + N)) for t in range(STEPS)])


P = np.arange(1.0, N + 1) / np.sum(np.arange(1.0, N + 1))
LIVE = {
    "LSVRG": (LSVRG(LR, p=0.1), svrg(lambda t: t == 0 or coin(t, 0.1)), "uniform"),
    "SAGA": (SAGA(LR), saga, "uniform"),
    "SAGA by probabilities": (SAGA(LR), lambda *args: saga(*args, weights=1 / (N * P)), P),
}


@pytest.mark.parametrize("name", LIVE)
def test_batches_may_change_their_size(name, tmp_path):
    """Sizes 1 to 5, with samples that come twice, and with rows behind the batch that are samples of it."""
    rule, estimate, sampler = LIVE[name]
    sized = bl.Batch(lambda t: 1 + t % 5, most=5)
    run = bl.minimize(problem(), X0, watched(rule, 5), batch=sized, sampler=sampler, steps=STEPS)
    drawn, x = drawn_by(run, STEPS, 5), X0
    for t, i in enumerate(drawn):
        x = x - LR * estimate(i[: 1 + t % 5], x, t)
    np.testing.assert_allclose(run.x, x, rtol=1e-9, atol=1e-12)
    assert any(len(set(i[: 1 + t % 5])) < 1 + t % 5 for t, i in enumerate(drawn))
    assert any(set(i[: 1 + t % 5]) & set(i[1 + t % 5 :]) for t, i in enumerate(drawn))
    if name.startswith("SAGA"):
        np.testing.assert_allclose(run.state["mean"], run.state["table"].mean(axis=0), rtol=1e-9, atol=1e-12)
    run.save(tmp_path / "run.burlab")
    loaded, fork, end = bl.load_run(tmp_path / "run.burlab", (FEATURES, LABELS)), run.fork(), run.x
    run.seek(7)
    for other in (run, loaded, fork):
        other.seek(STEPS)
        np.testing.assert_array_equal(other.x, end)


def test_storm_is_its_algorithm():
    run = bl.minimize(problem(), X0, watched(STORM(k=0.2, w=0.5, c=5.0)), batch=2, sampler="uniform", steps=STEPS)
    drawn = drawn_by(run, STEPS)
    x, before, v, total, a = X0, X0, np.zeros_like(X0), 0.0, 1.0
    for i in drawn:
        g = grads(x)[i].mean(axis=0)
        v = g + (1 - a) * (v - grads(before)[i].mean(axis=0))
        total += g @ g
        lr = 0.2 / (0.5 + total) ** (1 / 3)
        before, x, a = x, x - lr * v, min(1.0, 5.0 * lr**2)
    np.testing.assert_allclose(run.x, x, rtol=1e-9)
    assert 0 < a < 0.9


@pytest.mark.parametrize(
    ("rule", "batch"),
    [
        (LSVRG(LR, p=1.0), 3),
        (SVRG(LR, every=1), 3),
        (PAGE(LR, p=1.0), 3),
        (SARAH(LR, every=1), 3),
        (MVR(LR, a=1.0), None),
        (MVR(LR, a=0.2), None),
        (SAGA(LR), None),
    ],
    ids=str,
)
def test_without_noise_it_is_gradient_descent(rule, batch):
    got = bl.minimize(problem(), X0, rule, batch=batch, steps=60).x
    np.testing.assert_allclose(got, bl.minimize(problem(), X0, GD(LR), steps=60).x, rtol=1e-11)


def test_mvr_with_weight_one_is_sgd():
    got = bl.minimize(problem(), X0, MVR(LR, a=1.0), batch=3, steps=60).x
    np.testing.assert_allclose(got, bl.minimize(problem(), X0, GD(LR), batch=3, steps=60).x, rtol=1e-11)


def test_saga_updates_the_mean_of_its_table():
    for sampler in ("reshuffle", "uniform", "nice"):
        run = bl.minimize(problem(), X0, SAGA(LR), batch=7, sampler=sampler, steps=300)
        np.testing.assert_allclose(run.state["mean"], run.state["table"].mean(axis=0), atol=1e-13)


def mean_of(quantity, rule, steps, batch=1, seeds=10):
    """Over seeds: the mean of a quantity of the run after so many steps."""
    runs = (bl.minimize(problem(), X0, rule, batch=batch, sampler="nice", seed=s, steps=steps) for s in range(seeds))
    return float(np.mean([quantity(run) for run in runs]))


def test_lsvrg_keeps_its_bound():
    """Kovalev et al. 2020, Theorem 5: Psi_k <= max(1 - lr mu, 1 - p / 2)^k Psi_0 for lr = 1 / (6 L_max)."""
    lr, p, k = 1 / (6 * L_MAX), 0.05, 400

    def psi(x, w):
        return np.sum((x - STAR) ** 2) + 4 * lr**2 / (p * N) * np.sum((grads(w) - grads(STAR)) ** 2)

    bound = max(1 - lr * MU, 1 - p / 2) ** k * psi(X0, X0)
    assert mean_of(lambda run: psi(run.x, run.state["w"]), LSVRG(lr, p=p), k) <= bound
    far = mean_of(lambda run: np.sum((run.x - STAR) ** 2), LSVRG(lr, p=p), k)
    assert descended(lr, k) / 1.5 < far < 1.5 * descended(lr, k)


def test_saga_keeps_its_bound():
    """Defazio et al. 2014, Theorem 1: lr = 1 / (2 (mu n + L_max)), with the regularizer in every sample's loss."""
    lr, k = 1 / (2 * (MU * N + L_MAX)), 600

    def whole(x, a, b):
        return loss(x, a, b) + MU / 2 * (x @ x)

    wholly = bl.FiniteSum(whole, (FEATURES, LABELS))
    options = {"batch": 1, "sampler": "uniform", "steps": k}
    ends = [bl.minimize(wholly, X0, SAGA(lr), seed=s, **options).x for s in range(10)]
    far = [np.sum((end - STAR) ** 2) for end in ends]
    bound = (1 - lr * MU) ** k * (np.sum((X0 - STAR) ** 2) + N / (MU * N + L_MAX) * GAP)
    assert np.mean(far) <= bound
    assert descended(lr, k) / 1.5 < np.mean(far) < 1.5 * descended(lr, k)
    plain = bl.minimize(wholly, X0, GD(lr), **options).x
    assert np.mean(far) < np.sum((plain - STAR) ** 2)


def test_page_keeps_its_bound():
    """Li et al. 2021, Theorem 1: the mean of |grad f|^2 is at most 2 (f(x_0) - f*) / (lr T)."""
    b, steps = 10, 100
    p = b / (b + N)
    lr = 1 / (L + L_MEAN_SQUARE * np.sqrt((1 - p) / (p * b)))

    def squared(seed):
        run = bl.minimize(problem(), X0, PAGE(lr), batch=b, sampler="uniform", seed=seed)
        norms = []
        for _ in range(steps):
            norms.append(np.sum(grad(run.x) ** 2))
            run.step()
        return np.mean(norms)

    measured, bound = np.mean([squared(s) for s in range(5)]), 2 * GAP / (lr * steps)
    assert bound / 3 < measured <= bound


def test_the_error_of_mvr_falls_with_its_weight():
    """At a fixed lr the loss does not, so the estimate itself is compared with the full gradient."""

    def error(a):
        run, squares = bl.minimize(problem(), X0, MVR(2e-3, a=a), batch=1, sampler="uniform"), []
        for _ in range(1500):
            x = run.x
            run.step()
            squares.append(np.sum((run.state["v"] - grad(x)) ** 2))
        return np.mean(squares[500:])

    errors = [error(a) for a in (1.0, 0.1, 0.01)]
    assert errors[0] > 4 * errors[1] > 16 * errors[2]


@pytest.mark.parametrize("tau", [1, 10, 50, N])
def test_sgd_with_nice_batches_keeps_its_bound(tau):
    """Gower et al. 2019, Theorem 3.1: E|x_k - x*|^2 <= (1 - lr mu)^k R_0 + 2 lr s / mu for lr = 1 / (2 L(tau))."""
    expected = N * (tau - 1) / (tau * (N - 1)) * L + (N - tau) / (tau * (N - 1)) * L_MAX
    noise = (N - tau) / (tau * (N - 1)) * np.mean(np.sum(grads(STAR) ** 2, axis=1))
    lr, k = 1 / (2 * expected), 300
    bound = (1 - lr * MU) ** k * np.sum((X0 - STAR) ** 2) + 2 * lr * noise / MU
    assert mean_of(lambda run: np.sum((run.x - STAR) ** 2), GD(lr), k, batch=tau) <= bound
    assert value(STAR) < value(X0)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: LSVRG(p=1.5), ArgumentError, "p of LSVRG is 1.5"),
        (lambda: PAGE(p=-0.1), ArgumentError, "p of PAGE"),
        (lambda: PAGE(p=0), ArgumentError, "p of PAGE is 0, expected a number above 0 and at most 1"),
        (lambda: LSVRG(p=0.0), ArgumentError, "p of LSVRG"),
        (lambda: MARINA(0.1, RandK(1), p=0), ArgumentError, "p of MARINA"),
        (lambda: VRMARINA(0.1, RandK(1), p=0), ArgumentError, "p of VRMARINA"),
        (lambda: PPMARINA(0.1, RandK(1), p=0), ArgumentError, "p of PPMARINA"),
        (lambda: sparse_zeroth_order(GD(), density=0), ArgumentError, "density of sparse_zeroth_order"),
        (lambda: MVR(a=2.0), ArgumentError, "a of MVR"),
        (lambda: SVRG(every=0), ArgumentError, "every of SVRG"),
    ],
)
def test_estimators_with_wrong_arguments_raise(make, error, message):
    with pytest.raises(error, match=message):
        make()
