"""A rule that reads the gradients of its samples and their mean: each is computed once, and counted once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import BurlabError
from burlab.optim import SAGA, Hyper, Optimizer
from tests.optim.probe import X0, A, B, loss, noisy, ridge
from tests.run.saved_cases import replayed
from tests.run.test_sampler import batches

N = len(B)


@dataclass(frozen=True)
class Both(Optimizer):
    """Tells how far the mean of the rows is from g, and the rows of another point."""

    lr: Hyper = 0.1
    elsewhere: bool = False

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        rows = f.per_sample_grads(x)
        metrics = {"off": np.max(np.abs(np.mean(rows, axis=0) - g))}
        if self.elsewhere:
            metrics["there"] = np.sum(f.per_sample_grads(x + 1.0))
        return x - self.lr * g, state, metrics


def aux(x: Any, a: Any, b: Any) -> Any:
    value = loss(x, a, b)
    return value, {"twice": 2 * value}


@pytest.mark.parametrize(
    ("function", "has_aux", "dtype"),
    [(loss, False, np.float64), (loss, False, np.float32), (aux, True, np.float32), (noisy, False, np.float64)],
)
def test_the_mean_is_that_of_the_rows(function: Any, has_aux: bool, dtype: Any) -> None:
    """Points, values and metrics are those of a rule that asks for no rows, up to the order of a sum."""
    data = A.astype(dtype), B.astype(dtype)
    problem = bl.FiniteSum(function, data, ridge if not has_aux else None, has_aux=has_aux)
    for batch in (1, 5, None):
        ours = bl.minimize(problem, X0.astype(dtype), Both(), batch=batch, seed=3, steps=6)
        plain = bl.minimize(problem, X0.astype(dtype), bl.optim.GD(0.1), batch=batch, seed=3, steps=6)
        tight = 1e-12 if dtype == np.float64 else 1e-4
        np.testing.assert_allclose(ours.x, plain.x, rtol=tight)
        for name in set(plain.history) - {"time", "flops"}:
            np.testing.assert_allclose(ours.history[name], plain.history[name], rtol=tight, err_msg=name)


def test_rows_at_other_points_are_computed_and_counted(tmp_path: Any) -> None:
    problem = bl.FiniteSum(loss, (A, B))
    run = bl.minimize(problem, X0, Both(elsewhere=True), batch=4, seed=3, steps=6)
    np.testing.assert_array_equal(run.history["samples"], 8 * np.arange(1, 7))
    x = X0
    for t, i in enumerate(batches("reshuffle", N, 4, 6, seed=3)):
        np.testing.assert_allclose(run.history["there"][t], problem.per_sample_grads(x + 1.0, i).sum(), rtol=1e-12)
        x = x - 0.1 * problem.grad(x, i)
    assert run.history["off"].max() < 1e-14
    fork = replayed(run, (A, B), tmp_path, 6, 3)
    np.testing.assert_array_equal(fork.x, run.x)
    assert run.profile().rows


def test_saga_computes_a_gradient_for_a_sample() -> None:
    """A batch's gradients per step behind the table's n, and weights where samples have probabilities."""
    problem = bl.FiniteSum(loss, (A, B))
    run = bl.minimize(problem, X0, SAGA(0.02), batch=2, steps=5)
    np.testing.assert_array_equal(run.history["samples"], N + 2 * np.arange(1, 6))
    p = np.arange(1.0, N + 1) / np.sum(np.arange(1.0, N + 1))
    run = bl.minimize(problem, X0, Both(), batch=3, sampler=p, steps=4)
    assert run.history["off"].max() < 1e-14
    np.testing.assert_array_equal(run.history["samples"], 3 * np.arange(1, 5))


def test_a_sample_that_fails_is_named() -> None:
    """By its number and the line of the loss, as in a step that computes the mean alone."""

    def far(x: Any, a: Any) -> Any:
        return np.sum(np.array([1.0, 2.0])[np.where(a > 2.0, np.int64(np.array(7)), np.int64(np.array(0)))] * x)

    run = bl.minimize(bl.FiniteSum(far, np.arange(4.0)), np.ones(1), Both(), sampler=np.array([[0, 1], [2, 3]]))
    run.step(1)
    with pytest.raises(BurlabError) as caught:
        run.step(1)
    assert "In sample 3 of the data." in caught.value.__notes__
