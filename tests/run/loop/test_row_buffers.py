"""Buffers of which a step writes some rows: few bytes are copied, and seeks, forks and files have the same bits."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.optim import Optimizer

N, D = 40, 3
_rng = np.random.default_rng(5)
A, B = _rng.normal(size=(N, D)), _rng.normal(size=N)


def squares(x: Any, a: Any, b: Any) -> Any:
    return 0.5 * (a @ x - b) ** 2


@dataclass(frozen=True)
class Saga(Optimizer):
    """Gradients of samples are kept in a table; `rows` of it are written at a step, some of them twice."""

    lr: float = 0.05
    rows: int = 1

    def init(self, x: Any) -> Any:
        return {"table": np.zeros((N, D)), "mean": np.zeros(D)}

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        table = state["table"]
        i = (7 * t + np.array([0, 3, 3])[: self.rows]) % N
        v = g - table[i[-1]] + state["mean"]
        new = np.broadcast_to(g, (self.rows, D)) * np.arange(1.0, self.rows + 1)[:, None]
        return x - self.lr * v, {"table": bl.at_set(table, i, new), "mean": state["mean"] + (g - table[i[-1]]) / N}


class Adding(Saga):
    """What is written depends on what is there, and an entry named twice gets both."""

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        i = (7 * t + np.array([0, 3, 3])[: self.rows]) % N
        table = bl.at_add(state["table"], i, np.broadcast_to(g, (self.rows, D)))
        return x - self.lr * (g + 0.01 * state["table"][i[0]]), {"table": table, "mean": state["mean"]}


class Coordinate(Saga):
    """x itself is what is written to."""

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        i = t % D
        return bl.at_set(x, i, x[i] - self.lr * g[i]), state


RULES = [Saga(), Saga(rows=3), Adding(rows=3), Coordinate()]


def by_numpy(rule: Saga, steps: int) -> tuple[Any, Any]:
    """The same steps in NumPy."""
    x, state = np.ones(D), rule.init(np.ones(D))
    for t in range(steps):
        x, state = rule.update(A.T @ (A @ x - B) / N, state, x, np.int64(t), f=None)
    return x, state


def opened(rule: Saga, **options: Any) -> Any:
    return bl.minimize(bl.FiniteSum(squares, (A, B)), np.ones(D), rule, **options)


def bits(run: Any) -> list[bytes]:
    return [run._engine.read(k).tobytes() for k in range(3)]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_only_rows_are_copied(rule: Saga) -> None:
    rows = opened(rule)._engine.setup.update.row_buffers
    assert [row.rows for row in rows] == [getattr(rule, "rows", 1)]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_steps_are_what_numpy_computes(rule: Saga) -> None:
    run = opened(rule)
    run.step(90)
    x, state = by_numpy(rule, 90)
    np.testing.assert_allclose(run.x, x, rtol=1e-12)
    np.testing.assert_allclose(run.state["table"], state["table"], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_a_seek_a_fork_and_a_file_have_the_same_bits(rule: Saga, tmp_path: Path) -> None:
    run = opened(rule, batch=2, seed=3)
    seen = {}
    for t in (10, 11, 60, 90):
        run.step(t - run.t)
        seen[t] = bits(run)
    for t in (11, 90, 10, 60):
        run.seek(t)
        assert bits(run) == seen[t]
    run.seek(11)
    fork = run.fork()
    run.save(tmp_path / "run")
    loaded = bl.load_run(tmp_path / "run", (A, B))
    assert loaded._engine.setup.update.row_buffers == run._engine.setup.update.row_buffers
    for other in (fork, loaded, run):
        other.seek(11)
        other.step(60 - other.t)
        assert bits(other) == seen[60]


def test_a_step_that_is_left_changes_nothing() -> None:
    """Its row is written and a criterion holds: the run rests before the step, whose rows are in the other buffer."""
    run = opened(Saga())
    run.step(20)
    value = run.history["value"][19]
    other = opened(Saga(), stop=bl.Stop(value=float(value)))
    other.step(90)
    fresh = opened(Saga())
    fresh.step(other.t)
    assert bits(other) == bits(fresh)


@dataclass(frozen=True)
class Late(Saga):
    """The table is read after it was written to, so the rows go into a copy."""

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        table = bl.at_set(state["table"], t % N, g)
        return x - self.lr * np.sum(table - state["table"], axis=0), {"table": table, "mean": state["mean"]}


def test_rows_that_are_read_later_are_copied() -> None:
    run = opened(Late())
    assert run._engine.setup.update.row_buffers == ()
    run.step(60)
    x, state = by_numpy(Late(), 60)
    np.testing.assert_allclose(run.x, x, rtol=1e-12)
    np.testing.assert_allclose(run.state["table"], state["table"], rtol=1e-12)
