"""The samples of every step by a function of the user's, which runs in the loop."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, FileError, IndexRangeError, ShapeError
from burlab.optim import GD, SAGA, SVRG
from tests.optim.probe import X0, A, B, loss
from tests.run.saved_cases import replayed

N = len(B)


@dataclass(frozen=True)
class Stratified:
    """One sample of each of some runs of neighbours: a class with fields, called with the key of a step and t."""

    n: int
    batch: int

    def __call__(self, key: Any, t: Any) -> Any:
        width = self.n // self.batch
        return np.arange(self.batch) * width + (bl.random.randint(key, (self.batch,), 0, width) + t) % width


def drawn(seed: int, steps: int, sampler: Any) -> list[Any]:
    """The samples of each step, by the same function in NumPy."""
    keys = [bl.random.fold_in(bl.random.key(seed), t) for t in range(steps)]
    return [np.asarray(sampler(key, t)) for t, key in enumerate(keys)]


@pytest.mark.parametrize("threads", [1, 2])
def test_steps_use_what_it_gives(threads: int) -> None:
    """Against a loop by hand, and against the same samples as a table, bit for bit."""
    problem, sampler = bl.FiniteSum(loss, (A, B), threads=threads), Stratified(N, 4)
    run = bl.minimize(problem, X0, GD(0.1), sampler=sampler, seed=3, steps=9)
    rows = drawn(3, 9, sampler)
    assert len({tuple(row) for row in rows}) > 5
    x = X0
    for i in rows:
        x = x - 0.1 * problem.grad(x, i)
    np.testing.assert_allclose(run.x, x, rtol=1e-13)
    table = bl.minimize(problem, X0, GD(0.1), sampler=np.array(rows), steps=9)
    np.testing.assert_array_equal(run.x, table.x)
    np.testing.assert_array_equal(run.history["samples"], table.history["samples"])


def test_questions_are_about_these_samples() -> None:
    """SVRG asks about the batch, SAGA for its gradients and numbers; one sample a step is one kernel."""
    problem = bl.FiniteSum(loss, (A, B))
    for rule, batch in ((SVRG(0.02), 4), (SAGA(0.02), 2), (GD(0.05), 1)):
        sampler = Stratified(N, batch)
        ours = bl.minimize(problem, X0, rule, sampler=sampler, seed=5, steps=6)
        table = np.array(drawn(5, 6, sampler))
        theirs = bl.minimize(problem, X0, rule, sampler=table, seed=5, steps=6)
        np.testing.assert_array_equal(ours.x, theirs.x)
        assert ours.counts["flops"] > theirs.counts["flops"], "a sampler computes"
        assert ours.counts | {"flops": 0} == theirs.counts | {"flops": 0}


def test_sampler_functions_seek_fork_and_save(tmp_path: Any) -> None:
    """The file holds the function as a graph: its class need not exist."""
    problem = bl.FiniteSum(loss, (A, B))
    run = bl.minimize(problem, X0, GD(0.1), sampler=Stratified(N, 4), seed=3, steps=9)
    fork = replayed(run, (A, B), tmp_path, 9, 5)
    np.testing.assert_array_equal(fork.x, run.x)
    with pytest.raises(FileError):
        bl.load_run(tmp_path / "run.burlab", (A[:5], B[:5]))
    other = bl.minimize(problem, X0, GD(0.1), sampler=lambda key, t: np.arange(4) + t % 2, seed=3)
    assert other.fingerprint != bl.minimize(problem, X0, GD(0.1), sampler=Stratified(N, 4), seed=3).fingerprint
    assert run.profile().rows


def test_invalid_sampler_functions_raise() -> None:
    problem = bl.FiniteSum(loss, (A, B))

    def refused(kind: type[Exception], match: str, sampler: Any, **others: Any) -> None:
        with pytest.raises(kind, match=match):
            bl.minimize(problem, X0, GD(0.1), sampler=sampler, **others)

    refused(DTypeError, "sampler gave float64, expected integers", lambda key, t: bl.random.uniform(key, (4,)))
    refused(ShapeError, r"sampler gave shape \(\), expected \(b,\)", lambda key, t: t)
    refused(DTypeError, "sampler gave a NoneType, expected integers", lambda key, t: None)
    refused(ArgumentError, r"sampler cannot be called with \(key, t\)", lambda key: key)
    refused(ArgumentError, "batch=3, but sampler gives 4 samples", Stratified(N, 4), batch=3)
    refused(ArgumentError, "sampler must be one of", 4)
    run = bl.minimize(problem, X0, GD(0.1), sampler=lambda key, t: np.arange(4) + N * (t // 2))
    run.step(2)
    with pytest.raises(IndexRangeError, match=rf"sampler gave {N}, but there are {N} samples: use 0 to {N - 1}."):
        run.step(1)
    assert run.t == 2
    with pytest.raises(ArgumentError, match="neither steps nor stop"):
        bl.sweep(problem, X0, GD(0.1), sampler=Stratified(N, 4))
