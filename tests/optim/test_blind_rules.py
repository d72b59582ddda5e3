"""Rules that read no gradient: none is computed, counted or recorded; and what is known is not computed twice."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim import GD, Hyper, Optimizer, clip_by_norm
from tests.optim.probe import X0, A, B, Probe, loss, noisy, ridge
from tests.run.saved_cases import replayed, same
from tests.run.test_sampler import batches


@dataclass(frozen=True)
class TwoPoint(Optimizer):
    """Zeroth order: the difference of two values along a random direction."""

    lr: Hyper = 0.01
    eps: Hyper = 1e-3

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        z = bl.random.normal(f.key, x.shape, x.dtype)
        slope = (f.value(x + self.eps * z) - f.value(x - self.eps * z)) / (2 * self.eps)
        return x - self.lr * slope * z, state


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("batch", [None, 5, 1])
def test_a_zeroth_order_rule_computes_no_gradient(dtype: Any, batch: int | None) -> None:
    """Its points are those of a loop by hand; of the oracle only the kernel of values exists."""
    problem = bl.FiniteSum(loss, (A.astype(dtype), B.astype(dtype)), ridge)
    run = bl.minimize(problem, X0.astype(dtype), TwoPoint(), batch=batch, seed=6, steps=8)
    assert {key[0] for key in problem.oracle._losses} == {"value_like"}
    drawn = batches("reshuffle", len(B), batch, 8, seed=6) if batch else [np.arange(len(B))] * 8
    x, values = X0.astype(dtype), []
    for t, i in enumerate(drawn):
        values.append(problem.value(x, i))
        z = bl.random.normal(bl.random.fold_in(bl.random.key(6), t), x.shape, dtype)
        eps = dtype(1e-3)
        slope = (problem.value(x + eps * z, i) - problem.value(x - eps * z, i)) / (2 * eps)
        x = x - dtype(0.01) * slope * z
    np.testing.assert_allclose(run.x, x, rtol=1e-10 if dtype == np.float64 else 1e-2)
    np.testing.assert_allclose(run.history["value"], values, rtol=1e-12 if dtype == np.float64 else 1e-3)
    assert np.isnan(run.history["gradient_norm"]).all()
    assert (run.history["step_norm"] > 0).all()
    n = batch or len(B)
    assert run.counts == {
        "samples": 0,
        "values": 24 * n,
        "hvps": 0,
        "jvps": 0,
        "partials": 0,
        "surrogates": 0,
        "bits": 0,
        "flops": run.history["flops"][-1],
    }


def test_blind_rules_seek_fork_and_save(tmp_path: Any) -> None:
    problem = bl.FiniteSum(noisy, (A, B))
    run = bl.minimize(problem, X0, TwoPoint(), batch=4, seed=6, steps=9)
    fork = replayed(run, (A, B), tmp_path, 9, 5)
    np.testing.assert_array_equal(fork.x, run.x)
    assert run.profile().nanoseconds("update") > 0


def test_long_vectors_in_chunks_and_functions() -> None:
    @dataclass(frozen=True)
    class Shrinks(Optimizer):
        def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
            return x * 0.5, state

    for size in (3, 20_000):
        run = bl.minimize(lambda x: np.sum(x**2), np.ones(size), clip_by_norm(Shrinks(), 1.0), steps=2)
        np.testing.assert_array_equal(run.x, np.full(size, 0.25))
        np.testing.assert_allclose(run.history["value"], [size, size / 4])
        np.testing.assert_allclose(run.history["step_norm"], [0.5 * size**0.5, 0.25 * size**0.5])


def test_criteria_of_such_a_run() -> None:
    """It stops at a value that is not finite, not at its missing norm, which is no criterion."""
    run = bl.minimize(lambda x: np.sum(x**2), X0, TwoPoint(), stop=bl.Stop(value=0.5), steps=5000)
    assert run.stopped.reason == "value"
    run = bl.minimize(lambda x: np.log(x[0]), np.array([-1.0]), TwoPoint())
    with pytest.warns(RuntimeWarning, match="value is nan"):
        run.step(3)
    assert run.stopped.reason == "non_finite"
    with pytest.raises(ArgumentError, match=r"stop has grad_norm=0.1, but the optimizer reads no gradient"):
        bl.minimize(lambda x: np.sum(x**2), X0, TwoPoint(), stop=bl.Stop(grad_norm=0.1))


def test_a_norm_that_is_not_computed_is_refused_as_a_breakpoint_too(tmp_path: Path) -> None:
    run = bl.minimize(lambda x: np.sum(x**2), X0, TwoPoint())
    for one in (run, run.fork()):
        assert one.breakpoints.conditions == ("rises", "non_finite", "every", "when")
        with pytest.raises(ArgumentError, match=r"breakpoint has grad_norm=0.1, but the optimizer reads no gradient"):
            one.breakpoints.add(grad_norm=0.1)
        assert len(one.breakpoints) == 0
    run.save(tmp_path / "blind.burlab")
    with pytest.raises(ArgumentError, match=r"stop has grad_norm=0.1, but the optimizer reads no gradient"):
        bl.load_run(tmp_path / "blind.burlab", stop=bl.Stop(grad_norm=0.1))
    run.breakpoints.add(every=3)
    run.step(9)
    assert run.t == 3


def test_full_questions_of_a_full_batch_are_the_step_s() -> None:
    """At x they are known; elsewhere they are one question with those about the batch."""

    def query(f: Any, x: Any) -> Any:
        return f.full_grad(x), f.full_value(x), f.full_grad(x + 1) - f.grad(x + 1)

    problem = bl.FiniteSum(loss, (A, B))
    run = bl.minimize(problem, X0, Probe(query, (X0, 0.0, X0)), steps=1)
    assert run.queries == ("grad",)
    np.testing.assert_array_equal(run.state[0], problem.value_and_grad(X0)[1])
    np.testing.assert_array_equal(run.state[2], np.zeros(3))
    parts = bl.minimize(problem, X0, Probe(query, (X0, 0.0, X0)), batch=23)  # in another order
    assert parts.queries == ("grad", "full_value", "full_grad")


def test_a_rule_that_reads_the_gradient_gets_it() -> None:
    run = bl.minimize(lambda x: np.sum(x**2), X0, GD(0.1), steps=1)
    assert run.history["gradient_norm"][0] == pytest.approx(2 * np.linalg.norm(X0))


@pytest.mark.parametrize("batch", [1, 6])
def test_metrics_need_no_gradient(batch: int, tmp_path: Any) -> None:
    """The points are those without metrics; these are means over the batch; files, forks and seeks keep them."""

    def measured(x: Any, a: Any, b: Any) -> Any:
        return loss(x, a, b), {"bias": b, "twice": 2 * loss(x, a, b)}

    plain = bl.minimize(bl.FiniteSum(loss, (A, B), ridge), X0, TwoPoint(), batch=batch, seed=6, steps=5)
    problem = bl.FiniteSum(measured, (A, B), ridge, has_aux=True)
    run = bl.minimize(problem, X0, TwoPoint(), batch=batch, seed=6, steps=5)
    assert {key[0] for key in problem.oracle._losses} == {"measured_value", "value_like"}
    np.testing.assert_allclose(run.x, plain.x, rtol=1e-12)
    np.testing.assert_allclose(run.history["value"], plain.history["value"], rtol=1e-12)
    i = batches("reshuffle", len(B), batch, 5, seed=6)
    np.testing.assert_allclose(run.history["bias"], B[i].mean(axis=1), rtol=1e-12)
    assert np.isnan(run.history["gradient_norm"]).all()
    extra = run.counts["flops"] - plain.counts["flops"]
    assert extra > 0, "metrics cost something"
    assert run.counts == plain.counts | {"flops": plain.counts["flops"] + extra}
    assert run.history["twice"][0] == pytest.approx(2 * (run.history["value"][0] - ridge(X0)))
    run.save(tmp_path / "run.burlab")
    loaded, fork = bl.load_run(tmp_path / "run.burlab", (A, B)), run.fork()
    for other in (run, loaded, fork):
        other.seek(2)
        other.step(6)
    same(loaded, run)
    same(fork, run)
    with pytest.raises(ArgumentError, match="the optimizer reads no gradient"):
        bl.minimize(problem, X0, TwoPoint(), batch=2, stop=bl.Stop(grad_norm=1.0))
