"""Losses of single samples: of a FiniteSum, and as a question of rules, whatever the samples of a step are."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import IndexRangeError
from burlab.optim import Hyper, Optimizer
from tests.optim.probe import X0, A, B, loss, noisy, probe, ridge

N = len(B)


def values(x: Any) -> Any:
    return np.log(1 + (A @ x - B) ** 2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_of_a_finite_sum(dtype: Any) -> None:
    problem = bl.FiniteSum(loss, (A.astype(dtype), B.astype(dtype)), ridge)
    got = problem.per_sample_values(X0.astype(dtype))
    assert (got.shape, got.dtype) == ((N,), dtype)
    np.testing.assert_allclose(got, values(X0), rtol=1e-10 if dtype == np.float64 else 1e-4)
    np.testing.assert_array_equal(problem.per_sample_values(X0.astype(dtype), [5, 5, 0]), got[[5, 5, 0]])


def test_samples_get_the_keys_of_their_positions() -> None:
    problem, key = bl.FiniteSum(noisy, (A, B)), bl.random.key(3)
    drawn = [bl.random.normal(bl.random.fold_in(key, k), ()) for k in range(2)]
    got = problem.per_sample_values(X0, [7, 2], key=key)
    np.testing.assert_allclose(got, (A[[7, 2]] @ X0 - B[[7, 2]] + drawn) ** 2, rtol=1e-12)
    run, (rows, mean), x = probe(
        problem, X0, lambda f, x: (f.per_sample_values(x + 1), f.value(x + 1)), (np.zeros(4), 0.0), 2, batch=4
    )
    np.testing.assert_allclose(np.mean(rows), mean, rtol=1e-12)
    step = bl.random.fold_in(bl.random.key(0), 1)
    np.testing.assert_allclose(problem.value(x + 1, batch_of(run), key=step), mean, rtol=1e-12)


def batch_of(run: Any) -> Any:
    """The samples of its second step."""
    again = bl.FiniteSum(loss, (A, B))
    return probe(again, X0, lambda f, x: f.indices, np.zeros(4, np.int64), 2, batch=4)[1][0]


def test_weights_and_batches_of_any_size() -> None:
    p = np.arange(1.0, N + 1) / np.arange(1.0, N + 1).sum()
    problem = bl.FiniteSum(loss, (A, B), ridge)
    asked = lambda f, x: (f.per_sample_values(x), f.indices)  # noqa: E731
    _, (rows, drawn), x = probe(problem, X0, asked, (np.zeros(4), np.zeros(4, np.int64)), 3, batch=4, sampler=p)
    np.testing.assert_allclose(rows, values(x)[drawn] / (N * p[drawn]), rtol=1e-10)
    _, (rows, drawn), x = probe(problem, X0, asked, (np.zeros(6), np.zeros(6, np.int64)), 3, batch=bl.Batch(4, most=6))
    np.testing.assert_allclose(rows[:4], values(x)[drawn[:4]], rtol=1e-10)
    np.testing.assert_array_equal(rows[4:], 0)


@dataclass(frozen=True)
class HardFirst(Optimizer):
    """The gradient of the worst samples of a batch: Shrivastava, Gupta and Girshick 2016, arXiv:1604.03540."""

    lr: Hyper = 0.02
    hard: int = 3

    def init(self, x, *, f):
        return {"worst": np.max(f.per_sample_values(x, indices=[0, 1]))}

    def update(self, g, state, x, t, *, f):
        worst, places = bl.top_k(f.per_sample_values(x), self.hard)
        g = f.grad(x, indices=f.indices[places])
        return x - self.lr * g, {"worst": worst[0]}


def test_a_rule_with_hard_examples_and_what_it_costs(tmp_path) -> None:
    table = np.random.default_rng(0).integers(0, N, size=(12, 8))
    problem = bl.FiniteSum(loss, (A, B), ridge)
    run = bl.minimize(problem, X0, HardFirst(), sampler=table)
    np.testing.assert_allclose(run.state["worst"], values(X0)[:2].max(), rtol=1e-12)
    x = X0
    for rows in table:
        hard = rows[np.argsort(-values(x)[rows], kind="stable")[:3]]
        worst = values(x)[hard[0]]
        x = x - 0.02 * problem.grad(x, hard)
    run.step(12)
    np.testing.assert_allclose(run.x, x, rtol=1e-10)
    np.testing.assert_allclose(run.state["worst"], worst, rtol=1e-10)
    assert (run.counts["samples"], run.counts["values"]) == (12 * 3, 2 + 12 * (8 + 8))  # the history's value, and these
    run.save(tmp_path / "a.burlab")
    loaded = bl.load_run(tmp_path / "a.burlab", (A, B))
    loaded.seek(5)
    loaded.step(7)
    np.testing.assert_array_equal(loaded.x, run.x)


def test_samples_that_are_not_there_are_named() -> None:
    problem = bl.FiniteSum(loss, (A, B))
    with pytest.raises(IndexRangeError, match=f"{N}, but there are {N} samples"):
        problem.per_sample_values(X0, [N])
    with pytest.raises(IndexRangeError, match=r"indices of f\.per_sample_values holds 99"):
        probe(problem, X0, lambda f, x: f.per_sample_values(x, indices=np.array([99])), np.zeros(1), batch=2)
