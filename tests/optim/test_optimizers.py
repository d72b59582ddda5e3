"""Every optimizer step for step against PyTorch's or optax's, on three problems, in both precisions."""

import inspect
import re
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, BurlabError, DTypeError, ShapeError, StatusError, TraceError
from burlab.graph import tree
from burlab.optim import GD, Hyper, Optimizer
from tests.optim.cases import by_torch
from tests.optim.optimizer_cases import CASES, ELSEWHERE
from tests.optim.paths import PROBLEMS, STEPS, assert_same_path, burlab_path, optax_path, torch_path
from tests.optim.plain import path


def public_optimizers():
    """The classes of bl.optim that are optimizers themselves, not wrappers around another one."""
    found = [getattr(bl.optim, name) for name in bl.optim.__all__]
    return {
        kind.__name__
        for kind in found
        if isinstance(kind, type) and issubclass(kind, Optimizer) and not inspect.isabstract(kind)
        if not issubclass(kind, bl.optim.Wrapper)
    }


def test_every_optimizer_has_a_case():
    rows = {type(case.optimizer).__name__ for case in CASES} | set(ELSEWHERE)
    assert public_optimizers() == rows, "each optimizer has a Case in tests/optim/optimizer_cases.py"
    for name, place in ELSEWHERE.items():
        assert name in (Path(__file__).parent / place).read_text()


def test_every_optimizer_documents_its_cost_and_an_example():
    for name in bl.optim.__all__:
        kind = getattr(bl.optim, name)
        if isinstance(kind, type) and issubclass(kind, Optimizer) and not inspect.isabstract(kind):
            text = inspect.getdoc(kind)
            assert "Cost: " in text, name
            assert ">>> " in text, name


STATED_STATE = re.compile(r"keeps (?:(nothing)|(one number)|(?:(\d+ )?(d)(?: \+ (\d+))?) numbers)\.")


def test_documented_state_size_is_the_size_of_the_state():
    said = {}
    for case in CASES:
        found = STATED_STATE.search(inspect.getdoc(type(case.optimizer)))
        if found is not None:
            nothing, one, times, _, more = found.groups()
            size = 0 if nothing else 1 if one else int(times or 1) * 7 + int(more or 0)
            said[type(case.optimizer).__name__] = size
            state = tree.flatten(case.optimizer.init(np.ones(7)))[0]
            assert sum(np.size(leaf) for leaf in state) == size, case.optimizer
    assert len(said) >= 15


def test_every_field_of_every_optimizer_is_compared_away_from_its_default():
    """A field that no row changes could be ignored by the rule."""
    moved = {(type(c.optimizer), f.name) for c in CASES for f in fields(c.optimizer)
             if getattr(c.optimizer, f.name) != f.default}  # fmt: skip
    assert moved == {(type(c.optimizer), f.name) for c in CASES for f in fields(c.optimizer)}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_path_is_that_of_another_library(case, problem):
    """On the third problem in single precision, on the others in double."""
    dtype = np.float32 if problem == "logistic" and case.single else np.float64
    wanted = torch_path(case.torch, problem, dtype) if case.torch else optax_path(case.optax, problem, dtype)
    assert_same_path(burlab_path(case.optimizer, problem, dtype), wanted, dtype)


@pytest.mark.parametrize(
    ("name", "start", "later", "torch_names"),
    [
        ("Momentum", {"lr": 1e-3, "mu": 0.8}, {"lr": 5e-4, "mu": 0.5}, {"mu": "momentum"}),
        ("Adagrad", {"lr": 0.05, "lr_decay": 0.0}, {"lr": 0.01, "lr_decay": 0.1}, {}),
        ("RMSProp", {"lr": 1e-3, "alpha": 0.99}, {"lr": 3e-4, "alpha": 0.9}, {}),
        ("Adam", {"lr": 0.01, "eps": 1e-8}, {"lr": 0.003, "eps": 1e-2}, {}),
        ("NAdam", {"lr": 0.01, "momentum_decay": 4e-3}, {"lr": 0.003, "momentum_decay": 0.1}, {}),
    ],
)
def test_hyperparameters_change_between_two_steps(name, start, later, torch_names):
    """As torch's param_groups, in the middle of a path."""
    f, x0 = PROBLEMS["rosenbrock"]

    def change(optimizer, t):
        if t == STEPS // 2 - 1:
            optimizer.param_groups[0].update({torch_names.get(k, k): v for k, v in later.items()})

    torch_name = {"Momentum": "SGD", "RMSProp": "RMSprop"}.get(name, name)
    options = {torch_names.get(k, k): v for k, v in start.items()}
    wanted = torch_path(by_torch(torch_name, **options), "rosenbrock", np.float64, after=change)
    run = bl.minimize(lambda x: f(np, x), x0, getattr(bl.optim, name)(**start), steps=STEPS // 2)
    for key, value in later.items():
        run.hyper[key] = value
    run.step(STEPS // 2)
    np.testing.assert_allclose(run.x, wanted[-1], rtol=1e-12)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_traced_rule_is_the_numpy_rule(case):
    """The same class, called by hand on arrays."""
    f, x0 = PROBLEMS["rosenbrock"]
    run = bl.minimize(lambda x: f(np, x), x0, case.optimizer, steps=50)
    by_hand = path(case.optimizer, lambda x: f(np, x), x0, 50)[-1]
    np.testing.assert_allclose(run.x, by_hand, rtol=1e-12)


def test_the_mean_of_asgd_is_torchs():
    """It is in the state, which a path does not show."""
    f, x0 = PROBLEMS["rosenbrock"]
    means = []

    def keep(optimizer, _t):
        means.append(next(iter(optimizer.state.values()))["ax"].numpy().copy())

    points = torch_path(by_torch("ASGD", lr=2e-3, t0=20), "rosenbrock", np.float64, after=keep)
    rule, x = bl.optim.ASGD(2e-3, t0=20), x0
    state = rule.init(x0)
    for t in range(STEPS):
        x, state = rule.update(bl.grad(lambda x: f(np, x))(x), state, x, t)
        np.testing.assert_allclose(state["mean"], means[t], rtol=1e-12)
    assert np.abs(points[-1] - means[-1]).max() > 1e-3


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


@pytest.mark.parametrize("annotation", [Hyper | None, "Hyper | None", "bl.optim.Hyper | None"])
def test_a_field_that_may_be_left_out_is_live_where_it_is_given(annotation):
    def update(self, g, state, x, t):
        return x - self.lr * g - (0 if self.pull is None else self.pull * x), state

    names = {"__annotations__": {"lr": Hyper, "pull": annotation}, "lr": 0.1, "pull": None, "update": update}
    kind = dataclass(frozen=True)(type("Pulled", (Optimizer,), names))
    assert bl.minimize(np.sum, np.ones(2), kind()).hyper.keys() == ("lr",)
    run = bl.minimize(np.sum, np.ones(2), kind(pull=0.25))
    run.hyper["pull"] = 0.5
    run.step()
    np.testing.assert_allclose(run.x, 0.4)


def variant(**methods):
    """An optimizer class with other methods."""
    return dataclass(frozen=True)(type("Variant", (GD,), methods))


@pytest.mark.parametrize(
    ("optimizer", "error", "message"),
    [
        (variant(update=lambda s, g, state, x, t: x - g), ArgumentError, r"expected \(x, state\), or"),
        (variant(update=lambda s, g, state, x, t: (x - g, {"v": g})), ArgumentError, "structure"),
        (variant(update=lambda s, g, state, x, t: (x * 1j, state)), ArgumentError, "returned complex numbers as x"),
        (variant(update=lambda s, g, state, x, t: ([x[0], x[1]], state)), ArgumentError, "returned a list as x"),
        (variant(update=lambda s, g, state, x, t: (None, state)), ArgumentError, "returned a NoneType as x"),
        (variant(update=lambda s, g, state, x, t: (np.sum(x), state)), ShapeError, r"\(\), expected \(2,\)"),
        (variant(update=lambda s, g, state, x, t: ((x - g).astype(np.float32), state)), DTypeError, "float32"),
        (variant(update=lambda s, g, state, x, t, *, f: (x - f.slope(x), state)), TraceError, "f.slope"),
        (variant(update=lambda s, g, state, x, t: (x - g if s.lr else x, state)), TraceError, "np.where"),
        (variant(init=lambda s, x: {"name": "a"}), DTypeError, "init"),
        (GD(lr="0.1"), DTypeError, "lr"),
        (bl.optim.Rprop(lr=lambda t: 0.1), ArgumentError, "size of the first steps"),
        (bl.optim.Rprop(lr="0.1"), DTypeError, "lr"),
        (GD(lr=True), DTypeError, "lr"),
        (GD, ArgumentError, "Call it"),
        (lambda x: x, ArgumentError, "Optimizer"),
    ],
)
def test_invalid_optimizers_raise(optimizer, error, message):
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


def test_the_state_is_shown_as_the_rule_returned_it():
    f, x0 = PROBLEMS["rosenbrock"]
    run = bl.minimize(lambda x: f(np, x), x0, bl.optim.NAdam(), steps=30)
    state, x = bl.optim.NAdam().init(x0), x0
    for t in range(30):
        x, state = bl.optim.NAdam().update(bl.grad(lambda x: f(np, x))(x), state, x, t)
    assert run.state.keys() == state.keys()
    for name, leaf in state.items():
        np.testing.assert_allclose(run.state[name], leaf, rtol=1e-11)
    run.start()
    with pytest.raises(StatusError, match="pause"):
        _ = run.state
    run.pause()
    run.seek(30)
    np.testing.assert_allclose(run.state["m"], state["m"], rtol=1e-11)
    run.stop()
    assert run.state["m"].shape == x0.shape
