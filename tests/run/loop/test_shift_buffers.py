"""Buffers that a step shifts by a row are in memory once; seeks, forks, files and stops have the same bits."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.optim import Optimizer

D = 5


@dataclass(frozen=True)
class Averaged(Optimizer):
    """The last gradients are stored, and their mean is the direction. Every third one is left out where `some`."""

    lr: float = 0.05
    some: bool = False

    def init(self, x: Any) -> Any:
        return {"last": np.zeros((4, D)), "cubes": np.zeros((3, 2, D)), "count": np.zeros(())}

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        last = np.concatenate([state["last"][1:], g[None]])
        cubes = np.concatenate([state["cubes"][1:], np.stack([g, g**3])[None]])
        if self.some:
            last = np.where(t % 3 != 2, last, state["last"])
        mean = np.mean(last, axis=0)
        return x - self.lr * mean, {"last": last, "cubes": cubes, "count": state["count"] + 1}


RULES = [Averaged(), Averaged(some=True)]


def loss(x: Any) -> Any:
    return np.sum(np.cos(x) + 0.1 * x**2)


def opened(rule: Averaged, **options: Any) -> Any:
    return bl.minimize(loss, np.arange(1.0, 1 + D), rule, **options)


def bits(run: Any) -> list[bytes]:
    return [run._engine.read(k).tobytes() for k in range(4)]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_steps_are_what_numpy_computes(rule: Averaged) -> None:
    run = opened(rule)
    assert [shift.row for shift in run._engine.setup.update.shift_buffers] == [8 * 2 * D, 8 * D]
    x = np.arange(1.0, 1 + D)
    state = rule.init(x)
    for t in range(11):
        x, state = rule.update(-np.sin(x) + 0.2 * x, state, x, t, f=None)
    run.step(11)
    np.testing.assert_allclose(run.x, x, rtol=1e-13)
    for name in state:
        np.testing.assert_allclose(run.state[name], state[name], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_a_seek_a_fork_a_file_and_a_stop_have_the_same_bits(rule: Averaged, tmp_path: Path) -> None:
    run = opened(rule)
    seen = {}
    for t in (7, 8, 30):
        run.step(t - run.t)
        seen[t] = bits(run)
    for t in (8, 30, 7):
        run.seek(t)
        assert bits(run) == seen[t]
    fork = run.fork()
    run.save(tmp_path / "run")
    loaded = bl.load_run(tmp_path / "run")
    for other in (fork, loaded, run):
        other.step(1)
        assert bits(other) == seen[8]
        other.seek(7)
        other.step(23)
        assert bits(other) == seen[30]
    stopped = opened(rule, stop=bl.Stop(value=float(run.history["value"][8])))
    stopped.step(90)
    assert stopped.t <= 8
    fresh = opened(rule, steps=stopped.t)
    assert bits(stopped) == bits(fresh)


def test_lbfgs_holds_its_pairs_once() -> None:
    size, pairs = 3000, 4
    rule = bl.optim.LBFGS(memory=pairs)
    memory = bl.minimize(lambda x: np.sum(np.cos(x)), np.ones(size), rule, keyframe_bytes=0).memory
    assert memory["parameters"] + memory["optimizer_state"] < 8 * size * (2 * pairs + 4) + 1000
