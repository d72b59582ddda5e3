"""Metrics that a rule logs: columns of the history, for criteria, breakpoints and files."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, ShapeError
from burlab.optim import GD, Hyper, Optimizer, Wrapper, clip_by_norm
from tests.optim.probe import X0, A, B, loss
from tests.run.saved_cases import replayed, same
from tests.run.test_sampler import batches


@dataclass(frozen=True)
class Logging(Optimizer):
    """Logs a norm, a number of whole steps, and whether it is even."""

    lr: Hyper = 0.1

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        return x - self.lr * g, state, {"longest": np.max(np.abs(g)), "twice": 2 * t, "even": t % 2 == 0, "one": 1}


@dataclass(frozen=True)
class Entrywise(Optimizer):
    """Logs metrics that need no vector, so a step stays one kernel or runs in chunks; with a schedule."""

    lr: Hyper = 0.1

    def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
        return x - self.lr * g, state, {"half": self.lr / 2}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_are_columns(dtype: Any) -> None:
    problem = bl.FiniteSum(loss, (A.astype(dtype), B.astype(dtype)))
    run = bl.minimize(problem, X0.astype(dtype), Logging(), batch=4, steps=6)
    rows = run.history
    assert list(rows)[4:8] == ["longest", "twice", "even", "one"]
    np.testing.assert_array_equal(rows["twice"], 2.0 * np.arange(6))
    np.testing.assert_array_equal(rows["even"], [1, 0, 1, 0, 1, 0])
    np.testing.assert_array_equal(rows["one"], np.ones(6))
    np.testing.assert_array_equal(rows.frame()["twice"], rows["twice"])
    other = bl.minimize(problem, X0.astype(dtype), GD(0.1), batch=4, steps=6)
    np.testing.assert_array_equal(run.x, other.x)
    np.testing.assert_array_equal(rows["value"], other.history["value"])
    drawn = batches("reshuffle", len(B), 4, 6, seed=0)
    for t in range(6):
        other.seek(t)
        assert rows["longest"][t] == np.max(np.abs(problem.grad(other.x, drawn[t])))


@pytest.mark.parametrize("size", [1, 3, 20_000])
def test_steps_of_one_kernel_and_of_chunks_log_too(size: int) -> None:
    rule = Entrywise(lambda t: 0.1 / (t + 1))
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(size), rule, steps=4)
    np.testing.assert_array_equal(run.history["half"], 0.05 / np.arange(1, 5))
    np.testing.assert_array_equal(run.history["lr"], 0.1 / np.arange(1, 5))


def test_seeks_forks_and_files_keep_them(tmp_path: Any) -> None:
    problem = bl.FiniteSum(loss, (A, B))
    run = bl.minimize(problem, X0, Logging(), batch=4, steps=9)
    fork = replayed(run, (A, B), tmp_path, 9, 8)
    for name in ("longest", "twice", "even"):
        np.testing.assert_array_equal(fork.history[name], run.history[name])
    changed = run.fork(lr=0.5)
    changed.step(2)
    assert changed.history["twice"][-1] == 36


def test_criteria_and_breakpoints_see_them() -> None:
    run = bl.minimize(lambda x: np.sum(x**2), X0, Logging(), stop=bl.Stop(when=lambda rows: rows["longest"] < 0.1))
    run.breakpoints.add(when=lambda rows: rows["twice"] >= 4)
    run.step(100)
    assert (run.t, run.stopped.reason) == (2, "breakpoint")
    run.step(100)
    assert run.stopped.reason == "when"
    assert run.history["longest"][-1] < 0.1 <= run.history["longest"][-2]
    assert run.digest("longest").read()
    assert run.at(1)["twice"] == 2


def test_wrappers_pass_them_on() -> None:
    @dataclass(frozen=True)
    class scaled(Wrapper):
        def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
            x, state = self.advance(g / 2, state, x, t, f)
            return x, state, {"outer": np.sum(g)}

    run = bl.minimize(lambda x: np.sum(x**2), X0, clip_by_norm(scaled(Logging()), 1e9), steps=2)
    assert list(run.history)[4:9] == ["longest", "twice", "even", "one", "outer"]
    with pytest.raises(ArgumentError, match="two rules of this update log a metric 'outer'"):
        bl.minimize(lambda x: np.sum(x**2), X0, scaled(scaled(GD())))


def test_rules_on_leaves_log_too() -> None:
    @dataclass(frozen=True)
    class Leaves(Optimizer):
        per_leaf = True

        def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
            return {k: x[k] - 0.1 * g[k] for k in x}, state, {"corner": x["w"][0, 1]}

    run = bl.minimize(lambda p: np.sum(p["w"] ** 2), {"w": np.ones((2, 2))}, Leaves(), steps=2)
    np.testing.assert_allclose(run.history["corner"], [1.0, 0.8])


@dataclass(frozen=True)
class LogsValue(Optimizer):
    """Reads neither g nor the value at x."""

    def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
        return 0.5 * x, state, {"bits": 3.0, "value": 7.0 + t, "first": x[0]}


def test_a_logged_value_is_not_computed(tmp_path: Any) -> None:
    run = bl.minimize(bl.FiniteSum(loss, (A, B)), X0, LogsValue(), batch=4, steps=5)
    assert list(run.history)[:7] == ["step", "value", "gradient_norm", "step_norm", "first", "bits", "samples"]
    np.testing.assert_array_equal(run.history["value"], 7.0 + np.arange(5))
    np.testing.assert_array_equal(run.history["first"], X0[0] * 0.5 ** np.arange(5))
    assert (run.counts["values"], run.counts["samples"], run.counts["bits"]) == (0, 0, 15)
    fork = replayed(run, (A, B), tmp_path, 5, 4)
    same(fork, run)
    assert run.profile().nanoseconds("update") > 0
    stopped = bl.minimize(lambda x: np.sum(x**2), X0, LogsValue(), stop=bl.Stop(value=6.0), steps=3)
    assert stopped.t == 3


def test_metrics_are_computed_next_to_a_logged_value() -> None:
    run = bl.minimize(lambda x: (np.sum(x**2), {"second": x[1]}), X0, LogsValue(), has_aux=True, steps=3)
    np.testing.assert_array_equal(run.history["value"], [7.0, 8.0, 9.0])
    np.testing.assert_array_equal(run.history["second"], X0[1] * 0.5 ** np.arange(3))
    assert run.counts["values"] == 3


@pytest.mark.parametrize("reads", [lambda g, x, f: g[0], lambda g, x, f: f.value(x)], ids=["gradient", "value"])
def test_a_value_that_is_known_is_the_batchs(reads: Any) -> None:
    @dataclass(frozen=True)
    class Knows(Optimizer):
        def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
            return x - 0.1 * reads(g, x, f), state, {"value": 0.0 * t}

    run = bl.minimize(lambda x: np.sum(x**2), X0, Knows(), steps=1)
    assert run.history["value"][0] == pytest.approx(np.sum(X0**2), rel=1e-15)


@pytest.mark.parametrize(
    ("metrics", "kind", "text"),
    [
        ({"g": np.ones(2)}, ShapeError, "the metric 'g' that Wrong.update logs has shape (2,), expected ()"),
        ({"step": 1.0}, ArgumentError, "the number 'step' is a column of every history. Give it another name"),
        ({"lr": 1.0}, ArgumentError, "the number 'lr' is a column"),
        ([1.0], ArgumentError, "Wrong.update returned (x, state, [1.0]), expected {name: number, ...} as the third"),
        ({3: 1.0}, ArgumentError, "expected {name: number, ...}"),
        ({"g": "all"}, ArgumentError, "the metric 'g' that Wrong.update logs is a str, expected a real number"),
        ({"g": None}, ArgumentError, "the metric 'g' that Wrong.update logs is a NoneType"),
        ({"g": 1j}, ArgumentError, "the metric 'g' that Wrong.update logs is complex numbers"),
    ],
)
def test_logging_wrong_metrics_raises(metrics: Any, kind: Any, text: str) -> None:
    @dataclass(frozen=True)
    class Wrong(Optimizer):
        lr: Hyper = 0.1

        def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
            return x, state, metrics

    with pytest.raises(kind, match=re.escape(text)):
        bl.minimize(lambda x: np.sum(x**2), X0, Wrong())
