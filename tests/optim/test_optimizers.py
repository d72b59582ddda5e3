"""Every optimizer step for step against PyTorch's, on three problems, in both precisions, with a live learning rate."""

from dataclasses import dataclass

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, BurlabError, DTypeError, ShapeError, TraceError
from burlab.optim import GD, Adam, Hyper, Momentum, Optimizer

STEPS = 200
rng = np.random.default_rng(0)
A, B = rng.normal(size=(20, 5)), rng.normal(size=20)

CASES = {
    "GD": (GD(0.002), lambda torch, x: torch.optim.SGD([x], lr=0.002)),
    "Momentum": (Momentum(0.001, mu=0.8), lambda torch, x: torch.optim.SGD([x], lr=0.001, momentum=0.8)),
    "Adam": (Adam(0.01, b1=0.8, b2=0.99), lambda torch, x: torch.optim.Adam([x], lr=0.01, betas=(0.8, 0.99))),
}
PROBLEMS = {
    "rosenbrock": (
        lambda np, x: np.sum(10 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2),
        np.array([-1.2, 1.0, 0.5, 0.7, 0.9]),
    ),
    "quartic": (lambda np, x: np.sum(x**4) - np.sum(np.cos(3 * x)), np.linspace(-1.5, 1.4, 6)),
    "log-cosh": (lambda np, x, A, B: np.sum(np.log(np.cosh(A @ x - B))), np.ones(5)),
}


def torch_path(torch, make, f, x0, dtype, later_lr):
    extra = [torch.tensor(v.astype(dtype)) for v in (A, B)] if f.__code__.co_argcount == 4 else []
    x = torch.tensor(x0.astype(dtype), requires_grad=True)
    optimizer = make(torch, x)
    values, path = [], []
    for step in range(STEPS):
        if step == STEPS // 2:
            optimizer.param_groups[0]["lr"] = later_lr
        optimizer.zero_grad()
        value = f(torch, x, *extra)
        value.backward()
        values.append(value.item())
        optimizer.step()
        path.append(x.detach().numpy().copy())
    return np.array(values), np.array(path)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-5)])
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", CASES)
def test_path_is_torchs(name, problem, dtype, tolerance):
    torch = pytest.importorskip("torch")
    optimizer, make = CASES[name]
    f, x0 = PROBLEMS[problem]
    extra = [v.astype(dtype) for v in (A, B)] if problem == "log-cosh" else []
    values, path = torch_path(torch, make, f, x0, dtype, optimizer.lr / 3)
    run = bl.minimize(lambda x: f(np, x, *extra), x0.astype(dtype), optimizer)
    for step in range(STEPS):
        if step == STEPS // 2:
            run.hyper["lr"] = optimizer.lr / 3
        run.step()
        assert run.x.dtype == dtype
        np.testing.assert_allclose(run.x, path[step], rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(run.history["value"], values, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", CASES)
def test_the_traced_rule_is_the_numpy_rule(name):
    """The same class, called by hand on arrays."""
    optimizer, _ = CASES[name]
    f, x0 = PROBLEMS["quartic"]
    run = bl.minimize(lambda x: f(np, x), x0, optimizer, steps=50)
    x, state = x0, optimizer.init(x0)
    for t in range(50):
        x, state = optimizer.update(bl.grad(lambda x: f(np, x))(x), state, x, t, f=None)
    np.testing.assert_allclose(run.x, x, rtol=1e-13)


def test_an_optimizer_of_ones_own():
    @dataclass(frozen=True)
    class Averaged(Optimizer):
        """A state of several kinds of leaves: nested, a counter, a number; a static field; t; its own norm."""

        lr: Hyper = 0.1
        power: int = 1

        def init(self, x):
            return {"mean": (np.zeros_like(x), [np.zeros((), np.int64)]), "scale": 1.0}

        def update(self, g, state, x, t):
            mean, [count] = state["mean"]
            mean = mean + (x - mean) / (t + 1) ** self.power
            scale = state["scale"] * 0.9
            return x - self.lr * scale * g / (1 + np.linalg.norm(g)), {"mean": (mean, [count + 1]), "scale": scale}

    for dtype in (np.float32, np.float64):
        x0 = np.array([3.0, -2.0], dtype)
        run = bl.minimize(lambda x: np.sum(x**2), x0, Averaged(0.3), steps=20)
        x, state = x0, Averaged(0.3).init(x0)
        for t in range(20):
            x, state = Averaged(0.3).update(2 * x, state, x, t)
        np.testing.assert_allclose(run.x, x, rtol=1e-5 if dtype == np.float32 else 1e-13)
        assert run.x.dtype == dtype


def test_annotations_may_be_text():
    """As under `from __future__ import annotations`."""

    @dataclass(frozen=True)
    class Text(Optimizer):
        lr: "bl.optim.Hyper" = 0.5
        other: "float" = 2.0

        def update(self, g, state, x, t):
            return x - self.lr * g, state

    run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), Text())
    assert run.hyper.keys() == ("lr",)


def variant(**methods):
    """An optimizer class with other methods."""
    return dataclass(frozen=True)(type("Variant", (GD,), methods))


@pytest.mark.parametrize(
    ("optimizer", "error", "message"),
    [
        (variant(update=lambda s, g, state, x, t: x - g), ArgumentError, "expected the pair"),
        (variant(update=lambda s, g, state, x, t: (x - g, {"v": g})), ArgumentError, "structure"),
        (variant(update=lambda s, g, state, x, t: (np.sum(x), state)), ShapeError, r"\(\), expected \(2,\)"),
        (variant(update=lambda s, g, state, x, t: ((x - g).astype(np.float32), state)), DTypeError, "float32"),
        (variant(update=lambda s, g, state, x, t, *, f: (x - f.grad(x), state)), TraceError, "f.grad"),
        (variant(update=lambda s, g, state, x, t: (x - g if s.lr else x, state)), TraceError, "np.where"),
        (variant(init=lambda s, x: {"name": "a"}), DTypeError, "init"),
        (GD(lr="0.1"), DTypeError, "lr"),
        (GD(lr=True), DTypeError, "lr"),
        (GD, ArgumentError, "Call it"),
        (lambda x: x, ArgumentError, "Optimizer"),
    ],
)
def test_what_is_no_rule_is_refused(optimizer, error, message):
    chosen = optimizer() if isinstance(optimizer, type) and optimizer.__name__ == "Variant" else optimizer
    with pytest.raises(error, match=message):
        bl.minimize(lambda x: np.sum(x**2), np.ones(2), chosen)


def test_a_forgotten_dataclass_is_named():
    class Bare(Optimizer):
        lr: Hyper = 0.1

        def update(self, g, state, x, t):
            return x - self.lr * g, state

    class Derived(GD):
        mu: Hyper = 0.1

    for optimizer in (Bare(), Derived()):
        with pytest.raises(ArgumentError, match="dataclass"):
            bl.minimize(lambda x: np.sum(x**2), np.ones(2), optimizer)


def test_a_wide_number_in_a_rule_is_named():
    bad = variant(update=lambda s, g, state, x, t: (x - np.float64(0.1) * g, state))()
    with pytest.raises((BurlabError, UserWarning), match="float32"):
        bl.minimize(lambda x: np.sum(x**2), np.ones(2, np.float32), bad)
