"""Update rules that query the problem, as their users write them, against plain NumPy loops."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim import Hyper, Optimizer
from tests.optim.probe import X0, A, B, loss, probe, ridge
from tests.run.test_sampler import batches


@dataclass(frozen=True)
class Anchored(Optimizer):
    """A method whose state is an anchor and the full gradient there."""

    lr: Hyper = 0.1

    def init(self, x: Any) -> Any:
        return {"anchor": x, "mu": np.zeros_like(x)}


@dataclass(frozen=True)
class SVRG(Anchored):
    """Johnson and Zhang 2013: every m steps a full gradient at an anchor."""

    m: int = 4

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        start = {"anchor": state["anchor"], "mu": state["mu"], "due": t % self.m == 0}
        new = bl.while_loop(
            lambda s: s["due"], lambda s: {"anchor": x, "mu": f.full_grad(x), "due": s["due"] & False}, start
        )
        v = g - f.grad(new["anchor"]) + new["mu"]
        return x - self.lr * v, {"anchor": new["anchor"], "mu": new["mu"]}


@dataclass(frozen=True)
class SAM(Optimizer):
    """Foret et al. 2021: the gradient at the worst point nearby."""

    lr: Hyper = 0.1
    rho: Hyper = 0.05

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        return x - self.lr * f.grad(x + self.rho * g / np.linalg.norm(g)), state


@dataclass(frozen=True)
class Extragradient(Optimizer):
    """Korpelevich 1976."""

    lr: Hyper = 0.1

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        return x - self.lr * f.grad(x - self.lr * g), state


@dataclass(frozen=True)
class Backtracking(Optimizer):
    """Armijo's rule: halve the step until the value has fallen enough."""

    first: Hyper = 1.0
    c: Hyper = 1e-4

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        enough = lambda a: f.value(x - a * g) <= f.value(x) - self.c * a * (g @ g)  # noqa: E731
        a = bl.while_loop(lambda a: ~enough(a), lambda a: a / 2, self.first)
        return x - a * g, state


def svrg(p: Any, x: Any, steps: list[Any]) -> Any:
    anchor, mu = x, x
    for t, i in enumerate(steps):
        if t % 4 == 0:
            anchor, mu = x, p.grad(x)
        x = x - 0.1 * (p.grad(x, i) - p.grad(anchor, i) + mu)
    return x


def sam(p: Any, x: Any, steps: list[Any]) -> Any:
    for i in steps:
        g = p.grad(x, i)
        x = x - 0.1 * p.grad(x + 0.05 * g / np.linalg.norm(g), i)
    return x


def extragradient(p: Any, x: Any, steps: list[Any]) -> Any:
    for i in steps:
        x = x - 0.1 * p.grad(x - 0.1 * p.grad(x, i), i)
    return x


def backtracking(p: Any, x: Any, steps: list[Any]) -> Any:
    for i in steps:
        g, a = p.grad(x, i), 1.0
        while not p.value(x - a * g, i) <= p.value(x, i) - 1e-4 * a * (g @ g):
            a /= 2
        x = x - a * g
    return x


@pytest.mark.parametrize(
    ("rule", "plain"),
    [(SVRG(), svrg), (SAM(), sam), (Extragradient(), extragradient), (Backtracking(), backtracking)],
    ids=["svrg", "sam", "extragradient", "backtracking"],
)
def test_rules_equal_plain_loops(rule: Optimizer, plain: Any) -> None:
    problem = bl.FiniteSum(loss, (A, B), ridge)
    run = bl.minimize(problem, X0, rule, batch=6, seed=5)
    run.step(25)
    np.testing.assert_allclose(run.x, plain(problem, X0, list(batches("reshuffle", len(B), 6, 25, seed=5))), rtol=1e-11)
    at_25 = run.x
    run.seek(9)
    run.step(16)
    np.testing.assert_array_equal(run.x, at_25)


@dataclass(frozen=True)
class LooplessSVRG(Anchored):
    """The anchor moves at random: Kovalev, Horvath and Richtarik 2020, with one side of bl.cond."""

    p: Hyper = 0.25

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        heads = (bl.random.uniform(f.key, ()) < self.p) | (t == 0)
        keep = lambda: (state["anchor"], state["mu"])  # noqa: E731
        anchor, mu = bl.cond(heads, lambda: (x, f.full_grad(x)), keep)
        return x - self.lr * (g - f.grad(anchor) + mu), {"anchor": anchor, "mu": mu}


def test_one_branch_of_a_cond_may_query() -> None:
    problem = bl.FiniteSum(loss, (A, B), ridge)
    run = bl.minimize(problem, X0, LooplessSVRG(), batch=4, seed=8)
    x, anchor, mu = X0, X0, X0
    for t, i in enumerate(batches("reshuffle", len(B), 4, 20, seed=8)):
        (key,) = probe(problem, X0, lambda f, x: f.key, np.zeros(2, np.uint64), t + 1, batch=4, seed=8)[1]
        if bl.random.uniform(key, ()) < 0.25 or t == 0:
            anchor, mu = x, problem.grad(x)
        x = x - 0.1 * (problem.grad(x, i) - problem.grad(anchor, i) + mu)
    run.step(20)
    np.testing.assert_allclose(run.x, x, rtol=1e-11)


@dataclass(frozen=True)
class LeafSAM(Optimizer):
    """Every leaf climbs by its own norm."""

    lr: Hyper = 0.1
    per_leaf = True

    def init(self, x: Any) -> Any:
        return {"value": np.zeros(()), "rows": {"w": np.zeros((4, 2, 1)), "b": np.zeros(4)}}

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        y = {k: x[k] + 0.05 * g[k] / np.linalg.norm(g[k]) for k in x}
        value, there = f.value_and_grad(y)
        new = {k: x[k] - self.lr * (there[k] + 0 * f.grad(x)[k]) for k in x}
        return new, {"value": value + 0 * f.value(x), "rows": f.per_sample_grads(x)}


def test_rules_on_leaves_query_leaves() -> None:
    """Trees in, trees out; what is known at x is known still."""

    def tree_loss(p: Any, a: Any, b: Any) -> Any:
        return loss(np.concatenate([np.reshape(p["w"], (2,)), np.reshape(p["b"], (1,))]), a, b)

    problem = bl.FiniteSum(tree_loss, (A, B))
    start = {"w": X0[:2].reshape(2, 1), "b": X0[2]}
    run = bl.minimize(problem, start, LeafSAM(), batch=4, seed=8)
    x = start
    for i in batches("reshuffle", len(B), 4, 6, seed=8):
        g = problem.grad(x, i)
        y = {k: x[k] + 0.05 * g[k] / np.linalg.norm(g[k]) for k in x}
        rows, (value, there) = problem.per_sample_grads(x, i), problem.value_and_grad(y, i)
        x = {k: x[k] - 0.1 * there[k] for k in x}
    run.step(6)
    for k in x:
        np.testing.assert_allclose(run.x[k], x[k], rtol=1e-12)
        np.testing.assert_allclose(run.state["rows"][k], rows[k], rtol=1e-12)
    assert run.state["value"] == pytest.approx(value, rel=1e-13)
    assert run.queries == ("value_and_grad", "per_sample_grads")


def test_rules_on_leaves_with_another_query_raise() -> None:
    @dataclass(frozen=True)
    class Wrong(LeafSAM):
        def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
            return {k: x[k] - f.grad({"w": x["w"]})[k] for k in x}, state

    start = {"w": X0[:2].reshape(2, 1), "b": X0[2]}
    with pytest.raises(ArgumentError, match=r"Wrong\.update asked about a point of structure"):
        bl.minimize(lambda p: np.sum(p["w"]) * p["b"], start, Wrong())


@pytest.mark.parametrize("rule", [SVRG(), Backtracking(), LooplessSVRG()], ids=["svrg", "backtracking", "loopless"])
def test_runs_with_queries_resume_from_files(rule: Optimizer, tmp_path: Any) -> None:
    run = bl.minimize(bl.FiniteSum(loss, (A, B), ridge), X0, rule, batch=6, seed=5)
    run.step(7)
    run.save(tmp_path / "run.burlab")
    other = bl.load_run(tmp_path / "run.burlab", (A, B))
    run.step(9)
    other.step(9)
    np.testing.assert_array_equal(run.x, other.x)
