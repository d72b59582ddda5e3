"""A problem to ask about, and an optimizer that keeps the answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import burlab as bl
from burlab.graph import tree
from burlab.optim import Optimizer

rng = np.random.default_rng(11)
A, B = rng.normal(size=(23, 3)), rng.normal(size=23)
X0 = rng.normal(size=3)
V = rng.normal(size=3)


def loss(x: Any, a: Any, b: Any) -> Any:
    return np.log(1 + (a @ x - b) ** 2)


def ridge(x: Any) -> Any:
    return 0.05 * np.sum(x**2)


def noisy(x: Any, a: Any, b: Any, *, key: Any) -> Any:
    return (a @ x - b + bl.random.normal(key, ())) ** 2


@dataclass(frozen=True)
class Probe(Optimizer):
    """Keeps the answers of `question(f, x)` in its state, and moves a little."""

    question: Callable[[Any, Any], Any]
    like: Any  # the answers' shapes

    def init(self, x: Any) -> Any:
        return tree.unflatten(
            tree.flatten(self.like)[1], [np.zeros(np.shape(a), np.asarray(a).dtype) for a in tree.flatten(self.like)[0]]
        )

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        return x - 0.01 * g, self.question(f, x)


def probe(
    problem: Any, x0: Any, question: Any, like: Any, steps: int = 1, **options: Any
) -> tuple[Any, list[Any], Any]:
    """The run, the answers of its last step, and the x that they were about."""
    run = bl.minimize(problem, x0, Probe(question, like), **options)
    run.step(steps - 1)
    x = run.x
    run.step(1)
    return run, [run._engine.read(k + 1) for k in range(len(tree.flatten(like)[0]))], x


def loss_of_all(x: Any) -> Any:
    """The mean loss as a plain function."""
    return np.mean(np.log(1 + (A @ x - B) ** 2))
