"""Batches whose size changes while a run goes on: `bl.Batch`."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim import GD, SVRG, Hyper, Optimizer, clip_by_value, mechanic
from tests.optim.probe import X0, A, B, Probe, loss, noisy, ridge
from tests.run.saved_cases import same
from tests.run.test_sampler import batches

N = len(B)
PROBLEM = bl.FiniteSum(loss, (A, B), ridge)


def plan(t: Any) -> Any:
    return 1.0 + 3 * t % 7


def subsets(sizes: list[int], seed: int) -> list[Any]:
    """Return the draws of steps of these sizes: the beginning of a permutation of the step."""
    return [row[:size] for row, size in zip(batches("nice", N, N, len(sizes), seed=seed), sizes, strict=True)]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_schedule_and_changes(threads: int, tmp_path: Any) -> None:
    """Against a loop by hand with batches of these sizes; seek, fork and save keep every bit."""
    problem = bl.FiniteSum(loss, (A, B), ridge, threads=threads)
    run = bl.minimize(problem, X0, GD(0.1), batch=bl.Batch(plan, most=9), seed=4, steps=6)
    assert run.hyper["batch"] == plan(6) == 5
    run.hyper["batch"] = 9
    run.step(3)
    assert run.hyper["batch"] == 9
    run.hyper["batch"] = None
    run.step(3)
    sizes = [*(int(plan(t)) for t in range(6)), 9, 9, 9, *(int(plan(t)) for t in range(9, 12))]
    x, values = X0, []
    for i in subsets(sizes, 4):
        values.append(problem.value(x, i))
        x = x - 0.1 * problem.grad(x, i)
    np.testing.assert_allclose(run.x, x, rtol=1e-13)
    np.testing.assert_allclose(run.history["value"], values, rtol=1e-13)
    np.testing.assert_array_equal(run.history["batch"], sizes)
    np.testing.assert_array_equal(run.history["samples"], np.cumsum(sizes))
    run.save(tmp_path / "run.burlab")
    loaded, fork = bl.load_run(tmp_path / "run.burlab", (A, B)), run.fork()
    run.seek(2)
    assert run.hyper["batch"] == plan(2)
    for other in (run, loaded, fork):
        other.seek(12)
        other.step(4)
    same(loaded, run)
    np.testing.assert_array_equal(fork.x, run.x)
    assert run.profile().rows


def test_large_batches_are_summed_alike_on_threads_and_at_any_largest_size() -> None:
    """The bits of a step depend on its size alone: not on the largest one, nor on threads."""
    a, b = np.tile(A, (20, 1)), np.tile(B, 20)
    runs = [
        bl.minimize(bl.FiniteSum(loss, (a, b), threads=k), X0, GD(0.1), batch=size, sampler="nice", steps=3)
        for k, size in ((1, 150), (1, bl.Batch(150)), (2, bl.Batch(150)), (2, bl.Batch(150, most=200)))
    ]
    for other in runs[1:]:
        np.testing.assert_array_equal(other.x, runs[0].x)


@dataclass(frozen=True)
class Doubling(Optimizer):
    """Wishes for twice as many samples whenever t is even, and looks at its batch in every way."""

    lr: Hyper = 0.1

    def init(self, x: Any, *, f: Any) -> Any:
        return {"wish": np.asarray(f.batch, float)}

    def batch_size(self, state: Any) -> Any:
        return state["wish"]

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        rows, i = f.per_sample_grads(x), f.indices
        metrics = {"mean": np.sum(rows) / f.batch, "first": i[0], "again": np.sum(f.grad(x + 0.0)) - np.sum(g)}
        return x - self.lr * g, {"wish": np.where(t % 2 == 0, 2.0, 1.0) * f.batch}, metrics


def test_the_wish_of_a_rule_and_its_questions(tmp_path: Any) -> None:
    problem = bl.FiniteSum(loss, (A, B))
    run = bl.minimize(problem, X0, Doubling(), batch=bl.Batch(2, most=9), seed=4, steps=7)
    sizes = [2, 4, 4, 8, 8, 9, 9]
    np.testing.assert_array_equal(run.history["batch"], sizes)
    assert run.hyper["batch"] == 9
    np.testing.assert_allclose(run.history["again"], 0.0, atol=1e-14)
    x = X0
    for t, i in enumerate(subsets(sizes, 4)):
        g = problem.grad(x, i)
        assert run.history["first"][t] == i[0]
        np.testing.assert_allclose(run.history["mean"][t], np.sum(g), rtol=1e-12)
        x = x - 0.1 * g
    np.testing.assert_allclose(run.x, x, rtol=1e-13)
    np.testing.assert_array_equal(run.history["samples"], 2 * np.cumsum(sizes))
    run.save(tmp_path / "run.burlab")
    loaded = bl.load_run(tmp_path / "run.burlab", (A, B))
    for other in (run, loaded):
        other.seek(1)
        assert other.hyper["batch"] == 4
        other.hyper["batch"] = 3
        other.step(4)
    same(loaded, run)
    np.testing.assert_array_equal(run.history["batch"], [2, 3, 3, 3, 3])


class ByLeaf(Doubling):
    per_leaf = True


@pytest.mark.parametrize("rule", [clip_by_value(Doubling(), 1e9), mechanic(Doubling()), ByLeaf()], ids=repr)
def test_wrappers_and_rules_by_leaf_pass_the_wish_on(rule: Optimizer) -> None:
    run = bl.minimize(bl.FiniteSum(loss, (A, B)), X0, rule, batch=bl.Batch(2, most=9), steps=6)
    np.testing.assert_array_equal(run.history["batch"], [2, 4, 4, 8, 8, 9])


def test_rows_behind_the_batch_are_zero() -> None:
    """Also where the batch before was larger, at the point of the step and elsewhere; sizes are rounded, at least 1."""

    def question(f: Any, x: Any) -> Any:
        return f.per_sample_grads(x), f.per_sample_grads(x + 1.0), f.batch * 1.0

    problem, none = bl.FiniteSum(loss, (A, B)), np.zeros((9, 3))
    shrinking = bl.Batch(lambda t: 8.6 - 4.2 * t, most=9)
    firsts = [bl.Batch(lambda t, size=size: size + t, most=9).first for size in (-2.0, 0.2, 2.5, 9.6)]
    assert (shrinking.first, firsts) == (9, [1, 1, 3, 9])
    run = bl.minimize(problem, X0, Probe(question, (none, none, 0.0)), batch=shrinking, seed=4)
    for i in subsets([9, 4, 1, 1], 4):
        x = run.x
        run.step(1)
        here, there, size = run.state
        assert size == len(i)
        for rows, y in ((here, x), (there, x + 1.0)):
            np.testing.assert_allclose(rows[: len(i)], problem.per_sample_grads(y, i), rtol=1e-12)
            np.testing.assert_array_equal(rows[len(i) :], 0.0)


def test_other_samplers_and_losses() -> None:
    """A function of the user's gives as many as the largest batch; probabilities weigh; keys and SVRG go along."""
    rows = np.arange(6) * 2
    run = bl.minimize(
        PROBLEM, X0, GD(0.1), batch=bl.Batch(plan, most=6), sampler=lambda key, t: (rows + t) % N, steps=5
    )
    x = X0
    for t in range(5):
        x = x - 0.1 * PROBLEM.grad(x, ((rows + t) % N)[: int(min(plan(t), 6))])
    np.testing.assert_allclose(run.x, x, rtol=1e-13)
    for sampler in ("uniform", np.full(N, 1 / N)):
        run = bl.minimize(bl.FiniteSum(noisy, (A, B)), X0, SVRG(0.02), batch=bl.Batch(3, most=5), sampler=sampler)
        run.step(3)
        assert run.counts["samples"] == 18 + N
        run.hyper["batch"] = 5
        run.step(1)
        assert run.counts["samples"] == 28 + N


def test_live_batch_with_wrong_arguments_raises() -> None:
    def refused(match: str, batch: Any, rule: Optimizer | None = None, **others: Any) -> None:
        with pytest.raises(ArgumentError, match=match):
            bl.minimize(PROBLEM, X0, rule or GD(0.1), batch=batch(), **others)

    refused("sampler='reshuffle' goes through whole epochs", lambda: bl.Batch(3), sampler="reshuffle")
    refused(rf"Batch.size=99 is more than the {N} samples", lambda: bl.Batch(99))
    refused("Batch.size=9 is more than most=4", lambda: bl.Batch(9, most=4))
    refused("Batch.size=0 is not a whole number at least 1", lambda: bl.Batch(0))
    refused("Batch.size cannot be called with the step alone", lambda: bl.Batch(lambda: 3))
    refused(r"Batch.size gave shape \(2,\) for t = 0", lambda: bl.Batch(lambda t: t + np.ones(2)))
    table = np.zeros((4, 6), int)
    for sampler in (table, lambda key, t: table[0] + t):
        refused(rf"most={N}, but sampler gives 6 .* Pass most=6", lambda: bl.Batch(3), sampler=sampler)
    refused(r"Doubling.batch_size chooses the number .* Pass batch=bl.Batch\(8\)", lambda: 3, Doubling())
    run = bl.minimize(PROBLEM, X0, GD(0.1), batch=bl.Batch(3, most=5))
    for bad in (0, 6, np.nan):
        with pytest.raises(ArgumentError, match="batch"):
            run.hyper["batch"] = bad
    fixed = bl.minimize(PROBLEM, X0, GD(0.1), batch=3)
    with pytest.raises(ArgumentError, match="no live field 'batch'"):
        fixed.hyper["batch"] = 5
