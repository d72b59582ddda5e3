"""Programs of every kind that a graph's JSON may hold, with arguments."""

from typing import Any

import numpy as np

import burlab as bl
from burlab.graph import Graph, scope, tree
from burlab.graph.tracing.trace import trace

RNG = np.random.default_rng(7)


def perceptron(layers: Any, x: Any, label: Any) -> Any:
    """The loss of a small classifier, with scopes."""
    with scope("hidden"):
        y = np.tanh(x @ layers["w0"] + layers["b0"])
    with scope("head/logits"):
        logits = bl.log_softmax(y @ layers["w1"])
    return -np.mean(np.take_along_axis(logits, label[:, None], axis=1))


def oscillator(start: Any, force: Any) -> Any:
    """Semi-implicit Euler steps, from last to first."""

    def iteration(state: Any, f: Any) -> Any:
        position, speed = state
        speed = speed + 0.1 * (f - np.sin(position))
        return (position + 0.1 * speed, speed), position * speed

    (position, _), energies = bl.scan(iteration, (start, start * 0), force, reverse=True)
    return np.sum(position**2) + np.sum(energies)


def root(x: Any) -> Any:
    """Newton's iteration for a square root, for each of several numbers."""

    def one(a: Any) -> Any:
        return bl.while_loop(lambda s: abs(s[0] * s[0] - a) > 1e-9, lambda s: ((s[0] + a / s[0]) / 2, s[1] + 1), (a, 0))

    return bl.vmap(one)(x)


def either(x: Any, y: Any) -> Any:
    """One of two sides, with what both read from around them."""
    z = np.exp(y)
    return bl.cond(x[0] > 0, lambda a: np.sum(a * z), lambda a: np.sum(a - z), x)


def table(weights: Any, index: Any) -> Any:
    """Rows of a table, by number: its gradient scatters."""
    rows = np.stack([weights, weights * 2])[1]
    return np.sum(rows[index] ** 2) + np.sum(np.cumsum(weights, axis=1)[::-1, ::2])


def noise(x: Any, key: Any) -> Any:
    """Random numbers by a key that is folded."""
    u = bl.random.uniform(bl.random.fold_in(key, 3), (2, 3))
    return np.where(u > 0.5, x, u.astype("float32").astype("float64")) + bl.random.normal(key, (3,))


def reductions(x: Any, y: Any) -> Any:
    """Extremes, positions, products, norms, and contractions of several kinds."""
    best = np.max(x, axis=1) - np.min(x, axis=0)[:2] * np.argmax(y, axis=0)[1]
    z = np.einsum("ab,cb->ac", x, y) @ np.ones((2, 1))
    return np.sum(best) * np.prod(y[:, 0]) + np.linalg.norm(z) + np.mean(np.concatenate([x, y]).T.reshape(2, -1))


def ruled(x: Any) -> Any:
    """A function with a reverse rule of its own."""
    square = bl.custom_vjp(lambda x: x**2, lambda g, y, x: 2 * g * x + 0 * y, np.ones(3))
    return np.sum(square(x)[::-1] * np.pad(x[:2], (0, 1)))


def scalars(x: Any, n: int) -> Any:
    """Numbers only, integers and masks among them."""
    near = (x < 1.5) & ~np.isnan(x)
    return np.where(near, bl.softplus(x) ** 3 / (n + 2), np.arctan2(x, 0.5)) * (n % 3) + np.tan(x) * bl.gelu(x)


def _second(f: Any) -> Any:
    return bl.grad(lambda *args: np.sum(bl.grad(f)(*args) ** 2))


START = np.array([0.5, -1.0, 2.0])
MATRIX = RNG.normal(size=(2, 2))
LAYERS = {"w0": RNG.normal(size=(3, 4)), "b0": np.zeros(4), "w1": RNG.normal(size=(4, 2))}
PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "perceptron": (bl.value_and_grad(perceptron), (LAYERS, RNG.normal(size=(5, 3)), np.array([0, 1, 1, 0, 1]))),
    "perceptron32": (
        bl.grad(perceptron),
        ({k: w.astype("f4") for k, w in LAYERS.items()}, np.ones((1, 3), "f4"), np.array([1], np.int32)),
    ),
    "oscillator": (bl.value_and_grad(oscillator), (START, RNG.normal(size=(6, 3)))),
    "oscillators": (bl.vmap(bl.grad(oscillator)), (RNG.normal(size=(2, 3)), RNG.normal(size=(2, 6, 3)))),
    "root": (root, (np.array([2.0, 9.0, 0.25]),)),
    "either": (bl.value_and_grad(either, argnums=(0, 1)), (START, START * 0.1)),
    "table": (bl.grad(table), (RNG.normal(size=(4, 3)), np.array([[0, 3], [1, 1]]))),
    "noise": (noise, (START, bl.random.key(5))),
    "reductions": (bl.value_and_grad(reductions), (MATRIX, MATRIX * 2)),
    "ruled": (bl.value_and_grad(ruled), (START,)),
    "scalars": (bl.value_and_grad(scalars), (0.7, np.array(4))),
    "second": (_second(lambda x: np.sum(np.tanh(x) * np.exp(-x))), (START,)),
}


def graph_of(name: str) -> Graph:
    """The graph of a program."""
    f, arguments = PROGRAMS[name]
    return trace(f, arguments).graph


def arrays_of(name: str) -> list[Any]:
    """The inputs of its graph."""
    return [np.asarray(leaf) for leaf in tree.flatten(PROGRAMS[name][1])[0]]
