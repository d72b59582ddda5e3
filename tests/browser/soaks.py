"""Notebooks of the soak test: for each widget its worst run, under continuous input."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SETUP = """
import math
import numpy as np
import burlab as bl
f = bl.problems.himmelblau()
draws = np.random.default_rng(0).normal(size=(200, 3))
noisy = bl.FiniteSum(lambda w, row: (w[0] * row[0] + w[1] * row[1] - row[2]) ** 2, draws)
start = np.array([4.0, -3.0])
"""
RACE = """
rules = {"SGD": bl.optim.GD(0.05), "wild": bl.optim.GD(0.3), "Momentum": bl.optim.Momentum(0.02, mu=0.9),
    "Adam": bl.optim.Adam(0.1), "Nesterov": bl.optim.Nesterov(0.01)}
race = bl.race(noisy, start, rules, seeds=3, batch=1)
race.step(600_000)
race
"""
RUN = """
run = bl.minimize(noisy, start, bl.optim.Momentum(0.05, mu=0.9), batch=1)
run.step(600_000)
run
"""
BRANCHES = """
run = bl.minimize(noisy, start, bl.optim.Momentum(0.05, mu=0.9), batch=1, steps=2000, progress=False)
tree = bl.branches(run)
forks = [tree.fork("A", at=100 * (k + 1), lr=0.01 * (k + 1)).run for k in range(12)]
for one in (run, *forks):
    one.start()
tree
"""
WATCH = """
rng = np.random.default_rng(0)
with bl.watch(lr=0.1, mu=0.9) as w:
    while True:
        noise = rng.normal(size=24)
        w.log(value=1 + noise[0] ** 2, **{f"column {k}": noise[k] for k in range(1, 24)})
"""
LAYERS = """
data, labels = draws[:, :2], (draws[:, 2] > 0).astype(float)
def loss(net, p, y):
    return bl.softplus((1 - 2 * y) * (net["out"] @ np.tanh(net["in"] @ p)))
net = {"in": np.random.default_rng(1).normal(size=(12, 2)), "out": np.random.default_rng(2).normal(size=12)}
run = bl.minimize(bl.FiniteSum(loss, (data, labels)), net, bl.optim.Adam(0.02), batch=10, steps=200, progress=False)
run.start()
"""
CHAIN = """
def chain(x):
    for _ in range(1000):
        x = np.tanh(x) * x
    return x
view = bl.GraphView(chain, 0.5)
view
"""
BLOCKS = """
def long(x, y):
    for _ in range(60):
        x = np.tanh(x) * y
    return x
b = bl.GraphBuilder(long, 0.5, 1.5)
b
"""

PLACE = """selector => {
  const canvas = document.querySelector(selector);
  canvas?.scrollIntoView({ block: "nearest" });
  const box = canvas?.getBoundingClientRect();
  return box ? [box.left, box.width, box.top + box.height / 2] : null;
}"""


@dataclass(frozen=True)
class Soak:
    """A widget on its worst run. kind: the class of its element. cells: after the setup, all but the last are run.

    act(page, root, k): what a user does for the k-th time. ready: what is there once it has been drawn.
    endless: whether the last cell goes on until it is interrupted.
    """

    kind: str
    cells: tuple[str, ...]
    act: Callable[[Any, str, int], None]
    ready: str = "canvas"
    endless: bool = False


def looks_on(page: Any, root: str, k: int) -> None:
    """Move the mouse over the first plot, which then reads what is there."""
    box = page.evaluate(PLACE, f"{root} canvas")
    if box is not None:
        left, width, middle = box
        page.mouse.move(left + 60 + 37 * k % max(width - 80, 1), middle)


def plays(page: Any, root: str, k: int) -> None:
    """Play at full speed, and look on."""
    if k == 0:
        for speed in page.locator(f"{root} select[aria-label='speed']").all():
            speed.select_option("0")
        page.locator(f"{root} [data-intent=play]").click()
    looks_on(page, root, k)


def presses(*keys: str, place: str = ".burlab-surface") -> Callable[[Any, str, int], None]:
    """Keys, one after another, in a part of the widget."""

    def act(page: Any, root: str, k: int) -> None:
        if k == 0:
            page.locator(f"{root} {place}").first.focus()
        page.keyboard.press(keys[k % len(keys)])

    return act


SOAKS = {
    "race": Soak("burlab-race", (RACE,), plays),
    "panel": Soak("burlab-panel", (RUN,), plays),
    "branches": Soak("burlab-branches", (BRANCHES,), looks_on),
    "watch": Soak("burlab-panel", (WATCH,), looks_on, endless=True),
    "landscape": Soak("burlab-chart-view", (LAYERS, "bl.LandscapeView(run)"), looks_on),
    "spectrum": Soak("burlab-panel", (LAYERS, "bl.SpectrumView(run)"), looks_on),
    "graph": Soak("burlab-graphview", (CHAIN,), presses("ArrowRight", "ArrowRight", "+", "-", "-"), ".burlab-box"),
    "builder": Soak("burlab-builder", (BLOCKS,), presses("ArrowRight", "ArrowLeft", "+", "-"), "[data-key]"),
}
