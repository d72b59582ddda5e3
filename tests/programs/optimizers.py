"""Parts of autograd.misc besides derivatives: trees as vectors, and three optimizers on such vectors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import optree


def flatten(value: Any) -> tuple[Any, Callable[[Any], Any]]:
    """A tree as a vector, and the way back."""
    leaves, structure = optree.tree_flatten(value)
    shapes = [np.shape(leaf) for leaf in leaves]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])

    def unflatten(vector: Any) -> Any:
        parts = np.split(vector, ends[:-1])
        return optree.tree_unflatten(structure, [np.reshape(p, s) for p, s in zip(parts, shapes, strict=True)])

    return np.concatenate([np.reshape(leaf, (-1,)) for leaf in leaves]), unflatten


def sgd(gradient: Any, x: Any, num_iters: int = 200, step_size: float = 0.1, mass: float = 0.9) -> Any:
    """Momentum in its exponentially averaged form: v <- mass v - (1 - mass) g, x <- x + step v."""
    v = np.zeros_like(x)
    for t in range(num_iters):
        v = mass * v - (1.0 - mass) * gradient(x, t)
        x = x + step_size * v
    return x


def rmsprop(
    gradient: Any, x: Any, num_iters: int = 100, step_size: float = 0.1, gamma: float = 0.9, eps: float = 1e-8
) -> Any:
    """Tieleman and Hinton 2012, with eps outside of the root, and squares that start at 1."""
    squares = np.ones_like(x)
    for t in range(num_iters):
        g = gradient(x, t)
        squares = gamma * squares + (1.0 - gamma) * g**2
        x = x - step_size * g / (np.sqrt(squares) + eps)
    return x


def adam(
    gradient: Any, x: Any, num_iters: int = 100, step_size: float = 0.001, b1: float = 0.9, b2: float = 0.999,
    eps: float = 1e-8,
) -> Any:  # fmt: skip
    """Kingma and Ba 2015, Algorithm 1."""
    m, v = np.zeros_like(x), np.zeros_like(x)
    for t in range(num_iters):
        g = gradient(x, t)
        m, v = (1 - b1) * g + b1 * m, (1 - b2) * g**2 + b2 * v
        x = x - step_size * (m / (1 - b1 ** (t + 1))) / (np.sqrt(v / (1 - b2 ** (t + 1))) + eps)
    return x


def on_trees(rule: Callable[..., Any]) -> Callable[..., Any]:
    """An optimizer for trees of numbers."""

    def optimize(grad: Any, x0: Any, callback: Any = None, *args: Any, **kwargs: Any) -> Any:
        x, unflatten = flatten(x0)
        x = np.array(x)

        def gradient(x: Any, t: int) -> Any:
            tree = grad(unflatten(x), t)
            if callback:
                callback(unflatten(x), t, tree)
            return np.asarray(flatten(tree)[0])

        return unflatten(rule(gradient, x, *args, **kwargs))

    return optimize


ALL = {"sgd": on_trees(sgd), "rmsprop": on_trees(rmsprop), "adam": on_trees(adam)}
