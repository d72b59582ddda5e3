"""Runs that differ by numbers alone share what was compiled for the first, and have the bits of runs alone."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.optim import GD, LSVRG, SAGA, Adam, Hyper, Momentum, Muon, Optimizer, ScheduleFreeSGD, cosine
from burlab.run import Opener
from tests.run.saved_cases import DATA, SUM, least_squares, noisy, same, valley

PLAIN = {"validate_every": 5, "history_bytes": 1 << 20, "keyframe_bytes": 1 << 20}
P = np.random.default_rng(1).random(50)
ZERO, AT = np.zeros(3), np.array([-1.2, 1.0])
TREE = {"w": np.ones((3, 2)), "b": np.zeros(2)}


def fit(x, a, b):
    return np.sum((a @ x["w"] + x["b"] - b) ** 2)


def metric(x):
    return np.sum(x**2), {"first": x[0]}


def chosen(key, t):
    return bl.random.randint(bl.random.fold_in(key, t), (4,), 0, 50)


def finite(loss, **more):
    return bl.FiniteSum(loss, DATA, **more)


# problem, what runs are options, and some of (start, optimizer, seed), which differ by numbers alone
SHARED: dict[str, Any] = {
    "a function": (valley, {}, [(AT, GD(1e-3), 0), (AT, GD(2e-3), 0), (2 * AT, GD(1e-3), 7)]),
    "float32": (valley, {}, [(AT.astype("f"), Adam(0.01), 0), (AT.astype("f"), Adam(0.1, 0.5), 0)]),
    "batches": (
        finite(least_squares, **SUM), {"batch": 7}, [(ZERO, Momentum(0.01), 1), (ZERO, Momentum(0.1, 0.0), 2)]
    ),
    "keys": (finite(noisy), {"batch": 3}, [(ZERO, GD(0.01), 1), (ZERO, GD(0.01), 2)]),
    "a validation": (
        finite(least_squares), {"batch": 1, "validation": finite(noisy)}, [(ZERO, GD(0.01), 1), (ZERO, GD(0.01), 2)]
    ),
    "the full gradient": (
        finite(noisy), {"batch": 1, "stop": bl.Stop(grad_norm=1e-9, of="full")},
        [(ZERO, GD(0.01), 1), (ZERO, GD(0.1), 2)],
    ),
    "metrics": (metric, {"has_aux": True}, [(AT, GD(0.1), 0), (AT, GD(0.2), 0)]),
    "probabilities": (
        finite(least_squares), {"batch": 5, "sampler": P / P.sum()}, [(ZERO, GD(0.01), 1), (ZERO, GD(0.02), 2)]
    ),
    "a table": (
        finite(least_squares), {"sampler": np.arange(60).reshape(30, 2) % 50}, [(ZERO, GD(0.01), 1), (ZERO, GD(0.1), 2)]
    ),
    "a sampler": (finite(least_squares), {"sampler": chosen}, [(ZERO, GD(0.01), 1), (ZERO, GD(0.02), 2)]),
    "live batches": (
        finite(least_squares), {"batch": bl.Batch(4, most=9)}, [(ZERO, Adam(0.01), 1), (ZERO, Adam(0.02), 2)]
    ),
    "questions": (finite(least_squares), {"batch": 4}, [(ZERO, LSVRG(0.01), 1), (ZERO, LSVRG(0.02), 1)]),
    "questions at the start": (finite(least_squares), {"batch": 4}, [(ZERO, SAGA(0.01), 1), (ZERO + 1, SAGA(0.02), 1)]),
    "an output": (valley, {}, [(AT, ScheduleFreeSGD(1e-3), 0), (AT, ScheduleFreeSGD(2e-3), 0)]),
    "matrices": (
        bl.FiniteSum(fit, (DATA[0], np.ones((50, 2)))), {"batch": 4}, [(TREE, Muon(0.1), 0), (TREE, Muon(0.01), 3)]
    ),
    "a part": (
        bl.FiniteSum(fit, (DATA[0], np.ones((50, 2)))), {"trainable": {"w": True, "b": False}},
        [(TREE, GD(0.01), 0), (TREE | {"w": np.zeros((3, 2))}, GD(0.02), 0)],
    ),
}  # fmt: skip


def opened(problem, options):
    return Opener(problem, **(PLAIN | options))


def alone(problem, options, start, optimizer, seed):
    return bl.minimize(problem, start, optimizer, seed=seed, **(PLAIN | options))


def check(run, twin):
    """Also when they go back, branch and are saved: all that a run can do it does from its setup."""
    assert run.fingerprint == twin.fingerprint
    for one in (run, twin):
        one.step(23)
        one.seek(11)
        one.hyper["lr"] = one.hyper["lr"] * 0.5
        one.step(9)
    same(run, twin)
    assert run.counts == twin.counts


@pytest.mark.parametrize("name", SHARED)
def test_runs_that_share_have_the_bits_of_runs_alone(name, monkeypatch):
    problem, options, trials = SHARED[name]
    opener, firsts = opened(problem, options), []
    monkeypatch.setattr(Opener, "_first", lambda self, *given: firsts.append(given) or first(self, *given))
    runs = [opener.open(*trial) for trial in trials]
    assert len(firsts) == 1, "the others share"
    for run, trial in zip(runs, trials, strict=True):
        check(run, alone(problem, options, *trial))


first = Opener._first


@dataclass(frozen=True)
class Halved(Optimizer):
    """Keeps a number that no update sees change."""

    lr: Hyper = 0.1
    half: float = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "half", 0.5 * self.lr)

    def init(self, x):
        return {}

    def update(self, g, state, x, t):
        return x - self.half * g, {}


@dataclass(frozen=True)
class Hidden(Optimizer):
    """The same in what is no field."""

    lr: Hyper = 0.1

    def __post_init__(self):
        object.__setattr__(self, "factor", 0.5 * self.lr)

    def init(self, x):
        return {}

    def update(self, g, state, x, t):
        return x - self.factor * g, {}


@dataclass(frozen=True)
class Sized(Optimizer):
    """A state whose form its numbers decide."""

    lr: Hyper = 0.1

    def init(self, x):
        return {"v": np.zeros_like(x)} if self.lr > 1e-3 else {"v": 0.0}

    def update(self, g, state, x, t):
        return x - self.lr * g, {"v": state["v"] * 0.5}


@dataclass(frozen=True)
class Times(Optimizer):
    """With a number that is not live."""

    lr: Hyper = 0.1
    factor: int = 1

    def init(self, x):
        return {}

    def update(self, g, state, x, t):
        return x - self.lr * self.factor * g, {}


FEW_STEPS = {"batch": 4}
APART: dict[str, Any] = {
    "a number that is not live": (valley, {}, [(AT, Times(1e-3, 1), 0), (AT, Times(1e-3, 2), 0)]),
    "another optimizer": (valley, {}, [(AT, GD(1e-3), 0), (AT, Momentum(1e-3), 0)]),
    "a number derived from a live one": (valley, {}, [(AT, Halved(1e-3), 0), (AT, Halved(2e-3), 0)]),
    "one that is no field": (valley, {}, [(AT, Hidden(1e-3), 0), (AT, Hidden(2e-3), 0)]),
    "a state of another form": (valley, {}, [(AT, Sized(1e-3), 0), (AT, Sized(1.5e-3), 0)]),
    "schedules": (valley, {}, [(AT, GD(cosine(1e-3, steps=9)), 0), (AT, GD(cosine(2e-3, steps=9)), 0)]),
    "a schedule and a number": (valley, {}, [(AT, GD(lambda t: 1e-3), 0), (AT, GD(1e-4), 0)]),
    "the length of the start": (lambda x: np.sum(x**2), {}, [(AT, GD(0.1), 0), (ZERO + 1, GD(0.1), 0)]),
    "its dtype": (valley, {}, [(AT, GD(1e-3), 0), (AT.astype("f"), GD(1e-3), 0)]),
    "the seed of questions": (finite(noisy), FEW_STEPS, [(ZERO, LSVRG(0.01), 1), (ZERO, LSVRG(0.01), 2)]),
    "what is not trained": (
        bl.FiniteSum(fit, (DATA[0], np.ones((50, 2)))), {"trainable": {"w": True, "b": False}},
        [(TREE, GD(0.01), 0), (TREE | {"b": np.full(2, -0.0)}, GD(0.01), 0)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", APART)
def test_trials_that_differ_in_more_than_numbers_share_nothing(name, monkeypatch):
    problem, options, trials = APART[name]
    opener, firsts = opened(problem, options), []
    monkeypatch.setattr(Opener, "_first", lambda self, *given: firsts.append(given) or first(self, *given))
    for trial in trials:
        check(opener.open(*trial), alone(problem, options, *trial))
    assert len(firsts) == 2 * len(trials)


def test_a_sweep_traces_an_update_once(monkeypatch):
    traced = []

    @dataclass(frozen=True)
    class Counted(GD):
        def update(self, g, state, x, t):
            traced.append(self.lr)
            return super().update(g, state, x, t)

    problem = finite(least_squares)
    sweep = bl.sweep(problem, ZERO, Counted(), {"lr": [0.1, 0.01, 0.001]}, seeds=3, batch=4, steps=10)
    assert len(traced) == 1
    for row, run in zip(sweep.rows, sweep.runs, strict=True):
        other = bl.minimize(problem, ZERO, Counted(row.hypers["lr"]), batch=4, seed=row.seed, steps=10)
        assert run.x.tobytes() == other.x.tobytes()
