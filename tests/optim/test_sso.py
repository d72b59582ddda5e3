"""SSO: step for step in NumPy, what it degenerates to, and what it costs."""

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, BurlabError, ShapeError
from burlab.optim import GD, SSO, Optimizer
from tests.run.saved_cases import same
from tests.run.test_sampler import batches

rng = np.random.default_rng(3)
N, D, K = 43, 4, 3
A, LABELS = rng.normal(size=(N, D)), rng.integers(0, K, N)
X0 = 0.3 * rng.normal(size=(K, D))
RIDGE, ETA, INNER, STEPS = 0.1, 0.7, 4, 6
P = np.arange(1.0, N + 1) / np.sum(np.arange(1.0, N + 1))


def model(w: Any, a: Any, label: Any) -> Any:
    return np.tanh(w @ a)


def entropy(z: Any, a: Any, label: Any) -> Any:
    return np.log(np.sum(np.exp(z))) - z[label]


def ridge(w: Any) -> Any:
    return RIDGE / 2 * np.sum(w**2)


def problem(**options: Any) -> Any:
    return bl.FiniteSum(entropy, (A, LABELS), ridge, model=model, **options)


def surrogate(w: Any, goals: Any, i: Any, weights: Any) -> tuple[float, Any]:
    z = np.tanh(A[i] @ w.T)
    off = weights[:, None] * (z - goals) / ETA / len(i)
    value = np.sum(off * (z - goals)) / 2 + RIDGE / 2 * np.sum(w**2)
    return value, (off * (1 - z**2)).T @ A[i] + RIDGE * w


def by_hand(drawn: list[Any], weights: Any, first: float = 2.0, trials: int = 20) -> tuple[Any, list[int]]:
    """Algorithm 1 in arrays, and how many surrogates of samples it takes. first: length of a step before halvings."""
    w, cost = X0, []
    for i in drawn:
        z = np.tanh(A[i] @ w.T)
        a = np.exp(z) / np.sum(np.exp(z), axis=1, keepdims=True) - np.eye(K)[LABELS[i]]
        goals, calls = z - ETA * a, 0
        for _ in range(INNER):
            (value, slope), lr, left = surrogate(w, goals, i, weights[i]), first, trials
            calls += 2
            while left and surrogate(w - lr * slope, goals, i, weights[i])[0] > value - lr / 2 * np.sum(slope**2):
                lr, calls, left = lr / 2, calls + 1, left - 1
            w = w - lr * slope
        cost.append(calls * len(i))
    return w, cost


def sizes(t: Any) -> Any:
    return 1 + 4 * t % 9


CASES: dict[str, tuple[dict[str, Any], list[int], str, Any]] = {
    "one sample": ({"batch": 1, "sampler": "nice"}, [1] * STEPS, "nice", np.ones(N)),
    "a tile and a part of one": ({"batch": 7, "sampler": "nice"}, [7] * STEPS, "nice", np.ones(N)),
    "slots on threads": ({"batch": 37, "sampler": "nice"}, [37] * STEPS, "nice", np.ones(N)),
    "sizes that change": ({"batch": bl.Batch(sizes, most=9)}, [sizes(t) for t in range(STEPS)], "nice", np.ones(N)),
    "probabilities": ({"batch": 7, "sampler": P}, [7] * STEPS, P, 1 / (N * P)),
}


@pytest.mark.parametrize("name", CASES)
def test_sso_takes_the_steps_of_its_paper(name: str, tmp_path: Any) -> None:
    """With a regularizer; costs are counted exactly; seek, fork and save keep every bit."""
    options, b, sampler, weights = CASES[name]
    rule = SSO(ETA, lr=2.0, inner=INNER)
    run = bl.minimize(problem(threads=2), X0, rule, seed=4, steps=STEPS, **options)
    order = batches(sampler, N, max(b) if sampler is P else N, STEPS, seed=4)
    w, cost = by_hand([row[:size] for row, size in zip(order, b, strict=True)], weights)
    np.testing.assert_allclose(run.x, w, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(run.history["samples"], np.cumsum(b))
    np.testing.assert_array_equal(run.history["surrogates"], np.cumsum(cost))
    assert min(cost) < max(cost)
    run.save(tmp_path / "run.burlab")
    loaded, fork, end = bl.load_run(tmp_path / "run.burlab", (A, LABELS)), run.fork(), run.x
    run.seek(2)
    for other in (run, loaded, fork):
        other.seek(STEPS)
        np.testing.assert_array_equal(other.x, end)
        other.step(2)
    same(loaded, run)
    np.testing.assert_array_equal(fork.x, run.x)


def test_a_step_is_halved_so_many_times_at_most() -> None:
    run = bl.minimize(problem(), X0, SSO(ETA, lr=8.0, inner=INNER, trials=2), batch=7, sampler="nice", steps=3)
    w, cost = by_hand(list(batches("nice", N, 7, 3, seed=0)), np.ones(N), 8.0, 2)
    np.testing.assert_allclose(run.x, w, rtol=1e-9, atol=1e-12)
    assert run.counts["surrogates"] == sum(cost) == 3 * INNER * 4 * 7  # every time as many as there may be


def drawn_model(w: Any, a: Any, label: Any, *, key: Any) -> Any:
    return model(w, a, label) + bl.random.normal(key, (K,), w.dtype)


def drawn_entropy(z: Any, a: Any, label: Any, *, key: Any) -> Any:
    return bl.random.uniform(key, (), z.dtype) * entropy(z, a, label)


SINGLE = A.astype(np.float32)
DEGENERATE = {
    "plain": (problem(), X0),
    "single precision": (bl.FiniteSum(entropy, (SINGLE, LABELS), model=model), X0.astype(np.float32)),
    "a model that draws": (bl.FiniteSum(entropy, (A, LABELS), model=drawn_model), X0),
    "both draw": (bl.FiniteSum(drawn_entropy, (A, LABELS), ridge, model=drawn_model), X0),
    "metrics": (
        bl.FiniteSum(lambda z, a, n: (entropy(z, a, n), {"top": np.max(z)}), (A, LABELS), model=model, has_aux=True),
        X0,
    ),
    "targets that are a matrix": (
        bl.FiniteSum(lambda z, a, n: np.sum(np.cosh(z)), (A, LABELS), model=lambda w, a, n: w * a),
        X0,
    ),
    "one number": (bl.FiniteSum(lambda z, a, n: np.cosh(z), (A, LABELS), model=lambda w, a, n: w[0] @ a), X0),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_one_plain_step_is_sgd(name: str) -> None:
    """The quadratic term has no gradient at x. The key of a sample is the same in both parts, and in every question."""
    f, x0 = DEGENERATE[name]
    ours, sgd = (
        bl.minimize(f, x0, rule, batch=5, sampler="uniform", steps=8)
        for rule in (SSO(lr=0.05, inner=1, trials=0), GD(0.05))
    )
    tight = {"rtol": 1e-10, "atol": 1e-13} if x0.dtype == np.float64 else {"rtol": 1e-4, "atol": 1e-5}
    np.testing.assert_allclose(ours.x, sgd.x, **tight)
    assert ours.x.dtype == x0.dtype
    if name == "metrics":
        np.testing.assert_allclose(ours.history["top"], sgd.history["top"], rtol=1e-10)


def test_of_a_tree_only_a_part_may_be_trained() -> None:
    def parts(w: Any, a: Any, label: Any) -> Any:
        return np.tanh(w["w"] @ a) + w["b"]

    f, start = bl.FiniteSum(entropy, (A, LABELS), model=parts), {"b": np.ones(K), "w": X0}
    ours, sgd = (
        bl.minimize(f, start, rule, batch=5, steps=8, trainable={"b": False, "w": True})
        for rule in (SSO(lr=0.05, inner=1, trials=0), GD(0.05))
    )
    np.testing.assert_allclose(ours.x["w"], sgd.x["w"], rtol=1e-10)


@pytest.mark.parametrize("rows", [[7], [3, 14, 41]])
def test_a_linear_model_is_projected(rows: list[int]) -> None:
    """With the squared loss, eta = 1 and the surrogate minimised: onto what solves the batch, as Kaczmarz has it."""
    b, start = rng.normal(size=N), rng.normal(size=D)
    f = bl.FiniteSum(lambda z, a, b: (z - b) ** 2 / 2, (A, b), model=lambda w, a, b: a @ w)
    run = bl.minimize(f, start, SSO(inner=3000), sampler=np.array([rows]), steps=1)
    projection = start - np.linalg.pinv(A[rows]) @ (A[rows] @ start - b[rows])
    np.testing.assert_allclose(run.x, projection, rtol=1e-9)
    assert run.counts["samples"] == len(rows)


@dataclass(frozen=True)
class QueryingRule(Optimizer):
    """Takes goals of a wrong shape."""

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        return x - f.surrogate(x, f.targets(x)[0][:, 0], 1.0)[1], state


def test_sso_with_unsuitable_problems_raises() -> None:
    def refused(kind: type[BurlabError], match: str, call: Any) -> None:
        with pytest.raises(kind, match=match):
            call()

    def of(model: Any, loss: Any = entropy) -> Any:
        return bl.minimize(bl.FiniteSum(loss, (A, LABELS), model=model), X0, SSO(), batch=2, steps=1)

    whole = bl.FiniteSum(lambda w, a, n: entropy(model(w, a, n), a, n), (A, LABELS))
    refused(ArgumentError, "does not say where its model ends", lambda: bl.minimize(whole, X0, SSO(), batch=2))
    refused(ArgumentError, "does not say where its model ends", lambda: bl.minimize(ridge, X0, SSO()))
    refused(ArgumentError, "model is a int, expected a function", lambda: of(3))
    refused(ArgumentError, "model cannot be called with x and a sample", lambda: of(lambda w: w))
    refused(BurlabError, "the model gave several arrays", lambda: of(lambda w, a, n: (w @ a, w @ a)))
    refused(BurlabError, "the model gave int64", lambda: of(lambda w, a, n: n))
    refused(ShapeError, r"a goal for each sample, shape \(2, 3\), got \(2,\)", queries)
    refused(ArgumentError, "inner=0", lambda: SSO(inner=0))
    refused(ArgumentError, "trials=-1", lambda: SSO(trials=-1))
    refused(ArgumentError, "eta of SSO is 0", lambda: SSO(0))


def queries() -> Any:
    return bl.minimize(problem(), X0, QueryingRule(), batch=2)


def test_a_copy_has_its_parts() -> None:
    assert repr(problem()).startswith("<FiniteSum of entropy over 43 samples")
    ours, theirs = (
        bl.minimize(f, X0, SSO(), batch=5, steps=2) for f in (problem(), pickle.loads(pickle.dumps(problem())))
    )
    np.testing.assert_array_equal(ours.x, theirs.x)


class ByLeaf(SSO):
    """Of x as it is, and not as a vector."""

    per_leaf = True

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        z, a = f.targets(x)
        value, slope = f.surrogate(x, z - self.eta * a, self.eta)
        return x - self.lr * slope, state, {"surrogate": value}


def test_sso_per_leaf_makes_the_same_queries() -> None:
    ours, flat = (
        bl.minimize(problem(), X0, rule(lr=0.05, inner=1, trials=0), batch=5, steps=3) for rule in (ByLeaf, SSO)
    )
    np.testing.assert_array_equal(ours.x, flat.x)
