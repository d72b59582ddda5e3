"""An optimizer of one's own is a notebook cell: ten lines, as fast as one of burlab's, and what the cell says last."""

import time
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.optim import Adam

SETUP = """
from dataclasses import dataclass
import numpy as np, burlab as bl
"""
CELL = """
@dataclass(frozen=True)
class Mine(bl.optim.Optimizer):
    lr: bl.optim.Hyper = 1e-3
    def init(self, x): return {"m": np.zeros_like(x), "v": np.zeros_like(x)}
    def update(self, g, state, x, t):
        m = 0.9 * state["m"] + 0.1 * g
        v = 0.999 * state["v"] + 0.001 * g**2
        root = (1 - 0.999 ** (t + 1)) ** 0.5
        rate = self.lr * root / (1 - 0.9 ** (t + 1))
        return x - rate * m / (np.sqrt(v) + 1e-8 * root), {"m": m, "v": v}
"""


def bowl(x: Any) -> Any:
    return np.sum((x - 1) ** 2)


@pytest.fixture
def notebook() -> dict[str, Any]:
    """The names of a notebook."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(SETUP, names)
    return names


def test_ten_lines_are_an_optimizer(notebook):
    exec(CELL, notebook)
    assert len(CELL.strip().splitlines()) <= 10
    mine = bl.minimize(bowl, np.zeros(4), notebook["Mine"](0.01), steps=200)
    np.testing.assert_allclose(mine.x, bl.minimize(bowl, np.zeros(4), Adam(0.01), steps=200).x, rtol=1e-12)


@pytest.mark.parametrize("dimension", [2, 10_000])
def test_own_optimizer_is_as_fast_as_a_built_in_one(notebook, dimension):
    """Interleaved, the minimum of many short stretches: what else runs on the machine meets both."""
    exec(CELL, notebook)
    runs = [bl.minimize(bowl, np.zeros(dimension), o) for o in (notebook["Mine"](1e-9), Adam(1e-9))]
    steps = 4_000 if dimension == 2 else 40
    best = [np.inf, np.inf]
    for _ in range(90):
        for k, run in enumerate(runs):
            start = time.perf_counter()
            run.step(steps)
            best[k] = min(best[k], time.perf_counter() - start)
    assert best[0] / best[1] < 1.5, best


def test_the_same_rule_is_the_same_kernel(notebook):
    """So what is written in the same words cannot be slower."""
    from burlab.compiler.executable import build
    from burlab.optim.rule import trace_rule

    exec(CELL.replace("Mine", "Momentum"), notebook)  # a name that burlab has too
    exec(
        """
@dataclass(frozen=True)
class Mine(bl.optim.Optimizer):
    lr: bl.optim.Hyper = 0.01
    mu: bl.optim.Hyper = 0.9
    def init(self, x): return {"v": np.zeros_like(x)}
    def update(self, g, state, x, t):
        v = self.mu * state["v"] + g
        return x - self.lr * (g + self.mu * v), {"v": v}
""",
        notebook,
    )
    own, built_in = (build(trace_rule(o, np.ones(50))[0].graph) for o in (notebook["Mine"](), bl.optim.Nesterov()))
    assert own.address == built_in.address


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return x - self.lr * g, state", "return x - 2 * self.lr * g, state"),
        ("return x - SCALE * self.lr * g, state", None),
        ("return x - doubled(self.lr) * g, state", None),
    ],
)
def test_running_its_cell_again_takes_effect(notebook, before, after):
    """Also where only a number or a helper in another cell changed. The run that was made before goes on as it was."""
    cell = """
@dataclass(frozen=True)
class Mine(bl.optim.Optimizer):
    lr: bl.optim.Hyper = 0.125
    def update(self, g, state, x, t):
        {}
"""
    exec("SCALE = 1.0\ndef doubled(a): return a", notebook)
    exec(cell.format(before), notebook)
    first = bl.minimize(np.sum, np.zeros(2), notebook["Mine"](), steps=1)
    if after is None:
        exec("SCALE = 2.0\ndef doubled(a): return 2 * a", notebook)
    else:
        exec(cell.format(after), notebook)
    second = bl.minimize(np.sum, np.zeros(2), notebook["Mine"](), steps=1)
    first.step()
    assert first.x.tolist() == [-0.25, -0.25]
    assert second.x.tolist() == [-0.25, -0.25]


def test_a_new_field_of_a_class_of_the_same_name_is_live(notebook):
    cell = """
@dataclass(frozen=True)
class Mine(bl.optim.Optimizer):
    {}: bl.optim.Hyper = 0.125
    def update(self, g, state, x, t): return x - self.{} * g, state
"""
    for name in ("lr", "rate"):
        exec(cell.format(name, name), notebook)
        assert bl.minimize(np.sum, np.zeros(2), notebook["Mine"]()).hyper.keys() == (name,)
