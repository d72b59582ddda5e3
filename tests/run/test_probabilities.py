"""`sampler=` as probabilities: what is drawn, what it counts, and that the mean is unbiased."""

import re
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, FileError, ShapeError
from burlab.optim import GD, SVRG, Momentum
from tests.optim.probe import X0, A, B, loss, probe, ridge
from tests.run.saved_cases import same
from tests.run.test_sampler import batches

N = len(B)
P = np.linspace(1, 5, N) / np.linspace(1, 5, N).sum()
PROBLEM = bl.FiniteSum(loss, (A, B), ridge)


def drawn(steps: int, batch: int, p: Any = P, seed: int = 0) -> Any:
    """The samples of every step."""
    return batches(p, len(p), batch, steps, seed=seed)


def test_samples_come_as_often_as_they_should() -> None:
    counts = np.bincount(drawn(400, 64).ravel(), minlength=N)
    assert chisquare(counts, counts.sum() * P).pvalue > 1e-3
    assert chisquare(counts).pvalue < 1e-6  # so that the test above sees a wrong sampler
    odd = np.array([1e-12, 1 - 2e-12, 1e-12])
    assert (drawn(50, 8, odd) == 1).all()
    assert not np.array_equal(drawn(9, 4, seed=1), drawn(9, 4, seed=2))


def test_steps_are_those_of_a_loop_by_hand() -> None:
    """Every sample counts 1 / (n p_i); the regularizer counts once. Batches of one are one kernel."""
    for batch in (1, 6):
        i = drawn(7, batch, seed=4)
        run = bl.minimize(PROBLEM, X0, GD(0.1), batch=batch, sampler=P, seed=4, steps=7)
        x, value = X0, 0.0
        for row in i:
            w = 1 / (N * P[row])
            value = np.mean(w * np.log(1 + (A[row] @ x - B[row]) ** 2)) + ridge(x)
            r = A[row] @ x - B[row]
            x = x - 0.1 * (A[row].T @ (w * 2 * r / (1 + r**2)) / batch + 0.1 * x)
        np.testing.assert_allclose(run.x, x, rtol=1e-12)
        assert run.history["value"][-1] == pytest.approx(value, rel=1e-12)


def test_the_mean_over_all_draws_is_the_gradient() -> None:
    """By enumeration: sum_i p_i times the answer for sample i alone."""
    problem = bl.FiniteSum(loss, (A[:4], B[:4]), ridge)
    p = np.array([0.1, 0.2, 0.3, 0.4])
    seen: dict[int, Any] = {}
    for seed in range(40):
        ask = lambda f, x: (f.indices, f.weights, f.grad(2 * x), f.hvp(x, x), f.per_sample_grads(x), f.jvp(x, x))  # noqa: E731
        like = np.zeros(1, np.int64), np.zeros(1), X0, X0, np.zeros((1, 3)), 0.0
        if seed < 4 or len(seen) < 4:
            _, got, _ = probe(problem, X0, ask, like, batch=1, sampler=p, seed=seed)
            seen[int(got[0][0])] = got[1:]
    assert len(seen) == 4
    weights, grad, hvp, rows, jvp = (sum(p[i] * got[k] for i, got in seen.items()) for k in range(5))
    np.testing.assert_allclose(weights, 1.0)
    np.testing.assert_allclose(grad, problem.grad(2 * X0), rtol=1e-12)
    np.testing.assert_allclose(hvp, problem.hvp(X0, X0), rtol=1e-12)
    np.testing.assert_allclose(rows[0], problem.grad(X0) - 0.1 * X0, rtol=1e-11)
    assert jvp == pytest.approx(problem.jvp(X0, X0), rel=1e-12)


def test_full_and_chosen_questions_have_no_weights() -> None:
    ask = lambda f, x: (f.full_grad(x), f.grad(x, indices=[1, 2]), f.full_value(x))  # noqa: E731
    _, got, _ = probe(PROBLEM, X0, ask, (X0, X0, 0.0), batch=3, sampler=P)
    for a, b in zip(got, (PROBLEM.grad(X0), PROBLEM.grad(X0, [1, 2]), PROBLEM.value(X0)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)
    _, (ones,), _ = probe(PROBLEM, X0, lambda f, x: f.weights, np.zeros(3), batch=3)
    assert ones.tolist() == [1, 1, 1]


@pytest.mark.parametrize("rule", [Momentum(0.05), SVRG(0.05)], ids=lambda r: type(r).__name__)
def test_files_forks_and_time_travel(rule: Any, tmp_path: Any) -> None:
    p = P.copy()
    run = bl.minimize(PROBLEM, X0, rule, batch=5, sampler=p, seed=2, steps=6)
    p[:] = 1 / N
    run.save(tmp_path / "run.burlab")
    loaded, fork = bl.load_run(tmp_path / "run.burlab", (A, B)), run.fork()
    again = bl.minimize(PROBLEM, X0, rule, batch=5, sampler=P, seed=2, steps=6)
    for other in (run, loaded, fork, again):
        other.seek(2)
        other.step(9)
    for other in (loaded, fork, again):
        same(other, run)
    assert loaded.fingerprint == again.fingerprint
    assert bl.minimize(PROBLEM, X0, rule, batch=5, sampler=P[::-1], seed=2).fingerprint != again.fingerprint
    with pytest.raises(FileError):
        bl.load_run(tmp_path / "run.burlab", (A[::-1], B))


def test_metrics_float32_and_trainable() -> None:
    data = A.astype(np.float32), B.astype(np.float32)

    def measured(p: Any, a: Any, b: Any) -> Any:
        return p["s"] * loss(p["x"], a, b), {"b": b}

    problem = bl.FiniteSum(measured, data, has_aux=True)
    start = {"x": X0.astype(np.float32), "s": np.float32(1.0)}
    run = bl.minimize(problem, start, GD(0.1), batch=4, sampler=P, steps=3, trainable={"x": True, "s": False})
    assert run.x["x"].dtype == np.float32
    i = drawn(3, 4)
    np.testing.assert_allclose(run.history["b"], np.mean(B[i] / (N * P[i]), axis=1), rtol=1e-5)


@pytest.mark.parametrize(
    ("sampler", "batch", "kind", "text"),
    [
        (P * 0.9, 2, ArgumentError, "the probabilities of sampler sum to 0.9, expected 1. Pass p / p.sum()"),
        (np.append(P[:-1], -P[-1]), 2, ArgumentError, "sampler[22] is -0.0724"),
        (np.append(P[1:], 0.0), 2, ArgumentError, "sampler[22] is 0.0, expected a probability above 0"),
        (np.append(P[1:], np.nan), 2, ArgumentError, "sampler[22] is nan"),
        (P[:-1], 2, ShapeError, "sampler holds probabilities of shape (22,), expected (23,)"),
        (P[None], 2, DTypeError, "sampler has dtype float64, expected integers from 0 to 22"),
        (P, None, ArgumentError, "sampler holds probabilities, so batch must be a number; got None. Pass batch="),
        (P, 0, ArgumentError, "batch"),
    ],
)
def test_invalid_sampling_probabilities_raise(sampler: Any, batch: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=re.escape(text)):
        bl.minimize(PROBLEM, X0, GD(0.1), batch=batch, sampler=sampler)
