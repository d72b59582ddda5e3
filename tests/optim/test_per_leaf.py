"""Rules that see x as it was given: leaves with their shapes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, ShapeError
from burlab.graph import tree
from burlab.optim import GD, Adam, Hyper, Optimizer, clip_by_norm, cosine, decoupled_weight_decay

rng = np.random.default_rng(3)
X, Y = rng.normal(size=(30, 4)), rng.normal(size=(30, 3))
START = {"w": rng.normal(size=(4, 3)), "b": np.zeros(3)}


def loss(p: Any) -> Any:
    x, y = (a.astype(p["w"].dtype) for a in (X, Y))
    return np.mean((np.tanh(x @ p["w"]) + p["b"] - y) ** 2)


@dataclass(frozen=True)
class Spectral(Optimizer):
    """Matrices move by the nearest orthogonal matrix to their gradient (as Muon does), vectors by the gradient."""

    lr: Hyper = 0.1
    turns: int = 25
    per_leaf = True

    def init(self, x):
        return {"count": tree.unflatten(tree.flatten(x)[1], [np.zeros(leaf.shape[:1]) for leaf in tree.flatten(x)[0]])}

    def update(self, g, state, x, t):
        step = {name: self._polar(leaf) if leaf.ndim == 2 else leaf for name, leaf in g.items()}
        count = {name: c + 1 for name, c in state["count"].items()}
        return {name: x[name] - self.lr * step[name] for name in x}, {"count": count}

    def _polar(self, g):
        """Newton and Schulz's iteration."""
        y = g / np.linalg.norm(g)
        for _ in range(self.turns):
            y = 1.5 * y - 0.5 * y @ (y.T @ y)
        return y


def test_matrices_arrive_as_matrices():
    run = bl.minimize(loss, START, Spectral(0.05), steps=10)
    x = {k: v.copy() for k, v in START.items()}
    for _ in range(10):
        g = bl.grad(loss)(x)
        u, _s, v = np.linalg.svd(g["w"], full_matrices=False)
        x = {"w": x["w"] - 0.05 * u @ v, "b": x["b"] - 0.05 * g["b"]}
    np.testing.assert_allclose(run.x["w"], x["w"], rtol=1e-9)
    np.testing.assert_allclose(run.x["b"], x["b"], rtol=1e-9)


def test_a_rule_by_leaves_equals_the_flat_one():
    @dataclass(frozen=True)
    class Leafwise(Optimizer):
        lr: Hyper = 0.1
        per_leaf = True

        def update(self, g, state, x, t):
            return {k: x[k] - self.lr * g[k] for k in x}, state

    for dtype in (np.float64, np.float32):
        start = {k: v.astype(dtype) for k, v in START.items()}
        for around in (lambda o: o, lambda o: clip_by_norm(o, 0.1), lambda o: decoupled_weight_decay(o, 0.1)):
            lr = cosine(0.2, steps=30)
            a = bl.minimize(loss, start, around(Leafwise(lr)), steps=20)
            b = bl.minimize(loss, start, around(GD(lr)), steps=20)
            for k in START:
                np.testing.assert_array_equal(a.x[k], b.x[k])
                assert a.x[k].dtype == dtype
            assert a.hyper.keys() == b.hyper.keys()


def test_one_array_is_its_own_leaf():
    @dataclass(frozen=True)
    class Centred(Optimizer):
        per_leaf = True

        def update(self, g, state, x, t):
            return x - 0.5 * (g - np.mean(g, axis=0)), state

    x0 = np.arange(6.0).reshape(3, 2)
    run = bl.minimize(lambda x: np.sum(x**2) / 2, x0, Centred(), steps=1)
    np.testing.assert_allclose(run.x, x0 - 0.5 * (x0 - x0.mean(axis=0)))


@pytest.mark.parametrize(
    ("rule", "error", "message"),
    [
        (lambda self, g, state, x, t: (x["w"], state), ArgumentError, "Wrong.update returned an x of structure"),
        (lambda self, g, state, x, t: ({"b": x["w"], "w": x["b"]}, state), ShapeError, "leaves of shapes"),
        (lambda self, g, state, x, t: x, ArgumentError, r"Wrong.update returned a dict, expected \(x, state\), or"),
    ],
)
def test_invalid_per_leaf_rules_raise(rule, error, message):
    wrong = dataclass(frozen=True)(type("Wrong", (Optimizer,), {"per_leaf": True, "update": rule}))
    with pytest.raises(error, match=message):
        bl.minimize(loss, START, wrong())


@dataclass(frozen=True)
class LocalSteps(Optimizer):
    """FedAvg leaf by leaf, of the clients that are asked at points of their own."""

    tau: int = 1
    per_leaf = True

    def update(self, g, state, x, t, *, f):
        own = f.client_grads(x)
        y = bl.tree.map(lambda leaf, slope: leaf - 0.1 * slope, x, own)
        for _ in range(self.tau - 1):
            y = bl.tree.map(lambda leaf, slope: leaf - 0.1 * slope, y, f.client_grads(y, clients=np.arange(f.clients)))
        metrics = {"trace": np.trace(f.client_hessians(x)[0])}
        return bl.tree.map(lambda leaf: np.mean(leaf, axis=0), y), state, metrics


@pytest.mark.parametrize("tau", [1, 3])
def test_clients_are_queried_at_trees(tau):
    rng = np.random.default_rng(1)
    clients = [(rng.normal(size=(n, 3)), rng.normal(size=n)) for n in (2, 5, 3)]
    problem = bl.problems.federated(lambda p, a, b: (a @ p["w"] @ p["v"] - b) ** 2, clients)
    x0 = {"v": np.array([0.5, -0.3]), "w": 0.1 * rng.normal(size=(3, 2))}
    got = bl.minimize(problem, x0, LocalSteps(tau), steps=5)
    wanted = bl.minimize(problem, x0, bl.optim.FedAvg(0.1, tau=tau), steps=5)
    for name in x0:
        np.testing.assert_allclose(got.x[name], wanted.x[name], rtol=1e-12)
    a, b = clients[0]
    hessian = bl.hessian(lambda x: np.mean((a @ x[2:].reshape(3, 2) @ x[:2] - b) ** 2))
    flat = np.concatenate([x0["v"], x0["w"].ravel()])
    np.testing.assert_allclose(got.history["trace"][0], np.trace(hessian(flat)), rtol=1e-9)


def test_flat_rules_stay_flat():
    assert Adam().per_leaf is False
