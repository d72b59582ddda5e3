"""Questions about samples that a rule chooses: against FiniteSum, bit for bit, and against loops written by hand."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import DTypeError, IndexRangeError, ShapeError
from burlab.optim import Hyper, Optimizer
from tests.optim.probe import X0, A, B, Probe, loss, noisy, probe, ridge
from tests.run.saved_cases import same
from tests.run.test_sampler import batches

QUERIED: dict[str, Any] = {
    "value": (lambda f, y, i: f.value(y, indices=i), lambda p, y, i: p.value(y, i), lambda k: 0.0),
    "grad": (lambda f, y, i: f.grad(y, indices=i), lambda p, y, i: p.grad(y, i), lambda k: X0),
    "value_and_grad": (
        lambda f, y, i: f.value_and_grad(y, indices=i)[1],
        lambda p, y, i: p.value_and_grad(y, i)[1],
        lambda k: X0,
    ),
    "hvp": (lambda f, y, i: f.hvp(y, 2 * y, indices=i), lambda p, y, i: p.hvp(y, 2 * y, i), lambda k: X0),
    "jvp": (lambda f, y, i: f.jvp(y, 2 * y, indices=i), lambda p, y, i: p.jvp(y, 2 * y, i), lambda k: 0.0),
    "per_sample_grads": (
        lambda f, y, i: f.per_sample_grads(y, indices=i),
        lambda p, y, i: p.per_sample_grads(y, i),
        lambda k: np.zeros((k, 3)),
    ),
}


@pytest.mark.parametrize("name", QUERIED)
@pytest.mark.parametrize("count", [1, 3, 40])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_queries_of_chosen_samples_equal_the_finite_sum(name: str, count: int, dtype: Any) -> None:
    """Also of more samples than there are, and of int32 numbers; the regularizer is included, but not in rows."""
    question, wanted, like = QUERIED[name]
    problem = bl.FiniteSum(loss, (A.astype(dtype), B.astype(dtype)), ridge)
    chosen = np.random.default_rng(count).integers(0, len(B), count).astype(np.int32)
    like = np.asarray(like(count), dtype)
    _, (got,), x = probe(problem, X0.astype(dtype), lambda f, x: question(f, x + 1, chosen), like, 3, batch=5)
    np.testing.assert_array_equal(got, wanted(problem, x + 1, chosen))


@pytest.mark.parametrize("sampler", ["reshuffle", "uniform", "nice", "sequential"])
def test_indices_are_the_samples_of_the_step(sampler: str) -> None:
    problem = bl.FiniteSum(loss, (A, B))
    _, (got,), _ = probe(
        problem, X0, lambda f, x: f.indices, np.zeros(6, np.int64), 5, batch=6, seed=7, sampler=sampler
    )
    np.testing.assert_array_equal(got, batches(sampler, len(B), 6, 5, seed=7)[4])


def test_indices_of_functions_and_of_full_batches() -> None:
    _, (got,), _ = probe(lambda x: np.sum(x**2), X0, lambda f, x: f.indices, np.zeros(1, np.int64))
    assert got.tolist() == [0]
    full = bl.FiniteSum(loss, (A, B))
    _, (got, n, b), _ = probe(full, X0, lambda f, x: (f.indices, f.samples, f.batch), (np.zeros(23, np.int64), 0, 0))
    assert (got.tolist(), n, b) == (list(range(23)), 23, 23)


def test_long_vectors_see_all_indices() -> None:
    """A rule that treats entries alike runs in chunks; with as many samples as entries it must not."""
    n = 10_000

    @dataclass(frozen=True)
    class UpdateRule(Optimizer):
        def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
            return x + f.indices, state

    run = bl.minimize(bl.FiniteSum(lambda x, a: np.sum(x) * a, np.ones(n)), np.zeros(n), UpdateRule(), steps=1)
    np.testing.assert_array_equal(run.x, np.arange(n))


def test_the_step_s_own_samples_are_known() -> None:
    """At x, with the samples of the step, nothing is computed; elsewhere it is the question without indices."""
    problem = bl.FiniteSum(loss, (A, B))

    def ask(f: Any, x: Any) -> Any:
        return f.grad(x, indices=f.indices), f.value(x, indices=f.indices), f.grad(x + 1, indices=f.indices)

    run, got, x = probe(problem, X0, ask, (X0, 0.0, X0), 2, batch=4)
    assert run.queries == ("grad",)
    i = batches("reshuffle", len(B), 4, 2, seed=0)[1]
    for a, b in zip(got, (problem.grad(x, i), problem.value(x, i), problem.grad(x + 1, i)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_chosen_samples_have_keys_by_their_position() -> None:
    problem = bl.FiniteSum(noisy, (A, B))
    _, (key, got), x = probe(
        problem, X0, lambda f, x: (f.key, f.grad(x + 1, indices=[4, 4, 9])), (np.zeros(2, np.uint64), X0), 3, batch=2
    )
    np.testing.assert_array_equal(got, problem.grad(x + 1, [4, 4, 9], key=key))


def test_questions_about_many_batches() -> None:
    """By vmap over indices, over points, and over both."""
    problem = bl.FiniteSum(loss, (A, B), ridge)
    lists, points = np.arange(12).reshape(4, 3), X0 + np.arange(4.0)[:, None]

    def ask(f: Any, x: Any) -> Any:
        return (
            bl.vmap(lambda i: f.grad(x + 1, indices=i))(lists),
            bl.vmap(lambda y: f.value(y, indices=[1, 2]))(points),
            bl.vmap(lambda y, i: f.grad(y, indices=i))(points, lists),
        )

    _, (a, b, c), x = probe(problem, X0, ask, (np.zeros((4, 3)), np.zeros(4), np.zeros((4, 3))))
    np.testing.assert_array_equal(a, [problem.grad(x + 1, i) for i in lists])
    np.testing.assert_array_equal(b, [problem.value(y, [1, 2]) for y in points])
    np.testing.assert_array_equal(c, [problem.grad(y, i) for y, i in zip(points, lists, strict=True)])


@dataclass(frozen=True)
class SAGA(Optimizer):
    """Defazio et al. 2014, with the numbers of the step's samples."""

    lr: Hyper = 0.05
    n: int = len(B)

    def init(self, x: Any) -> Any:
        return {"table": np.zeros((self.n, *x.shape)), "mean": np.zeros_like(x)}

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        rows, i = f.per_sample_grads(x), f.indices
        changes = rows - bl.asarray(state["table"])[i]
        mean = state["mean"] + np.sum(changes, axis=0) / self.n
        x = x - self.lr * (np.mean(changes, axis=0) + state["mean"])
        return x, {"table": bl.at_set(state["table"], i, rows), "mean": mean}


@dataclass(frozen=True)
class Sarah(Optimizer):
    """Nguyen et al. 2017: the same samples at two points, drawn by the rule itself."""

    lr: Hyper = 0.05

    def init(self, x: Any) -> Any:
        return {"v": np.zeros_like(x), "before": x}

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        i = bl.random.randint(f.key, (3,), 0, f.samples)
        v = f.grad(x, indices=i) - f.grad(state["before"], indices=i) + state["v"]
        v = bl.cond(t % 5 == 0, lambda: f.full_grad(x), lambda: v)
        return x - self.lr * v, {"v": v, "before": x}


def saga(problem: Any, seed: int, steps: int) -> Any:
    x, table = X0, np.zeros((len(B), 3))
    mean = np.zeros(3)
    for i in batches("nice", len(B), 2, steps, seed=seed):
        rows = problem.per_sample_grads(x, i)
        changes = rows - table[i]
        x, mean = x - 0.05 * (changes.mean(0) + mean), mean + changes.sum(0) / len(B)
        table[i] = rows
    np.testing.assert_allclose(mean, table.mean(0), atol=1e-14)
    return x


def sarah(problem: Any, seed: int, steps: int) -> Any:
    x = before = X0
    v = np.zeros(3)
    for t in range(steps):
        i = bl.random.randint(bl.random.fold_in(bl.random.key(seed), t), (3,), 0, len(B))
        v = problem.grad(x) if t % 5 == 0 else problem.grad(x, i) - problem.grad(before, i) + v
        x, before = x - 0.05 * v, x
    return x


RULES = {"saga": (SAGA(), saga), "sarah": (Sarah(), sarah)}


@pytest.mark.parametrize("name", RULES)
def test_rules_with_their_own_samples_are_the_loops_by_hand(name: str, tmp_path: Any) -> None:
    """And seek, fork and files keep every bit."""
    rule, by_hand = RULES[name]
    problem = bl.FiniteSum(loss, (A, B))
    run = bl.minimize(problem, X0, rule, batch=2, sampler="nice", seed=4, steps=30)
    np.testing.assert_allclose(run.x, by_hand(problem, 4, 30), rtol=1e-12)
    again = bl.minimize(problem, X0, rule, batch=2, sampler="nice", seed=4, steps=12)
    again.save(tmp_path / "run.burlab")
    loaded, fork = bl.load_run(tmp_path / "run.burlab", (A, B)), again.fork()
    for other in (again, loaded, fork):
        other.step(25)
        other.seek(3)
        other.step(27)
        other.seek(30)
        np.testing.assert_array_equal(other.x, run.x)
    same(loaded, again)


@pytest.mark.parametrize(
    ("ask", "kind", "text"),
    [
        (lambda f, x: f.grad(x, indices=[0.5]), DTypeError, "indices of f.grad has dtype float64, expected integers"),
        (lambda f, x: f.hvp(x, x, indices=3), ShapeError, "indices of f.hvp has shape (), expected (b,)"),
        (lambda f, x: f.value(x, indices=np.zeros((2, 2), int)), ShapeError, "indices of f.value has shape (2, 2)"),
        (lambda f, x: f.value(x, indices=np.zeros(0, int)), ShapeError, "has shape (0,), expected (b,) with at least"),
        (lambda f, x: f.jvp(x, x, indices=[True, False]), DTypeError, "indices of f.jvp has dtype bool"),
        (lambda f, x: f.grad(x, indices=[23]), IndexRangeError, "holds 23, but there are 23 samples: use 0 to 22"),
        (lambda f, x: f.per_sample_grads(x, indices=[-1]), IndexRangeError, "indices of f.per_sample_grads holds -1"),
    ],
)
def test_indices_that_are_none(ask: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=re.escape(text)) as caught:
        bl.minimize(bl.FiniteSum(loss, (A, B)), X0, Probe(ask, X0))
    assert "test_chosen_samples.py" in str(caught.value)


@pytest.mark.parametrize("name", ["grad", "per_sample_grads"])
def test_a_sample_that_is_not_there_stops_the_run(name: str) -> None:
    """Where the numbers are traced, only the step can know."""
    ask = lambda f, x: 0 * np.sum(getattr(f, name)(x, indices=f.indices + 20))  # noqa: E731
    run = bl.minimize(bl.FiniteSum(loss, (A, B)), X0, Probe(ask, 0.0), batch=2, sampler="sequential")
    run.step(1)
    with pytest.raises(IndexRangeError, match=rf"indices of f\.{name} held 23, but there are 23 samples: use 0 to 22"):
        run.step(1)
    assert run.t == 1
