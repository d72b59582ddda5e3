"""AdAdaGrad against a loop in NumPy, step by step."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim import AdAdaGrad, Adagrad, clip_by_norm
from tests.optim.probe import X0, A, B, loss, ridge
from tests.run.saved_cases import same
from tests.run.test_live_batch import N
from tests.run.test_sampler import batches

LR = 0.1


def by_hand(test: str, eta: float, scalar: bool, steps: int, dtype: Any) -> tuple[Any, list[int], list[Any]]:
    """Algorithm 1, with gradients, variances and tests of whole arrays."""
    problem = bl.FiniteSum(loss, (A.astype(dtype), B.astype(dtype)), ridge)
    x, s, b, sizes, points = X0.astype(dtype), 0.0, 2, [], []
    order = batches("nice", N, N, steps, seed=4)
    for t in range(steps):
        i = order[t, :b]
        sizes.append(b)
        points.append(x)
        rows, g = problem.per_sample_grads(x, i), problem.grad(x, i)
        s = s + (np.sum(g**2) if scalar else g**2)
        if test == "norm":
            wanted = np.sum(np.var(rows, axis=0, ddof=1)) / (eta**2 * np.sum(g**2))
        else:
            wanted = np.var(rows @ g, ddof=1) / (eta**2 * np.sum(g**2) ** 2)
        x = (x - LR * g / (np.sqrt(s) + 1e-10)).astype(dtype)
        b = int(min(N, max(b, np.ceil(wanted))))
    return x, sizes, points


@pytest.mark.parametrize(
    ("test", "eta", "scalar", "dtype"),
    [
        ("norm", 2.0, False, np.float64),
        ("inner_product", 0.4, True, np.float64),
        ("inner_product", 0.4, False, np.float32),
    ],
)
def test_step_by_step(test: str, eta: float, scalar: bool, dtype: Any, tmp_path: Any) -> None:
    problem = bl.FiniteSum(loss, (A.astype(dtype), B.astype(dtype)), ridge)
    rule = AdAdaGrad(LR, eta=eta, test=test, scalar=scalar)
    run = bl.minimize(problem, X0.astype(dtype), rule, batch=bl.Batch(2), seed=4, steps=25)
    x, sizes, points = by_hand(test, eta, scalar, 25, dtype)
    assert len(set(sizes)) > 2
    np.testing.assert_array_equal(run.history["batch"], sizes)
    np.testing.assert_array_equal(run.history["samples"], 2 * np.cumsum(sizes))
    tight = 1e-9 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(run.x, x, rtol=tight)
    run.save(tmp_path / "run.burlab")
    loaded, fork = bl.load_run(tmp_path / "run.burlab", (A.astype(dtype), B.astype(dtype))), run.fork()
    run.seek(7)
    np.testing.assert_allclose(run.x, points[7], rtol=tight)
    for other in (run, loaded, fork):
        other.seek(25)
        other.step(3)
    same(loaded, run)
    np.testing.assert_array_equal(fork.x, run.x)


def test_adadagrad_with_a_loose_test_is_adagrad() -> None:
    """A loose test keeps the batch: then it is Adagrad, bit for bit, also inside of a wrapper."""
    problem = bl.FiniteSum(loss, (A, B))
    rules = clip_by_norm(AdAdaGrad(LR, eta=1e9), 0.5), clip_by_norm(Adagrad(LR), 0.5)
    ours, theirs = (bl.minimize(problem, X0, rule, batch=bl.Batch(3), seed=1, steps=9) for rule in rules)
    np.testing.assert_array_equal(ours.x, theirs.x)
    assert set(ours.history["batch"]) == {3.0}
    with pytest.raises(ArgumentError, match="test of AdAdaGrad is 'mean', expected one of 'norm', 'inner_product'"):
        AdAdaGrad(test="mean")
    with pytest.raises(ArgumentError, match="eta of AdAdaGrad is 0"):
        AdAdaGrad(eta=0)
    with pytest.raises(ArgumentError, match=r"AdAdaGrad\.batch_size chooses the number of samples"):
        bl.minimize(problem, X0, AdAdaGrad(), batch=3)
    with pytest.raises(ArgumentError, match="batch begins with 1 sample, which has no variance"):
        bl.minimize(problem, X0, AdAdaGrad(), batch=bl.Batch(lambda t: 1 + t, most=8))
